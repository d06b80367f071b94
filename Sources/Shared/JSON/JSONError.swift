/// The reason for rejecting a text. Only the first error is thrown; `JSONFaults` collects all of them, and
/// `JSONObject.finish()` reports several fields.
public enum JSONError: Error, Hashable, Sendable {
  /// The bytes are not JSON. The offset counts bytes from the start of the text.
  case malformed(JSONMalformation, offset: Int)
  /// The bytes are JSON, but fields are missing, unknown or invalid. Never empty.
  case refused([JSONFieldError])
}

/// A syntax error. The raw values are stable.
public enum JSONMalformation: String, Hashable, Sendable, CaseIterable {
  /// The text ends inside of a value.
  case unexpectedEnd = "unexpected_end"
  /// A byte that no value has here.
  case unexpectedByte = "unexpected_byte"
  /// Bytes after the value.
  case trailingBytes = "trailing_bytes"
  /// A byte order mark before the value.
  case byteOrderMark = "byte_order_mark"
  /// Bytes that are not UTF-8.
  case invalidUTF8 = "invalid_utf8"
  /// A control character in a string, without an escape.
  case controlCharacter = "control_character"
  /// An unknown escape sequence.
  case invalidEscape = "invalid_escape"
  /// Half of a surrogate pair.
  case loneSurrogate = "lone_surrogate"
  /// A number in another form.
  case invalidNumber = "invalid_number"
  /// Two members of one name.
  case repeatedKey = "repeated_key"
  /// Too many nested containers.
  case tooDeep = "too_deep"
  /// Too many bytes.
  case tooLong = "too_long"
}

/// An invalid field.
public struct JSONFieldError: Hashable, Sendable {
  /// The path from the root, such as `attachments[2].name`; empty for the root itself.
  public let field: String
  /// The rule that the field violates.
  public let reason: Reason

  /// An error of the field at a path.
  public init(field: String, reason: Reason) {
    self.field = field
    self.reason = reason
  }

  /// Rules that a field may violate.
  public enum Reason: Hashable, Sendable {
    /// A required member is absent.
    case missing
    /// A member that the type does not have.
    case unknownField
    /// A value of another type.
    case wrongType(expected: JSONKind)
    /// A number, but not one written as an integer.
    case notInteger
    /// A number that the type can't hold.
    case outOfRange
    /// A number outside of the allowed range.
    case notInRange(ClosedRange<Int>)
    /// The type is correct, but the value violates a rule of the caller.
    case invalid
    /// Not one of these texts.
    case notAllowed([String])
  }

  /// A stable code for programs.
  public var code: String {
    switch reason {
    case .missing: "missing"
    case .unknownField: "unknown_field"
    case .wrongType: "wrong_type"
    case .notInteger: "not_integer"
    case .outOfRange, .notInRange: "out_of_range"
    case .invalid, .notAllowed: "invalid"
    }
  }

  /// Parameters for a message about the code.
  public var params: KeyValuePairs<String, Param> {
    switch reason {
    case .missing, .unknownField, .notInteger, .outOfRange, .invalid: [:]
    case .wrongType(let expected): ["expected": .text(expected.rawValue)]
    case .notInRange(let range): ["min": .number(range.lowerBound), "max": .number(range.upperBound)]
    case .notAllowed(let allowed): ["allowed": .list(allowed)]
    }
  }

  /// Values of parameters.
  public enum Param: Hashable, Sendable {
    /// A number, such as a limit.
    case number(Int)
    /// A text.
    case text(String)
    /// Texts, such as the allowed values.
    case list([String])
  }
}
