public import ParleyJSON

/// Value of a field, in JSON and in a column.
public protocol FieldValue: Sendable, Hashable {
  /// Value of an absent or null member; nil for a type that requires one.
  static var absent: Self? { get }

  init(field json: JSONValue) throws(JSONError)
  func writeField(_ name: String, to json: inout JSONWriter)

  /// Nil for a stored value of another type.
  init?(_ stored: StoredValue)
  var stored: StoredValue { get }
}

/// Value of a column.
public enum StoredValue: Sendable, Hashable {
  case null
  case int(Int)
  case text(String)
}

extension FieldValue {
  @inlinable public static var absent: Self? { nil }
}

extension FieldValue where Self: JSONReadable & JSONWritable {
  @inlinable public init(field json: JSONValue) throws(JSONError) { try self.init(json: json) }

  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) { json.field(name, self) }
}

extension String: FieldValue {
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    self = text
  }

  @inlinable public var stored: StoredValue { .text(self) }
}

extension Int: FieldValue {
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let number) = stored else { return nil }
    self = number
  }

  @inlinable public var stored: StoredValue { .int(self) }
}

/// Time in milliseconds since 1970; RFC 3339 in JSON.
extension Int64: FieldValue {
  @inlinable public init(field json: JSONValue) throws(JSONError) {
    self.init(try Timestamp(json: json).milliseconds)
  }

  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) { json.field(name, Timestamp(self)) }

  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let milliseconds) = stored else { return nil }
    self.init(milliseconds)
  }

  @inlinable public var stored: StoredValue { .int(Int(self)) }
}

/// Stored as 0 or 1.
extension Bool: FieldValue {
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let number) = stored, number == 0 || number == 1 else { return nil }
    self = number == 1
  }

  @inlinable public var stored: StoredValue { .int(self ? 1 : 0) }
}

extension ID: FieldValue {
  @inlinable public init?(_ stored: StoredValue) {
    guard case .int(let number) = stored else { return nil }
    self.init(number)
  }

  @inlinable public var stored: StoredValue { .int(number) }
}

extension Optional: FieldValue where Wrapped: FieldValue {
  @inlinable public static var absent: Wrapped?? { .some(nil) }

  @inlinable public init(field json: JSONValue) throws(JSONError) {
    self = json.isNull ? nil : try Wrapped(field: json)
  }

  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) {
    if let self { self.writeField(name, to: &json) } else { json.null(name) }
  }

  @inlinable public init?(_ stored: StoredValue) {
    if case .null = stored {
      self = nil
      return
    }
    guard let value = Wrapped(stored) else { return nil }
    self = value
  }

  @inlinable public var stored: StoredValue { self?.stored ?? .null }
}

/// Word of a closed list.
extension FieldValue where Self: ListedWord {
  @inlinable public init(field json: JSONValue) throws(JSONError) { self = try json.word() }

  @inlinable public func writeField(_ name: String, to json: inout JSONWriter) { json.field(name, rawValue) }

  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let word) = stored else { return nil }
    self.init(rawValue: word)
  }

  @inlinable public var stored: StoredValue { .text(rawValue) }
}

extension JSONRaw: FieldValue {
  @inlinable public init(field json: JSONValue) { self = json.raw.compact }

  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    self.init(trusted: Array(text.utf8))
  }

  @inlinable public var stored: StoredValue { .text(String(decoding: bytes, as: UTF8.self)) }
}

/// Element of a field that is a list.
public protocol FieldElement: JSONReadable, JSONWritable, Hashable, Sendable {}

extension String: FieldElement {}
extension ID: FieldElement {}

/// Stored as JSON.
extension Array: FieldValue where Element: FieldElement {
  @inlinable public init?(_ stored: StoredValue) {
    guard case .text(let text) = stored else { return nil }
    do throws(JSONError) { try self.init(json: JSONValue(parsing: [UInt8](text.utf8))) } catch { return nil }
  }

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
