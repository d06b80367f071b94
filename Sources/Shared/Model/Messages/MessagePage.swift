public import ParleyJSON

/// Which messages of a conversation are asked for.
public struct MessageQuery: Sendable, Hashable {
  public var conversation: ID<Conversation>
  public var window = Window.all
  /// How the page is sorted. It says where a page begins only when `window` is `all`.
  public var order = Order.descending
  public var limit = 50
  /// Where the viewer's history begins. What was said before is as if it were not there.
  public var fromSeq = 1
  public var includesDeleted = true
  public var includesMachineOnly = true
  /// Leaves out the authors whom this user has muted.
  public var viewer: ID<User>?

  public static let maxMessages = 200

  public init(
    _ conversation: ID<Conversation>, _ window: Window = .all, order: Order = .descending, limit: Int = 50
  ) {
    self.conversation = conversation
    self.window = window
    self.order = order
    self.limit = limit
  }

  /// Bounds are exclusive. With `after`, the page holds the oldest of the window, so that what comes next follows
  /// without a hole; otherwise the newest.
  public enum Window: Sendable, Hashable {
    case all
    case between(after: ID<Message>?, before: ID<Message>?)
    /// Milliseconds since 1970: everything from the first message, by `seq`, that is later than `after`, and everything
    /// before the first that is not earlier than `before`. So `after: t - 1` and `before: t` share out a conversation,
    /// wherever the clock went back.
    case betweenTimes(after: Int64?, before: Int64?)
    /// This message, and as many on either side as the limit allows.
    case around(ID<Message>)
  }

  public enum Order: String, Sendable {
    case ascending = "asc"
    case descending = "desc"
  }
}

/// Some messages of a conversation that follow one another, with what a reader needs to know that nothing was lost.
public struct MessagePage: Sendable, Hashable {
  public var messages: [Message]
  /// Whether the window holds a message beyond the page.
  public var hasMore: Bool
  /// The nearest message on either side of the page that the same filters let through, within the window or not.
  public var nextOlder: ID<Message>?
  public var nextNewer: ID<Message>?
  /// What was left out between the messages of the page, and at its ends as far as the window goes when there is no
  /// more. In the order of the conversation.
  public var skipped: [Skipped]
  /// Those of the messages on which somebody has set a readPosition, of whatever kind.
  public var marked: [ID<Message>]
  /// The conversation's last, whatever the filters.
  public var latestSeq: Int
  /// The event that was the log's last when the page was read: what comes later is not in the page.
  public var lastEvent: Int

  public init(
    messages: [Message], hasMore: Bool, nextOlder: ID<Message>?, nextNewer: ID<Message>?, skipped: [Skipped],
    marked: [ID<Message>], latestSeq: Int, lastEvent: Int
  ) {
    self.messages = messages
    self.hasMore = hasMore
    self.nextOlder = nextOlder
    self.nextNewer = nextNewer
    self.skipped = skipped
    self.marked = marked
    self.latestSeq = latestSeq
    self.lastEvent = lastEvent
  }

  public struct Skipped: Sendable, Hashable {
    public var seqs: ClosedRange<Int>
    public var reason: Reason

    public init(_ seqs: ClosedRange<Int>, _ reason: Reason) {
      self.seqs = seqs
      self.reason = reason
    }

    public enum Reason: String, Sendable {
      case beforeJoining = "before_joining"
      case deleted
      case machineOnly = "machine_only"
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
