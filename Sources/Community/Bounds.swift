/// How much of anything people may send. What is beyond is refused by name.
public struct Bounds: Sendable {
  /// In Unicode scalars.
  public var messageScalars = 16_000
  /// In bytes, of what stands between quotes.
  public var clientIDBytes = 64
  public var annotationBytes = 8_192
  public var nameBytes = 64
  public var passwordBytes = 1_024

  public init() {}
}
