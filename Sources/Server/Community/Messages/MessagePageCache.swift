import ParleyModel
import Synchronization

/// A page of messages before the fields that depend on the caller.
struct SharedMessagePage: Sendable {
  let page: MessagePage
  let encoded: [EncodedMessage]

  init(_ page: MessagePage) {
    self.page = page
    encoded = page.messages.map { EncodedMessage($0) }
  }

  /// The approximate size in memory: the messages and their JSON.
  var size: Int { encoded.reduce(512) { $0 + 2 * $1.size + 512 } }
}

/// Pages of the current version of the store, shared by the requests of all callers: of a room that many open at once, after
/// a restart or by a link. Each commit empties the cache. A page is stored at its second request, so that a busy site does
/// not encode pages that are read once.
final class MessagePageCache: Sendable {
  private struct State {
    var version = 0
    var pages: [MessageQuery: SharedMessagePage] = [:]
    var size = 0
    /// Queries that were read once.
    var seen: Set<MessageQuery> = []
  }

  enum Lookup {
    case found(SharedMessagePage)
    /// Absent. `isRepeated` if it was requested before.
    case missing(isRepeated: Bool)
  }

  private let state = Mutex(State())
  private let maxBytes: Int
  private static let maxSeen = 1_024

  init(maxBytes: Int = 8 << 20) { self.maxBytes = maxBytes }

  /// - Parameter version: the version of the store before the transaction of the caller began.
  func page(_ query: MessageQuery, at version: Int) -> Lookup {
    state.withLock { state in
      if version > state.version { state = State(version: version) }
      guard version == state.version else { return .missing(isRepeated: false) }
      if let page = state.pages[query] { return .found(page) }
      if state.seen.count >= Self.maxSeen { state.seen = [] }
      return .missing(isRepeated: !state.seen.insert(query).inserted)
    }
  }

  func add(_ page: SharedMessagePage, for query: MessageQuery, at version: Int) {
    let size = page.size
    guard size <= maxBytes else { return }
    state.withLock { state in
      guard version == state.version, state.pages[query] == nil else { return }
      if state.size + size > maxBytes { (state.pages, state.size) = ([:], 0) }
      state.pages[query] = page
      state.size += size
    }
  }
}
