/// Forum for a subject: one live room, and topics.
public struct Forum: Sendable, Hashable {
  public let id: ID<Forum>
  public var title: String
  public var about: String
  public var iconURL: String?
  /// Overrides `iconURL`.
  public var icon: ID<File>?
  public var visibility: Visibility
  public var write: ForumPolicy
  public var startTopics: ForumPolicy
  /// Permission to mention all members at once.
  public var roomMention: ForumPolicy
  /// Section heading and position in the list; only staff may set them.
  public var section: String?
  public var position: Int
  /// Minimum seconds between two messages of a user; 0 for no limit.
  public var slowSeconds: Int
  public var isLocked: Bool
  public var isArchived: Bool
  /// Whether topics can be marked as solved.
  public var isSolvable: Bool
  /// Whether all readers may see previous revisions of edited messages.
  public var showsRevisions: Bool
  /// Address of the forum's voice call.
  public var callURL: String?
  public let room: ID<Conversation>
  public let createdBy: ID<User>
  public let createdAt: Int64
  /// Newest message in the room or a topic.
  public var lastMessage: ID<Message>?
  public var revision: Int

  /// Sort key for "newest activity first". Ids grow with time, so a forum without messages sorts by its creation.
  public var activity: Int { max(lastMessage?.number ?? 0, id.number) }

  public static let positions = 0...1_000_000
  /// Default gap between the positions of two forums, so that another fits between.
  public static let positionStep = 10
  /// Range of `slowSeconds`, up to a day.
  public static let slowness = 0...86_400
  /// Upper bound of member counts.
  public static let maxCounted = 1_000

  public init(
    id: ID<Forum>, title: String, about: String = "", iconURL: String? = nil, icon: ID<File>? = nil,
    visibility: Visibility,
    write: ForumPolicy = .readers, startTopics: ForumPolicy = .readers, roomMention: ForumPolicy = .moderators,
    section: String? = nil, position: Int = 0, slowSeconds: Int = 0, isLocked: Bool = false, isArchived: Bool = false,
    isSolvable: Bool = false, showsRevisions: Bool = false, callURL: String? = nil, room: ID<Conversation>,
    createdBy: ID<User>, createdAt: Int64, lastMessage: ID<Message>? = nil, revision: Int = 1
  ) {
    self.id = id
    self.title = title
    self.about = about
    self.iconURL = iconURL
    self.icon = icon
    self.visibility = visibility
    self.write = write
    self.startTopics = startTopics
    self.roomMention = roomMention
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

  /// Search key of a title or a part of one: case-folded, Latin letters without accents.
  public static func key(_ title: String) -> String {
    var key = String.UnicodeScalarView()
    for scalar in title.unicodeScalars { key.append(SearchFolding.fold(scalar)) }
    return String(key)
  }
}

/// A forum as one viewer sees it.
public struct ForumView: Sendable, Hashable {
  public var forum: Forum
  /// The viewer's role; nil for non-members.
  public var role: ForumRole?
  /// At most `Forum.maxCounted`. Only in the single forum, for viewers that may list its members.
  public var memberCount: Int?
  /// Number of messages that a wider visibility has opened to new readers; only in the response to that change.
  public var opened: Int?
  /// Job that revokes access after a narrower visibility; only in the response to that change.
  public var job: ID<Job>?

  public init(_ forum: Forum, role: ForumRole? = nil, memberCount: Int? = nil, opened: Int? = nil) {
    self.forum = forum
    self.role = role
    self.memberCount = memberCount
    self.opened = opened
  }
}
