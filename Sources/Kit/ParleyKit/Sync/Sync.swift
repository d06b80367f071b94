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
  private let cache: Cache
  private let client: Client
  /// Serializes the operations that apply responses to the cache.
  private let lock = AsyncLock()

  /// Messages per page, the maximum of the server.
  static let pageSize = 200
  /// Users per request, within the server's limit of a query.
  private static let usersPerRequest = 100
  /// Rounds of requests for needs if the responses are older than the cache.
  private static let maxNeedRounds = 4
  /// Comparisons of a proof while the copy changes.
  private static let maxProofRounds = 4

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
    }
    return gone
  }

  /// Fetches users and forums beyond the cursor.
  /// - Returns: whether the server still has the forums. Those that it has lost had conversations.
  private func replace(_ users: [ID<User>], _ forums: [ID<Forum>], asOf event: Int) async throws -> Bool {
    for first in stride(from: 0, to: users.count, by: Self.usersPerRequest) {
      let ids = users[first..<min(first + Self.usersPerRequest, users.count)]
      let request = Request.listUsers(ids: ids.map(\.description).joined(separator: ","))
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
      try await cache.orphan(try await absent(of: ownMessages(of: id)), of: id)
      try await cache.drop(.conversation(id))
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
        let found = try await client.send(.sync(topics: "me", after: cursor.description, wait: wait)).value
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

  // MARK: Needs

  /// Runs `body` exclusively, then fetches the needs that it leaves: no event will announce them.
  private func exclusively<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    try await lock.withLock {
      let value = try await body()
      try await resolveNeeds()
      return value
    }
  }

  /// Fetches open needs, such as those of a response to the outbox.
  func fetchNeeds() async throws {
    guard await !cache.replica.needs.isEmpty else { return }
    try await exclusively {}
  }

  private func resolveNeeds() async throws {
    for _ in 0..<Self.maxNeedRounds {
      let needs = await cache.replica.needs
      if needs.isEmpty { return }
      try await fetchUsers(needs.compactMap { if case .user(let id) = $0 { id } else { nil } })
      // In a deterministic order.
      for need in await cache.replica.needs.sorted(by: { "\($0)" < "\($1)" }) { try await fetch(need) }
    }
  }

  /// Fetches the users of needs, such as the authors of a page. The response omits users that the caller may not see.
  private func fetchUsers(_ ids: [ID<User>]) async throws {
    var rest = ids.sorted()[...]
    while !rest.isEmpty {
      let part = rest.prefix(Parley.usersPerRequest)
      rest = rest.dropFirst(part.count)
      let found = try await client.send(.listUsers(ids: part.map(\.description).joined(separator: ","))).elements
      for user in found { try await cache.merge(user.value) }
      for id in Set(part).subtracting(found.map(\.value.summary.id)).sorted() { try await cache.drop(.user(id)) }
    }
  }

  private func fetch(_ need: Replica.Need) async throws {
    // The response reflects at least the events before the request.
    let known = await cache.replica.cursor?.event ?? 0
    do {
      switch need {
      case .user(let id):
        try await cache.merge(client.send(.getUser(.id(id))).value)
      case .forum(let id):
        try await cache.merge(client.send(.getForum(id)).value, asOf: known)
      case .conversation(let id): try await fetchConversation(id)
      case .message(let id):
        try await cache.merge([client.send(.getMessage(id)).value], asOf: known)
      case .inbox:
        try await cache.merge(client.send(.listNotifications(limit: 1)).unread)
      case .everything: try await resync()
      }
    } catch let fault as ClientFault {
      guard fault.isGone else { throw fault }
      try await cache.drop(need)
    }
  }

  /// Fetches a conversation and its newest messages.
  private func fetchConversation(_ id: ID<Conversation>) async throws {
    let known = await cache.replica.cursor?.event ?? 0
    let request = await cache.countRequest(of: id)
    let own = try await client.send(Request<OwnConversation>(.get, "/conversations/{id}", [id.description]))
    try await cache.merge(own, asOf: known, countRequest: request)
    guard own.conversation.lastSeq > 0 else { return }
    let page = try await fetch(id, [.init("order", "desc")], limit: 50)
    try await cache.merge(page)
  }

  private func fetch(
    _ conversation: ID<Conversation>, _ query: [QueryItem?], limit: Int
  ) async throws(ClientFault) -> FetchedMessages {
    let all = [
      QueryItem("limit", "\(limit)"), .init("include_machine", "true"), .init("include_muted", "true"),
    ]
    return try await client.send(
      Request(.get, "/conversations/{id}/messages", [conversation.description], query: query + all))
  }

  // MARK: Snapshot

  /// - Parameter reason: the reason of the server's reset; nil without one.
  private func resync(_ reason: String? = nil) async throws {
    let snapshot = try await client.send(.getSnapshot()).value
    var others: [OwnConversation] = []
    if snapshot.hasMoreConversations {
      let listed = Set(snapshot.conversations.map(\.conversation.id))
      others = try await all(.listConversations(limit: Self.pageSize)).map(\.value)
        .filter { !listed.contains($0.conversation.id) }
    }
    let isRestored = try await isRestored(snapshot.cursor, reason)
    let known = Set((snapshot.conversations + others).map(\.conversation.id))
    let lost = isRestored ? try await lostMessages(outside: known) : []
    let isOther = try await cache.begin(snapshot, others: others, lost: lost)
    if isOther { throw SyncRefusal.userChanged }
    if snapshot.hasMoreForums {
      for forum in try await all(.listForums(limit: Self.pageSize)) {
        try await cache.merge(forum.value, asOf: snapshot.cursor.event)
      }
    }
    for id in await cache.cachedConversations {
      guard let known = await cache.replica.conversations[id] else { continue }
      try await removeLost(in: id, after: known.conversation.lastSeq)
      _ = try await compare(id)
    }
    try await cache.endReset()
  }

  /// Whether the server has lost data that the cache may have.
  private func isRestored(_ new: EventCursor, _ reason: String?) async throws -> Bool {
    guard let cursor = await cache.replica.cursor, cursor.isOtherHistory(than: new) else { return false }
    if cursor.epoch != new.epoch { return true }
    var reason = reason
    if reason == nil { reason = try await client.send(.sync(topics: "me", after: cursor.description)).value.reset }
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
  private func absent(of messages: [Message]) async throws -> [Message] {
    var absent: [Message] = []
    var rest = messages[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.pageSize)
      let found = try await client.send(.getMessages(ids: part.map(\.id.description).joined(separator: ",")))
        .elements.map(\.value.message)
      absent += part.filter { message in !found.contains { $0.isSame(as: message) } }
      rest = rest.dropFirst(Self.pageSize)
    }
    return absent
  }

  /// The absent messages of a conversation that are lost. The server hides them too from a user who was removed meanwhile.
  /// - Returns: nil if the user may not read the conversation: an event or a reset follows.
  private func lost(of absent: [Message], in conversation: ID<Conversation>) async throws -> [Message]? {
    guard !absent.isEmpty else { return [] }
    do {
      let own = try await client.send(Request<OwnConversation>(.get, "/conversations/{id}", [conversation.description]))
      return absent.filter { $0.seq >= own.participation?.fromSeq ?? 1 }
    } catch {
      guard error.isGone else { throw error }
      return nil
    }
  }

  /// The user's own cached messages of a range.
  private func ownMessages(
    in seqs: ClosedRange<Int> = 1...Int.max, of conversation: ID<Conversation>
  ) async throws -> [Message] {
    let me = await cache.replica.me?.summary.id
    // Earlier messages are only hidden.
    let first = await cache.replica.conversations[conversation]?.participation?.fromSeq ?? 1
    return try await cache.messages(.range(seqs, of: conversation)).map(\.message).filter { message in
      message.author == me && message.content != nil && message.seq >= first
    }
  }

  /// The user's own messages in conversations that a restored server does not list, and does not have.
  private func lostMessages(outside known: Set<ID<Conversation>>) async throws -> [Message] {
    var lost: [Message] = []
    for id in await cache.cachedConversations where !known.contains(id) {
      lost += try await absent(of: ownMessages(of: id))
    }
    return lost
  }

  private func all<Element>(_ request: Request<Page<Element>>) async throws(ClientFault) -> [Element] {
    var all: [Element] = []
    for try await page in client.pages(of: request) { all += page.elements }
    return all
  }

  // MARK: Conversations

  /// Fetches the newest messages of a conversation, without a gap after the cached ones.
  /// - Returns: the messages that were not cached, oldest first.
  @discardableResult
  public func fetchNewest(in conversation: ID<Conversation>) async throws -> [Message] {
    guard await cache.replica.conversations[conversation] != nil else { throw SyncRefusal.unknownConversation }
    guard await !cache.operations.values.contains(where: { $0.conversation == conversation && $0.kind != .read }) else {
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

  private func refetch(_ messages: [ID<Message>]) async throws -> [MessageView] {
    var found: [MessageView] = []
    var rest = messages[...]
    while !rest.isEmpty {
      let known = await cache.replica.cursor?.event ?? 0
      let ids = rest.prefix(Self.pageSize).map(\.description).joined(separator: ",")
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

  private func refetchPage(
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
  private func hasEvents(_ conversation: ID<Conversation>) async -> Bool {
    await cache.replica.conversations[conversation]?.isOwn ?? false
  }

  /// Fetches the state of a conversation without events, such as the room of a forum that the user has not joined.
  private func refreshWithoutEvents(_ conversation: ID<Conversation>) async throws {
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
  private func before(_ seq: Int, in conversation: ID<Conversation>) async throws -> [QueryItem] {
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

  // MARK: Verification

  /// The result of a verification.
  public struct VerificationResult: Sendable, Hashable {
    /// Number of compared messages.
    public var checked = 0
    /// Number of messages fetched again.
    public var repaired = 0
    /// Number of unchanged messages with actions that were fetched again after a reset.
    public var refreshed = 0
  }

  /// Compares the cached messages of a conversation with the server's digest and repairs differences.
  public func verify(_ conversation: ID<Conversation>) async throws -> VerificationResult {
    try await catchUp()
    try await refreshWithoutEvents(conversation)
    // An empty copy would be compared with nothing.
    if await cache.history(of: conversation).cached.all.isEmpty { try await refresh(conversation) }
    var verdict = try await exclusively { try await compare(conversation) }
    for seqs in await cache.history(of: conversation).cached.all {
      verdict.refreshed += try await refreshActions(in: seqs, of: conversation)
    }
    return verdict
  }

  /// Compares the cached copy of a conversation with the server's, repairs it, and says whether it is complete.
  public func proof(of conversation: ID<Conversation>) async throws -> Proof {
    do {
      _ = try await verify(conversation)
      for _ in 0..<Self.maxProofRounds {
        if let proof = try await exclusively({ try await prove(conversation) }) { return proof }
      }
      return .incomplete(.changing)
    } catch SyncRefusal.unknownConversation {
      return .incomplete(.unknownConversation)
    } catch let fault as ClientFault {
      return .incomplete(fault.isGone ? .unknownConversation : .unreachable(fault))
    }
  }

  /// Compares the whole readable history. Repairs differences and returns nil if there were any.
  private func prove(_ conversation: ID<Conversation>) async throws -> Proof? {
    let parts = try await client.send(.getDigest(of: conversation, parts: 16)).value.parts
    guard let first = parts.first?.seqs.lowerBound, let last = parts.last?.seqs.upperBound else {
      return .complete(through: nil)
    }
    let missing = await cache.history(of: conversation).cached.missing(in: first...last)
    guard missing.isEmpty else { return .incomplete(.missing(missing)) }
    var newest: Message?
    for part in parts {
      let known = try await cache.messages(.range(part.seqs, of: conversation)).map(\.message)
      guard known.count == part.seqs.count, try MessageDigest.of(known) == part.digest else {
        _ = try await compare(conversation)
        return nil
      }
      newest = known.last
    }
    return .complete(through: newest)
  }

  /// Fetches the actions that may be stale since a reset: a digest does not cover them.
  /// - Returns: the number of messages.
  @discardableResult
  func refreshActions(in seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws -> Int {
    let asOf = await cache.actionsAsOf
    guard asOf > 0 else { return 0 }
    var (count, next) = (0, seqs.lowerBound)
    while next <= seqs.upperBound {
      let page = try await cache.messages(.range(next...seqs.upperBound, of: conversation, limit: Self.pageSize))
      guard let last = page.last else { break }
      next = last.message.seq + 1
      let unsure = page.filter { $0.replica.actionsAsOf < asOf && $0.message.tombstone == nil }.map(\.message.id)
      if unsure.isEmpty { continue }
      try await refresh(unsure)
      count += unsure.count
    }
    return count
  }

  /// Fetches a conversation and its newest messages.
  public func refresh(_ conversation: ID<Conversation>) async throws {
    try await exclusively { try await fetchConversation(conversation) }
  }

  /// Fetches a forum into the cache.
  public func refresh(_ forum: ID<Forum>) async throws {
    try await exclusively { try await fetch(.forum(forum)) }
  }

  private func compare(_ conversation: ID<Conversation>) async throws -> VerificationResult {
    var verdict = VerificationResult()
    for range in await cache.history(of: conversation).cached.all {
      verdict.checked += range.count
      verdict.repaired += try await compare(range, of: conversation)
    }
    return verdict
  }

  /// Smaller ranges are fetched again instead of being split further.
  private static let minSplitCount = 50

  private func compare(_ seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws -> Int {
    let remote: FetchedDigest
    do {
      remote = try await client.send(
        Request(
          .get, "/conversations/{id}/digest", [conversation.description],
          query: [
            QueryItem("from_seq", seqs.lowerBound), QueryItem("to_seq", seqs.upperBound), QueryItem("parts", 16),
          ]))
    } catch {
      guard error.isGone || error.problem?.status == 400 else { throw error }
      // The conversation is gone: an event or a reset follows, if it has events.
      if error.isGone, await hasEvents(conversation) { return 0 }
      // The readable history begins later, or the server has lost its end.
      try await replace(seqs, of: conversation, by: [], asOf: nil)
      return 0
    }
    try await cache.noteCompared(conversation, with: remote.asOf)
    var repaired = 0
    for part in remote.parts {
      let cached = try await cache.messages(.range(part.seqs, of: conversation))
      let known = cached.map(\.message)
      if known.count == part.seqs.count, try MessageDigest.of(known) == part.digest {
        try await refetchChanged(cached)
        continue
      }
      if part.seqs.count > Self.minSplitCount, part.seqs != seqs {
        repaired += try await compare(part.seqs, of: conversation)
      } else {
        repaired += try await refetch(part.seqs, of: conversation, known.first)
      }
    }
    return repaired
  }

  /// Fetches the edited and deleted messages of an earlier generation. Two histories may give a message the same revision and
  /// text at different times, and a digest does not cover the times.
  private func refetchChanged(_ cached: [CachedMessage]) async throws {
    let generation = await cache.generation
    _ = try await refetch(
      cached.filter { $0.generation != generation && $0.message.revision > 1 }.map(\.message.id))
  }

  private func refetch(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, _ first: Message?
  ) async throws -> Int {
    var found: [MessageView] = []
    var asOf: EventCursor?
    var isMixed = false
    var query = [QueryItem("order", "asc")]
    // The part before was compared already; the copy of this part may name a message that is lost.
    let before = seqs.lowerBound - 1
    let anchor = try await cache.messages(.range(before...before, of: conversation)).first?.message.id
    if seqs.lowerBound > 1, let previous = anchor ?? first?.previous {
      query.append(.init("after", previous.description))
    }
    var next: String?
    while true {
      let page: FetchedMessages
      do {
        page = try await fetch(conversation, query + [.init("next", next)], limit: min(Self.pageSize, seqs.count))
      } catch {
        guard error.isGone || error.problem?.status == 400 else { throw error }
        // The anchor is gone, too. The range is fetched when a window shows it.
        break
      }
      // Pages of several starts have no common age.
      isMixed = isMixed || asOf.map { $0.start != page.asOf.start } ?? false
      asOf = page.asOf
      found += page.messages
      guard page.next != nil, let last = page.messages.last, last.message.seq < seqs.upperBound else { break }
      next = page.next
    }
    return try await replace(seqs, of: conversation, by: found, asOf: isMixed ? nil : asOf) ? seqs.count : 0
  }

  /// Replaces the cached messages of a range. The user's own that the server still has stay cached, and are fetched: this
  /// copy may be the last one if the server goes back once more.
  /// - Returns: whether the user may read the conversation.
  @discardableResult
  private func replace(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, by found: [MessageView], asOf: EventCursor?
  ) async throws -> Bool {
    let others = try await ownMessages(in: seqs, of: conversation).filter { message in
      !found.contains { $0.message.isSame(as: message) }
    }
    let absent = try await absent(of: others)
    guard let lost = try await lost(of: absent, in: conversation) else { return false }
    let kept = others.filter { message in !absent.contains { $0.isSame(as: message) } }
    try await cache.replace(seqs, of: conversation, by: found, asOf: asOf, lost: lost, keeping: kept)
    _ = try await refetch(kept.map(\.id))
    return true
  }
}

extension Conversation {
  fileprivate func isPrivateChannel(of user: ID<User>?) -> Bool {
    guard let user, kind == .channel, createdBy == user, readers.audience == .listed else { return false }
    return writers == Openness(.listed, isImmutable: true) && participants?.map(\.user) == [user]
  }
}
