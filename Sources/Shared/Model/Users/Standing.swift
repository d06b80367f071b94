// The facts that decide what somebody may do somewhere. Storage reads them, in the transaction that acts on them; what
// follows from them is said in one place, by the community.

/// Who may see a forum.
public enum Visibility: String, Sendable, Hashable, CaseIterable {
  case `public`, members, `private`
}

/// Who may do something in a forum.
public enum ForumPolicy: String, Sendable, Hashable, CaseIterable {
  /// Every user who may read it.
  case readers
  case members, moderators
}

public enum ForumRole: String, Sendable, Hashable, CaseIterable {
  case member, moderator, admin
}

/// Who may read or write a channel or a feed, beside its participants.
public enum Audience: String, Sendable, Hashable, CaseIterable {
  /// Whoever comes, signed in or not.
  case anyone
  /// Every user with an user that is not a guest.
  case users
  /// The participants alone.
  case listed
}

public enum ParticipantRole: String, Sendable, Hashable, CaseIterable {
  /// Reads, and does not write.
  case reader
  case member, admin
}

/// Somebody and a forum.
public struct ForumStanding: Sendable, Hashable {
  public var visibility: Visibility
  public var write: ForumPolicy
  public var startTopics: ForumPolicy
  public var roomMention: ForumPolicy
  public var isLocked: Bool
  public var isArchived: Bool
  /// Nil for who is not a member.
  public var role: ForumRole?
  /// Told to be quiet, here or everywhere.
  public var isSilenced: Bool

  public init(
    visibility: Visibility, write: ForumPolicy = .readers, startTopics: ForumPolicy = .readers,
    roomMention: ForumPolicy = .moderators, isLocked: Bool = false, isArchived: Bool = false, role: ForumRole? = nil,
    isSilenced: Bool = false
  ) {
    self.visibility = visibility
    self.write = write
    self.startTopics = startTopics
    self.roomMention = roomMention
    self.isLocked = isLocked
    self.isArchived = isArchived
    self.role = role
    self.isSilenced = isSilenced
  }
}

/// Somebody and a conversation.
public struct Standing: Sendable, Hashable {
  public var kind: Conversation.Kind
  public var isLocked: Bool
  public var readers: Audience
  public var writers: Audience
  /// Of a room or a topic.
  public var forum: ForumStanding?
  /// Nil for who is not a participant.
  public var participant: Participation?
  public var isOwner: Bool
  /// Told to be quiet, here or everywhere.
  public var isSilenced: Bool
  /// In a conversation of two: one has blocked the other.
  public var isBlocked: Bool
  /// Where history begins for those who read because it is open to users with an user, and for everyone else.
  public var usersFromSeq: Int
  public var anyoneFromSeq: Int
  /// Where it begins for a member of the forum, who may have come in when only what was said later was open.
  public var memberFromSeq: Int

  public struct Participation: Sendable, Hashable {
    public var role: ParticipantRole
    public var fromSeq: Int
    /// A stranger's first message that was not taken yet.
    public var isRequest: Bool

    public init(role: ParticipantRole = .member, fromSeq: Int = 1, isRequest: Bool = false) {
      self.role = role
      self.fromSeq = fromSeq
      self.isRequest = isRequest
    }
  }

  public init(
    kind: Conversation.Kind, isLocked: Bool = false, readers: Audience = .listed, writers: Audience = .listed,
    forum: ForumStanding? = nil, participant: Participation? = nil, isOwner: Bool = false, isSilenced: Bool = false,
    isBlocked: Bool = false, usersFromSeq: Int = 1, anyoneFromSeq: Int = 1,
    memberFromSeq: Int = 1
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
  }
}
