/// What a text may cost, whoever sent it. How many bytes a request may have is the caller's to say.
public enum JSONLimits {
  /// How deep arrays and objects may stand in one another. RFC 8259 §9 leaves it to the reader.
  public static let depth = 64

  /// Places in a text are kept in 32 bits.
  static let bytes = Int(UInt32.max) - 1

  /// Up to this many keys are compared in pairs to find a repeated one; more go through a hash table.
  static let pairedKeys = 16

  /// How many unknown fields one error names.
  static let unknownFields = 20

  /// How many bytes of a field's path an error repeats: keys are the sender's.
  static let pathBytes = 200

  /// A longer number is not read as a `Double`: 17 digits are enough for any, and a number of a megabyte is no accident.
  static let doubleBytes = 1_000
}
