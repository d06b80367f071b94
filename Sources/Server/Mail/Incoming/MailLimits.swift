/// Bounds of a message that arrives. What is beyond them is not read.
public enum MailLimits {
  /// Bytes of a message.
  public static let message = 10_485_760
  /// Bytes of the header of the message or of a part.
  static let header = 131_072
  /// Fields of a header.
  static let fields = 500
  /// Parts within parts.
  static let depth = 8
  /// Parts of a message, on all levels.
  static let parts = 100
  /// Bytes of a boundary: RFC 2046 §5.1.1 has 70.
  static let boundary = 200
  /// Bytes of text: more than any message of the site may have.
  static let text = 100_000
  /// Bytes of a report on a delivery.
  static let report = 65_536
  /// Recipients with a code.
  static let codes = 20
}
