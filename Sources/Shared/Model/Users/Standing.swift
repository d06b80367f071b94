// Facts for permission checks. Storage reads them in the transaction that depends on them; only the community derives
// permissions from them.

/// Readers of a forum.
public enum Visibility: String, Sendable, Hashable, CaseIterable {
  /// Everyone, all users except guests, or the members alone.
  case `public`, members, `private`
}

/// Users with a permission in a forum.
public enum ForumPolicy: String, Sendable, Hashable, CaseIterable {
  /// Every user with read access.
  case readers
  /// The members of the forum, or its moderators.
  case members, moderators
}

/// Access to a forum by a group of users, beside the forum's own readers and writers.
public enum GroupAccess: String, Sendable, Hashable, CaseIterable {
  /// Members of the group may read.
  case read
  /// Read, write and start topics.
  case write
}

/// Role of a member in a forum: moderators moderate its content, and admins manage the forum besides.
public enum ForumRole: String, Sendable, Hashable, CaseIterable {
  /// Roles in a forum, by rising rights.
  case member, moderator, admin
}

/// Readers or writers of a channel or a feed, beside its participants.
public enum Audience: String, Sendable, Hashable, CaseIterable {
  /// All users and visitors.
  case anyone
  /// All users except guests.
  case users
  /// Participants only.
  case listed
}

/// Role of a participant in a conversation: admins manage it.
public enum ParticipantRole: String, Sendable, Hashable, CaseIterable {
  /// Can read, but not write.
  case reader
  /// Roles in a conversation.
  case member, admin
}

/// Facts about a user in a forum.
public struct ForumStanding: Sendable, Hashable {
  /// The readers of the forum.
  public var visibility: Visibility
  /// The users that may write in the room and in topics.
  public var write: ForumPolicy
  /// The users that may start topics.
  public var startTopics: ForumPolicy
  /// The users that may notify all members with `@room`, if they may write.
  public var roomMention: ForumPolicy
  /// Whether the forum is locked: moderators alone write.
  public var isLocked: Bool
  /// Whether the forum is archived: no user writes in it.
  public var isArchived: Bool
  /// Nil for non-members.
  public var role: ForumRole?
  /// The widest access by a group of the user.
  public var groupAccess: GroupAccess?
  /// Silenced in this forum or on the whole site.
  public var isSilenced: Bool

  /// The facts by which rights in a forum are derived; by default a non-member of an open forum.
  public init(
    visibility: Visibility, write: ForumPolicy = .readers, startTopics: ForumPolicy = .readers,
    roomMention: ForumPolicy = .moderators, isLocked: Bool = false, isArchived: Bool = false, role: ForumRole? = nil,
    groupAccess: GroupAccess? = nil, isSilenced: Bool = false
  ) {
    self.visibility = visibility
    self.write = write
    self.startTopics = startTopics
    self.roomMention = roomMention
    self.isLocked = isLocked
    self.isArchived = isArchived
    self.role = role
    self.groupAccess = groupAccess
    self.isSilenced = isSilenced
  }

  /// The facts of a forum, for a user with this role and this access by groups who is not silenced.
  public init(_ forum: Forum, role: ForumRole? = nil, groupAccess: GroupAccess? = nil) {
    self.init(
      visibility: forum.visibility, write: forum.write, startTopics: forum.startTopics, roomMention: forum.roomMention,
      isLocked: forum.isLocked, isArchived: forum.isArchived, role: role, groupAccess: groupAccess)
  }
}

/// Facts about a user in a conversation.
public struct Standing: Sendable, Hashable {
  /// The kind of the conversation.
  public var kind: Conversation.Kind
  /// Whether the conversation is locked: its moderators alone write.
  public var isLocked: Bool
  /// The readers besides the participants.
  public var readers: Audience
  /// The writers besides the participants.
  public var writers: Audience
  /// Access by the forum of a room or a topic.
  public var forum: ForumStanding?
  /// Nil for non-participants.
  public var participant: Participation?
  /// Whether the user owns the conversation.
  public var isOwner: Bool
  /// Silenced in this forum or on the whole site.
  public var isSilenced: Bool
  /// Either has blocked the other: in a conversation of two, or the user and the owner of a feed.
  public var isBlocked: Bool
  /// Start of history for readers by an audience of users, and for readers by an audience of anyone.
  public var usersFromSeq: Int
  /// Start of history for readers by an audience of anyone, such as visitors and guests; `seq` 1 for the whole history.
  public var anyoneFromSeq: Int
  /// Start of history for a forum member, later than the first message if the member joined with limited history.
  public var memberFromSeq: Int
  /// Slow mode: seconds between two messages of a user; 0 without it.
  public var slowSeconds: Int

  /// Facts about a participant of a conversation.
  public struct Participation: Sendable, Hashable {
    /// The role of the participant.
    public var role: ParticipantRole
    /// The `seq` of the first message that the participant may read; 1 for the whole history.
    public var fromSeq: Int
    /// Message request from an unknown user, still pending.
    public var isRequest: Bool

    /// The facts of a participant, by default a member that reads the whole history.
    public init(role: ParticipantRole = .member, fromSeq: Int = 1, isRequest: Bool = false) {
      self.role = role
      self.fromSeq = fromSeq
      self.isRequest = isRequest
    }
  }

  /// The facts by which rights in a conversation are derived; by default a non-participant of an unlocked one.
  public init(
    kind: Conversation.Kind, isLocked: Bool = false, readers: Audience = .listed, writers: Audience = .listed,
    forum: ForumStanding? = nil, participant: Participation? = nil, isOwner: Bool = false, isSilenced: Bool = false,
    isBlocked: Bool = false, usersFromSeq: Int = 1, anyoneFromSeq: Int = 1,
    memberFromSeq: Int = 1, slowSeconds: Int = 0
  ) {
    self.kind = kind
    self.isLocked = isLocked
    self.readers = readers
    self.writers = writers
    self.forum = forum
    self.participant = participant
    self.isOwner = isOwner
    self.isSilenced = isSilenced
    self.isBlocked = isBlocked
    self.usersFromSeq = usersFromSeq
    self.anyoneFromSeq = anyoneFromSeq
    self.memberFromSeq = memberFromSeq
    self.slowSeconds = slowSeconds
  }
}

/// Relation of a sender and the recipient of a first message.
public struct Acquaintance: Sendable, Hashable {
  /// The recipient's setting.
  public var reachableBy: Reach
  /// Either has blocked the other.
  public var isBlocked: Bool
  /// The recipient follows the sender.
  public var isFollowed: Bool
  /// Both are in the same forum or conversation.
  public var isTogether: Bool

  /// The facts by which a first message is accepted, made a request or refused; by default of strangers.
  public init(
    reachableBy: Reach = .anyone, isBlocked: Bool = false, isFollowed: Bool = false, isTogether: Bool = false
  ) {
    self.reachableBy = reachableBy
    self.isBlocked = isBlocked
    self.isFollowed = isFollowed
    self.isTogether = isTogether
  }
}

/// Facts about a user from the caller's view.
public struct UserStanding: Sendable, Hashable {
  /// Role of the requested user.
  public var role: Role
  /// State of the requested user.
  public var state: UserState
  /// The requested user is the caller.
  public var isSelf: Bool
  /// Both are in the same forum or conversation.
  public var isTogether: Bool
  /// The requested user participates in a public forum or conversation.
  public var isInPublic: Bool
  /// Either has blocked the other.
  public var isBlocked: Bool

  /// The facts by which rights over a user are derived; by default an active user without a relation to the caller.
  public init(
    role: Role, state: UserState = .active, isSelf: Bool = false, isTogether: Bool = false, isInPublic: Bool = false,
    isBlocked: Bool = false
  ) {
    self.role = role
    self.state = state
    self.isSelf = isSelf
    self.isTogether = isTogether
    self.isInPublic = isInPublic
    self.isBlocked = isBlocked
  }
}
