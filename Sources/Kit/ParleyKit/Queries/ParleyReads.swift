// Common queries, answered twice: from the cache at once, then from the server. A response is stored first. The
// second answer is read from the cache, so it includes pending operations of the outbox.

public import ParleyModel

extension Parley {
  /// A user: the cached one, then that of the server.
  public nonisolated func user(_ id: ID<User>) -> CachedThenFresh<User> {
    CachedThenFresh { [cache] in
      await cache.user(id)
    } fresh: { [client, cache] in
      try await Self.fetch(id, client, cache)
    }
  }

  /// The users by id. The cached answer has those in the cache; the server's omits users that do not exist or are not
  /// visible.
  public nonisolated func users(
    _ ids: [ID<User>]
  ) -> CachedThenFresh<[ID<User>: User]> {
    CachedThenFresh { [cache] in
      await cache.users(ids)
    } fresh: { [client, cache] in
      var users: [ID<User>: User] = [:]
      var rest = Set(ids).sorted()[...]
      while !rest.isEmpty {
        let part = Array(rest.prefix(Self.usersPerRequest))
        let age = await cache.responseAge
        for user in try await client.send(.listUsers(ids: part)).elements.map(\.value) {
          try await cache.merge(user, asOf: age)
          users[user.summary.id] = await cache.user(user.summary.id) ?? user
        }
        rest = rest.dropFirst(Self.usersPerRequest)
      }
      return users
    }
  }

  static let usersPerRequest = 100

  private static func fetch(_ id: ID<User>, _ client: Client, _ cache: Cache) async throws -> User {
    let age = await cache.responseAge
    let user = try await client.send(.getUser(.id(id))).value
    try await cache.merge(user, asOf: age)
    return await cache.user(id) ?? user
  }

  /// The user's own conversations by last activity, newest first.
  public nonisolated func conversations() -> CachedThenFresh<[ShownConversation]> {
    CachedThenFresh { [cache] in
      await cache.hasBegun ? try await cache.ownConversations() : nil
    } fresh: { [sync, cache] in
      try await sync.catchUp()
      return try await cache.ownConversations()
    }
  }

  /// A conversation: the cached one, then that of the server.
  public nonisolated func conversation(_ id: ID<Conversation>) -> CachedThenFresh<ShownConversation> {
    CachedThenFresh { [cache] in
      try await cache.shown(id)
    } fresh: { [sync, cache] in
      try await sync.refresh(id)
      guard let shown = try await cache.shown(id) else { throw SyncRefusal.unknownConversation }
      return shown
    }
  }

  /// A forum: the cached one, then that of the server.
  public nonisolated func forum(_ id: ID<Forum>) -> CachedThenFresh<ReplicaForum> {
    CachedThenFresh { [cache] in
      await cache.replica.forums[id]
    } fresh: { [sync, cache] in
      try await sync.refresh(id)
      guard let known = await cache.replica.forums[id] else { throw SyncRefusal.unknownForum }
      return known
    }
  }

  /// A message: the cached one, then that of the server.
  public nonisolated func message(_ id: ID<Message>) -> CachedThenFresh<ShownMessage> {
    CachedThenFresh { [cache] in
      try await cache.shown([id]).first
    } fresh: { [sync, cache] in
      guard let seen = try await sync.refresh([id]).first, let shown = try await cache.shown(seen).first else {
        throw SyncRefusal.unknownMessage
      }
      return shown
    }
  }

  /// The forums by last activity, newest first.
  public nonisolated func forums() -> CachedThenFresh<[ReplicaForum]> {
    CachedThenFresh { [cache] in
      await cache.hasBegun ? await cache.forums : nil
    } fresh: { [sync, cache] in
      try await sync.catchUp()
      return await cache.forums
    }
  }

  /// Compares the cached copy of a conversation with the server's, repairs it, and says whether it is complete.
  public nonisolated func proof(of conversation: ID<Conversation>) async throws -> Proof {
    try await sync.proof(of: conversation)
  }

  /// The messages of a conversation, newest first: those before a message, or the newest.
  public nonisolated func messages(
    in conversation: ID<Conversation>, before message: ID<Message>? = nil, limit: Int = 50
  ) -> CachedThenFresh<[ShownMessage]> {
    CachedThenFresh { [cache] in
      let seqs = try await cache.seqs(in: conversation, before: message, limit)
      let known = try await cache.shown(seqs, of: conversation)
      return known.isEmpty ? nil : known
    } fresh: { [sync, cache] in
      try await sync.catchUp()
      try await sync.fetchPage(of: conversation, before: message, limit: limit)
      return try await cache.shown(try await cache.seqs(in: conversation, before: message, limit), of: conversation)
    }
  }
}

extension Cache {
  fileprivate var hasBegun: Bool { replica.cursor != nil }

  fileprivate func users(_ ids: [ID<User>]) -> [ID<User>: User]? {
    var users: [ID<User>: User] = [:]
    for id in ids { users[id] = user(id) }
    return users.isEmpty ? nil : users
  }

  var forums: [ReplicaForum] { replica.forums.values.sorted { $0.forum.activity > $1.forum.activity } }

  /// The messages with their pending changes, read at once.
  fileprivate func shown(_ ids: [ID<Message>]) throws(CacheFault) -> [ShownMessage] { shown(try messages(.ids(ids))) }

  /// The range of the requested page.
  func seqs(
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
    return shown(try messages(.range(ClosedRange(seqs), of: conversation, .descending)))
  }

  /// The highest known `seq`.
  func end(of conversation: ID<Conversation>) -> Int {
    max(
      history(of: conversation).cached.all.last?.upperBound ?? 0,
      replica.conversations[conversation]?.conversation.lastSeq ?? 0)
  }
}
