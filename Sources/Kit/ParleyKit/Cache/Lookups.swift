// Looking through what is held: nothing here asks the server. What was not sent yet is found like everything else.

public import ParleyModel

/// What was found, newest first by the date that is shown, and what the app's filter has left out.
public struct FoundMessages: Sendable, Hashable {
  public var messages: [ShownMessage]
  public var excluded: [ShownMessage] = []
}

extension Cache {
  /// Whatever was typed is looked for in the texts.
  public func search(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> FoundMessages {
    var lookup = MessageLookup(in: conversation, limit: limit)
    lookup.words = try SearchQuery(text)
    (lookup.notBefore, lookup.before) = (since, before)
    return try find(lookup, isWanted)
  }

  /// Whatever was typed is looked for in the names of places.
  public func searchPlaces(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> FoundMessages {
    var lookup = MessageLookup(in: conversation, limit: limit)
    lookup.placeName = try SearchQuery(text)
    (lookup.notBefore, lookup.before) = (since, before)
    return try find(lookup, isWanted)
  }

  /// What has all of these: a hashtag, a mention, a type of annotation, an author, a place as near as one says.
  public func find(
    _ features: [MessageFeature], in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> FoundMessages {
    var lookup = MessageLookup(in: conversation, limit: limit)
    lookup.features = features
    (lookup.notBefore, lookup.before) = (since, before)
    return try find(lookup, isWanted)
  }

  /// The messages of a conversation by the date that is shown.
  public func stored(
    in conversation: ID<Conversation>, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil
  ) throws -> FoundMessages {
    var lookup = MessageLookup(in: conversation, limit: limit)
    (lookup.notBefore, lookup.before) = (since, before)
    return try find(lookup, isWanted)
  }

  /// The newest of a conversation as they were said, tombstones too, whatever is missing between them; what was not sent yet
  /// comes last.
  public func newest(_ limit: Int, in conversation: ID<Conversation>) throws(CacheFault) -> [ShownMessage] {
    let held = shown(try messages(.stretch(1...Int.max, of: conversation, .descending, limit: limit)).reversed())
    let known = Set(held.map(\.identity))
    return (held + unsent(in: conversation).filter { !known.contains($0.identity) }).suffix(limit)
  }

  /// Which of the messages that are held have a mark of one's own, by the date of the message.
  public func actioned(
    _ type: String, in conversation: ID<Conversation>, before: Int64? = nil, limit: Int = 50
  ) throws -> [ShownMessage] {
    try actioned(type, in: conversation, before: before, limit: limit, page: 500)
  }

  /// Whether a mark of one's own is set, or waits to be.
  public func has(_ type: String, on target: Draft.Target) throws(CacheFault) -> Bool {
    switch target {
    case .message(let id): try shown(messages(.ids([id]))).first?.mine.contains(type) ?? false
    case .unsent(let name): unsent(in: nil).first { $0.target == .unsent(name) }?.mine.contains(type) ?? false
    }
  }

  /// Marks stand in no index, since they come and go without a word about the message: so many messages are looked at at
  /// once.
  func actioned(
    _ type: String, in conversation: ID<Conversation>, before: Int64?, limit: Int, page: Int
  ) throws(CacheFault) -> [ShownMessage] {
    var lookup = MessageLookup(in: conversation, limit: page)
    lookup.before = before
    var found: [ShownMessage] = unsent(lookup).filter { $0.mine.contains(type) }.reversed()
    var known: Set<ID<Message>> = []
    while found.count < limit {
      let page = try messages(lookup)
      let new = page.filter { known.insert($0.message.id).inserted }
      found += shown(new).filter { $0.mine.contains(type) && !$0.isDeleted }
      guard page.count == lookup.limit, let last = page.last else { break }
      // Others may be shown at the same moment, so the next page begins with it; where it holds nothing else, with more of
      // it.
      lookup.before = last.index.shownAt + 1
      if new.isEmpty { lookup.limit *= 2 }
    }
    return Array(found.prefix(limit))
  }

  public func person(_ id: ID<Account>) -> Person? {
    replica.me?.account.id == id ? replica.me : replica.people[id]
  }

  private func find(
    _ lookup: MessageLookup, _ isWanted: (@Sendable (ShownMessage) -> Bool)?
  ) throws(CacheFault) -> FoundMessages {
    let held = shown(try messages(lookup)).filter { !$0.isDeleted }
    let known = Set(held.map(\.identity))
    var found: [ShownMessage] = []
    // Of those that are shown at one moment, what was said last comes first.
    var waiting = unsent(lookup).reversed().filter { !known.contains($0.identity) }
      .sorted { $0.displayDate > $1.displayDate }[...]
    for message in held {
      while let next = waiting.first, next.displayDate >= message.displayDate {
        found.append(next)
        waiting.removeFirst()
      }
      found.append(message)
    }
    return Self.split(Array((found + waiting).prefix(lookup.limit)), isWanted)
  }

  private static func split(
    _ all: [ShownMessage], _ isWanted: (@Sendable (ShownMessage) -> Bool)?
  ) -> FoundMessages {
    guard let isWanted else { return FoundMessages(messages: all) }
    return FoundMessages(messages: all.filter(isWanted), excluded: all.filter { !isWanted($0) })
  }
}
