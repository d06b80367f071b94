public import ParleyJSON

/// Query for messages of a conversation.
public struct MessageQuery: Sendable, Hashable {
  /// The conversation of the messages.
  public var conversation: ID<Conversation>
  /// The part of the conversation to read; default: all.
  public var window = Window.all
  /// Sort order of the page. It decides which end the page starts at only when `window` is `all`.
  public var order = Order.descending
  /// The maximum number of messages on the page; default: 50.
  public var limit = 50
  /// The page ends at this size of its messages, see `Message.size`. A single message may exceed it.
  public var maxBytes = 1 << 20
  /// Start of the viewer's history. Earlier messages are treated as absent.
  public var fromSeq = 1
  /// Whether tombstones are on the page.
  public var includesDeleted = true
  /// Whether messages for programs are on the page.
  public var includesMachineOnly = true
  /// Excludes authors muted by this user.
  public var viewer: ID<User>?

  /// The maximum number of messages on a page.
  public static let maxMessages = 200

  /// A query for a page of a conversation, by default of its newest 50 messages.
  public init(
    _ conversation: ID<Conversation>, _ window: Window = .all, order: Order = .descending, limit: Int = 50
  ) {
    self.conversation = conversation
    self.window = window
    self.order = order
    self.limit = limit
  }

  /// The limit of a page that ends within `maxBytes`, if one of `count` messages is larger. Nil for a single message.
  public func smallerLimit(than count: Int, of bytes: Int) -> Int? {
    guard bytes > maxBytes, count > 1 else { return nil }
    return max(1, min(count - 1, count * maxBytes / bytes))
  }

  /// Bounds are exclusive. With `after`, the page has the oldest messages of the window, so that it continues without a
  /// gap; otherwise the newest.
  public enum Window: Sendable, Hashable {
    /// All messages.
    case all
    /// The messages between two others, both excluded.
    case between(after: ID<Message>?, before: ID<Message>?)
    /// Milliseconds since 1970: everything from the first message, by `seq`, that is later than `after`, and everything
    /// before the first that is not earlier than `before`. So `after: t - 1` and `before: t` partition a conversation,
    /// even if the clock went back.
    case betweenTimes(after: Int64?, before: Int64?)
    /// This message, and as many on either side as the limit allows.
    case around(ID<Message>)
    /// The first message, by `seq`, that is not earlier than this time, and its neighbours; the newest messages if there
    /// is none.
    case aroundTime(Int64)
    /// The page next to another one. `in` keeps to a range of `seq`.
    case older(than: Int, in: Range<Int>?)
    /// The messages after a `seq`, in a range.
    case newer(than: Int, in: Range<Int>?)
  }

  /// Sort order by `seq`.
  public enum Order: String, Sendable {
    /// By `seq`, the oldest first.
    case ascending = "asc"
    /// By `seq`, the newest first.
    case descending = "desc"
  }
}

/// Consecutive messages of a conversation, with the data for detecting gaps.
public struct MessagePage: Sendable, Hashable {
  /// The messages in the order of the query.
  public var messages: [Message]
  /// The windows of the neighbouring pages; nil if no message there passes the filters. A window with a bound at both
  /// ends has no neighbours beyond them.
  public var older: MessageQuery.Window?
  /// The window of the page with newer messages; nil if no newer message passes the filters.
  public var newer: MessageQuery.Window?
  /// Ranges filtered out between the messages of the page and, unless the limit cut it, up to the ends of the window.
  /// In the order of the conversation.
  public var skipped: [Skipped]
  /// Messages of the page with at least one action of any type.
  public var marked: [ID<Message>]
  /// Messages of the page with a poll.
  public var polled: [ID<Message>]
  /// The last `seq` of the conversation, regardless of filters.
  public var latestSeq: Int
  /// Last event of the log when the page was read; the page excludes later events.
  public var lastEvent: Int

  /// The result of a query.
  public init(
    messages: [Message], older: MessageQuery.Window?, newer: MessageQuery.Window?, skipped: [Skipped],
    marked: [ID<Message>], polled: [ID<Message>] = [], latestSeq: Int, lastEvent: Int
  ) {
    self.messages = messages
    self.older = older
    self.newer = newer
    self.skipped = skipped
    self.marked = marked
    self.polled = polled
    self.latestSeq = latestSeq
    self.lastEvent = lastEvent
  }

  /// Messages between those of a page that a filter left out.
  public struct Skipped: Sendable, Hashable {
    /// The range of `seq` of the messages.
    public var seqs: ClosedRange<Int>
    /// The filter that left out the messages.
    public var reason: Reason

    /// A range of messages that a filter left out.
    public init(_ seqs: ClosedRange<Int>, _ reason: Reason) {
      self.seqs = seqs
      self.reason = reason
    }

    /// The filter that left out messages of a page.
    public enum Reason: String, Sendable {
      /// The reader's history begins later.
      case beforeJoining = "before_joining"
      /// Tombstones were excluded by the request.
      case deleted
      /// Messages for programs were excluded by the request.
      case machineOnly = "machine_only"
      /// The reader mutes the author.
      case muted
      /// More than one of the filters.
      case several
    }
  }
}

extension MessagePage.Skipped: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("from_seq", seqs.lowerBound)
      json.field("to_seq", seqs.upperBound)
      json.field("reason", reason.rawValue)
    }
  }
}
