/// A conversation as one user has it.
public struct OwnConversation: Sendable, Hashable {
  public var conversation: Conversation
  /// The newest that this user may read.
  public var lastMessage: MessageView?
  /// At most `ConversationHead.maxUnread`.
  public var unread: Int
  /// The last `seq` that the user has read, and that a device of theirs has.
  public var readSeq: Int
  public var deliveredSeq: Int
  /// The offset of its stream's last event.
  public var lastOffset: Int
  public var level: Level
  /// Nil for who reads without taking part.
  public var participation: Participation?

  public struct Participation: Sendable, Hashable {
    public var role: ParticipantRole
    /// Where this user's history begins.
    public var fromSeq: Int
    public var fromOffset: Int
    /// What was the last when this user came in: up to there nothing waits to be read.
    public var joinedSeq: Int
    /// A stranger's, that was not taken yet.
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
