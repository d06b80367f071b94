/// Limits for untrusted texts. The caller limits the length of a request.
public enum JSONLimits {
  /// The maximum nesting depth of arrays and objects. RFC 8259 §9 permits a limit.
  public static let depth = 64

  /// Offsets in a text are stored in 32 bits.
  static let bytes = Int(UInt32.max) - 1

  /// Up to this number of keys duplicates are found by pairwise comparison, above it with a hash table.
  static let pairedKeys = 16

  /// The maximum number of unknown fields in one error.
  static let unknownFields = 20

  /// The maximum number of errors that are collected.
  static let faults = 50

  /// The maximum bytes of a field's path in an error: keys are untrusted.
  static let pathBytes = 200

  /// A number of this length without an exponent is finite: the maximum `Double` has 309 digits.
  static let finiteDigits = 308

  /// A longer number is not converted to `Double`: 17 digits are always sufficient, and a megabyte of digits is abuse.
  static let doubleBytes = 1_000
}
