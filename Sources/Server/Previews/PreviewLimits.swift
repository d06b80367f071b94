/// How much a preview may cost, and how much of them is kept.
public struct PreviewLimits: Sendable {
  /// In bytes: the beginning of a page, and all of an oEmbed answer and of a picture.
  public var page = 1_048_576
  public var embed = 65_536
  public var picture = 1_048_576
  /// Pictures that are smaller on a side are marks of those who count visitors.
  public var leastSide = 16
  /// Pages that are kept, and bytes of all of them with their pictures.
  public var pages = 2_000
  public var bytes = 33_554_432
  /// In milliseconds: how long what was found holds, and that nothing was.
  public var age: Int64 = 3_600_000
  public var faultAge: Int64 = 60_000

  public init() {}
}
