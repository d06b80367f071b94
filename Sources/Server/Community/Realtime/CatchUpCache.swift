import ParleyModel
import PubSub
import Synchronization

/// The state of a client between two catch-up pages: its streams and their positions. As long as the log does not grow,
/// the next page reuses it.
///
/// Valid for one log head only. Every change of read access appends an event in the same transaction, so with the next
/// event the entry is stale and is read again with the rights of that moment.
public final class CatchUpCache: Sendable {
  /// The request of a page and the position it starts from.
  struct Key: Hashable {
    let head: Int
    /// Every event up to this id was sent.
    let event: Int
    let topics: [LiveTopic]
    let user: ID<User>?
    let role: Role?
    /// The forums that the token reaches.
    let forums: Set<ID<Forum>>?

    func moved(to event: Int) -> Self {
      Self(head: head, event: event, topics: topics, user: user, role: role, forums: forums)
    }
  }

  struct Entry {
    var expanded: Expanded
    /// Ordered by stream number.
    var sources: [Source]

    /// Advances the sources to the offsets that the page has reached.
    mutating func advance(to ends: [EventStream: Int]) {
      for index in sources.indices {
        if let end = ends[sources[index].head.stream] { sources[index].offset = end }
      }
      sources.removeAll { $0.offset >= $0.head.offset }
    }
  }

  struct Expanded {
    var streams: [EventStream: SubscribedStream] = [:]
    var lost: [LiveTopic] = []
    var awaited: Set<EventStream> = []
    /// Streams that became unreadable after the position. The client gets the events up to the one that says so, and is
    /// not subscribed.
    var ended: [EventStream: SubscribedStream] = [:]
    /// The first readable offset, if not 1.
    var fromOffsets: [EventStream: Int] = [:]

    /// All streams of which a page may have events.
    var readStreams: [EventStream: SubscribedStream] {
      ended.isEmpty ? streams : streams.merging(ended) { one, _ in one }
    }

    func reader(of stream: EventStream) -> StreamReader? { (streams[stream] ?? ended[stream])?.reader }
  }

  /// A stream with new events, and the offset after which to read.
  struct Source {
    /// The last event to read.
    let head: StreamHead
    var offset: Int
  }

  private let cached = Mutex<(key: Key, entry: Entry)?>(nil)

  public init() {}

  func entry(for key: Key) -> Entry? {
    cached.withLock { $0.flatMap { $0.key == key ? $0.entry : nil } }
  }

  func store(_ entry: Entry, for key: Key) { cached.withLock { $0 = (key, entry) } }
}
