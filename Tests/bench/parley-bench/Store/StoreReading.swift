import ParleyModel
import ParleyNetworking
import Storage

/// What is asked of a planted store, over and over, on one thread, as an event loop asks.
extension BenchStore {
  enum PagePlace: String, CaseIterable {
    case newest, middle
  }

  /// Fifty messages of the long conversation.
  func page(_ place: PagePlace, seconds: Double) throws -> Histogram {
    let reader = store.reader()
    let query = try query(place, reader)
    return try Self.repeated(seconds) {
      let page = try reader.read { picture throws(Refusal) in try picture.messages(query) }
      guard page.messages.count == query.limit else { throw LoadError(description: "The page is not full.") }
    }
  }

  private func query(_ place: PagePlace, _ reader: Reader) throws -> MessageQuery {
    let first = MessageQuery(Self.long, order: .ascending, limit: 1)
    let page = try reader.read { picture throws(Refusal) in try picture.messages(first) }
    guard let oldest = page.messages.first else { throw LoadError(description: "The conversation is empty.") }
    return switch place {
    case .newest: MessageQuery(Self.long)
    // They were planted in a row, and so have ids in a row.
    case .middle:
      MessageQuery(Self.long, .between(after: nil, before: ID(oldest.id.number + page.latestSeq / 2)))
    }
  }

  /// Fifty hits, newest first; every second time from somewhere on. Without words, of the hashtag.
  func search(_ text: String?, in places: [ID<Conversation>], seconds: Double) throws -> Histogram {
    let reader = store.reader()
    let latest = try reader.read { picture throws(Refusal) in try picture.messages(MessageQuery(Self.long)) }.newest
    var phrases = Phrases(seed: 1)
    let scopes = places.map { SearchScope.conversation($0) }
    var search = MessageSearch(try text.map { try SearchQuery($0) }, in: scopes)
    if text == nil { search.features = [.hashtag(Self.hashtag)] }
    search.limit = 50
    return try Self.repeated(seconds) {
      search.before = search.before == nil ? ID(phrases.number(below: latest)) : nil
      let query = search
      _ = try reader.read { picture throws(Refusal) in try picture.search(query) }
    }
  }

  /// What waits for somebody for whom something waits: fifty entries with their messages, and how many are unread.
  func inbox(seconds: Double) throws -> Histogram {
    let reader = store.reader()
    var phrases = Phrases(seed: 1)
    let rung = try (Self.people + Self.readers).filter { person in
      try !reader.read { picture throws(Refusal) in try picture.inbox(of: person, isUnread: true, limit: 1) }.isEmpty
    }
    guard !rung.isEmpty else { throw LoadError(description: "Nothing waits for anybody.") }
    return try Self.repeated(seconds) {
      let person = rung[phrases.number(below: rung.count)]
      let count = try reader.read { picture throws(Refusal) in
        let page = try picture.inbox(of: person, limit: 50)
        _ = try picture.messages(page.compactMap(\.message))
        return try picture.inbox(of: person, isUnread: true, limit: InboxCounts.most).count
      }
      guard count > 0 else { throw LoadError(description: "Nothing waits for person \(person).") }
    }
  }

  /// How long it takes until a place that is there can be used.
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
