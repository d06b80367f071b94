/// What a PATCH of a forum may change; nil leaves it as it is, a nil inside clears it.
public struct ForumChange: Sendable {
  public var title: String?
  public var about: String?
  public var iconURL: String??
  public var visibility: Visibility?
  /// With a wider visibility: whether what was said before is opened too.
  public var opensHistory: Bool?
  public var write: ForumPolicy?
  public var startTopics: ForumPolicy?
  public var section: String??
  public var position: Int?
  public var slowSeconds: Int?
  public var isLocked: Bool?
  public var isArchived: Bool?
  public var isSolvable: Bool?
  public var showsRevisions: Bool?
  public var callURL: String??
  public var ifRevision: Int?

  public init() {}
}
