/// Conversation with the members that belong to one user.
public struct OwnConversation: Sendable, Hashable {
  public var conversation: Conversation
  /// Newest message that this user may read.
  public var lastMessage: MessageView?
  /// At most `ConversationHead.maxUnread`.
  public var unread: Int
  /// Last `seq` that the user has read, and last `seq` delivered to a device of the user.
  public var readSeq: Int
  public var deliveredSeq: Int
  /// Offset of the last event of its stream.
  public var lastOffset: Int
  public var level: Level
  /// Nil for readers that are not participants.
  public var participation: Participation?

  public struct Participation: Sendable, Hashable {
    public var role: ParticipantRole
    /// Start of this user's history.
    public var fromSeq: Int
    public var fromOffset: Int
    /// `lastSeq` when the user joined; messages up to it do not count as unread.
    public var joinedSeq: Int
    /// Message request from an unknown user, still pending.
    public var isRequest: Bool

    public init(role: ParticipantRole, fromSeq: Int, fromOffset: Int, joinedSeq: Int, isRequest: Bool) {
      self.role = role
      self.fromSeq = fromSeq
      self.fromOffset = fromOffset
      self.joinedSeq = joinedSeq
      self.isRequest = isRequest
    }
  }

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
  public var conversation: Conversation
  /// Nil for the owner of a feed: owners are not participants.
  public var participation: OwnConversation.Participation?
  /// Read position from an earlier participation.
  public var readPosition: ReadPosition

  public init(
    _ conversation: Conversation, _ participation: OwnConversation.Participation?,
    _ readPosition: ReadPosition = ReadPosition()
  ) {
    self.conversation = conversation
    self.participation = participation
    self.readPosition = readPosition
  }
}
