// Conversations: their opening, pages of messages, and the whole history.

public import ParleyModel

extension Sync {
  /// Fetches the newest messages of a conversation, without a gap after the cached ones.
  /// - Returns: the messages that were not cached, oldest first.
  @discardableResult
  public func fetchNewest(in conversation: ID<Conversation>) async throws -> [Message] {
    guard await cache.replica.conversations[conversation] != nil else { throw SyncRefusal.unknownConversation }
    guard await !cache.operations.values.contains(where: { $0.conversation == conversation && $0.kind.isOfMessage })
    else {
      throw SyncRefusal.unsentWork(conversation)
    }
    return try await exclusively {
      let known = await cache.history(of: conversation).cached.all
      // A new device has the last message alone, from the snapshot.
      let isNew = known.count == 1 && known[0].count == 1 && known[0].lowerBound > 1
      guard !isNew, let last = try await cache.lastContiguousMessage(in: conversation) else {
        let page = try await fetch(conversation, [.init("order", "desc")], limit: 50)
        try await cache.merge(page)
        return page.messages.reversed().map(\.message).filter { message in !known.contains { $0 ~= message.seq } }
      }
      var new: [Message] = []
      var next: String?
      while true {
        let page = try await fetch(
          conversation, [.init("after", last.description), .init("order", "asc"), .init("next", next)],
          limit: Self.pageSize)
        try await cache.merge(page)
        new += page.messages.map(\.message)
        guard page.next != nil else { return new }
        next = page.next
      }
    }
  }

  /// Fetches messages of any conversation anew. Messages that the user may not see are omitted.
  @discardableResult
  public func refresh(_ messages: [ID<Message>]) async throws -> [MessageView] {
    try await exclusively { try await refetch(messages) }
  }

  func refetch(_ messages: [ID<Message>]) async throws -> [MessageView] {
    var found: [MessageView] = []
    var rest = messages[...]
    while !rest.isEmpty {
      let known = await cache.replica.cursor?.event ?? 0
      let ids = Array(rest.prefix(Self.pageSize))
      let page = try await client.send(.getMessages(ids: ids)).elements.map(\.value)
      try await cache.merge(page, asOf: known)
      found += page
      rest = rest.dropFirst(Self.pageSize)
    }
    return found
  }

  /// Fetches the uncached messages before `seq`.
  public func fetchOlder(than seq: Int, in conversation: ID<Conversation>, limit: Int = 50) async throws {
    guard seq > 1 else { return }
    let missing = await cache.history(of: conversation).cached.missing(in: max(1, seq - limit)...seq - 1)
    guard let top = missing.last else { return }
    try await exclusively {
      let page = try await fetch(
        conversation, try await before(top.upperBound + 1, in: conversation), limit: min(limit, Self.pageSize))
      try await cache.merge(page)
    }
  }

  /// Fetches the messages before one, or the newest: the uncached ones of a conversation with events, and all of any other,
  /// since no event has changed the copy.
  func fetchPage(of conversation: ID<Conversation>, before message: ID<Message>?, limit: Int) async throws {
    try await refreshWithoutEvents(conversation)
    if let message, try await cache.messages(.ids([message])).isEmpty { try await refresh([message]) }
    let seqs = try await cache.seqs(in: conversation, before: message, limit)
    guard !seqs.isEmpty else { return }
    guard await hasEvents(conversation) else { return try await refetchPage(of: conversation, seqs, before: message) }
    try await fetch(ClosedRange(seqs), of: conversation)
  }

  func refetchPage(
    of conversation: ID<Conversation>, _ seqs: Range<Int>, before message: ID<Message>?
  ) async throws {
    try await exclusively {
      let anchor = message.map { [QueryItem("before", $0.description)] } ?? []
      var (next, left): (String?, Int) = (nil, seqs.count)
      repeat {
        let page = try await fetch(
          conversation, anchor + [.init("order", "desc"), .init("next", next)], limit: min(seqs.count, Self.pageSize))
        try await cache.merge(page)
        (next, left) = (page.next, left - page.messages.count)
      } while next != nil && left > 0
    }
  }

  /// Whether events keep a conversation up to date: the user participates, or owns the feed.
  func hasEvents(_ conversation: ID<Conversation>) async -> Bool {
    await cache.replica.conversations[conversation]?.isOwn ?? false
  }

  /// Fetches the state of a conversation without events, such as the room of a forum that the user has not joined.
  func refreshWithoutEvents(_ conversation: ID<Conversation>) async throws {
    guard await !hasEvents(conversation) else { return }
    do { try await refresh(conversation) } catch let fault as ClientFault {
      throw fault.isGone ? SyncRefusal.unknownConversation : fault
    }
  }

  /// Fetches the uncached messages of a range page by page, newest first. A gap for which the server returns no new messages
  /// is skipped.
  public func fetch(_ seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws {
    var requested: Set<ClosedRange<Int>> = []
    while true {
      let gaps = await cache.history(of: conversation).cached.missing(in: seqs)
      guard let gap = gaps.last(where: { !requested.contains($0) }) else { return }
      let isMore = try await exclusively {
        let before = await cache.history(of: conversation).cached
        try await fill(gap, of: conversation)
        return await cache.history(of: conversation).cached != before
      }
      if !isMore { requested.insert(gap) }
    }
  }

  /// Fetches a page of a gap, next to a cached message at one of its ends.
  private func fill(_ gap: ClosedRange<Int>, of conversation: ID<Conversation>) async throws {
    var query = try await before(gap.upperBound + 1, in: conversation)
    if query.count == 1, gap.lowerBound > 1,
      let anchor = try await cache.messages(.range(gap.lowerBound - 1...gap.lowerBound - 1, of: conversation)).first
    {
      query = [.init("after", anchor.message.id.description), .init("order", "asc")]
    }
    let page = try await fetch(conversation, query, limit: min(gap.count, Self.pageSize))
    try await cache.merge(page)
  }

  /// Fetches the complete history that the user may read. Resumes after an interruption, skips cached messages, and returns
  /// at once if the history is complete.
  /// - Parameter started: called before the first request, and never if there is none.
  public func fetchAll(
    _ conversations: [ID<Conversation>], started: @Sendable () -> Void = {},
    progress: @Sendable (_ conversation: ID<Conversation>, _ left: Int) -> Void = { _, _ in }
  ) async throws {
    var hasStarted = false
    for conversation in conversations {
      try await refreshWithoutEvents(conversation)
      let isOld = await !hasEvents(conversation)
      if await cache.history(of: conversation).sync != .complete {
        if !hasStarted { started() }
        hasStarted = true
        var requested = SeqRanges()
        while let (left, page) = try await fetchNextPage(of: conversation, excluding: requested) {
          requested.add(page)
          progress(conversation, left)
        }
      }
      // No event has changed the data that was cached before.
      if isOld { _ = try await exclusively { try await compare(conversation) } }
    }
  }

  /// - Parameter requested: the ranges of earlier pages, which are not requested again if the server omits messages.
  /// - Returns: the maximum number of remaining messages and the range of the page; nil if the history is complete.
  private func fetchNextPage(
    of conversation: ID<Conversation>, excluding requested: SeqRanges
  ) async throws -> (left: Int, page: ClosedRange<Int>)? {
    try await exclusively {
      guard let copy = await cache.replica.conversations[conversation] else { throw SyncRefusal.unknownConversation }
      let history = await cache.history(of: conversation)
      var known = history.cached
      for page in requested.all { known.add(page) }
      var next = copy.conversation.lastSeq
      while let range = known.range(at: next) { next = range.lowerBound - 1 }
      guard next >= copy.participation?.fromSeq ?? 1 else {
        try await cache.setSync(.complete, of: conversation)
        return nil
      }
      let page = try await fetch(conversation, try await before(next + 1, in: conversation), limit: Self.pageSize)
      // A page that only has newer, cached messages would repeat forever.
      guard let oldest = page.messages.map(\.message.seq).min(),
        oldest <= next || !page.messages.allSatisfy({ history.cached.contains($0.message.seq) })
      else {
        try await cache.setSync(.complete, of: conversation)
        return nil
      }
      let isDone = page.next == nil && history.cached.all.first.map { $0.lowerBound >= oldest } ?? true
      try await cache.merge(page, sync: isDone ? .complete : .started(before: oldest), of: conversation)
      return isDone ? nil : (oldest - 1, oldest...max(oldest, next))
    }
  }

  /// The query of a page that ends right before `seq`.
  func before(_ seq: Int, in conversation: ID<Conversation>) async throws -> [QueryItem] {
    let order = QueryItem("order", "desc")
    guard let anchor = try await cache.messages(.range(seq...seq, of: conversation)).first else { return [order] }
    return [.init("before", anchor.message.id.description), order]
  }

  /// The user's private channel of a type, for an app's own data, without other participants. Returns the oldest of several,
  /// and creates it if there is none, also after it was deleted.
  public func privateChannel(_ spec: ConversationSpec) async throws -> ID<Conversation> {
    try await exclusively {
      let replica = await cache.replica
      let found = replica.conversations.values.map(\.conversation)
        .filter { $0.type == spec.type && $0.isPrivateChannel(of: replica.me?.summary.id) }
      if let oldest = found.map(\.id).min() { return oldest }
      let known = replica.cursor?.event ?? 0
      // The server has one distinct channel per type: two devices that create it get the same.
      var request = Request<Resource<OwnConversation>>.createConversation(
        .channel, title: spec.title, type: spec.type, annotations: spec.annotations.isEmpty ? nil : spec.annotations,
        readers: .init(.listed), writers: .init(.listed, isImmutable: true), isDistinct: true)
      request.isRepeatable = true
      let own = try await client.send(request)
      try await cache.merge(own.value, asOf: known)
      return own.conversation.id
    }
  }

  /// The private channels of several types, by type.
  public func privateChannels(_ specs: [ConversationSpec]) async throws -> [String: ID<Conversation>] {
    var channels: [String: ID<Conversation>] = [:]
    for spec in specs { channels[spec.type] = try await privateChannel(spec) }
    return channels
  }
}

extension Conversation {
  fileprivate func isPrivateChannel(of user: ID<User>?) -> Bool {
    guard let user, kind == .channel, createdBy == user, readers == Openness(.listed) else { return false }
    return writers == Openness(.listed, isImmutable: true) && participants?.map(\.user) == [user]
  }
}
