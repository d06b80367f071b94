import ParleyModel
import PubSub
import Synchronization

/// The events last read from the log, encoded. After a restart or a network outage all clients reconnect at once and
/// most have missed the same events; a cache hit saves reading and encoding each message again. Clients with the same
/// position in all their streams share whole pages, others share the texts of events.
///
/// Valid for one log head only. Every change of an event's content appends an event in the same transaction, so the
/// next event invalidates the cache.
final class EncodedEventCache: Sendable {
  struct Key: Hashable {
    let event: Int
    let reader: StreamReader
  }

  /// A position in a stream with new events, and the reader's rights.
  struct Start: Hashable {
    let stream: EventStream
    let offset: Int
    let reader: StreamReader?

    init(_ stream: EventStream, _ offset: Int, _ reader: StreamReader?) {
      (self.stream, self.offset, self.reader) = (stream, offset, reader)
    }
  }

  /// The request of a page. Together with the log head it determines the content.
  struct PageKey: Hashable {
    /// Ordered by stream number.
    let starts: [Start]
    let bounds: PageBounds
  }

  struct Page {
    var content = CatchUpPage.Content([])
    var hasMore: Bool
    /// Nil for the end of the log.
    var through: Int?
    /// The last offset of each stream in the page.
    var ends: [EventStream: Int] = [:]
    /// Whether other clients may get the same page.
    var isShareable = false
  }

  fileprivate struct State {
    var head = 0
    var pages: [PageKey: Page] = [:]
    var pageSize = 0
    var texts: [Key: [UInt8]] = [:]
    var size = 0
  }

  private let state = Mutex(State())

  /// Bytes of JSON. Texts beyond it are not cached.
  static let maxTextBytes = 4 << 20
  /// Bytes of JSON in pages. The cached frames add up to the same size again.
  static let maxPageBytes = 4 << 20
  static let maxPages = 64

  func texts(at head: Int) -> [Key: [UInt8]] { state.withLock { $0.head == head ? $0.texts : [:] } }

  func page(_ key: PageKey, at head: Int) -> Page? { state.withLock { $0.head == head ? $0.pages[key] : nil } }

  func add(_ page: Page, for key: PageKey, at head: Int) {
    state.withLock { state in
      guard state.move(to: head), state.pages[key] == nil else { return }
      let size = page.content.items.reduce(0) { $0 + $1.text.count }
      // Clear the cache: pages that many clients share are soon back.
      if state.pages.count >= Self.maxPages || state.pageSize + size > Self.maxPageBytes {
        (state.pages, state.pageSize) = ([:], 0)
      }
      state.pages[key] = page
      state.pageSize += size
    }
  }

  func add(_ texts: [Key: [UInt8]], at head: Int) {
    state.withLock { state in
      guard state.move(to: head) else { return }
      for (key, text) in texts where state.size + text.count <= Self.maxTextBytes && state.texts[key] == nil {
        state.texts[key] = text
        state.size += text.count
      }
    }
  }
}

extension EncodedEventCache.State {
  /// Moves to a newer head. False if the caller has read an older one.
  fileprivate mutating func move(to head: Int) -> Bool {
    if head > self.head { self = Self(head: head) }
    return head == self.head
  }
}
