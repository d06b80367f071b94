public import ParleyJSON

/// A forum or a conversation that somebody follows, and what is new in it.
public struct UnreadItem: Sendable, Hashable {
  public var kind: Kind
  public var forum: ID<Forum>?
  /// A forum's is its room.
  public var conversation: ID<Conversation>
  /// At most `ConversationHead.maxUnread`.
  public var unread: Int
  public var firstUnread: ID<Message>?
  /// Topics of a forum that others began and the user has not looked into; at most `maxTopics`.
  public var newTopics: Int
  /// What of it waits in the inbox.
  public var mentions: Int
  public var replies: Int
  /// Where its last message stands among all.
  public var lastMessage: ID<Message>?

  /// Among how many of a forum's newest topics those are counted that are new to somebody.
  public static let maxTopics = 1_000

  public enum Kind: Sendable, Hashable {
    case forum
    case conversation(Conversation.Kind)
  }

  public init(_ kind: Kind, _ conversation: ID<Conversation>, forum: ID<Forum>?) {
    self.kind = kind
    self.conversation = conversation
    self.forum = forum
    (unread, newTopics, mentions, replies) = (0, 0, 0, 0)
  }

  public var isEmpty: Bool { unread == 0 && newTopics == 0 && mentions == 0 && replies == 0 }

  /// Whether it comes before another: by who calls, then by who answers, then by what is newest.
  public func isMorePressing(than other: UnreadItem) -> Bool {
    let one = (mentions, replies, lastMessage?.number ?? 0, conversation.number)
    return one > (other.mentions, other.replies, other.lastMessage?.number ?? 0, other.conversation.number)
  }
}

extension UnreadItem: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      switch kind {
      case .forum: json.field("kind", "forum")
      case .conversation(let kind): json.field("kind", kind.rawValue)
      }
      json.field("forum_id", forum)
      json.field("conversation_id", conversation)
      json.field("unread_count", unread)
      json.field("first_unread", firstUnread)
      json.field("new_topics", newTopics)
      json.field("mentions", mentions)
      json.field("replies", replies)
    }
  }
}
