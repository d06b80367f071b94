/// End of a conversation, with the user's read position.
public struct ConversationHead: Sendable, Hashable {
  /// The id of the conversation.
  public var conversation: ID<Conversation>
  /// The `seq` of the newest message; 0 without messages.
  public var lastSeq: Int
  /// Nil while no message is visible to this user.
  public var lastMessage: ID<Message>?
  /// Offset of the last event of its stream.
  public var lastOffset: Int
  /// The last `seq` that the user has read; 0 for none.
  public var readSeq: Int
  /// At most `maxUnread`.
  public var unread: Int

  /// Upper bound of unread counts.
  public static let maxUnread = 1_000

  /// `seq` after which unread messages are counted: earlier ones were read, precede the user's joining, or precede the
  /// user's history.
  public static func unreadStart(readSeq: Int, joinedSeq: Int, fromSeq: Int) -> Int {
    max(readSeq, joinedSeq, fromSeq - 1)
  }

  /// The end of a conversation and the read position of one user in it.
  public init(
    conversation: ID<Conversation>, lastSeq: Int, lastMessage: ID<Message>?, lastOffset: Int, readSeq: Int, unread: Int
  ) {
    self.conversation = conversation
    self.lastSeq = lastSeq
    self.lastMessage = lastMessage
    self.lastOffset = lastOffset
    self.readSeq = readSeq
    self.unread = unread
  }
}
