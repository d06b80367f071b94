public import ParleyModel
import Synchronization

/// Part of what happened since a cursor, read from the log by the rights of the moment of reading.
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

  /// What happened, shared with the pages of others who missed the same.
  public final class Content: Sendable {
    /// By the ids of the events.
    public let items: [Item]
    /// The second are compressed.
    private let framed = Mutex<(plain: [UInt8]?, compressed: [UInt8]?)>((nil, nil))

    public init(_ items: [Item]) { self.items = items }

    /// All of it as messages of a WebSocket, put together when it is first asked for.
    public func frames(isCompressed: Bool, _ frame: ([UInt8]) -> [UInt8]) -> [UInt8] {
      framed.withLock { framed in
        if let known = isCompressed ? framed.compressed : framed.plain { return known }
        let frames = items.flatMap { frame($0.text) }
        if isCompressed { framed.compressed = frames } else { framed.plain = frames }
        return frames
      }
    }
  }

  public var content: Content
  /// Somebody else was given the same content before.
  public var isShared = false
  /// Everything up to here is in it, or was in one before.
  public var through: Int
  public var hasMore: Bool
  /// Every stream of the topics that were asked for.
  public var streams: [EventStream: FollowedStream]
  /// Topics that are not there for the one who asks.
  public var lost: [LiveTopic]

  public var items: [Item] { content.items }

  public init(
    _ content: Content = Content([]), through: Int, hasMore: Bool = false, streams: [EventStream: FollowedStream] = [:],
    lost: [LiveTopic] = []
  ) {
    self.content = content
    self.through = through
    self.hasMore = hasMore
    self.streams = streams
    self.lost = lost
  }
}

/// How somebody follows a stream.
public struct FollowedStream: Sendable, Hashable {
  /// Who they are there: what is not open to them reaches them reduced.
  public var reader: StreamReader
  public var ground: Ground
  /// Whether it belongs to the topic `me`.
  public var isOfMe: Bool
  /// Watched for what it says of one's rights, and not sent.
  public var isQuiet: Bool

  /// Why somebody may read it.
  public enum Ground: Sendable, Hashable {
    /// They belong to it.
    case own
    /// It is open.
    case open
    case forum(ID<Forum>)
  }

  public init(_ reader: StreamReader, _ ground: Ground, isOfMe: Bool = false, isQuiet: Bool = false) {
    self.reader = reader
    self.ground = ground
    self.isOfMe = isOfMe
    self.isQuiet = isQuiet
  }
}

/// What reading on gives.
public enum CatchUp: Sendable {
  case page(CatchUpPage)
  /// It can't be told. What follows goes on from `head`.
  case reset(ResetReason, head: Int)
}
