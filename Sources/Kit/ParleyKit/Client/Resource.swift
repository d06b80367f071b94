public import ParleyJSON

/// Something that the server said, and the JSON that it came from: a newer server says more than this library knows.
@dynamicMemberLookup
public struct Resource<Value: JSONReadable & Sendable>: JSONReadable, JSONWritable, Sendable {
  public let value: Value
  public let representation: JSONRaw

  public init(json value: JSONValue) throws(JSONError) {
    self.value = try Value(json: value)
    representation = value.raw
  }

  public func write(to json: inout JSONWriter) { json.value(representation) }

  public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

/// Something without a type of its own here: its members are asked for by name.
public struct Fact: JSONReadable, JSONWritable, Sendable, Hashable {
  public let representation: JSONRaw

  public init(json value: JSONValue) throws(JSONError) {
    guard value.kind == .object else { throw value.error(.invalid) }
    representation = value.raw
  }

  public func write(to json: inout JSONWriter) { json.value(representation) }

  /// Nil where there is none, or `null`, or it is something else.
  public func member<Member: JSONReadable>(_ name: String, as type: Member.Type = Member.self) -> Member? {
    do throws(JSONError) {
      var object = try JSONValue(parsing: representation.bytes).object()
      return try object.optional(name)
    } catch {
      return nil
    }
  }

  public subscript(_ name: String) -> String? { member(name) }

  /// All of it as something that has a type; nil where it is no such thing.
  public func read<Value: JSONReadable>(as type: Value.Type) -> Value? {
    do throws(JSONError) { return try Value(json: JSONValue(parsing: representation.bytes)) } catch { return nil }
  }
}

/// A part of a list.
public struct Page<Element: JSONReadable & Sendable>: JSONReadable, Sendable {
  public let elements: [Element]
  public let hasMore: Bool
  /// Where the next part begins.
  public let next: String?
  /// What else the page says: cursors, and what was left out.
  public let representation: JSONRaw

  public init(json value: JSONValue) throws(JSONError) {
    representation = value.raw
    var object = try value.object()
    elements = try object.read("data")
    hasMore = try object.optional("more") ?? false
    next = try object.optional("next")
  }
}
