/// A place for a subject: one live room, and topics.
public struct Forum: Sendable, Hashable {
  public let id: ID<Forum>
  public var title: String
  public var about: String
  public var iconURL: String?
  /// Wins over the address.
  public var icon: ID<File>?
  public var visibility: Visibility
  public var write: ForumPolicy
  public var startTopics: ForumPolicy
  /// Who rings all members at once.
  public var roomMention: ForumPolicy
  /// A heading under which it stands, and where; for those who look after the place to set.
  public var section: String?
  public var position: Int
  /// Seconds that a user waits between two messages; 0 for none.
  public var slowSeconds: Int
  public var isLocked: Bool
  public var isArchived: Bool
  /// Whether topics can be marked as solved.
  public var isSolvable: Bool
  /// Whether everyone may see what edited messages said before.
  public var showsRevisions: Bool
  /// Where its users meet by voice.
  public var callURL: String?
  public let room: ID<Conversation>
  public let createdBy: ID<User>
  public let createdAt: Int64
  /// The newest message anywhere in it.
  public var lastMessage: ID<Message>?
  public var revision: Int

  /// Where it stands among the others, newest first. Ids grow with time, so one without messages stands where it was made.
  public var activity: Int { max(lastMessage?.number ?? 0, id.number) }

  public static let positions = 0...1_000_000
  /// So far behind the one before it a forum stands where nobody says otherwise, so that another fits between.
  public static let positionStep = 10
  /// A day.
  public static let slowness = 0...86_400
  /// Nobody counts members further than this.
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

  /// A title, or a part of one, as it is looked for: without case, and Latin letters without accents.
  public static func key(_ title: String) -> String {
    var key = String.UnicodeScalarView()
    for scalar in title.unicodeScalars { key.append(SearchFolding.fold(scalar)) }
    return String(key)
  }
}

/// A forum as one viewer sees it.
public struct ForumView: Sendable, Hashable {
  public var forum: Forum
  /// What the viewer is in it; nil for who is not a member.
  public var role: ForumRole?
  /// At most `Forum.maxCounted`; in the single thing only, for who may know its members.
  public var memberCount: Int?
  /// How many messages a wider visibility has opened to those whom it let in; in the answer to that change only.
  public var opened: Int?
  /// What takes it from those who may read no longer, where a visibility has narrowed; in the answer to that change only.
  public var job: ID<Job>?

  public init(_ forum: Forum, role: ForumRole? = nil, memberCount: Int? = nil, opened: Int? = nil) {
    self.forum = forum
    self.role = role
    self.memberCount = memberCount
    self.opened = opened
  }
}
