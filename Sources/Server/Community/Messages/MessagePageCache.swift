import ParleyJSON
import ParleyModel
import Synchronization

/// Pages of messages as JSON, shared by their readers. Reading and encoding the rows is nine tenths of a page's cost.
///
/// A page is valid for one offset of its conversation's stream: every change of a message appends an event to that
/// stream in the same transaction. Stars do not, and belong to one reader: what depends on the reader is not in here.
final class MessagePageCache: Sendable {
  struct Page: Sendable {
    let page: MessagePage
    /// Views without a viewer, and the JSON of each.
    let views: [MessageView]
    let texts: [JSONRaw]

    init(_ page: MessagePage) {
      self.page = page
      views = page.messages.map { MessageView($0) }
      texts = views.map { view in
        var json = JSONWriter()
        json.value(view)
        return JSONRaw(trusted: json.bytes)
      }
    }

    fileprivate var size: Int { zip(views, texts).reduce(0) { $0 + $1.0.message.size + $1.1.bytes.count } }
  }

  private struct Entry {
    let page: Page
    let offset: Int
    let size: Int
  }

  private struct State {
    var entries: [MessageQuery: Entry] = [:]
    var size = 0

    mutating func remove(_ query: MessageQuery) {
      if let entry = entries.removeValue(forKey: query) { size -= entry.size }
    }
  }

  private let state = Mutex(State())

  /// Bytes of the texts and of their JSON.
  static let maxBytes = 8 << 20
  static let maxPageBytes = 512 << 10

  /// The page at this offset of the conversation's stream.
  func page(_ query: MessageQuery, at offset: Int) -> Page? {
    state.withLock { state in
      guard let entry = state.entries[query] else { return nil }
      if entry.offset == offset { return entry.page }
      // A loop with an older snapshot keeps the newer page.
      if entry.offset < offset { state.remove(query) }
      return nil
    }
  }

  func add(_ page: Page, for query: MessageQuery, at offset: Int) {
    let size = page.size
    guard size <= Self.maxPageBytes else { return }
    state.withLock { state in
      if let known = state.entries[query], known.offset >= offset { return }
      state.remove(query)
      // Clear the cache: pages that many readers share are soon back.
      if state.size + size > Self.maxBytes { state = State() }
      state.entries[query] = Entry(page: page, offset: offset, size: size)
      state.size += size
    }
  }

  /// Bytes of all pages.
  var size: Int { state.withLock { $0.size } }
}
