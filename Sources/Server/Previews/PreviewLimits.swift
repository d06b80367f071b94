/// Limits of one fetch and of the cache.
public struct PreviewLimits: Sendable {
  /// In bytes: the parsed prefix of a page, a whole oEmbed response, a whole picture.
  public var page = 1_048_576
  public var embed = 65_536
  public var picture = 1_048_576
  /// In pixels. Smaller pictures are tracking pixels and are ignored.
  public var minSide = 16
  /// Maximum of cached entries, and of their bytes including pictures.
  public var pages = 2_000
  public var bytes = 33_554_432
  /// In milliseconds: lifetime of a preview, and of a failure.
  public var maxAge: Int64 = 3_600_000
  public var maxFaultAge: Int64 = 60_000

  public init() {}
}
