/// How much one fetch may cost.
public struct OutgoingLimits: Sendable {
  /// From the first look-up to the last byte, over all redirects; in milliseconds.
  public var time = 8_000
  public var redirects = 5
  /// Fetches that are under way, and names that are looked up, which takes a thread each.
  public var fetches = 32
  public var lookups = 16

  public init() {}
}
