/// The limits of a message head. Line ends count.
public struct HeadLimits: Sendable, Hashable {
  /// Bytes of the first line, and of each field line. RFC 9112 §3 recommends at least 8,000.
  public var line: Int
  /// Bytes of the field section.
  public var fields: Int
  /// Fields in the section. The default is `Host` and 100 others.
  public var count: Int

  public init(line: Int = 8_192, fields: Int = 32_768, count: Int = 101) {
    self.line = line
    self.fields = fields
    self.count = count
  }
}
