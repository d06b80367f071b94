// One user's local copy of a site: the state of the server as of the cursor, and the operations of the outbox.
//
// - All data but messages is in memory. An event loads the messages that it needs from the store.
// - A change is computed in memory and saved with the cursor in one transaction of the store. A process that crashes restarts
//   from a consistent state; no event is lost or applied twice.
// - Older data never replaces newer data: `Replica` decides by revisions and event ids.

import ParleyJSON
public import ParleyModel

/// The local copy of a user's conversations, with drafts and unsent operations. Every change is stored before it is
/// shown.
public actor Cache {
  /// Settings of the search index.
  public let indexing: MessageIndexing
  let store: any CacheStore
  /// The state of the conversations, as the events describe it.
  public internal(set) var replica = Replica()
  var histories: [ID<Conversation>: CachedHistory] = [:]
  var notes: [String: JSONRaw] = [:]
  var operations: [String: OutboxOperation] = [:]
  var drafts: [ID<Conversation>: JSONRaw] = [:]
  var orphans: [ID<Message>: ReplicaMessage] = [:]
  /// The messages of unsent operations, cached while the draft is unchanged.
  var unsent: [OutboxOperation.Name: (draft: Draft, message: CachedMessage)] = [:]
  /// Messages with a location name requested from the app.
  var locationRequests: Set<ID<Message>> = []
  /// Number of erasures. A task that began before an erasure must not write.
  var eraseCount = 0
  /// Number of restarts of the server that this process has followed.
  private var startCount = 0
  var countRequests: [ID<Conversation>: Int] = [:]
  private var readCount = 0
  var isClosed = false
  /// Whether the files that messages lose are noted, for the picture cache.
  let keepsPictures: Bool
  var observers: [Int: AsyncStream<CacheUpdate>.Continuation] = [:]
  var lastObserver = 0

  /// - Parameter open: creates the store, on the cache's executor: `{ try DiskStore(path) }` or `{ MemoryStore() }`.
  public init(
    _ indexing: MessageIndexing = MessageIndexing(), _ open: @Sendable () throws -> sending any CacheStore
  ) throws(CacheFault) {
    try self.init(indexing, keepsPictures: false, open)
  }

  init(
    _ indexing: MessageIndexing, keepsPictures: Bool, _ open: @Sendable () throws -> sending any CacheStore
  ) throws(CacheFault) {
    self.keepsPictures = keepsPictures
    let store: any CacheStore
    do { store = try open() } catch { throw error as? CacheFault ?? .broken("\(error)") }
    self.indexing = indexing
    for row in try store.rows(of: .note) { notes[row.key] = row.value }
    try Self.reindex(store, indexing, notes["index"])
    if notes[Self.lockNote] == nil {
      let stored = try StoredCopy(store)
      if !stored.repairs.isEmpty { try store.save(stored.repairs) }
      (replica, histories) = (stored.replica, stored.histories)
      (operations, drafts, orphans) = stored.unsent
      for row in stored.repairs.rows where row.table == .note { notes[row.key] = row.value }
    }
    self.store = store
  }

  typealias Unsent = (
    operations: [String: OutboxOperation], drafts: [ID<Conversation>: JSONRaw], orphans: [ID<Message>: ReplicaMessage]
  )

  /// The version of the message index and of the stored form of messages.
  static func indexRow(_ indexing: MessageIndexing) -> CacheRow {
    CacheRow(
      .note, "index", writing: "\(indexing.version).\(MessageIndexing.form).\(SearchText.version).\(CachedMessage.form)"
    )
  }

  /// Rebuilds the index of all messages if the app's indexing or the stored form has changed. Messages that this version
  /// can't read become gaps, which are fetched again.
  private static func reindex(
    _ store: any CacheStore, _ indexing: MessageIndexing, _ known: JSONRaw?
  ) throws(CacheFault) {
    let version = indexRow(indexing)
    guard known != version.value else { return }
    var changes = CacheChanges()
    changes.rows = [version]
    var unreadable: [ID<Conversation>: [Int]] = [:]
    for row in known == nil ? [] : try store.rows(of: .message) {
      guard let raw = row.value else { continue }
      do {
        var cached = try CachedMessage(json: JSONValue(parsing: raw.bytes))
        cached.index = indexing.index(cached.message, locationName: cached.index.locationName)
        changes.messages.append(cached)
      } catch {
        guard let (conversation, seq) = CachedMessage.location(ofKey: row.key) else { throw .broken("\(error)") }
        unreadable[conversation, default: []].append(seq)
      }
    }
    for (conversation, seqs) in unreadable { changes.removed += seqs.map { .init(conversation, $0...$0) } }
    for row in unreadable.isEmpty ? [] : try store.rows(of: .history) {
      guard let id = ID<Conversation>(row.key), let seqs = unreadable[id], let raw = row.value,
        var history = try? CachedHistory(json: JSONValue(parsing: raw.bytes))
      else { continue }
      for seq in seqs { history.cached.remove(seq...seq) }
      changes.rows.append(CacheRow(.history, row.key, writing: history))
    }
    try store.save(changes)
  }

  /// Incremented when the server was restored or goes on from an older copy of its data: ages are not comparable.
  var generation: Int { number("generation") ?? 1 }

  /// The age of a response: the last event before its request. Event ids of another generation are not comparable.
  struct ResponseAge: Sendable {
    fileprivate let generation: Int
    fileprivate let startCount: Int
    let eraseCount: Int
    fileprivate let event: Int
  }

  var responseAge: ResponseAge {
    ResponseAge(
      generation: generation, startCount: startCount, eraseCount: eraseCount, event: replica.cursor?.event ?? 0)
  }

  /// Whether since the request the cache was not erased, and the server has neither been restored nor restarted, perhaps
  /// with an older copy of its data.
  func isCurrent(_ age: ResponseAge) -> Bool {
    (age.generation, age.startCount, age.eraseCount) == (generation, startCount, eraseCount)
  }

  func event(of age: ResponseAge) -> Int { age.generation == generation ? age.event : 0 }

  static let actionsNote = "actions"

  /// The event id of the last reset. The actions of messages cached before it may be stale.
  var actionsAsOf: Int { number(Self.actionsNote) ?? 0 }

  func number(_ note: String) -> Int? {
    notes[note].flatMap { try? JSONValue(parsing: $0.bytes).int() }
  }

  // MARK: Data beyond the cursor

  static let aheadPrefix = "ahead "
  /// The least value of a response whose event is unknown. Each has another one.
  private static let unknownEvent = 1 << 53
  private var aheadCount = 0

  /// Names in `ahead` of the data besides conversations.
  static let (inboxName, goneName) = ("inbox", "gone")
  private static let (userPrefix, forumPrefix) = ("user:", "forum:")

  /// The data that responses have changed, with their events: conversations by id, users and forums by their prefixes and ids,
  /// the counts of the inbox, and deletions. A response may be ahead of the cursor, and a server that goes on from an older copy of its data has
  /// lost the events that the cursor does not cover, without a reset.
  var ahead: [String: Int] {
    var ahead: [String: Int] = [:]
    for key in notes.keys where key.hasPrefix(Self.aheadPrefix) {
      ahead[String(key.dropFirst(Self.aheadPrefix.count))] = number(key)
    }
    return ahead
  }

  /// - Parameter event: the event of the response; nil if unknown.
  func aheadRows(_ conversations: Set<ID<Conversation>>, _ event: Int?) -> [CacheRow] {
    aheadRows(conversations.sorted().map(\.description), event)
  }

  func aheadRows(_ names: [String], _ event: Int?) -> [CacheRow] {
    guard let cursor = replica.cursor?.event, event.map({ $0 > cursor }) ?? true else { return [] }
    return names.compactMap { name in
      let key = "\(Self.aheadPrefix)\(name)"
      if event == nil { aheadCount = max(aheadCount, number(key) ?? 0, Self.unknownEvent) + 1 }
      let value = event ?? aheadCount
      return value > number(key) ?? 0 ? CacheRow(.note, key, writing: value) : nil
    }
  }

  /// Events that do not move the cursor: a server that goes on from an older copy of its data may have lost them, and would
  /// give their offsets to others.
  func aheadRows(of events: [ReceivedEvent]) -> [CacheRow] {
    let names = events.map { event in
      switch event.stream {
      case .conversation(let id): id.description
      case .forum(let id): "\(Self.forumPrefix)\(id)"
      case .site, .user: Self.goneName
      }
    }
    return aheadRows(Set(names).sorted(), events.map(\.id).max())
  }

  /// Moves the cursor after a catch-up that covers all responses from before its last request.
  func move(to cursor: EventCursor, covering before: [String: Int]) throws(CacheFault) {
    var changes = CacheChanges()
    for (name, event) in ahead where event <= cursor.event || event == before[name] {
      changes.rows.append(CacheRow(.note, "\(Self.aheadPrefix)\(name)", nil))
    }
    try change(bringing: [], changes) { $0.move(to: cursor) }
  }

  /// Follows a restart of the server. Forgets the ages of messages if the cache has data beyond the cursor.
  /// - Returns: the data to compare with the server.
  func beginStart() throws(CacheFault) -> Beyond {
    startCount += 1
    guard let cursor = replica.cursor?.event else { return Beyond() }
    let names = ahead.filter { $0.value > cursor }.keys
    func ids<Thing>(_ prefix: String) -> [ID<Thing>] {
      names.compactMap { $0.hasPrefix(prefix) ? ID<Thing>(String($0.dropFirst(prefix.count))) : nil }.sorted()
    }
    let beyond = Beyond(
      conversations: names.compactMap { ID($0) }.sorted(), users: ids(Self.userPrefix), forums: ids(Self.forumPrefix),
      hasGone: names.contains(Self.goneName))
    var changes = CacheChanges()
    changes.rows = [CacheRow(.note, Self.timelineNote, nil), CacheRow(.note, Self.timelinePositionNote, nil)]
    if !beyond.conversations.isEmpty {
      changes.rows += [
        CacheRow(.note, "generation", writing: generation + 1),
        CacheRow(.note, Self.actionsNote, writing: max(1, cursor)),
      ]
    }
    let hasInbox = names.contains(Self.inboxName)
    try change(bringing: [], changes) { if hasInbox { $0.require(.inbox) } }
    return beyond
  }

  /// The data that responses have changed beyond the cursor.
  struct Beyond: Sendable {
    var conversations: [ID<Conversation>] = []
    var users: [ID<User>] = []
    var forums: [ID<Forum>] = []
    /// Whether a conversation or forum was dropped, because the server did not have it or did not show it.
    var hasGone = false
  }

  /// Replaces a conversation whose cached state may be of a lost history. The server may restart again before the cursor
  /// covers the new state.
  func replace(_ own: OwnConversation, asOf event: Int) throws(CacheFault) {
    let last = own.lastMessage.map { [$0] } ?? []
    let loaded = try replicas(.ids(last.map(\.message.id)))
    var changes = CacheChanges()
    changes.rows = aheadRows([own.conversation.id], nil)
    try change(bringing: loaded, changes) { replica in
      replica.replace(own, asOf: event)
      replica.merge(last, asOf: event)
    }
  }

  /// The event of a response; nil if it comes from another start of the server than the cursor, whose events differ.
  func event(of response: EventCursor) -> Int? {
    response.start == replica.cursor?.start ? response.event : nil
  }

  /// Notes that a conversation was compared with a response, which the cursor may not cover.
  func noteCompared(_ conversation: ID<Conversation>, with response: EventCursor) throws(CacheFault) {
    if event(of: response) == nil { try save(aheadRows([conversation], nil)) }
  }

  /// Replaces a user whose cached revision may be of a lost history.
  func replace(_ user: User) throws(CacheFault) {
    try change(bringing: [], ahead(of: user)) { $0.replace(user) }
  }

  /// Replaces a forum whose cached revision may be of a lost history.
  func replace(_ forum: ForumView, asOf event: Int) throws(CacheFault) {
    try change(bringing: [], ahead(of: forum)) { $0.replace(forum, asOf: event) }
  }

  func ahead(of user: User) -> CacheChanges {
    var changes = CacheChanges()
    changes.rows = aheadRows(["\(Self.userPrefix)\(user.summary.id)"], nil)
    return changes
  }

  func ahead(of forum: ForumView) -> CacheChanges {
    var changes = CacheChanges()
    changes.rows = aheadRows(["\(Self.forumPrefix)\(forum.forum.id)"], nil)
    return changes
  }

  /// Notes that a response did not show a conversation. It is dropped when the cursor covers the response.
  func noteGone(_ conversation: ID<Conversation>) throws(CacheFault) { try save(aheadRows([conversation], nil)) }

  // MARK: Changes

  /// Changes the replica in memory, saves the difference and notifies the observers. `messages` are loaded for `body`.
  func change<Value>(
    bringing messages: [ReplicaMessage] = [], _ more: CacheChanges = CacheChanges(),
    _ body: (inout Replica) throws(CacheFault) -> Value
  ) throws(CacheFault) -> Value {
    guard !isClosed else { throw .closed }
    guard lockedFor == nil else { throw .locked }
    var now = replica
    now.bring(messages)
    let value = try body(&now)
    try save(now, bringing: messages, more)
    return value
  }

  func save(_ new: Replica, bringing messages: [ReplicaMessage], _ more: CacheChanges) throws(CacheFault) {
    var now = new
    let before = Dictionary(messages.map { ($0.message.id, $0) }) { one, _ in one }
    var changes = more
    for known in now.conversations.values {
      for message in known.messages.values where before[message.message.id] != message {
        changes.messages.append(try cached(message))
      }
    }
    let new = changes.messages.map(\.message)
    let displaced = try displaced(by: new, before, unknown: Set(more.messages.map(\.message.id)))
    changes.removed += displaced.map { .init($0.message.conversation, $0.message.seq...$0.message.seq) }
    changes.rows += try orphans(of: displaced, beside: new)
    changes.rows += try goneFileRows(new, before, unknown: Set(more.messages.map(\.message.id)))
    for orphan in orphans.values.map(\.message)
    where new.contains(where: { $0.isSame(as: orphan) || $0.isResent(orphan) }) {
      changes.rows.append(CacheRow(.orphan, orphan.id.description, nil))
    }
    now.setMessagesAside()
    for row in now.rows(changedSince: replica) {
      changes.rows.append(CacheRow(CacheTable(row.name.table), row.name.key, row.value))
      guard row.name.table == .conversation, row.value == nil, let id = ID<Conversation>(row.name.key) else { continue }
      changes.removed.append(.init(id))
    }
    var histories = histories
    for removal in changes.removed {
      if removal.seqs == 1...Int.max { histories[removal.conversation] = nil }
      histories[removal.conversation]?.cached.remove(removal.seqs)
    }
    for cached in changes.messages {
      let message = cached.message
      histories[message.conversation, default: CachedHistory()].cached.add(message.seq...message.seq)
    }
    for (id, state) in changes.syncs {
      let lastSeq = now.conversations[id]?.conversation.lastSeq ?? 0
      histories[id, default: CachedHistory()].update(to: state, lastSeq: lastSeq)
    }
    for (id, history) in histories where self.histories[id] != history {
      changes.rows.append(CacheRow(.history, id.description, writing: history))
    }
    for id in self.histories.keys where histories[id] == nil {
      changes.rows.append(CacheRow(.history, id.description, nil))
    }
    if changes.isEmpty { return }
    try store.save(changes)
    replica = now
    self.histories = histories
    applyLocal(changes.rows)
    publish(CacheUpdate(changes))
    requestLocationNames(of: changes.messages)
  }

  /// The message with its index entry.
  func cached(_ known: ReplicaMessage) throws(CacheFault) -> CachedMessage {
    CachedMessage(
      known, generation: generation, indexing.index(known.message, locationName: try locationName(of: known.message)))
  }

  /// Applies the rows that are not part of the replica to memory.
  func applyLocal(_ rows: [CacheRow]) {
    for row in rows {
      let value = row.value.flatMap { try? JSONValue(parsing: $0.bytes) }
      switch row.table {
      case .operation:
        operations[row.key] = value.flatMap { try? OutboxOperation(json: $0) }
        if operations[row.key] == nil { unsent[row.key] = nil }
      case .orphan: if let id = ID<Message>(row.key) { orphans[id] = value.flatMap { try? ReplicaMessage(json: $0) } }
      case .draft: if let id = ID<Conversation>(row.key) { drafts[id] = row.value }
      case .note: notes[row.key] = row.value
      case .site, .user, .forum, .conversation, .level, .relation, .stream, .need, .message, .history, .sealed: break
      }
    }
  }

  /// Saves rows that are not part of the replica.
  func save(_ rows: [CacheRow]) throws(CacheFault) {
    var changes = CacheChanges()
    changes.rows = rows
    try change(bringing: [], changes) { _ in }
  }

  // MARK: Messages in the store

  /// Messages that match the query, in its order.
  public func messages(_ query: CacheQuery) throws(CacheFault) -> [CachedMessage] {
    guard !isClosed else { throw .closed }
    guard lockedFor == nil else { return [] }
    let query = query.normalized
    var found: [CachedMessage]
    if let looked = try store.messages(query) {
      found = looked
    } else {
      var all: [CachedMessage] = []
      for row in try store.rows(of: .message) {
        guard let raw = row.value else { continue }
        do { all.append(try CachedMessage(json: JSONValue(parsing: raw.bytes))) } catch { throw .broken("\(error)") }
      }
      found = query.filter(all)
    }
    for index in found.indices where found[index].generation != generation { found[index].replica.forgetAge() }
    return found
  }

  func replicas(_ query: CacheQuery) throws(CacheFault) -> [ReplicaMessage] {
    try messages(query).map(\.replica)
  }

  /// Numbers the reads of windows, so that a later one is never replaced by an earlier one.
  func nextRead() -> Int {
    readCount += 1
    return readCount
  }
}

extension CacheTable {
  init(_ table: ReplicaRow.Table) {
    self =
      switch table {
      case .site: .site
      case .user: .user
      case .forum: .forum
      case .conversation: .conversation
      case .level: .level
      case .relation: .relation
      case .stream: .stream
      case .need: .need
      }
  }
}
