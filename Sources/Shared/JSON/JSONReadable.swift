/// A type that can be read from a JSON value. Domain types conform with one initializer, so that a request type can
/// write `let owner: User.ID = try object.read("owner")`.
public protocol JSONReadable {
  /// Decodes the value; an error names its field.
  init(json value: JSONValue) throws(JSONError)
}

extension String: JSONReadable {
  @inlinable public init(json value: JSONValue) throws(JSONError) { self = try value.string() }
}

extension Bool: JSONReadable {
  @inlinable public init(json value: JSONValue) throws(JSONError) { self = try value.bool() }
}

extension Int: JSONReadable {
  @inlinable public init(json value: JSONValue) throws(JSONError) { self = try value.int() }
}

extension Double: JSONReadable {
  @inlinable public init(json value: JSONValue) throws(JSONError) { self = try value.double() }
}

extension JSONRaw: JSONReadable {
  @inlinable public init(json value: JSONValue) { self = value.raw }
}

extension Array: JSONReadable where Element: JSONReadable {
  @inlinable public init(json value: JSONValue) throws(JSONError) {
    self = try value.array { element throws(JSONError) in try Element(json: element) }
  }
}
