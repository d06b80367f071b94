public import ParleyModel

/// A query for cached messages.
public struct CacheQuery: Sendable, Hashable {
  /// Nil for all conversations.
  public var conversation: ID<Conversation>?
  /// Searched in the text.
  public var words: SearchQuery?
  /// Searched in the name of the location.
  public var locationName: SearchQuery?
  /// Features that a message must all have.
  public var features: [MessageFeature] = []
  /// The end of the display times, exclusive, in milliseconds since 1970.
  public var before: Int64?
  /// The earliest display time, in milliseconds since 1970.
  public var notBefore: Int64?
  /// Positions in the conversation.
  public var seqs: ClosedRange<Int>?
  /// Messages by id.
  public var ids: [ID<Message>]?
  /// Messages by their idempotency keys.
  public var clientIDs: [String]?
  /// Whether tombstones match, too.
  public var includesDeleted = false
  /// The end of the previous page, of a query by displayed date.
  public var next: Position?
  /// The order of the result, by display time.
  public var order = Order.newestFirst
  /// The most messages of the result.
  public var limit = 50

  /// Orders of messages.
  public enum Order: Sendable, Hashable {
    /// By the displayed date.
    case newestFirst
    /// By `seq`.
    case ascending, descending
  }

  /// A position in messages by displayed date. Many may have one date, so the date alone is no position.
  public struct Position: Sendable, Hashable {
    var shownAt: Int64
    /// Nil for an unsent message, which comes before those of the server with its date.
    var message: ID<Message>?
    /// The order of an unsent message in the outbox.
    var order = Int.max

    /// The position after a message.
    public init(after shown: ShownMessage) {
      shownAt = shown.displayDate
      message = shown.message?.id
      if shown.isUnsent { order = shown.waiting.first?.order ?? .max }
    }

    init(after cached: CachedMessage) { (shownAt, message) = (cached.index.shownAt, cached.message.id) }

    func isBefore(_ cached: CachedMessage) -> Bool {
      guard let message else { return cached.index.shownAt <= shownAt }
      return (cached.index.shownAt, cached.message.id) < (shownAt, message)
    }

    func isBefore(unsent shown: ShownMessage) -> Bool {
      guard message == nil else { return shown.displayDate < shownAt }
      return (shown.displayDate, shown.waiting.first?.order ?? .max) < (shownAt, order)
    }
  }

  /// A query for the newest messages, of one conversation or of all.
  public init(in conversation: ID<Conversation>? = nil, limit: Int = 50) {
    self.conversation = conversation
    self.limit = limit
  }

  /// All messages in a range of a conversation, with tombstones.
  public static func range(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, _ order: Order = .ascending, limit: Int = .max
  ) -> CacheQuery {
    var query = CacheQuery(in: conversation, limit: limit)
    query.seqs = seqs
    query.includesDeleted = true
    query.order = order
    return query
  }

  /// A query for messages by id, tombstones included.
  public static func ids(_ ids: [ID<Message>]) -> CacheQuery {
    var query = CacheQuery(limit: .max)
    query.ids = ids
    query.includesDeleted = true
    return query
  }

  /// A query for messages by their idempotency keys.
  public static func clientIDs(_ names: [String]) -> CacheQuery {
    var query = CacheQuery(limit: .max)
    query.clientIDs = names
    query.includesDeleted = true
    return query
  }
}

extension CacheQuery {
  /// The query with its two dates in order.
  var normalized: CacheQuery {
    guard let before, let notBefore, before < notBefore else { return self }
    var query = self
    (query.before, query.notBefore) = (notBefore, before)
    return query
  }

  /// Runs the query over all messages, for a store without queries.
  func filter(_ all: [CachedMessage]) -> [CachedMessage] {
    let found = matching(all).filter { next?.isBefore($0) ?? true }
    let sorted = found.sorted { one, other in
      switch order {
      case .ascending: one.message.seq < other.message.seq
      case .descending: one.message.seq > other.message.seq
      case .newestFirst:
        (one.index.shownAt, one.message.id) > (other.index.shownAt, other.message.id)
      }
    }
    return Array(sorted.prefix(limit))
  }

  func matching(_ all: [CachedMessage]) -> [CachedMessage] {
    let wanted = features.map(\.alternatives)
    return all.filter { matches($0, wanted) }
  }

  func includesDate(_ shownAt: Int64) -> Bool {
    let query = normalized
    return shownAt < query.before ?? .max && shownAt >= query.notBefore ?? .min
  }

  private func matches(_ cached: CachedMessage, _ wanted: [[String]]) -> Bool {
    let (message, index) = (cached.message, cached.index)
    guard conversation == nil || conversation == message.conversation, seqs?.contains(message.seq) ?? true,
      ids?.contains(message.id) ?? true, includesDeleted || message.tombstone == nil
    else { return false }
    if let clientIDs {
      guard let name = message.clientID, clientIDs.contains(name) else { return false }
    }
    guard includesDate(index.shownAt), wanted.allSatisfy({ $0.contains(where: index.features.contains) })
    else { return false }
    if let words, !words.isFound(in: message.content?.text ?? "") { return false }
    if let locationName, !locationName.isFound(in: index.locationName ?? "") { return false }
    return true
  }
}
