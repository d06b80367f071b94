// Responses of the server: single objects, pages of messages, and the messages that they replace.

public import ParleyModel

extension Cache {
  /// Stores a fetched user.
  public func merge(_ user: User) throws(CacheFault) {
    try change(bringing: [], ahead(of: user)) { $0.merge(user) }
  }

  /// Caches a user, unless the cache was erased since the request.
  func merge(_ user: User, asOf age: ResponseAge) throws(CacheFault) {
    if age.eraseCount == eraseCount { try merge(user) }
  }

  /// Stores fetched counts of unread notifications.
  public func merge(_ counts: InboxCounts) throws(CacheFault) {
    var changes = CacheChanges()
    changes.rows = aheadRows([Self.inboxName], nil)
    try change(bringing: [], changes) { $0.merge(counts) }
  }

  /// Stores a forum as it was after the event `event`.
  public func merge(_ forum: ForumView, asOf event: Int) throws(CacheFault) {
    try change(bringing: [], ahead(of: forum)) { $0.merge(forum, asOf: event) }
  }

  /// Stores a conversation as it was after the event `event`.
  public func merge(_ own: OwnConversation, asOf event: Int) throws(CacheFault) {
    try merge(own, asOf: event, countRequest: countRequest(of: own.conversation.id))
  }

  /// The number of requests for the unread count of a conversation. A response may be older than the last one.
  func countRequest(of conversation: ID<Conversation>) -> Int { countRequests[conversation] ?? 0 }

  func merge(
    _ own: OwnConversation, asOf event: Int, countRequest: Int, _ more: CacheChanges = CacheChanges()
  ) throws(CacheFault) {
    let id = own.conversation.id
    let isCurrent = countRequest == self.countRequest(of: id)
    let last = own.lastMessage.map { [$0] } ?? []
    let loaded = try replicas(.ids(last.map(\.message.id)))
    var changes = more
    changes.rows += aheadRows([id], nil)
    try change(bringing: loaded, changes) { replica in
      let isRequested = replica.needs.contains(.conversation(id))
      replica.merge(own, asOf: event)
      replica.merge(last, asOf: event)
      if !isCurrent, isRequested { replica.require(.conversation(id)) }
    }
  }

  /// Stores messages as they were after the event `event`.
  public func merge(_ messages: [MessageView], asOf event: Int) throws(CacheFault) {
    try merge(ahead: messages, asOf: event)
  }

  /// Caches a page, which includes exactly the events up to its cursor.
  func merge(_ page: FetchedMessages, sync state: SyncState? = nil, of conversation: ID<Conversation>? = nil)
    throws(CacheFault)
  {
    var changes = CacheChanges()
    if let conversation { changes.syncs[conversation] = state }
    try merge(ahead: page.messages, asOf: page.asOf.event, isExact: event(of: page.asOf) != nil, changes)
  }

  /// Caches messages of a response that may be ahead of the events.
  /// - Parameter isExact: the response includes no later event.
  func merge(
    ahead messages: [MessageView], asOf event: Int, isExact: Bool = false, _ more: CacheChanges = CacheChanges()
  ) throws(CacheFault) {
    let loaded = try replicas(.ids(messages.map(\.message.id)))
    var changes = more
    changes.rows += aheadRows(Set(messages.map(\.message.conversation)), isExact ? event : nil)
    let requested = try change(bringing: loaded, changes) { $0.merge(ahead: messages, asOf: event) }
    for id in requested { countRequests[id, default: 0] += 1 }
  }

  /// Drops an object that the server does not have, or does not show.
  public func drop(_ need: Replica.Need) throws(CacheFault) { try drop(need, CacheChanges()) }

  func drop(_ need: Replica.Need, _ more: CacheChanges) throws(CacheFault) {
    let isHeld =
      switch need {
      case .conversation(let id): replica.conversations[id] != nil
      case .forum(let id): replica.forums[id] != nil
      case .user, .message, .inbox, .everything: false
      }
    var changes = more
    if isHeld { changes.rows += aheadRows([Self.goneName], nil) }
    try change(bringing: [], changes) { $0.drop(need) }
  }

  /// Replaces the cached messages of a range after a digest mismatch.
  /// - Parameters:
  ///   - response: the cursor of the messages; nil if unknown.
  ///   - lost: messages that the server does not have. The user's own become orphans, as do those whose `seq` or id another
  ///     message has.
  ///   - kept: messages that the server has although they are not among `messages`.
  ///   - compared: the cached messages at the comparison. Another response may have stored a message since: it stays.
  func replace(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, by messages: [MessageView],
    asOf response: EventCursor?, lost: [Message], keeping kept: [Message], compared: [Message]
  ) throws(CacheFault) {
    var changes = CacheChanges()
    var keptSeqs = SeqRanges()
    let new = try replicas(.range(seqs, of: conversation)).map(\.message).without(compared)
    for message in kept + new { keptSeqs.add(message.seq...message.seq) }
    changes.removed = keptSeqs.missing(in: seqs).map { .init(conversation, $0) }
    for seen in messages where seqs.contains(seen.message.seq) {
      changes.messages.append(try cached(ReplicaMessage(seen, asOf: response?.event ?? 0)))
    }
    changes.rows =
      try orphans(of: cachedCopies(of: lost), beside: messages.map(\.message))
      + aheadRows([conversation], response.flatMap { event(of: $0) })
    let requested = try change(bringing: [], changes) { $0.askForCounts(aheadOf: messages) }
    for id in requested { countRequests[id, default: 0] += 1 }
  }

  /// The messages that are still cached.
  func cachedCopies(of messages: [Message]) throws(CacheFault) -> [ReplicaMessage] {
    try replicas(.ids(messages.map(\.id))).filter { known in messages.contains { $0.isSame(as: known.message) } }
  }

  /// The user's own cached messages of a range.
  func ownMessages(
    in seqs: ClosedRange<Int> = 1...Int.max, of conversation: ID<Conversation>
  ) throws(CacheFault) -> [Message] {
    try ownMessages(among: replicas(.range(seqs, of: conversation)).map(\.message), of: conversation)
  }

  func ownMessages(among messages: [Message], of conversation: ID<Conversation>) -> [Message] {
    let me = replica.me?.summary.id
    // Earlier messages are only hidden.
    let first = replica.conversations[conversation]?.participation?.fromSeq ?? 1
    return messages.filter { $0.author == me && $0.content != nil && $0.seq >= first }
  }

  /// The user's own cached messages in conversations that are not among `known`.
  func ownMessages(outside known: Set<ID<Conversation>>) throws(CacheFault) -> [Message] {
    var own: [Message] = []
    for id in cachedConversations where !known.contains(id) { own += try ownMessages(of: id) }
    return own
  }

  /// Drops a conversation that the server has lost.
  /// - Parameters:
  ///   - compared: the user's own messages that were compared with the server.
  ///   - lost: those that the server does not have. They become orphans.
  /// - Returns: false, without a change, if another response has stored an own message since the comparison.
  func drop(_ conversation: ID<Conversation>, compared: [Message], lost: [Message]) throws(CacheFault) -> Bool {
    guard try ownMessages(of: conversation).without(compared).isEmpty else { return false }
    try orphan(lost, of: conversation)
    try drop(.conversation(conversation))
    return true
  }

  /// Removes messages that the server has lost. The user's own become orphans, which can be resent.
  func orphan(_ lost: [Message], of conversation: ID<Conversation>) throws(CacheFault) {
    let cached = try cachedCopies(of: lost).filter { $0.message.conversation == conversation }
    guard !cached.isEmpty else { return }
    var changes = CacheChanges()
    changes.removed = cached.map { .init(conversation, $0.message.seq...$0.message.seq) }
    changes.rows = try orphans(of: cached)
    try change(bringing: [], changes) { _ in }
  }

  /// The cached messages that have the `seq` or the id of another message: a restored server has assigned it again.
  /// - Parameters:
  ///   - loaded: the cached messages with the ids of the others.
  ///   - unknown: ids for which none were loaded.
  func displaced(
    by messages: [Message], _ loaded: [ID<Message>: ReplicaMessage], unknown: Set<ID<Message>>
  ) throws(CacheFault) -> [ReplicaMessage] {
    var found = try replicas(.ids(unknown.sorted()))
    for message in messages where loaded[message.id].map({ !$0.message.isSame(as: message) }) ?? true {
      if let other = loaded[message.id] { found.append(other) }
      if histories[message.conversation]?.cached.contains(message.seq) ?? false {
        found += try replicas(.range(message.seq...message.seq, of: message.conversation))
      }
    }
    return found.filter { known in
      let old = known.message
      return messages.contains { ($0.id == old.id || $0.hasPosition(of: old)) && !$0.isSame(as: old) }
    }
  }

  /// The own messages among lost ones, without reposts, which have no text. A message that any device of the user has sent again is not lost.
  func orphans(of lost: [ReplicaMessage], beside new: [Message] = []) throws(CacheFault) -> [CacheRow] {
    let me = owner
    let own = lost.filter { known in
      guard let content = known.message.content else { return false }
      return known.message.author == me && known.message.kind == .message && content.repostOf == nil
    }
    let gone = Set(lost.map(\.message.id))
    var found = new
    for conversation in Set(own.map(\.message.conversation)) {
      found += try replicas(.range(1...Int.max, of: conversation)).map(\.message).filter { !gone.contains($0.id) }
    }
    // The last one of several lost copies is enough.
    found += own.map(\.message)
    return own.filter { known in
      !found.contains { other in
        other.isResent(known.message)
          && (gone.contains(other.id) ? other.id > known.message.id : other.id != known.message.id)
      }
    }
    .map { CacheRow(.orphan, $0.message.id.description, writing: $0) }
  }
}

extension [Message] {
  /// The messages that are not among others.
  func without(_ others: [Message]) -> [Message] {
    filter { message in !others.contains { $0.isSame(as: message) } }
  }
}
