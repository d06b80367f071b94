/// Where a conversation stands, and how far one user has come in it.
public struct ConversationHead: Sendable, Hashable {
  public var conversation: ID<Conversation>
  public var lastSeq: Int
  /// Nil where this user may see none yet.
  public var lastMessage: ID<Message>?
  /// The offset of its stream's last event.
  public var lastOffset: Int
  public var readSeq: Int
  /// At most `maxUnread`.
  public var unread: Int

  /// Nobody counts further than this.
  public static let maxUnread = 1_000

  /// After which message a count of the unread starts: what is not later was read, was said before the user came in, or is
  /// before their history.
  public static func unreadStart(readSeq: Int, joinedSeq: Int, fromSeq: Int) -> Int {
    max(readSeq, joinedSeq, fromSeq - 1)
  }

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
