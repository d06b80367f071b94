public import ParleyModel

/// Which of the messages that are held are looked for.
public struct MessageLookup: Sendable, Hashable {
  public var conversation: ID<Conversation>?
  /// In the text.
  public var words: SearchQuery?
  /// In the name of the place.
  public var placeName: SearchQuery?
  /// All of them.
  public var features: [MessageFeature] = []
  /// Shown to have been said before this, and not before that.
  public var before: Int64?
  public var notBefore: Int64?
  public var seqs: ClosedRange<Int>?
  public var ids: [ID<Message>]?
  public var clientIDs: [String]?
  public var includesDeleted = false
  public var order = Order.newestShownFirst
  public var limit = 50

  public enum Order: Sendable, Hashable {
    /// By the date that is shown.
    case newestShownFirst
    /// As they were said.
    case ascending, descending
  }

  public init(in conversation: ID<Conversation>? = nil, limit: Int = 50) {
    self.conversation = conversation
    self.limit = limit
  }

  /// Everything in a stretch of a conversation, tombstones too.
  public static func stretch(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, _ order: Order = .ascending, limit: Int = .max
  ) -> MessageLookup {
    var lookup = MessageLookup(in: conversation, limit: limit)
    lookup.seqs = seqs
    lookup.includesDeleted = true
    lookup.order = order
    return lookup
  }

  public static func ids(_ ids: [ID<Message>]) -> MessageLookup {
    var lookup = MessageLookup(limit: .max)
    lookup.ids = ids
    lookup.includesDeleted = true
    return lookup
  }

  public static func clientIDs(_ names: [String]) -> MessageLookup {
    var lookup = MessageLookup(limit: .max)
    lookup.clientIDs = names
    lookup.includesDeleted = true
    return lookup
  }
}

extension MessageLookup {
  /// What lies between two dates is meant, whichever of them is named first.
  var inOrder: MessageLookup {
    guard let before, let notBefore, before < notBefore else { return self }
    var lookup = self
    (lookup.before, lookup.notBefore) = (notBefore, before)
    return lookup
  }

  /// For stores that can't look: the same by looking at each.
  func filter(_ all: [CachedMessage]) -> [CachedMessage] {
    let found = matching(all)
    let sorted = found.sorted { one, other in
      switch order {
      case .ascending: one.message.seq < other.message.seq
      case .descending: one.message.seq > other.message.seq
      case .newestShownFirst:
        (one.index.shownAt, one.message.id) > (other.index.shownAt, other.message.id)
      }
    }
    return Array(sorted.prefix(limit))
  }

  /// Those of them that are meant.
  func matching(_ all: [CachedMessage]) -> [CachedMessage] {
    let tokens = features.map(\.token)
    return all.filter { matches($0, tokens) }
  }

  func isIn(_ shownAt: Int64) -> Bool {
    let lookup = inOrder
    return shownAt < lookup.before ?? .max && shownAt >= lookup.notBefore ?? .min
  }

  private func matches(_ cached: CachedMessage, _ tokens: [String]) -> Bool {
    let (message, index) = (cached.message, cached.index)
    guard conversation == nil || conversation == message.conversation, seqs?.contains(message.seq) ?? true,
      ids?.contains(message.id) ?? true, includesDeleted || message.tombstone == nil
    else { return false }
    if let clientIDs {
      guard let name = message.clientID, clientIDs.contains(name) else { return false }
    }
    guard isIn(index.shownAt), tokens.allSatisfy(index.features.contains)
    else { return false }
    if let words, !words.isFound(in: message.content?.text ?? "") { return false }
    if let placeName, !placeName.isFound(in: index.placeName ?? "") { return false }
    return true
  }
}
