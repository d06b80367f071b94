/// A preencoded field name for frequent fields: quoted, escaped and with its colon, and the same with a leading comma
/// for all but the first field.
///
///     static let createdAt = JSONName("created_at")
///     json.field(Self.createdAt, message.createdAt)
public struct JSONName: Sendable {
  let bytes: [UInt8]
  let afterComma: [UInt8]

  public init(_ name: String) {
    var json = JSONWriter()
    json.key(name)
    bytes = json.bytes
    afterComma = [UInt8(ascii: ",")] + bytes
  }
}

/// The literals.
@usableFromInline enum JSONToken {
  @usableFromInline static let null = Array("null".utf8)
  @usableFromInline static let yes = Array("true".utf8)
  @usableFromInline static let no = Array("false".utf8)
}
