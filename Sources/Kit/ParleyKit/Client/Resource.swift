public import ParleyJSON

/// A decoded value and its JSON. A newer server may send members that this library does not know.
@dynamicMemberLookup
public struct Resource<Value: JSONReadable & Sendable>: JSONReadable, JSONWritable, Sendable {
  /// The decoded value.
  public let value: Value
  /// The complete JSON.
  public let representation: JSONRaw

  public init(json value: JSONValue) throws(JSONError) {
    self.value = try Value(json: value)
    representation = value.raw
  }

  public func write(to json: inout JSONWriter) { json.value(representation) }

  /// A member of the value.
  public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

/// A JSON object without a Swift type. Its members are read by name.
public struct Fact: JSONReadable, JSONWritable, Sendable, Hashable {
  /// The complete JSON of the object.
  public let representation: JSONRaw

  public init(json value: JSONValue) throws(JSONError) {
    guard value.kind == .object else { throw value.error(.invalid) }
    representation = value.raw
  }

  init(_ representation: JSONRaw) { self.representation = representation }

  public func write(to json: inout JSONWriter) { json.value(representation) }

  /// Nil if the member is missing, `null` or of another type.
  public func member<Member: JSONReadable>(_ name: String, as type: Member.Type = Member.self) -> Member? {
    do throws(JSONError) {
      var object = try JSONValue(parsing: representation.bytes).object()
      return try object.optional(name)
    } catch {
      return nil
    }
  }

  /// A member that is a string; nil if it is missing or of another type.
  public subscript(_ name: String) -> String? { member(name) }

  /// Decodes the object; nil if it does not match the type.
  public func read<Value: JSONReadable>(as type: Value.Type) -> Value? {
    do throws(JSONError) { return try Value(json: JSONValue(parsing: representation.bytes)) } catch { return nil }
  }
}

/// A page of a list.
public struct Page<Element: JSONReadable & Sendable>: JSONReadable, Sendable {
  /// The items of the page, in the order of the list.
  public let elements: [Element]
  /// The position of the next page in the order of the list; nil if there is none.
  public let next: String?
  /// The position of the page before; nil if there is none.
  public let previous: String?
  /// The users, files and posts of the page; nil unless the request had `including`.
  public let included: IncludedObjects?
  /// The complete JSON of the page.
  public let representation: JSONRaw

  public init(json value: JSONValue) throws(JSONError) {
    representation = value.raw
    var object = try value.object()
    elements = try object.read("data")
    next = try object.optional("next")
    previous = try object.optional("previous")
    included = try object.optional("included")
  }
}
