/// A place for a subject: one live room, and topics.
public struct Forum: Sendable, Hashable {
  public let id: ID<Forum>
  public var title: String
  public var about: String
  public var iconURL: String?
  public var visibility: Visibility
  public var write: ForumPolicy
  public var startTopics: ForumPolicy
  /// A heading under which it stands, and where; for those who look after the place to set.
  public var section: String?
  public var position: Int
  /// Seconds that a person waits between two messages; 0 for none.
  public var slowSeconds: Int
  public var isLocked: Bool
  public var isArchived: Bool
  /// Whether topics can be marked as solved.
  public var isSolvable: Bool
  /// Whether everyone may see what edited messages said before.
  public var showsRevisions: Bool
  /// Where its people meet by voice.
  public var callURL: String?
  public let room: ID<Conversation>
  public let createdBy: ID<Account>
  public let createdAt: Int64
  /// The newest message anywhere in it.
  public var lastMessage: ID<Message>?
  public var revision: Int

  public init(
    id: ID<Forum>, title: String, about: String = "", iconURL: String? = nil, visibility: Visibility,
    write: ForumPolicy = .readers, startTopics: ForumPolicy = .readers, section: String? = nil, position: Int = 0,
    slowSeconds: Int = 0, isLocked: Bool = false, isArchived: Bool = false, isSolvable: Bool = false,
    showsRevisions: Bool = false, callURL: String? = nil, room: ID<Conversation>, createdBy: ID<Account>,
    createdAt: Int64, lastMessage: ID<Message>? = nil, revision: Int = 1
  ) {
    self.id = id
    self.title = title
    self.about = about
    self.iconURL = iconURL
    self.visibility = visibility
    self.write = write
    self.startTopics = startTopics
    self.section = section
    self.position = position
    self.slowSeconds = slowSeconds
    self.isLocked = isLocked
    self.isArchived = isArchived
    self.isSolvable = isSolvable
    self.showsRevisions = showsRevisions
    self.callURL = callURL
    self.room = room
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.lastMessage = lastMessage
    self.revision = revision
  }
}
