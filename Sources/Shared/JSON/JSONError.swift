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
  case unexpectedEnd = "unexpected_end"
  case unexpectedByte = "unexpected_byte"
  case trailingBytes = "trailing_bytes"
  case byteOrderMark = "byte_order_mark"
  case invalidUTF8 = "invalid_utf8"
  case controlCharacter = "control_character"
  case invalidEscape = "invalid_escape"
  case loneSurrogate = "lone_surrogate"
  case invalidNumber = "invalid_number"
  case repeatedKey = "repeated_key"
  case tooDeep = "too_deep"
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
    case missing
    case unknownField
    case wrongType(expected: JSONKind)
    /// A number, but not one written as an integer.
    case notInteger
    case outOfRange
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
    case number(Int)
    case text(String)
    case list([String])
  }
}
