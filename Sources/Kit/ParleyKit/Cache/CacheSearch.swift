// Search in the cache, without the server. Unsent messages are included.

public import ParleyModel

/// The found messages, newest displayed date first, and those that the app's filter excluded.
public struct SearchResult: Sendable, Hashable {
  /// The hits.
  public var messages: [ShownMessage]
  /// Hits that the caller's filter has excluded.
  public var excluded: [ShownMessage] = []
  /// The next page begins here; nil at the end. A date alone would skip messages that have the same one.
  public var next: CacheQuery.Position?
}

extension Cache {
  /// Searches the texts for a query as the user typed it.
  ///
  /// - Parameter language: the code of its language, whose word forms are found, too.
  public func search(
    _ text: String, language: String? = nil, in conversation: ID<Conversation>? = nil, since: Int64? = nil,
    before: Int64? = nil,
    next: CacheQuery.Position? = nil, limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> SearchResult {
    var query = CacheQuery(in: conversation, limit: limit)
    query.words = try SearchQuery(text, language: language)
    (query.notBefore, query.before, query.next) = (since, before, next)
    return try find(query, isIncluded)
  }

  /// Searches the names of locations for a query as the user typed it.
  public func searchLocations(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    next: CacheQuery.Position? = nil, limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> SearchResult {
    var query = CacheQuery(in: conversation, limit: limit)
    query.locationName = try SearchQuery(text)
    (query.notBefore, query.before, query.next) = (since, before, next)
    return try find(query, isIncluded)
  }

  /// Finds the messages with all of the features.
  public func find(
    _ features: [MessageFeature], in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    next: CacheQuery.Position? = nil, limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> SearchResult {
    var query = CacheQuery(in: conversation, limit: limit)
    query.features = features
    (query.notBefore, query.before, query.next) = (since, before, next)
    return try find(query, isIncluded)
  }

  /// The messages of a conversation by displayed date.
  public func messagesByDate(
    in conversation: ID<Conversation>, since: Int64? = nil, before: Int64? = nil,
    next: CacheQuery.Position? = nil, limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> SearchResult {
    var query = CacheQuery(in: conversation, limit: limit)
    (query.notBefore, query.before, query.next) = (since, before, next)
    return try find(query, isIncluded)
  }

  /// The newest cached messages of a conversation by `seq`, with tombstones, ignoring gaps. Unsent messages come last.
  public func newest(_ limit: Int, in conversation: ID<Conversation>) throws(CacheFault) -> [ShownMessage] {
    let stored = shown(try messages(.range(1...Int.max, of: conversation, .descending, limit: limit)).reversed())
    let known = Set(stored.map(\.identity))
    return (stored + unsent(in: conversation).filter { !known.contains($0.identity) }).suffix(limit)
  }

  /// The cached messages with an action of the user, by displayed date.
  /// - Parameter next: the position after the last message of the previous page.
  public func messagesWithAction(
    _ type: ActionType, in conversation: ID<Conversation>, before: Int64? = nil, next: CacheQuery.Position? = nil,
    limit: Int = 50
  ) throws -> [ShownMessage] {
    try messagesWithAction(type, in: conversation, before: before, next: next, limit: limit, page: 500)
  }

  /// Whether the user's action is set or pending in the outbox.
  public func hasAction(_ type: ActionType, on target: Draft.Target) throws(CacheFault) -> Bool {
    switch target {
    case .message(let id): try shown(messages(.ids([id]))).first?.mine.contains(type) ?? false
    case .unsent(let name): unsent(in: nil).first { $0.target == .unsent(name) }?.mine.contains(type) ?? false
    }
  }

  /// Actions are not indexed, because they change without the message. This scans `page` messages at a time.
  func messagesWithAction(
    _ type: ActionType, in conversation: ID<Conversation>, before: Int64?, next: CacheQuery.Position? = nil, limit: Int,
    page: Int
  ) throws(CacheFault) -> [ShownMessage] {
    var query = CacheQuery(in: conversation, limit: page)
    (query.before, query.next) = (before, next)
    let unsent = unsent(query).filter { $0.mine.contains(type) && !$0.isDeleted }
    var found: [ShownMessage] = []
    while found.count < limit {
      let page = try messages(query)
      found += shown(page).filter { $0.mine.contains(type) && !$0.isDeleted }
      guard page.count == query.limit, let last = page.last else { break }
      query.next = .init(after: last)
    }
    return Array(Self.merged(found, unsent.filter { next?.isBefore(unsent: $0) ?? true }).prefix(limit))
  }

  /// Both by displayed date, newest first. With equal dates the last posted message comes first.
  private static func merged(_ sent: [ShownMessage], _ unsent: [ShownMessage]) -> [ShownMessage] {
    var all: [ShownMessage] = []
    var pending = unsent.reversed().sorted { $0.displayDate > $1.displayDate }[...]
    for message in sent {
      while let next = pending.first, next.displayDate >= message.displayDate {
        all.append(next)
        pending.removeFirst()
      }
      all.append(message)
    }
    return all + pending
  }

  /// The cached user; nil if it is not cached.
  public func user(_ id: ID<User>) -> User? {
    replica.me?.summary.id == id ? replica.me : replica.users[id]
  }

  private func find(
    _ query: CacheQuery, _ isIncluded: (@Sendable (ShownMessage) -> Bool)?
  ) throws(CacheFault) -> SearchResult {
    let stored = try messages(query)
    let sent = shown(stored).filter { !$0.isDeleted }
    let known = Set(sent.map(\.identity))
    // More messages may come between the last stored one and those that are older.
    let end = stored.count == query.limit ? stored.last : nil
    let pending = unsent(query).filter { shown in
      !shown.isDeleted && !known.contains(shown.identity) && query.next?.isBefore(unsent: shown) ?? true
        && end.map { shown.displayDate >= $0.index.shownAt } ?? true
    }
    let found = Self.merged(sent, pending)
    var result = Self.split(Array(found.prefix(query.limit)), isIncluded)
    if found.count > query.limit {
      result.next = found.prefix(query.limit).last.map { CacheQuery.Position(after: $0) }
    } else if let end {
      result.next = CacheQuery.Position(after: end)
    }
    return result
  }

  private static func split(
    _ all: [ShownMessage], _ isIncluded: (@Sendable (ShownMessage) -> Bool)?
  ) -> SearchResult {
    guard let isIncluded else { return SearchResult(messages: all) }
    return SearchResult(messages: all.filter(isIncluded), excluded: all.filter { !isIncluded($0) })
  }
}
