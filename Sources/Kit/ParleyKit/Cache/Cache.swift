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
  public private(set) var replica = Replica()
  private var histories: [ID<Conversation>: CachedHistory] = [:]
  var notes: [String: JSONRaw] = [:]
  private(set) var operations: [String: OutboxOperation] = [:]
  private(set) var drafts: [ID<Conversation>: JSONRaw] = [:]
  private(set) var orphans: [ID<Message>: ReplicaMessage] = [:]
  /// The messages of unsent operations, cached while the draft is unchanged.
  private var unsent: [OutboxOperation.Name: (draft: Draft, message: CachedMessage)] = [:]
  /// Messages with a location name requested from the app.
  private var locationRequests: Set<ID<Message>> = []
  /// Number of erasures. A task that began before an erasure must not write.
  private var eraseCount = 0
  /// Number of restarts of the server that this process has followed.
  private var startCount = 0
  private var countRequests: [ID<Conversation>: Int] = [:]
  private var readCount = 0
  private var isClosed = false
  /// Whether the files that messages lose are noted, for the picture cache.
  private let keepsPictures: Bool
  private var observers: [Int: AsyncStream<CacheUpdate>.Continuation] = [:]
  private var lastObserver = 0

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
  private static func indexRow(_ indexing: MessageIndexing) -> CacheRow {
    CacheRow(.note, "index", writing: "\(indexing.version).\(SearchText.version).\(CachedMessage.form)")
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
    fileprivate let eraseCount: Int
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

  private static let actionsNote = "actions"

  /// The event id of the last reset. The actions of messages cached before it may be stale.
  var actionsAsOf: Int { number(Self.actionsNote) ?? 0 }

  func number(_ note: String) -> Int? {
    notes[note].flatMap { try? JSONValue(parsing: $0.bytes).int() }
  }

  // MARK: Data beyond the cursor

  private static let aheadPrefix = "ahead "
  /// The least value of a response whose event is unknown. Each has another one.
  private static let unknownEvent = 1 << 53
  private var aheadCount = 0

  /// Names in `ahead` of the data besides conversations.
  private static let (inboxName, goneName) = ("inbox", "gone")
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
  private func aheadRows(_ conversations: Set<ID<Conversation>>, _ event: Int?) -> [CacheRow] {
    aheadRows(conversations.sorted().map(\.description), event)
  }

  private func aheadRows(_ names: [String], _ event: Int?) -> [CacheRow] {
    guard let cursor = replica.cursor?.event, event.map({ $0 > cursor }) ?? true else { return [] }
    return names.compactMap { name in
      let key = "\(Self.aheadPrefix)\(name)"
      if event == nil { aheadCount = max(aheadCount, number(key) ?? 0, Self.unknownEvent) + 1 }
      let value = event ?? aheadCount
      return value > number(key) ?? 0 ? CacheRow(.note, key, writing: value) : nil
    }
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
    if !beyond.conversations.isEmpty {
      changes.rows = [
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
  private func event(of response: EventCursor) -> Int? {
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

  private func ahead(of user: User) -> CacheChanges {
    var changes = CacheChanges()
    changes.rows = aheadRows(["\(Self.userPrefix)\(user.summary.id)"], nil)
    return changes
  }

  private func ahead(of forum: ForumView) -> CacheChanges {
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

  private func save(_ new: Replica, bringing messages: [ReplicaMessage], _ more: CacheChanges) throws(CacheFault) {
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
  private func cached(_ known: ReplicaMessage) throws(CacheFault) -> CachedMessage {
    CachedMessage(
      known, generation: generation, indexing.index(known.message, locationName: try locationName(of: known.message)))
  }

  /// Applies the rows that are not part of the replica to memory.
  private func applyLocal(_ rows: [CacheRow]) {
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

  private func replicas(_ query: CacheQuery) throws(CacheFault) -> [ReplicaMessage] {
    try messages(query).map(\.replica)
  }

  /// Numbers the reads of windows, so that a later one is never replaced by an earlier one.
  func nextRead() -> Int {
    readCount += 1
    return readCount
  }

  // MARK: Gone files

  private static let goneFilePrefix = "gone file "

  /// The files that messages have lost, by a deletion or an edit, and whose pictures are still to be removed. They survive a
  /// restart of the app.
  var goneFiles: [ID<File>] {
    notes.keys.compactMap { key in
      key.hasPrefix(Self.goneFilePrefix) ? ID<File>(String(key.dropFirst(Self.goneFilePrefix.count))) : nil
    }
  }

  /// Notes that the pictures of these files were removed.
  func forgetGone(_ files: [ID<File>]) throws(CacheFault) {
    try save(files.map { CacheRow(.note, "\(Self.goneFilePrefix)\($0)", nil) })
  }

  /// - Parameters:
  ///   - loaded: the messages before the change.
  ///   - unknown: ids for which none were loaded.
  private func goneFileRows(
    _ new: [Message], _ loaded: [ID<Message>: ReplicaMessage], unknown: Set<ID<Message>>
  ) throws(CacheFault) -> [CacheRow] {
    guard keepsPictures else { return [] }
    let wanted = new.filter { loaded[$0.id] == nil && ($0.content == nil || unknown.contains($0.id)) }.map(\.id)
    var earlier = loaded
    for known in try replicas(.ids(wanted)) { earlier[known.message.id] = known }
    var gone: Set<ID<File>> = []
    for message in new {
      guard let before = earlier[message.id]?.message, before.isSame(as: message) else { continue }
      gone.formUnion(Set(before.content?.attachments ?? []).subtracting(message.content?.attachments ?? []))
    }
    return gone.sorted().map { CacheRow(.note, "\(Self.goneFilePrefix)\($0)", writing: 1) }
  }

  // MARK: Location names

  /// The name that the app has given to an unnamed location.
  private func locationName(of message: Message) throws(CacheFault) -> String? {
    guard indexing.locationName != nil, message.unnamedLocation != nil else { return nil }
    return try messages(.ids([message.id])).first?.index.locationName
  }

  /// Requests the names of unnamed locations from the app, one by one, in the background.
  private func requestLocationNames(of messages: [CachedMessage]) {
    guard indexing.locationName != nil else { return }
    let nameless = messages.filter { cached in
      let message = cached.message
      return cached.index.locationName == nil && message.unnamedLocation != nil
        && locationRequests.insert(message.id).inserted
    }
    guard !nameless.isEmpty else { return }
    let ids = nameless.map(\.message.id)
    let eraseCount = eraseCount
    Task {
      for id in ids {
        guard self.eraseCount == eraseCount else { return }
        // A location without a name is requested again when the message is saved again, such as with a new action.
        if await !self.resolveLocationName(of: id, eraseCount), self.eraseCount == eraseCount {
          self.locationRequests.remove(id)
        }
      }
    }
  }

  /// Requests the name of a message's location, if the message is still cached.
  /// - Returns: whether the location has a name now.
  private func resolveLocationName(of id: ID<Message>, _ eraseCount: Int) async -> Bool {
    do throws(CacheFault) {
      guard let location = try messages(.ids([id])).first?.message.unnamedLocation,
        let name = await indexing.locationName?(location), self.eraseCount == eraseCount,
        let cached = try messages(.ids([id])).first, cached.message.unnamedLocation == location
      else { return false }
      var changes = CacheChanges()
      changes.messages = [
        CachedMessage(cached.replica, generation: cached.generation, indexing.index(cached.message, locationName: name))
      ]
      try change(bringing: [], changes) { _ in }
      return true
    } catch {
      return false
    }
  }

  // MARK: Events

  /// The result of applying events.
  public struct Applied: Sendable, Hashable {
    /// The number of events that were applied or already known.
    public var count = 0
    /// The gap before the next event.
    public var missing: Missing?

    /// Missing events of a stream.
    public struct Missing: Sendable, Hashable {
      /// The stream with the gap.
      public var stream: EventStream
      /// The offset of the last event before the gap.
      public var after: Int
    }
  }

  /// Applies events in order up to the first gap of a stream, and saves them with the cursor. Events that fill a gap do not
  /// move the cursor: other events before them may be missing.
  public func apply(_ events: [ReceivedEvent], movesCursor: Bool = true) throws(CacheFault) -> Applied {
    let loaded = try messages(touchedBy: events)
    let cursor = replica.cursor
    return try change(bringing: loaded) { replica in
      var applied = Applied()
      for event in events {
        if case .missing(let after) = replica.apply(event) {
          applied.missing = .init(stream: event.stream, after: after)
          break
        }
        applied.count += 1
      }
      if !movesCursor, let cursor { replica.move(to: cursor) }
      return applied
    }
  }

  private func messages(touchedBy events: [ReceivedEvent]) throws(CacheFault) -> [ReplicaMessage] {
    var ids: Set<ID<Message>> = []
    var unread: Set<ID<Conversation>> = []
    for event in events {
      switch event.content {
      case .message(let message):
        ids.insert(message.id)
        // An event that the row includes may correct a count of the cached messages.
        if replica.conversations[message.conversation]?.includes(event) ?? false { unread.insert(message.conversation) }
      case .actions(let message, _), .star(let message, _), .poll(let message, _), .vote(let message, _):
        ids.insert(message)
      case .readPosition(let conversation, _): unread.insert(conversation)
      case .relations: unread.formUnion(replica.conversations.keys)
      case .receipt, .conversation, .gained, .participant, .member, .forum, .user, .settings, .level, .later, .inbox,
        .press, .thing, .hidden:
        break
      }
    }
    var found: [ID<Message>: ReplicaMessage] = [:]
    for known in try replicas(.ids(Array(ids))) { found[known.message.id] = known }
    for id in unread {
      guard let conversation = replica.conversations[id], conversation.isOwn else { continue }
      let seqs = conversation.unreadSeqs
      guard !seqs.isEmpty, seqs.count <= ConversationHead.maxUnread else { continue }
      for known in try replicas(.range(ClosedRange(seqs), of: id)) { found[known.message.id] = known }
    }
    return Array(found.values)
  }

  /// Moves the cursor: all events up to here were delivered.
  public func move(to cursor: EventCursor) throws(CacheFault) {
    try change { $0.move(to: cursor) }
  }

  /// Marks events as applied that are not available.
  func skip(_ stream: EventStream, to offset: Int, event: Int) throws(CacheFault) {
    let row = CacheRow(.stream, stream.description, writing: [offset, event])
    try change { replica throws(CacheFault) in
      do { try replica.take(ReplicaRow(.init(.stream, row.key), row.value)) } catch { throw .broken("\(error)") }
    }
  }

  // MARK: Responses

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

  func merge(_ own: OwnConversation, asOf event: Int, countRequest: Int) throws(CacheFault) {
    let id = own.conversation.id
    let isCurrent = countRequest == self.countRequest(of: id)
    let last = own.lastMessage.map { [$0] } ?? []
    let loaded = try replicas(.ids(last.map(\.message.id)))
    var changes = CacheChanges()
    changes.rows = aheadRows([id], nil)
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
  public func drop(_ need: Replica.Need) throws(CacheFault) {
    let isHeld =
      switch need {
      case .conversation(let id): replica.conversations[id] != nil
      case .forum(let id): replica.forums[id] != nil
      case .user, .message, .inbox, .everything: false
      }
    var changes = CacheChanges()
    if isHeld { changes.rows = aheadRows([Self.goneName], nil) }
    try change(bringing: [], changes) { $0.drop(need) }
  }

  /// Replaces the cached messages of a range after a digest mismatch.
  /// - Parameters:
  ///   - response: the cursor of the messages; nil if unknown.
  ///   - lost: messages that the server does not have. The user's own become orphans, as do those whose `seq` or id another
  ///     message has.
  ///   - kept: messages that the server has although they are not among `messages`.
  func replace(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, by messages: [MessageView],
    asOf response: EventCursor?, lost: [Message], keeping kept: [Message]
  ) throws(CacheFault) {
    var changes = CacheChanges()
    var keptSeqs = SeqRanges()
    for message in kept { keptSeqs.add(message.seq...message.seq) }
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
  private func cachedCopies(of messages: [Message]) throws(CacheFault) -> [ReplicaMessage] {
    try replicas(.ids(messages.map(\.id))).filter { known in messages.contains { $0.isSame(as: known.message) } }
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
  private func displaced(
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

  /// The own messages among lost ones. A message that any device of the user has sent again is not lost.
  private func orphans(of lost: [ReplicaMessage], beside new: [Message] = []) throws(CacheFault) -> [CacheRow] {
    let me = owner
    let own = lost.filter { $0.message.author == me && $0.message.content != nil && $0.message.kind == .message }
    let gone = Set(lost.map(\.message.id))
    var found = new
    for conversation in Set(own.map(\.message.conversation)) {
      found += try replicas(.range(1...Int.max, of: conversation)).map(\.message).filter { !gone.contains($0.id) }
    }
    // Of several copies that are lost, the last one is enough.
    found += own.map(\.message)
    return own.filter { known in
      !found.contains { other in
        other.isResent(known.message)
          && (gone.contains(other.id) ? other.id > known.message.id : other.id != known.message.id)
      }
    }
    .map { CacheRow(.orphan, $0.message.id.description, writing: $0) }
  }

  // MARK: Snapshot

  /// Applies a snapshot. Cached messages stay. Events between them and the snapshot may be missing: the caller verifies the
  /// messages, and then ends the reset.
  /// - Parameter lost: messages of conversations that are not in the snapshot. The user's own become orphans.
  /// - Returns: whether the cache belonged to another user and was erased.
  @discardableResult
  public func begin(
    _ snapshot: Snapshot, others: [OwnConversation] = [], lost: [Message] = []
  ) throws(CacheFault) -> Bool {
    let isOther = owner.map { $0 != snapshot.me.summary.id } ?? false
    guard !isOther else {
      try seal()
      return true
    }
    var fresh = Replica(snapshot)
    for own in others {
      fresh.merge(own, asOf: snapshot.cursor.event)
      if let last = own.lastMessage { fresh.merge([last], asOf: snapshot.cursor.event) }
    }
    var changes = CacheChanges()
    var generation = generation
    let before = replica.cursor
    if before != nil || isResetting {
      if before?.isOtherHistory(than: snapshot.cursor) ?? true {
        generation += 1
        changes.rows.append(CacheRow(.note, "generation", writing: generation))
      }
      // A digest does not cover actions: those of cached messages may be stale from now on.
      changes.rows.append(CacheRow(.note, Self.actionsNote, writing: snapshot.cursor.event))
      changes.rows.append(CacheRow(.note, Self.resetNote, writing: 1))
      // All of it is compared.
      changes.rows += ahead.keys.map { CacheRow(.note, "\(Self.aheadPrefix)\($0)", nil) }
      // The snapshot has no actions of cached messages.
      fresh.keepMessageNeeds(of: replica)
      // Conversations without a subscription: a window fetches their messages again.
      for id in histories.keys where fresh.conversations[id] == nil { changes.removed.append(.init(id)) }
    }
    let last = fresh.conversations.values.flatMap { $0.messages.values.map(\.message.id) }
    var cached: [ID<Message>: ReplicaMessage] = [:]
    for one in try self.messages(.ids(last)) where one.generation == generation { cached[one.message.id] = one.replica }
    changes.rows += try orphans(
      of: cachedCopies(of: lost), beside: fresh.conversations.values.flatMap { $0.messages.values.map(\.message) })
    changes.rows += try unsealed(for: snapshot.me.summary.id)
    if notes[Self.ownerNote] != nil { changes.rows.append(CacheRow(.note, Self.ownerNote, nil)) }
    var stored = fresh
    stored.setMessagesAside()
    for new in fresh.conversations.values.flatMap(\.messages.values) {
      let merged = cached[new.message.id]?.merged(with: new) ?? new
      let name = try locationName(of: merged.message)
      changes.messages.append(
        CachedMessage(merged, generation: generation, indexing.index(merged.message, locationName: name)))
    }
    try save(stored, bringing: [], changes)
    return false
  }

  static let resetNote = "reset"

  /// Whether a snapshot was applied and the cached messages were not all verified. The copy may mix two histories.
  var isResetting: Bool { notes[Self.resetNote] != nil }

  func endReset() throws(CacheFault) {
    if isResetting { try save([CacheRow(.note, Self.resetNote, nil)]) }
  }

  /// Erases all data, except sealed work. The cache can be used again.
  public func erase() throws(CacheFault) { try erase(keeping: try store.rows(of: .sealed)) }

  func erase(keeping kept: [CacheRow]) throws(CacheFault) {
    let version = Self.indexRow(indexing)
    try store.erase(keeping: kept + [version])
    forget()
    notes = [version.key: version.value].compactMapValues { $0 }
    publish(CacheUpdate.erased)
  }

  /// Forgets the stored state. Tasks that began before must not write.
  func forget() {
    (replica, histories, operations, drafts, orphans) = (Replica(), [:], [:], [:], [:])
    (unsent, locationRequests) = ([:], [])
    eraseCount += 1
  }

  /// The work of the user that the server does not have, also of a locked copy.
  func unsentWork() throws(CacheFault) -> Unsent {
    if lockedFor == nil { return (operations, drafts, orphans) }
    let work = try StoredWork(store)
    return (work.operations, work.drafts, work.orphans)
  }

  /// Loads the stored state after a lock.
  func load() throws(CacheFault) {
    let stored = try StoredCopy(store)
    if !stored.repairs.isEmpty { try store.save(stored.repairs) }
    (replica, histories) = (stored.replica, stored.histories)
    (operations, drafts, orphans) = stored.unsent
    applyLocal(stored.repairs.rows)
    publish(CacheUpdate.erased)
  }

  /// Closes the cache. Further calls throw `closed`.
  public func close() {
    isClosed = true
    for observer in observers.values { observer.finish() }
    observers = [:]
  }

  // MARK: Unsent messages

  /// The message that an operation will create, with its index entry; nil if it creates none.
  func unsent(_ operation: OutboxOperation) -> CachedMessage? {
    guard let draft = operation.draft else { return nil }
    if let known = unsent[operation.id], known.draft == draft { return known.message }
    let message = operation.message(
      of: draft, by: replica.me?.summary.id ?? ID(0),
      after: replica.conversations[operation.conversation]?.conversation
    ) { name in user(named: name) }
    let cached = CachedMessage(
      ReplicaMessage(MessageView(message), asOf: 0), generation: generation, indexing.index(message))
    unsent[operation.id] = (draft, cached)
    return cached
  }

  private func user(named name: String) -> ID<User>? {
    let key = name.lowercased()
    if replica.me?.summary.name?.lowercased() == key { return replica.me?.summary.id }
    return replica.users.values.first { $0.summary.name?.lowercased() == key }?.summary.id
  }

  // MARK: Histories and drafts

  /// The cached ranges of a conversation.
  public func history(of conversation: ID<Conversation>) -> CachedHistory {
    var history = histories[conversation] ?? CachedHistory()
    guard history.sync == .complete, let known = replica.conversations[conversation] else { return history }
    // Messages posted before a reset leave a gap in a complete history. No response states where the readable history
    // begins: in a forum it may begin later than the participation.
    let (first, last) = (history.first ?? history.cached.all.first?.lowerBound ?? .max, known.conversation.lastSeq)
    if first <= last, let gap = history.cached.missing(in: first...last).last {
      history.sync = .started(before: gap.upperBound + 1)
    }
    return history
  }

  /// The state of several conversations: complete if all are, started if one is.
  public func syncState(of conversations: [ID<Conversation>]) -> SyncState {
    let states = conversations.map { history(of: $0).sync }
    guard let rest = states.first(where: { $0 != .complete }) else { return .complete }
    if rest != .notStarted { return rest }
    return states.allSatisfy { $0 == .notStarted } ? .notStarted : .started(before: .max)
  }

  /// The conversations with cached messages, in ascending order.
  public var cachedConversations: [ID<Conversation>] { histories.keys.sorted() }

  func setSync(_ state: SyncState, of conversation: ID<Conversation>) throws(CacheFault) {
    var changes = CacheChanges()
    changes.syncs[conversation] = state
    try change(bringing: [], changes) { _ in }
  }

  /// The unsent draft of the composer.
  public func draft(in conversation: ID<Conversation>) -> Draft? {
    drafts[conversation].flatMap { try? Draft(json: JSONValue(parsing: $0.bytes)) }
  }

  /// Stores a draft; nil removes it.
  public func setDraft(_ draft: Draft?, in conversation: ID<Conversation>) throws(CacheFault) {
    let key = conversation.description
    try save([draft.map { CacheRow(.draft, key, writing: $0) } ?? CacheRow(.draft, key, nil)])
  }

  /// Removes the draft of a conversation if it is one of these.
  func removeDraft(_ drafts: [Draft?], in conversation: ID<Conversation>) throws(CacheFault) {
    if let known = draft(in: conversation), drafts.contains(known) { try setDraft(nil, in: conversation) }
  }

  // MARK: Observers

  /// The changes from now on.
  public func updates() -> AsyncStream<CacheUpdate> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: CacheUpdate.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    return stream
  }

  private func removeObserver(_ observer: Int) { observers[observer] = nil }

  func publish(_ update: CacheUpdate) {
    for observer in observers.values { observer.yield(update) }
  }
}

/// The ids of changed objects.
public struct CacheUpdate: Sendable, Hashable {
  /// Whether everything was erased, as at sign-out.
  public var isErased = false
  /// Conversations with new, removed or changed messages.
  public var messages: Set<ID<Conversation>> = []
  /// Users that were added or changed.
  public var users: Set<ID<User>> = []
  /// Forums that were added, changed or removed.
  public var forums: Set<ID<Forum>> = []
  /// Conversations that were added, changed or removed.
  public var conversations: Set<ID<Conversation>> = []
  /// Names of unsent operations that were added, changed or completed.
  public var operations: Set<String> = []
  /// The cursor or other data has changed.
  public var isOther = false

  static let erased: CacheUpdate = {
    var update = CacheUpdate()
    update.isErased = true
    return update
  }()

  private init() {}

  init(_ changes: CacheChanges) {
    messages = Set(changes.messages.map(\.message.conversation) + changes.removed.map(\.conversation))
    for row in changes.rows {
      switch row.table {
      case .user: if let id = ID<User>(row.key) { users.insert(id) }
      case .forum: if let id = ID<Forum>(row.key) { forums.insert(id) }
      case .conversation: if let id = ID<Conversation>(row.key) { conversations.insert(id) }
      case .operation: operations.insert(row.key)
      case .site, .level, .relation, .stream, .need, .message, .history, .draft, .orphan, .note, .sealed: isOther = true
      }
    }
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
