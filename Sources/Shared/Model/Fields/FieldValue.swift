public import ParleyJSON

/// Value of a field, in JSON and in a column.
public protocol FieldValue: Sendable, Hashable {
  /// Value of an absent or null member; nil for a type that requires one.
  static var absent: Self? { get }

  /// Decodes the value of a JSON member.
  init(field json: JSONValue) throws(JSONError)
  /// Writes the value as a member of an open object.
  func writeField(_ name: String, to json: inout JSONWriter)

  /// Nil for a stored value of another type.
  init?(_ stored: StoredValue)
  /// The form of the value in a column.
  var stored: StoredValue { get }
}

/// Value of a column.
public enum StoredValue: Sendable, Hashable {
  /// SQL's `NULL`.
  case null
  /// An integer; also an id, a time or a boolean.
  case int(Int)
  /// Text; also a word, or JSON.
  case text(String)
}

extension FieldValue {
  /// Nil by default: the member is required.
  @inlinable public static var absent: Self? { nil }
}

extension FieldValue where Self: JSONReadable & JSONWritable {
  /// Decodes the JSON form of the type.
  @inlinable public init(field json: JSONValue) throws(JSONError) { try self.init(json: json) }

  /// Writes the JSON form of the type.
  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) { json.field(name, self) }
}

extension String: FieldValue {
  /// Reads a text column; nil for another column.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    self = text
  }

  /// The text for a column.
  @inlinable public var stored: StoredValue { .text(self) }
}

extension Int: FieldValue {
  /// Reads an integer column; nil for another column.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let number) = stored else { return nil }
    self = number
  }

  /// The integer for a column.
  @inlinable public var stored: StoredValue { .int(self) }
}

/// Time in milliseconds since 1970; RFC 3339 in JSON.
extension Int64: FieldValue {
  /// Decodes an RFC 3339 string into milliseconds since 1970.
  @inlinable public init(field json: JSONValue) throws(JSONError) {
    self.init(try Timestamp(json: json).milliseconds)
  }

  /// Writes milliseconds since 1970 as an RFC 3339 string.
  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) { json.field(name, Timestamp(self)) }

  /// Reads an integer column with milliseconds since 1970; nil for another column.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let milliseconds) = stored else { return nil }
    self.init(milliseconds)
  }

  /// The milliseconds since 1970 for a column.
  @inlinable public var stored: StoredValue { .int(Int(self)) }
}

/// Stored as 0 or 1.
extension Bool: FieldValue {
  /// Reads 0 or 1; nil for another number or column.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let number) = stored, number == 0 || number == 1 else { return nil }
    self = number == 1
  }

  /// The number 0 or 1 for a column.
  @inlinable public var stored: StoredValue { .int(self ? 1 : 0) }
}

extension ID: FieldValue {
  /// Reads an integer column with the number of an id; nil for another column.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let number) = stored else { return nil }
    self.init(number)
  }

  /// The number of the id for a column.
  @inlinable public var stored: StoredValue { .int(number) }
}

extension Optional: FieldValue where Wrapped: FieldValue {
  /// Nil as the value of an absent or null member.
  @inlinable public static var absent: Wrapped?? { .some(nil) }

  /// Decodes `null` as nil, and other JSON as the wrapped value.
  @inlinable public init(field json: JSONValue) throws(JSONError) {
    self = json.isNull ? nil : try Wrapped(field: json)
  }

  /// Writes nil as `null`, so that the member is never absent.
  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) {
    if let self { self.writeField(name, to: &json) } else { json.null(name) }
  }

  /// Reads `NULL` as nil, and another column as the wrapped value.
  @inlinable public init?(_ stored: StoredValue) {
    if case .null = stored {
      self = nil
      return
    }
    guard let value = Wrapped(stored) else { return nil }
    self = value
  }

  /// The wrapped value for a column, or `NULL`.
  @inlinable public var stored: StoredValue { self?.stored ?? .null }
}

/// Word of a closed list.
extension FieldValue where Self: ListedWord {
  /// Decodes a word; another string is the error `notAllowed`.
  @inlinable public init(field json: JSONValue) throws(JSONError) { self = try json.word() }

  /// Writes the word as a JSON string.
  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) { json.field(name, rawValue) }

  /// Reads a text column; nil for a word outside of the list.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let word) = stored else { return nil }
    self.init(rawValue: word)
  }

  /// The word for a text column.
  @inlinable public var stored: StoredValue { .text(rawValue) }
}

extension JSONRaw: FieldValue {
  /// Keeps any JSON value, without the whitespace between its tokens.
  @inlinable public init(field json: JSONValue) { self = json.raw.compact }

  /// Reads a text column that holds JSON, without parsing it.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    self.init(trusted: Array(text.utf8))
  }

  /// The JSON for a text column.
  @inlinable public var stored: StoredValue { .text(String(decoding: bytes, as: UTF8.self)) }
}

/// Element of a field that is a list.
public protocol FieldElement: JSONReadable, JSONWritable, Hashable, Sendable {}

extension String: FieldElement {}
extension ID: FieldElement {}

/// Stored as JSON.
extension Array: FieldValue where Element: FieldElement {
  /// Parses a text column with a JSON array; nil for another column or other text.
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    do throws(JSONError) { try self.init(json: JSONValue(parsing: [UInt8](text.utf8))) } catch { return nil }
  }

  /// The JSON array for a text column.
  @inlinable public var stored: StoredValue {
    var json = JSONWriter()
    json.value(self)
    return .text(String(decoding: json.bytes, as: UTF8.self))
  }
}

extension Audience: FieldValue {}
extension ForumPolicy: FieldValue {}
extension ModerationRule.Action: FieldValue {}
extension Reach: FieldValue {}
extension Report.State: FieldValue {}
extension Role: FieldValue {}
extension UserGroup.Mentioners: FieldValue {}
extension Visibility: FieldValue {}
