public import ParleyJSON

/// Word of a list that a newer server may extend. A word that is not in the list is kept. Words are compared with string literals,
/// and with the static members of the type.
public protocol OpenWord: RawRepresentable, FieldValue, JSONReadable, JSONWritable, ExpressibleByStringLiteral
where RawValue == String {
  /// Any word.
  init(rawValue: String)
}

extension OpenWord {
  /// The word of a literal.
  @inlinable public init(stringLiteral word: String) { self.init(rawValue: word) }

  /// Decodes any string.
  @inlinable public init(json value: JSONValue) throws(JSONError) { self.init(rawValue: try value.string()) }

  /// Writes the word as a JSON string.
  @inlinable public func write(to json: inout JSONWriter) { json.value(rawValue) }

  /// Reads a text column; nil for another column.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let word) = stored else { return nil }
    self.init(rawValue: word)
  }

  /// The word for a text column.
  @inlinable public var stored: StoredValue { .text(rawValue) }
}
