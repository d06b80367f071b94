// What an app asks for most, answered twice: from this device at once, and as the server has it. Each answer of the server's is
// held first, so that the second one is what is held then, with what waits in the outbox.

public import Model

extension Parley {
  public nonisolated func person(_ id: ID<Account>) -> AsyncThrowingStream<CachedOrFresh<Person>, any Error> {
    cachedThenFresh { [cache] in
      await cache.person(id)
    } fresh: { [client, cache] in
      try await Self.fetch(id, client, cache)
    }
  }

  /// By their ids; at first those of them who are known here.
  public nonisolated func people(
    _ ids: [ID<Account>]
  ) -> AsyncThrowingStream<CachedOrFresh<[ID<Account>: Person]>, any Error> {
    cachedThenFresh { [cache] in
      await cache.people(ids)
    } fresh: { [client, cache] in
      var people: [ID<Account>: Person] = [:]
      for id in ids { people[id] = try await Self.fetch(id, client, cache) }
      return people
    }
  }

  private static func fetch(_ id: ID<Account>, _ client: Client, _ cache: Cache) async throws -> Person {
    let person = try await client.send(.person(.id(id))).value
    try await cache.hold(person)
    return await cache.person(id) ?? person
  }

  /// One's own, the last active first.
  public nonisolated func conversations() -> AsyncThrowingStream<CachedOrFresh<[HeldConversation]>, any Error> {
    cachedThenFresh { [cache] in
      await cache.hasBegun ? await cache.ownConversations : nil
    } fresh: { [sync, cache] in
      try await sync.catchUp()
      return await cache.ownConversations
    }
  }

  /// The last active first.
  public nonisolated func forums() -> AsyncThrowingStream<CachedOrFresh<[HeldForum]>, any Error> {
    cachedThenFresh { [cache] in
      await cache.hasBegun ? await cache.forums : nil
    } fresh: { [sync, cache] in
      try await sync.catchUp()
      return await cache.forums
    }
  }

  /// Of a conversation, the newest first: those before a message, or the newest.
  public nonisolated func messages(
    in conversation: ID<Conversation>, before message: ID<Message>? = nil, limit: Int = 50
  ) -> AsyncThrowingStream<CachedOrFresh<[ShownMessage]>, any Error> {
    cachedThenFresh { [cache] in
      let seqs = try await cache.seqs(in: conversation, before: message, limit)
      let held = try await cache.shown(seqs, of: conversation)
      return held.isEmpty ? nil : held
    } fresh: { [sync, cache] in
      try await sync.catchUp()
      let seqs = try await cache.seqs(in: conversation, before: message, limit)
      try await sync.fetchOlder(than: seqs.upperBound, in: conversation, limit: limit)
      return try await cache.shown(seqs, of: conversation)
    }
  }
}

extension Cache {
  fileprivate var hasBegun: Bool { replica.cursor != nil }

  fileprivate func people(_ ids: [ID<Account>]) -> [ID<Account>: Person]? {
    var people: [ID<Account>: Person] = [:]
    for id in ids { people[id] = person(id) }
    return people.isEmpty ? nil : people
  }

  fileprivate var ownConversations: [HeldConversation] {
    replica.conversations.values.filter(\.isOwn).sorted { $0.activity > $1.activity }
  }

  fileprivate var forums: [HeldForum] { replica.forums.values.sorted { $0.forum.activity > $1.forum.activity } }

  /// Where those are that are asked for.
  fileprivate func seqs(
    in conversation: ID<Conversation>, before message: ID<Message>?, _ limit: Int
  ) throws -> Range<Int> {
    guard let message else {
      guard replica.conversations[conversation] != nil else { throw SyncRefusal.unknownConversation }
      let end = end(of: conversation) + 1
      return max(1, end - limit)..<end
    }
    guard let found = try messages(.ids([message])).first, found.message.conversation == conversation else {
      throw SyncRefusal.unknownMessage
    }
    return max(1, found.message.seq - limit)..<found.message.seq
  }

  fileprivate func shown(_ seqs: Range<Int>, of conversation: ID<Conversation>) throws(CacheFault) -> [ShownMessage] {
    guard !seqs.isEmpty else { return [] }
    return shown(try messages(.stretch(ClosedRange(seqs), of: conversation, .descending)))
  }

  /// The `seq` of the newest that anybody here knows of.
  func end(of conversation: ID<Conversation>) -> Int {
    max(
      history(of: conversation).held.all.last?.upperBound ?? 0,
      replica.conversations[conversation]?.conversation.lastSeq ?? 0)
  }
}

extension HeldConversation {
  /// Ids grow with time, so one without messages stands where it was made.
  fileprivate var activity: Int { max(conversation.lastMessage?.number ?? 0, conversation.id.number) }
}
