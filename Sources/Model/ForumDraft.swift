/// What is needed to store a forum, checked by the rules above.
public struct NewForum: Sendable {
  public var title: String
  public var about = ""
  public var iconURL: String?
  public var visibility: Visibility
  public var write: ForumPolicy = .readers
  public var startTopics: ForumPolicy = .readers
  public var section: String?
  public var position = 0

  public init(title: String, visibility: Visibility) {
    self.title = title
    self.visibility = visibility
  }
}

/// Where a list of forums goes on: after the one with this activity and id.
public struct ForumCursor: Sendable, Hashable {
  public let lastMessage: Int
  public let forum: ID<Forum>

  public init(lastMessage: Int, forum: ID<Forum>) {
    self.lastMessage = lastMessage
    self.forum = forum
  }
}
