import ParleyModel
import PubSub
import Synchronization

/// What was told of the log last, as it was encoded. When all come back at once, after a restart or a lost network, most
/// have missed the same; with this each of them costs a look for the place, and not every message read and written anew.
/// Whoever misses the same in all that they follow shares whole pages; the others, the texts of events.
///
/// It holds for one end of the log. Whatever changes what an event tells is an event itself, in the same transaction, so
/// with the next one all of it is forgotten.
final class ToldEvents: Sendable {
  struct Key: Hashable {
    let event: Int
    let reader: StreamReader
  }

  /// Where somebody stands in a stream that has moved, and as whom they read it.
  struct Start: Hashable {
    let stream: EventStream
    let offset: Int
    let reader: StreamReader?

    init(_ stream: EventStream, _ offset: Int, _ reader: StreamReader?) {
      (self.stream, self.offset, self.reader) = (stream, offset, reader)
    }
  }

  /// What somebody asks for. With one end of the log it says what they get.
  struct Missed: Hashable {
    /// By the numbers of the streams.
    let starts: [Start]
    let bounds: PageBounds
  }

  struct Page {
    var content = CatchUpPage.Content([])
    var hasMore: Bool
    /// Nil for the end of the log.
    var through: Int?
    /// How far each stream comes that has something in it.
    var ends: [EventStream: Int] = [:]
    /// Whether others may get just this.
    var isForMany = false
  }

  fileprivate struct State {
    var head = 0
    var pages: [Missed: Page] = [:]
    var pageSize = 0
    var texts: [Key: [UInt8]] = [:]
    var size = 0
  }

  private let state = Mutex(State())

  /// Of JSON. What does not fit is read anew each time.
  static let mostBytes = 4 << 20
  /// Of JSON in pages; what was put together of them for sockets comes to that.
  static let mostPageBytes = 4 << 20
  static let mostPages = 64

  func texts(at head: Int) -> [Key: [UInt8]] { state.withLock { $0.head == head ? $0.texts : [:] } }

  func page(_ missed: Missed, at head: Int) -> Page? { state.withLock { $0.head == head ? $0.pages[missed] : nil } }

  func add(_ page: Page, for missed: Missed, at head: Int) {
    state.withLock { state in
      guard state.move(to: head), state.pages[missed] == nil else { return }
      let size = page.content.items.reduce(0) { $0 + $1.text.count }
      // Those that nobody shares give way to those that many do, which are soon here again.
      if state.pages.count >= Self.mostPages || state.pageSize + size > Self.mostPageBytes {
        (state.pages, state.pageSize) = ([:], 0)
      }
      state.pages[missed] = page
      state.pageSize += size
    }
  }

  func add(_ texts: [Key: [UInt8]], at head: Int) {
    state.withLock { state in
      guard state.move(to: head) else { return }
      for (key, text) in texts where state.size + text.count <= Self.mostBytes && state.texts[key] == nil {
        state.texts[key] = text
        state.size += text.count
      }
    }
  }
}

extension ToldEvents.State {
  /// False for a slower reader, who has still seen an older end.
  fileprivate mutating func move(to head: Int) -> Bool {
    if head > self.head { self = Self(head: head) }
    return head == self.head
  }
}
