import ParleyModel
import ParleyNetworking
import Storage

/// Read benchmarks of a planted store, repeated on one thread, as on an event loop.
extension BenchStore {
  enum PagePosition: String, CaseIterable {
    case newest, middle
  }

  /// Fifty messages of the long conversation.
  func page(_ position: PagePosition, seconds: Double) throws -> Histogram {
    let reader = store.reader()
    let query = try query(position, reader)
    return try Self.repeated(seconds) {
      let page = try reader.read { snapshot throws(Refusal) in try snapshot.messages(query) }
      guard page.messages.count == query.limit else { throw LoadError(description: "The page is not full.") }
    }
  }

  private func query(_ position: PagePosition, _ reader: Reader) throws -> MessageQuery {
    let first = MessageQuery(Self.long, order: .ascending, limit: 1)
    let page = try reader.read { snapshot throws(Refusal) in try snapshot.messages(first) }
    guard let oldest = page.messages.first else { throw LoadError(description: "The conversation is empty.") }
    return switch position {
    case .newest: MessageQuery(Self.long)
    // Planted messages have consecutive ids.
    case .middle:
      MessageQuery(Self.long, .between(after: nil, before: ID(oldest.id.number + page.latestSeq / 2)))
    }
  }

  /// Fifty hits, newest first, every second search from a random position. Without `text`, searches the hashtag.
  func search(_ text: String?, in conversations: [ID<Conversation>], seconds: Double) throws -> Histogram {
    let reader = store.reader()
    let latest = try reader.read { snapshot throws(Refusal) in try snapshot.messages(MessageQuery(Self.long)) }.newest
    var phrases = Phrases(seed: 1)
    let scopes = conversations.map { SearchScope.conversation($0) }
    var search = MessageSearch(try text.map { try SearchQuery($0) }, in: scopes)
    if text == nil { search.features = [.hashtag(Self.hashtag)] }
    search.limit = 50
    return try Self.repeated(seconds) {
      search.before = search.before == nil ? ID(phrases.number(below: latest)) : nil
      let query = search
      _ = try reader.read { snapshot throws(Refusal) in try snapshot.search(query) }
    }
  }

  /// The inbox of a user with unread notifications: fifty entries with their messages, and the unread count.
  func inbox(seconds: Double) throws -> Histogram {
    let reader = store.reader()
    var phrases = Phrases(seed: 1)
    let recipients = try (Self.users + Self.readers).filter { user in
      try !reader.read { snapshot throws(Refusal) in try snapshot.inbox(of: user, isUnread: true, ListSlice(limit: 1)) }
        .isEmpty
    }
    guard !recipients.isEmpty else { throw LoadError(description: "No user has unread notifications.") }
    return try Self.repeated(seconds) {
      let user = recipients[phrases.number(below: recipients.count)]
      let count = try reader.read { snapshot throws(Refusal) in
        let page = try snapshot.inbox(of: user, ListSlice(limit: 50))
        _ = try snapshot.messages(page.compactMap(\.message))
        return try snapshot.inbox(of: user, isUnread: true, ListSlice(limit: InboxCounts.maxCounted)).count
      }
      guard count > 0 else { throw LoadError(description: "User \(user) has no unread notifications.") }
    }
  }

  /// Opens an existing store.
  static func open(_ folder: String, seconds: Double) async throws -> Histogram {
    let end = Clock.monotonic() + Int64(seconds * 1e9)
    var times = Histogram()
    repeat {
      let start = Clock.monotonic()
      let store = try BenchStore(folder).store
      times.record(Clock.monotonic() - start)
      await store.close()
    } while Clock.monotonic() < end
    return times
  }

  private static func repeated(_ seconds: Double, _ body: () throws -> Void) rethrows -> Histogram {
    var times = Histogram()
    var now = Clock.monotonic()
    let end = now + Int64(seconds * 1e9)
    while now < end {
      try body()
      let after = Clock.monotonic()
      times.record(after - now)
      now = after
    }
    return times
  }
}

extension MessagePage {
  /// The greatest id on the page.
  fileprivate var newest: Int { messages.map(\.id.number).max() ?? 0 }
}
