public import ParleyJSON

/// Ordered stream of messages. Members that depend on the viewer are in `OwnConversation`.
public struct Conversation: Sendable, Hashable {
  /// The id of the conversation.
  public var id: ID<Conversation>
  /// The kind, set at the creation.
  public var kind: Kind
  /// The forum of a room or a topic.
  public var forum: ID<Forum>?
  /// Owner of a feed.
  public var owner: ID<User>?
  /// The title of a topic, a group or a channel; nil without one.
  public var title: String?
  /// Type of an app's channel, such as `com.example.todo`.
  public var type: String?
  /// A JSON array.
  public var annotations = JSONRaw(trusted: Array("[]".utf8))
  /// The audience that may read besides the participants.
  public var readers: Openness
  /// The audience that may write besides the participants.
  public var writers: Openness
  /// Whether new participants read earlier messages.
  public var isHistoryVisible = true
  /// Minimum seconds between two messages of a user; 0 for no limit.
  public var slowSeconds = 0
  /// Whether only moderators of the conversation may write and react.
  public var isLocked = false
  /// Whether a topic is listed before the other topics of its forum; false for other kinds.
  public var isPinned: Bool
  /// The message marked as the topic's solution.
  public var solvedBy: ID<Message>?
  /// The tags of a topic.
  /// In lower case and without `#`, at most `Topic.maxTags`; empty for other kinds.
  public package(set) var tags: [String] = []
  /// Unique for its kind and participants.
  public var isDistinct: Bool
  /// The `seq` of the newest message; 0 without messages.
  public var lastSeq: Int
  /// The id of the newest message; nil without messages.
  public var lastMessage: ID<Message>?
  /// The id of the creator.
  public var createdBy: ID<User>
  /// The time of the creation, in milliseconds since 1970.
  public var createdAt: Int64
  /// Increases with each change; messages and participants do not change it.
  public var revision: Int
  /// Counted up to `maxCounted`; nil in a forum, which counts its members instead.
  public var participantCount: Int?
  /// Nil for more than `maxListed` participants.
  public var participants: [Participant]?

  /// Upper bound of the participants in a response.
  public static let maxListed = 50
  /// Upper bound of `participantCount`.
  public static let maxCounted = 1_000

  /// The purpose of a conversation, which decides its rights and members.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The live room of a forum, and a titled topic in it.
    case room, topic
    /// For two users; for several; for an app or announcements, with a type.
    case direct, group, channel
    /// Posts of one user for followers.
    case feed
  }

  /// Audience beside the participants. Participants always read, and always write except with the role `reader`.
  public struct Openness: Sendable, Hashable {
    /// The audience: all users and visitors, all users except guests, or the participants only.
    public var audience: Audience
    /// Final: neither the audience nor the list of participants can change.
    public var isImmutable: Bool

    /// Readers or writers of a conversation; by default the participants only, and not final.
    public init(_ audience: Audience = .listed, isImmutable: Bool = false) {
      self.audience = audience
      self.isImmutable = isImmutable
    }
  }

  /// A conversation; its annotations, history, slow mode, lock and tags have default values.
  public init(
    id: ID<Conversation>, kind: Kind, forum: ID<Forum>? = nil, owner: ID<User>? = nil, title: String? = nil,
    type: String? = nil, readers: Openness = Openness(), writers: Openness = Openness(), isPinned: Bool = false,
    solvedBy: ID<Message>? = nil, isDistinct: Bool = false, lastSeq: Int = 0, lastMessage: ID<Message>? = nil,
    createdBy: ID<User>, createdAt: Int64, revision: Int = 1, participantCount: Int? = nil,
    participants: [Participant]? = nil
  ) {
    self.id = id
    self.kind = kind
    self.forum = forum
    self.owner = owner
    self.title = title
    self.type = type
    self.readers = readers
    self.writers = writers
    self.isPinned = isPinned
    self.solvedBy = solvedBy
    self.isDistinct = isDistinct
    self.lastSeq = lastSeq
    self.lastMessage = lastMessage
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.revision = revision
    self.participantCount = participantCount
    self.participants = participants
  }
}

extension Conversation: Record {
  /// Default values: the base of a `Patch`.
  public static let blank = Conversation(id: ID(0), kind: .group, createdBy: ID(0), createdAt: 0)

  /// `readers` and `writers` are objects of their own, of which a PATCH may change a part.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Conversation>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("title", &title, \.title)
    try visitor.field("annotations", &annotations, \.annotations)
    try visitor.field("history_visible", &isHistoryVisible, \.isHistoryVisible)
    try visitor.field("slow_seconds", &slowSeconds, \.slowSeconds, in: Forum.slowness)
    try visitor.field("locked", &isLocked, \.isLocked)
  }
}

extension Conversation.Openness: Record {
  /// Readers or writers with default values: the base of a `Patch`.
  public static let blank = Conversation.Openness()

  /// Passes the audience and its finality to a visitor, by the names of their JSON members.
  @inlinable
  public mutating func visitFields<Visitor: FieldVisitor<Conversation.Openness>>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.field("open_to", &audience, \.audience)
    try visitor.field("immutable", &isImmutable, \.isImmutable)
  }
}

extension Conversation.Kind {
  /// Users can join and leave.
  public var isJoined: Bool { self == .group || self == .channel }
  /// The forum decides about its permissions.
  public var isInForum: Bool { self == .room || self == .topic }
}

/// A conversation as the caller sees it: visitors get no members of `OwnConversation`.
public enum ConversationView: Sendable {
  /// The members for all readers, for callers without an account.
  case forVisitor(Conversation)
  /// The members for all readers, and those of the signed-in user.
  case forUser(OwnConversation)

  /// ETag of the view. Every change in a conversation raises the offset of its stream; a mute or block changes the unread
  /// count, and a star the last message.
  public var tag: String {
    switch self {
    case .forVisitor(let seen): return "\(seen.revision)-\(seen.lastSeq)-\(seen.participantCount ?? 0)"
    case .forUser(let own):
      let positions = "\(own.readSeq)-\(own.deliveredSeq)-\(own.unread)-\(own.level.rawValue)"
      let part = own.participation.map { "-\($0.fromSeq)\($0.isRequest ? "-request" : "")" } ?? ""
      return "\(own.conversation.revision)-\(own.lastOffset)-\(positions)\(part)-\(own.lastMessage?.tag ?? "none")"
    }
  }
}

extension ConversationView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    switch self {
    case .forVisitor(let conversation): json.value(conversation)
    case .forUser(let own): json.value(own)
    }
  }
}
