/// The name of a field that is written very often, made once: quoted, escaped and with its colon, and the same with the
/// comma that stands before it unless it is the first.
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

/// The words that are values.
@usableFromInline enum JSONToken {
  @usableFromInline static let null = Array("null".utf8)
  @usableFromInline static let yes = Array("true".utf8)
  @usableFromInline static let no = Array("false".utf8)
}
