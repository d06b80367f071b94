public import ParleyJSON

/// A stream of messages in one order. What depends on the viewer is in `OwnConversation`.
public struct Conversation: Sendable, Hashable {
  public var id: ID<Conversation>
  public var kind: Kind
  /// Of a room or a topic.
  public var forum: ID<Forum>?
  /// Whose feed it is.
  public var owner: ID<User>?
  public var title: String?
  /// What an app calls its kind of channel, such as `com.example.todo`.
  public var type: String?
  /// A JSON array.
  public var annotations: JSONRaw
  public var readers: Openness
  public var writers: Openness
  /// Whether who is added reads what was said before.
  public var isHistoryVisible: Bool
  /// Seconds that a user waits between two messages; 0 for none.
  public var slowSeconds: Int
  public var isLocked: Bool
  public var isPinned: Bool
  /// The message that solved the topic.
  public var solvedBy: ID<Message>?
  /// The only one of its kind with these participants.
  public var isDistinct: Bool
  public var lastSeq: Int
  public var lastMessage: ID<Message>?
  public var createdBy: ID<User>
  public var createdAt: Int64
  /// Each change makes it greater; messages and participants do not.
  public var revision: Int
  /// Counted up to `maxCounted`; nil where the forum's members are counted instead.
  public var participantCount: Int?
  /// All of them, where they are few; nil where there are more than `maxListed`.
  public var participants: [Participant]?

  public static let maxListed = 50
  public static let maxCounted = 1_000

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The live conversation of a forum, and a titled one in it.
    case room, topic
    /// Of two users; of several; of an app or an announcement, with a type of its own.
    case direct, group, channel
    /// What one user posts for those who follow.
    case feed
  }

  /// To whom reading or writing is open beside those who are listed: of the participants, all read, and all write who are
  /// no readers.
  public struct Openness: Sendable, Hashable {
    public var audience: Audience
    /// Settled for good: neither the audience nor who is listed changes any more.
    public var isImmutable: Bool

    public init(_ audience: Audience = .listed, isImmutable: Bool = false) {
      self.audience = audience
      self.isImmutable = isImmutable
    }
  }

  public init(
    id: ID<Conversation>, kind: Kind, forum: ID<Forum>? = nil, owner: ID<User>? = nil, title: String? = nil,
    type: String? = nil, annotations: JSONRaw = JSONRaw(trusted: Array("[]".utf8)), readers: Openness = Openness(),
    writers: Openness = Openness(), isHistoryVisible: Bool = true, slowSeconds: Int = 0, isLocked: Bool = false,
    isPinned: Bool = false, solvedBy: ID<Message>? = nil, isDistinct: Bool = false, lastSeq: Int = 0,
    lastMessage: ID<Message>? = nil, createdBy: ID<User>, createdAt: Int64, revision: Int = 1,
    participantCount: Int? = nil, participants: [Participant]? = nil
  ) {
    self.id = id
    self.kind = kind
    self.forum = forum
    self.owner = owner
    self.title = title
    self.type = type
    self.annotations = annotations
    self.readers = readers
    self.writers = writers
    self.isHistoryVisible = isHistoryVisible
    self.slowSeconds = slowSeconds
    self.isLocked = isLocked
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

extension Conversation.Kind {
  /// It has participants who come and go by themselves.
  public var isJoined: Bool { self == .group || self == .channel }
  /// Its rights come from a forum.
  public var isInForum: Bool { self == .room || self == .topic }
}
