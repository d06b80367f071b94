public import ParleyJSON

/// Followed forum or conversation with unread content.
public struct UnreadItem: Sendable, Hashable {
  /// A forum, or a conversation of a kind.
  public var kind: Kind
  /// The id of the forum; nil for a conversation outside of forums.
  public var forum: ID<Forum>?
  /// For a forum, its room.
  public var conversation: ID<Conversation>
  /// The title of a topic, a group or a channel.
  public var title: String?
  /// At most `ConversationHead.maxUnread`.
  public var unread: Int
  /// The id of the first unread message; nil without one.
  public var firstUnread: ID<Message>?
  /// Topics that other users started and this user has not opened; at most `maxTopics`.
  public var newTopics: Int
  /// The first of the new topics: pinned ones, then those with most messages; at most `maxListed`.
  public var topics: [ListedTopic]
  /// The newest unread mention or reply, otherwise the first unread message.
  public var message: MessageView?
  /// Unread notifications of this forum or conversation.
  public var mentions: Int
  /// Unread notifications of replies in this forum or conversation.
  public var replies: Int
  /// Newest message, for the sort order.
  public var lastMessage: ID<Message>?

  /// Number of newest topics of a forum that are checked for new ones.
  public static let maxTopics = 1_000
  /// Upper bound of the number of `topics`.
  public static let maxListed = 5
  /// Older topics are not new, in milliseconds.
  public static let maxTopicAge: Int64 = 30 * 24 * 3_600 * 1_000

  /// A forum with its room, or a single conversation.
  public enum Kind: Sendable, Hashable {
    /// A forum: its room and its new topics.
    case forum
    /// A conversation, of this kind.
    case conversation(Conversation.Kind)
  }

  /// An item without unread content, to which the counts are added.
  public init(_ kind: Kind, _ conversation: ID<Conversation>, forum: ID<Forum>?) {
    self.kind = kind
    self.conversation = conversation
    self.forum = forum
    (unread, newTopics, mentions, replies) = (0, 0, 0, 0)
    topics = []
  }

  /// Whether all counts are 0.
  public var isEmpty: Bool { unread == 0 && newTopics == 0 && mentions == 0 && replies == 0 }

  /// Sort key, the greatest first: mentions, then replies, then the newest message.
  public var urgency: [Int] { [mentions, replies, lastMessage?.number ?? 0, conversation.number] }

  /// Whether the item comes before another one in the list, by `urgency`.
  public func isMorePressing(than other: UnreadItem) -> Bool { other.urgency.lexicographicallyPrecedes(urgency) }
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
      json.field("title", title)
      json.field("unread_count", unread)
      json.field("first_unread", firstUnread)
      json.field("new_topics", newTopics)
      json.field("topics", topics)
      json.field("mentions", mentions)
      json.field("replies", replies)
      json.field("message", message)
    }
  }
}
