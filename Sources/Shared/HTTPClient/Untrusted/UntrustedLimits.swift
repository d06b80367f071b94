/// Limits of one fetch, and of all fetches together.
public struct UntrustedLimits: Sendable {
  /// From the first name lookup to the last byte, including redirects; in milliseconds.
  public var timeout = 8_000
  public var maxRedirects = 5
  /// Concurrent fetches and concurrent name lookups. A lookup occupies a thread.
  public var maxFetches = 32
  public var maxLookups = 16

  public init() {}
}
