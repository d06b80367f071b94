public import ParleyModel
import Synchronization

/// A page of the event log after a cursor, read with the rights at the time of reading.
public struct CatchUpPage: Sendable {
  public struct Item: Sendable {
    public let event: Int
    public let stream: EventStream
    public let offset: Int
    /// JSON.
    public let text: [UInt8]

    public init(event: Int, stream: EventStream, offset: Int, text: [UInt8]) {
      self.event = event
      self.stream = stream
      self.offset = offset
      self.text = text
    }
  }

  /// The items of a page, shared with other clients that missed the same events.
  public final class Content: Sendable {
    /// Ordered by event id.
    public let items: [Item]
    /// The cached frames.
    private let framed = Mutex<(plain: [UInt8]?, compressed: [UInt8]?)>((nil, nil))

    public init(_ items: [Item]) { self.items = items }

    /// All items as WebSocket messages, encoded on first use.
    public func frames(isCompressed: Bool, _ frame: (Item) -> [UInt8]) -> [UInt8] {
      framed.withLock { framed in
        if let known = isCompressed ? framed.compressed : framed.plain { return known }
        let frames = items.flatMap { frame($0) }
        if isCompressed { framed.compressed = frames } else { framed.plain = frames }
        return frames
      }
    }
  }

  public var content: Content
  /// Whether the content comes from a cache.
  public var isShared = false
  /// Every event up to this id is in this page or an earlier one.
  public var through: Int
  public var hasMore: Bool
  /// All streams of the requested topics.
  public var streams: [EventStream: SubscribedStream]
  /// Topics that the caller cannot read.
  public var lost: [LiveTopic]
  /// The origins of feeds that the timeline lacks: users without a feed, and feeds that the caller may not read.
  public var awaited: Set<EventStream> = []

  public var items: [Item] { content.items }

  public init(
    _ content: Content = Content([]), through: Int, hasMore: Bool = false,
    streams: [EventStream: SubscribedStream] = [:],
    lost: [LiveTopic] = []
  ) {
    self.content = content
    self.through = through
    self.hasMore = hasMore
    self.streams = streams
    self.lost = lost
  }
}

/// A stream as one client is subscribed to it.
public struct SubscribedStream: Sendable, Hashable {
  /// The reader's rights. Events that are not open to them are sent reduced.
  public var reader: StreamReader
  public var readAccess: ReadAccess
  /// Whether the stream belongs to the topic `me`.
  public var isOfMe: Bool
  /// Whether the stream belongs to the topic `timeline`.
  public var isOfTimeline = false
  /// Subscribed for access changes only; events are not sent.
  public var isQuiet: Bool

  /// The reason why the client may read the stream.
  public enum ReadAccess: Sendable, Hashable {
    /// The client is a participant or the owner.
    case own
    /// The conversation is open.
    case open
    case forum(ID<Forum>)
  }

  public init(_ reader: StreamReader, _ readAccess: ReadAccess, isOfMe: Bool = false, isQuiet: Bool = false) {
    self.reader = reader
    self.readAccess = readAccess
    self.isOfMe = isOfMe
    self.isQuiet = isQuiet
  }
}

/// The result of a catch-up read.
public enum CatchUp: Sendable {
  case page(CatchUpPage)
  /// The log cannot be replayed from the position. Later events continue from `head`.
  case reset(ResetReason, head: Int)
}
