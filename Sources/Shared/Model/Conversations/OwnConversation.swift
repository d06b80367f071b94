/// Conversation with the members that belong to one user.
public struct OwnConversation: Sendable, Hashable {
  /// The members that all readers see.
  public var conversation: Conversation
  /// Newest message that this user may read.
  public var lastMessage: MessageView?
  /// At most `ConversationHead.maxUnread`.
  public var unread: Int
  /// Last `seq` that the user has read, and last `seq` delivered to a device of the user.
  public var readSeq: Int
  /// The last `seq` delivered to a device of the user; 0 for none.
  public var deliveredSeq: Int
  /// Offset of the last event of its stream.
  public var lastOffset: Int
  /// The user's notification level, set or by default.
  public var level: Level
  /// Nil for readers that are not participants.
  public var participation: Participation?

  /// Role and history of a user in a conversation.
  public struct Participation: Sendable, Hashable {
    /// The role of the user as a participant.
    public var role: ParticipantRole
    /// Start of this user's history.
    public var fromSeq: Int
    /// The offset of the first event that the user may read in the stream of the conversation.
    public var fromOffset: Int
    /// `lastSeq` when the user joined; messages up to it do not count as unread.
    public var joinedSeq: Int
    /// Message request from an unknown user, still pending.
    public var isRequest: Bool

    /// A participation, with the start of the user's history by `seq` and by offset.
    public init(role: ParticipantRole, fromSeq: Int, fromOffset: Int, joinedSeq: Int, isRequest: Bool) {
      self.role = role
      self.fromSeq = fromSeq
      self.fromOffset = fromOffset
      self.joinedSeq = joinedSeq
      self.isRequest = isRequest
    }
  }

  /// A conversation as one user sees it.
  public init(
    _ conversation: Conversation, lastMessage: MessageView?, unread: Int, readSeq: Int, deliveredSeq: Int,
    lastOffset: Int,
    level: Level, participation: Participation?
  ) {
    self.conversation = conversation
    self.lastMessage = lastMessage
    self.unread = unread
    self.readSeq = readSeq
    self.deliveredSeq = deliveredSeq
    self.lastOffset = lastOffset
    self.level = level
    self.participation = participation
  }
}

/// Conversation that a user has joined: its public members and the user's participation.
public struct GainedConversation: Sendable, Hashable {
  /// The members that all readers see.
  public var conversation: Conversation
  /// Nil for the owner of a feed: owners are not participants.
  public var participation: OwnConversation.Participation?
  /// Read position from an earlier participation.
  public var readPosition: ReadPosition

  /// A joined conversation; the read position is 0 for a user without an earlier participation.
  public init(
    _ conversation: Conversation, _ participation: OwnConversation.Participation?,
    _ readPosition: ReadPosition = ReadPosition()
  ) {
    self.conversation = conversation
    self.participation = participation
    self.readPosition = readPosition
  }
}
