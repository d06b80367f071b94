// Synchronizes the cache with the server: a snapshot, then every event in order.
//
// - A gap in a stream is filled before later events of the stream are applied.
// - Resources that an event only refers to by id are requested (`Replica.needs`). The needs are stored, so a killed process
//   requests them again.
// - If the server no longer has the events after the cursor, each conversation is verified by its digest and repaired. An
//   interrupted reset is repeated. The outbox and the drafts are unaffected.

import ParleyJSON
public import ParleyModel

/// The synchronization of the cache with the server: catch-up, gaps and missing messages.
public actor Sync {
  let cache: Cache
  let client: Client
  /// Serializes the operations that apply responses to the cache.
  let lock = AsyncLock()

  /// Messages per page, the maximum of the server.
  static let pageSize = 200
  /// Users per request, within the server's limit of a query.
  private static let usersPerRequest = 100
  /// Rounds of requests for needs if the responses are older than the cache.
  static let maxNeedRounds = 4
  /// Comparisons of a proof while the copy changes.
  static let maxProofRounds = 4

  /// Synchronizes a cache by the requests of a client.
  public init(_ cache: Cache, _ client: Client) {
    self.cache = cache
    self.client = client
  }

  // MARK: Events

  /// Fetches the snapshot if the cache is empty, or if a reset was interrupted.
  public func begin() async throws {
    try await exclusively { try await beginIfNeeded() }
  }

  /// Fetches a first snapshot, or completes an interrupted reset.
  private func beginIfNeeded() async throws {
    let (isEmpty, isResetting) = (await cache.replica.cursor == nil, await cache.isResetting)
    if isEmpty || isResetting { try await resync() }
  }

  /// Checks that the signed-in user owns the cache, and unlocks it. Erases the cache of another user, except what that user
  /// has not sent, and throws `userChanged`.
  public func verifyUser() async throws {
    try await lock.withLock {
      let lockedFor = await cache.lockedFor
      let owner = await cache.owner
      guard lockedFor ?? owner != nil else { return }
      try await compareOwner(with: try await client.send(.getUser(.me)).summary.id)
    }
  }

  /// `verifyUser` for the user that the answer to a sign-in names.
  func verifyOwner(_ me: ID<User>) async throws {
    try await lock.withLock { try await compareOwner(with: me) }
  }

  private func compareOwner(with me: ID<User>) async throws {
    let lockedFor = await cache.lockedFor
    let owner = await cache.owner
    guard let holder = lockedFor ?? owner else { return }
    guard me != holder else { return try await cache.unlock() }
    try await cache.seal()
    throw SyncRefusal.userChanged
  }

  /// Erases the cache, after the requests that apply their responses to it. Seals the unsent work of its user.
  func seal() async throws {
    try await lock.withLock { try await cache.seal() }
  }

  /// Locks the cache for its user, after the requests that apply their responses to it.
  func lockCache() async throws {
    try await lock.withLock { try await cache.lock() }
  }

  /// Applies live events. Missing events are fetched first.
  public func receive(_ events: [ReceivedEvent]) async throws {
    try await exclusively { try await apply(events) }
  }

  /// Moves the cursor: the server has delivered all events up to here.
  public func caughtUp(to cursor: EventCursor) async throws {
    try await lock.withLock { try await cache.move(to: cursor) }
  }

  /// Compares the cached data beyond the cursor if the server has restarted, perhaps with an older copy of its data.
  /// - Returns: the conversations that are gone; nil after a reset, because they may be there again.
  private func compareAhead(_ new: EventCursor) async throws -> [ID<Conversation>]? {
    guard let cursor = await cache.replica.cursor, cursor.start != new.start else { return [] }
    let beyond = try await cache.beginStart()
    if beyond.hasGone {
      try await resync(ResetReason.rewound.rawValue)
      return nil
    }
    guard try await replace(beyond.users, beyond.forums, asOf: cursor.event) else {
      try await resync(ResetReason.rewound.rawValue)
      return nil
    }
    var gone: [ID<Conversation>] = []
    for id in beyond.conversations where await cache.replica.conversations[id] != nil {
      let own: OwnConversation
      do { own = try await client.send(Request<OwnConversation>(.get, "/conversations/{id}", [id.description])) } catch
      {
        guard error.isGone else { throw error }
        try await cache.noteGone(id)
        gone.append(id)
        continue
      }
      try await cache.replace(own, asOf: cursor.event)
      try await removeLost(in: id, after: own.conversation.lastSeq)
      _ = try await compare(id)
      try await refetchActions(of: id)
    }
    return gone
  }

  /// Fetches users and forums beyond the cursor.
  /// - Returns: whether the server still has the forums. Those that it has lost had conversations.
  func replace(_ users: [ID<User>], _ forums: [ID<Forum>], asOf event: Int) async throws -> Bool {
    for first in stride(from: 0, to: users.count, by: Self.usersPerRequest) {
      let ids = users[first..<min(first + Self.usersPerRequest, users.count)]
      let request = Request.listUsers(ids: Array(ids))
      let found = try await client.send(request).elements.map(\.value)
      for user in found { try await cache.replace(user) }
      for id in Set(ids).subtracting(found.map(\.summary.id)) { try await cache.drop(.user(id)) }
    }
    for id in forums {
      do { try await cache.replace(client.send(.getForum(id)).value, asOf: event) } catch let fault as ClientFault {
        guard fault.isGone else { throw fault }
        return false
      }
    }
    return true
  }

  /// Drops conversations that the server has lost: no event has removed them.
  private func drop(_ lost: [ID<Conversation>]) async throws {
    for id in lost where await cache.replica.conversations[id] != nil {
      var isDropped = false
      while !isDropped {
        let own = try await cache.ownMessages(of: id)
        isDropped = try await cache.drop(id, compared: own, lost: absent(of: own))
      }
    }
  }

  /// Resynchronizes after the server has lost the events after the cursor.
  public func reset() async throws { try await exclusively { try await resync() } }

  /// Fetches the events of a stream that a slow connection has dropped.
  public func pull(_ stream: EventStream) async throws {
    try await exclusively { try await pull(stream, after: await cache.replica.positions[stream]?.offset ?? 0) }
  }

  /// Fetches and applies all events after the cursor, without a live connection.
  /// - Parameter wait: seconds that the server may wait for an event (long polling).
  public func catchUp(wait: Int = 0) async throws {
    try await exclusively {
      try await beginIfNeeded()
      var wait = wait
      var gone: [ID<Conversation>] = []
      while let cursor = await cache.replica.cursor {
        let ahead = await cache.ahead
        let found = try await client.send(.sync(topics: [.me], after: cursor.description, wait: wait)).value
        if let reset = found.reset {
          try await resync(reset)
          // The snapshot has the conversations that are not gone.
          gone = []
          continue
        }
        // After another restart, the conversations that were gone are compared again.
        if await cache.replica.cursor?.start != found.cursor.start { gone = [] }
        guard let justGone = try await compareAhead(found.cursor) else {
          gone = []
          continue
        }
        if gone.isEmpty, justGone.isEmpty, cursor.start != found.cursor.start {
          // The events belong to the new start. With the start before, the server would take them for lost ones.
          try await cache.move(to: EventCursor(epoch: cursor.epoch, start: found.cursor.start, event: cursor.event))
        }
        try await apply(found.events)
        // A conversation may have been removed since this page: then the next one has the event.
        let isLast = !found.hasMore && justGone.isEmpty
        if isLast { try await drop(gone) }
        gone += justGone
        try await cache.move(to: found.cursor, covering: found.hasMore ? [:] : ahead)
        wait = 0
        if isLast { break }
      }
    }
  }

  private func apply(_ events: [ReceivedEvent]) async throws {
    var rest = events[...]
    while !rest.isEmpty {
      let applied = try await cache.apply(Array(rest))
      rest = rest.dropFirst(applied.count)
      guard let missing = applied.missing, let next = rest.first else { return }
      try await pull(missing.stream, after: missing.after)
      let offset = await cache.replica.positions[missing.stream]?.offset ?? 0
      // The missing events are not available. The conversation itself is fetched.
      if offset < next.offset - 1 { try await skip(missing.stream, to: next) }
    }
  }

  private func pull(_ stream: EventStream, after offset: Int) async throws {
    var next: String?
    while true {
      let found: StreamEventPage
      do {
        found = try await client.send(
          .listStreamEvents(of: stream.description, afterOffset: offset, limit: Self.pageSize, next: next)
        ).value
      } catch {
        guard error.isGone else { throw error }
        return
      }
      _ = try await cache.apply(found.events, movesCursor: false)
      guard let position = found.next else { return }
      next = position
    }
  }

  private func skip(_ stream: EventStream, to next: ReceivedEvent) async throws {
    try await cache.skip(stream, to: next.offset - 1, event: next.id - 1)
    guard case .conversation(let id) = stream else { return }
    try await fetchConversation(id)
    _ = try await compare(id)
  }

  // MARK: Snapshot

  /// - Parameter reason: the reason of the server's reset; nil without one.
  func resync(_ reason: String? = nil) async throws {
    let snapshot = try await client.send(.getSnapshot()).value
    var others: [OwnConversation] = []
    if snapshot.hasMoreConversations {
      let listed = Set(snapshot.conversations.map(\.conversation.id))
      others = try await all(.listConversations(limit: Self.pageSize)).map(\.value)
        .filter { !listed.contains($0.conversation.id) }
    }
    let isRestored = try await isRestored(snapshot.cursor, reason)
    let known = Set((snapshot.conversations + others).map(\.conversation.id))
    var isOther: Bool?
    while isOther == nil {
      let own = isRestored ? try await cache.ownMessages(outside: known) : nil
      let lost = try await absent(of: own ?? [])
      isOther = try await cache.begin(snapshot, others: others, lost: lost, compared: own)
    }
    if isOther == true { throw SyncRefusal.userChanged }
    if snapshot.hasMoreForums {
      for forum in try await all(.listForums(limit: Self.pageSize)) {
        try await cache.merge(forum.value, asOf: snapshot.cursor.event)
      }
    }
    for id in await cache.cachedConversations {
      guard let known = await cache.replica.conversations[id] else { continue }
      try await removeLost(in: id, after: known.conversation.lastSeq)
      _ = try await compare(id)
      try await refetchActions(of: id)
    }
    try await cache.endReset()
  }

  /// Whether the server has lost data that the cache may have.
  private func isRestored(_ new: EventCursor, _ reason: String?) async throws -> Bool {
    guard let cursor = await cache.replica.cursor, cursor.isOtherHistory(than: new) else { return false }
    if cursor.epoch != new.epoch { return true }
    var reason = reason
    if reason == nil { reason = try await client.send(.sync(topics: [.me], after: cursor.description)).value.reset }
    return reason == ResetReason.rewound.rawValue
  }

  /// Removes the messages that the server has lost. The snapshot may be older than a message that was sent meanwhile.
  func removeLost(in conversation: ID<Conversation>, after lastSeq: Int) async throws {
    guard lastSeq < Int.max else { return }
    let beyond = try await cache.messages(.range(lastSeq + 1...Int.max, of: conversation)).map(\.message)
    guard let lost = try await lost(of: absent(of: beyond), in: conversation) else { return }
    try await cache.orphan(lost, of: conversation)
  }

  /// The messages that the server does not have, or does not show.
  func absent(of messages: [Message]) async throws -> [Message] {
    var absent: [Message] = []
    var rest = messages[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.pageSize)
      let found = try await client.send(.getMessages(ids: part.map(\.id)))
        .elements.map(\.value.message)
      absent += Array(part).without(found)
      rest = rest.dropFirst(Self.pageSize)
    }
    return absent
  }

  /// The absent messages of a conversation that are lost. The server hides them too from a user who was removed meanwhile.
  /// - Returns: nil if the user may not read the conversation: an event or a reset follows.
  func lost(of absent: [Message], in conversation: ID<Conversation>) async throws -> [Message]? {
    guard !absent.isEmpty else { return [] }
    do {
      let own = try await client.send(Request<OwnConversation>(.get, "/conversations/{id}", [conversation.description]))
      return absent.filter { $0.seq >= own.participation?.fromSeq ?? 1 }
    } catch {
      guard error.isGone else { throw error }
      return nil
    }
  }

  func all<Element>(_ request: Request<Page<Element>>) async throws(ClientFault) -> [Element] {
    var all: [Element] = []
    for try await page in client.pages(of: request) { all += page.elements }
    return all
  }
}
