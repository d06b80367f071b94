// What one person has of a place, on this device: what the server told, in the order of its events, and what the person has
// said that the server does not know yet.
//
// - Everything but messages is in memory; messages are brought from the store as an event needs them.
// - Whatever changes is decided in memory and kept in one step of the store, the cursor with it. So a process that dies
//   anywhere goes on from a state that was true, and nothing is lost or applied twice.
// - What is older never replaces what is newer: `Replica` decides, by revisions and events.

import ParleyJSON
public import ParleyModel

public actor Cache {
  public let indexing: MessageIndexing
  private let store: any CacheStore
  public private(set) var replica = Replica()
  private var histories: [ID<Conversation>: HeldHistory] = [:]
  var notes: [String: JSONRaw] = [:]
  private(set) var operations: [String: OutboxOperation] = [:]
  private var drafts: [ID<Conversation>: JSONRaw] = [:]
  private(set) var orphans: [ID<Message>: HeldMessage] = [:]
  /// What operations will make, for as long as they say the same.
  private var unsent: [OutboxOperation.Name: (draft: Draft, message: CachedMessage)] = [:]
  /// For the names of whose places the app is asked, or has given one.
  private var asked: Set<ID<Message>> = []
  /// How often all was erased: what was begun before has nothing to do with what is held now.
  private var erasures = 0
  private var isClosed = false
  private var observers: [Int: AsyncStream<CacheNews>.Continuation] = [:]
  private var lastObserver = 0

  /// - Parameter open: makes the store, on the cache's own thread: `{ try DiskStore(path) }` or `{ MemoryStore() }`.
  public init(
    _ indexing: MessageIndexing = MessageIndexing(), _ open: @Sendable () throws -> sending any CacheStore
  ) throws(CacheFault) {
    let store: any CacheStore
    do { store = try open() } catch { throw error as? CacheFault ?? .broken("\(error)") }
    self.indexing = indexing
    var replica = Replica()
    for table in ReplicaRow.Table.allCases {
      for row in try store.rows(of: CacheTable(table)) {
        do { try replica.take(ReplicaRow(.init(table, row.key), row.value)) } catch { throw .broken("\(error)") }
      }
    }
    self.replica = replica
    histories = try Self.values(.history, in: store) { ID($0) }
    operations = try Self.values(.operation, in: store) { $0 }
    orphans = try Self.values(.orphan, in: store) { ID($0) }
    for row in try store.rows(of: .draft) { if let id = ID<Conversation>(row.key) { drafts[id] = row.value } }
    for row in try store.rows(of: .note) { notes[row.key] = row.value }
    try Self.indexAnew(store, indexing, notes["index"])
    self.store = store
  }

  private static func values<Key: Hashable, Value: JSONReadable>(
    _ table: CacheTable, in store: any CacheStore, _ key: (String) -> Key?
  ) throws(CacheFault) -> [Key: Value] {
    var values: [Key: Value] = [:]
    for row in try store.rows(of: table) {
      guard let key = key(row.key), let raw = row.value else { continue }
      do { values[key] = try Value(json: JSONValue(parsing: raw.bytes)) } catch { throw .broken("\(error)") }
    }
    return values
  }

  /// Where the app dates or finds messages otherwise than when they were kept.
  private static func indexAnew(
    _ store: any CacheStore, _ indexing: MessageIndexing, _ known: JSONRaw?
  ) throws(CacheFault) {
    let version = CacheRow(.note, "index", writing: "\(indexing.version).\(SearchText.version)")
    guard known != version.value else { return }
    var changes = CacheChanges()
    changes.rows = [version]
    if known != nil {
      for row in try store.rows(of: .message) {
        guard let raw = row.value else { continue }
        do {
          var cached = try CachedMessage(json: JSONValue(parsing: raw.bytes))
          cached.index = indexing.index(cached.message, placeName: cached.index.placeName)
          changes.messages.append(cached)
        } catch { throw .broken("\(error)") }
      }
    }
    try store.keep(changes)
  }

  /// Each restore of the server begins another one.
  private var generation: Int { number("generation") ?? 1 }

  private static let marksNote = "marks"

  /// Marks on messages that are held as of an earlier event may be others since: what happened before a reset nobody has
  /// told.
  var marksAsOf: Int { number(Self.marksNote) ?? 0 }

  private func number(_ note: String) -> Int? {
    notes[note].flatMap { try? JSONValue(parsing: $0.bytes).int() }
  }

  // MARK: Changing

  /// Decides in memory, keeps the difference, and tells who watches. `bringing` are the messages that `body` may look at.
  func change<Value>(
    bringing messages: [HeldMessage] = [], _ more: CacheChanges = CacheChanges(),
    _ body: (inout Replica) throws(CacheFault) -> Value
  ) throws(CacheFault) -> Value {
    guard !isClosed else { throw .closed }
    var now = replica
    now.bring(messages)
    let value = try body(&now)
    try keep(now, bringing: messages, more)
    return value
  }

  private func keep(_ new: Replica, bringing messages: [HeldMessage], _ more: CacheChanges) throws(CacheFault) {
    var now = new
    let before = Dictionary(messages.map { ($0.message.id, $0) }) { one, _ in one }
    var changes = more
    var changed: [HeldMessage] = []
    for held in now.conversations.values {
      for message in held.messages.values where before[message.message.id] != message { changed.append(message) }
    }
    now.setMessagesAside()
    for row in now.rows(changedSince: replica) {
      changes.rows.append(CacheRow(CacheTable(row.name.table), row.name.key, row.value))
      guard row.name.table == .conversation, row.value == nil, let id = ID<Conversation>(row.name.key) else { continue }
      changes.removed.append(.init(id))
      changes.rows.append(CacheRow(.draft, row.name.key, nil))
    }
    var histories = histories
    for removal in changes.removed {
      if removal.seqs == 1...Int.max { histories[removal.conversation] = nil }
      histories[removal.conversation]?.held.remove(removal.seqs)
    }
    for held in changed { changes.messages.append(try cached(held)) }
    for cached in changes.messages {
      let message = cached.message
      histories[message.conversation, default: HeldHistory()].held.add(message.seq...message.seq)
    }
    for (id, state) in changes.syncs {
      let lastSeq = now.conversations[id]?.conversation.lastSeq ?? 0
      histories[id, default: HeldHistory()].come(to: state, lastSeq: lastSeq)
    }
    for (id, history) in histories where self.histories[id] != history {
      changes.rows.append(CacheRow(.history, id.description, writing: history))
    }
    for id in self.histories.keys where histories[id] == nil {
      changes.rows.append(CacheRow(.history, id.description, nil))
    }
    if changes.isEmpty { return }
    try store.keep(changes)
    replica = now
    self.histories = histories
    takeOwn(changes.rows)
    tell(CacheNews(changes))
    namePlaces(of: changes.messages)
  }

  /// With what it is found by.
  private func cached(_ held: HeldMessage) throws(CacheFault) -> CachedMessage {
    CachedMessage(
      held, generation: generation, indexing.index(held.message, placeName: try placeName(of: held.message)))
  }

  /// What is not the replica's, as it stands in memory.
  private func takeOwn(_ rows: [CacheRow]) {
    for row in rows {
      let value = row.value.flatMap { try? JSONValue(parsing: $0.bytes) }
      switch row.table {
      case .operation:
        operations[row.key] = value.flatMap { try? OutboxOperation(json: $0) }
        if operations[row.key] == nil { unsent[row.key] = nil }
      case .orphan: if let id = ID<Message>(row.key) { orphans[id] = value.flatMap { try? HeldMessage(json: $0) } }
      case .draft: if let id = ID<Conversation>(row.key) { drafts[id] = row.value }
      case .note: notes[row.key] = row.value
      case .place, .person, .forum, .conversation, .level, .relation, .stream, .need, .message, .history: break
      }
    }
  }

  /// Rows that say nothing of the replica.
  func keep(_ rows: [CacheRow]) throws(CacheFault) {
    var changes = CacheChanges()
    changes.rows = rows
    try change(bringing: [], changes) { _ in }
  }

  // MARK: Messages in the store

  public func messages(_ lookup: MessageLookup) throws(CacheFault) -> [CachedMessage] {
    guard !isClosed else { throw .closed }
    let lookup = lookup.inOrder
    var found: [CachedMessage]
    if let looked = try store.messages(lookup) {
      found = looked
    } else {
      var all: [CachedMessage] = []
      for row in try store.rows(of: .message) {
        guard let raw = row.value else { continue }
        do { all.append(try CachedMessage(json: JSONValue(parsing: raw.bytes))) } catch { throw .broken("\(error)") }
      }
      found = lookup.filter(all)
    }
    for place in found.indices where found[place].generation != generation { found[place].held.forgetAge() }
    return found
  }

  private func held(_ lookup: MessageLookup) throws(CacheFault) -> [HeldMessage] { try messages(lookup).map(\.held) }

  // MARK: Names of places

  /// What the app has called its place before, where it has no name of its own.
  private func placeName(of message: Message) throws(CacheFault) -> String? {
    guard indexing.placeName != nil, message.namelessPlace != nil else { return nil }
    return try messages(.ids([message.id])).first?.index.placeName
  }

  /// The app is asked for the names of places that have none, one after the other. Meanwhile the messages are held without.
  private func namePlaces(of messages: [CachedMessage]) {
    guard indexing.placeName != nil else { return }
    let nameless = messages.filter { cached in
      let message = cached.message
      return cached.index.placeName == nil && message.namelessPlace != nil && asked.insert(message.id).inserted
    }
    guard !nameless.isEmpty else { return }
    let ids = nameless.map(\.message.id)
    let erasures = erasures
    Task {
      for id in ids {
        guard self.erasures == erasures else { return }
        // What has no name now is asked for again when the message is kept again, such as with another mark.
        if await !self.namePlace(of: id, erasures), self.erasures == erasures { self.asked.remove(id) }
      }
    }
  }

  /// Nobody is told of a place whose message is no longer held.
  /// - Returns: whether it has a name now.
  private func namePlace(of id: ID<Message>, _ erasures: Int) async -> Bool {
    do throws(CacheFault) {
      guard let place = try messages(.ids([id])).first?.message.namelessPlace,
        let name = await indexing.placeName?(place), self.erasures == erasures,
        let cached = try messages(.ids([id])).first, cached.message.namelessPlace == place
      else { return false }
      var changes = CacheChanges()
      changes.messages = [
        CachedMessage(cached.held, generation: cached.generation, indexing.index(cached.message, placeName: name))
      ]
      try change(bringing: [], changes) { _ in }
      return true
    } catch {
      return false
    }
  }

  // MARK: Events

  /// What came of events.
  public struct Applied: Sendable, Hashable {
    /// How many of them were applied, or were known before.
    public var count = 0
    /// What is missing before the next can be.
    public var missing: Missing?

    public struct Missing: Sendable, Hashable {
      public var stream: EventStream
      public var after: Int
    }
  }

  /// Applies events in their order, up to the first that does not follow on what is held of its stream, and keeps them with
  /// the cursor behind them. What fills a hole leaves the cursor where it is: others may not have come yet.
  public func apply(_ events: [ReceivedEvent], movesCursor: Bool = true) throws(CacheFault) -> Applied {
    let brought = try messages(touchedBy: events)
    let cursor = replica.cursor
    return try change(bringing: brought) { replica in
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

  private func messages(touchedBy events: [ReceivedEvent]) throws(CacheFault) -> [HeldMessage] {
    var ids: Set<ID<Message>> = []
    var unread: Set<ID<Conversation>> = []
    for event in events {
      switch event.content {
      case .message(let message): ids.insert(message.id)
      case .marks(let message, _), .star(let message, _): ids.insert(message)
      case .mark(let conversation, _): unread.insert(conversation)
      case .relations: unread.formUnion(replica.conversations.keys)
      case .receipt, .conversation, .gained, .participant, .member, .forum, .person, .settings, .level, .inbox, .thing,
        .hidden:
        break
      }
    }
    var found: [ID<Message>: HeldMessage] = [:]
    for held in try held(.ids(Array(ids))) { found[held.message.id] = held }
    for id in unread {
      guard let conversation = replica.conversations[id], conversation.isOwn else { continue }
      let seqs = conversation.unreadSeqs
      guard !seqs.isEmpty, seqs.count <= ConversationHead.mostUnread else { continue }
      for held in try held(.stretch(ClosedRange(seqs), of: id)) { found[held.message.id] = held }
    }
    return Array(found.values)
  }

  /// All events up to here were given.
  public func move(to cursor: EventCursor) throws(CacheFault) {
    try change { $0.move(to: cursor) }
  }

  /// Takes an event's place as applied, where what is before it can't be had.
  func skip(_ stream: EventStream, to offset: Int, event: Int) throws(CacheFault) {
    let row = CacheRow(.stream, stream.description, writing: [offset, event])
    try change { replica throws(CacheFault) in
      do { try replica.take(ReplicaRow(.init(.stream, row.key), row.value)) } catch { throw .broken("\(error)") }
    }
  }

  // MARK: Answers

  public func hold(_ person: Person) throws(CacheFault) { try change { $0.hold(person) } }

  public func hold(_ counts: InboxCounts) throws(CacheFault) { try change { $0.hold(counts) } }

  public func hold(_ forum: SeenForum, asOf event: Int) throws(CacheFault) {
    try change { $0.hold(forum, asOf: event) }
  }

  public func hold(_ own: OwnConversation, asOf event: Int) throws(CacheFault) {
    let last = own.lastMessage.map { [$0] } ?? []
    let brought = try held(.ids(last.map(\.message.id)))
    try change(bringing: brought) { replica in
      replica.hold(own, asOf: event)
      replica.hold(last, asOf: event)
    }
  }

  public func hold(_ messages: [SeenMessage], asOf event: Int) throws(CacheFault) {
    let brought = try held(.ids(messages.map(\.message.id)))
    try change(bringing: brought) { $0.hold(ahead: messages, asOf: event) }
  }

  public func letGo(_ need: Replica.Need) throws(CacheFault) {
    try change { $0.letGo(need) }
  }

  /// What the server has in a stretch, whatever was held of it: only a digest that differed is a reason.
  func replace(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, by messages: [SeenMessage], asOf event: Int
  ) throws(CacheFault) {
    var changes = CacheChanges()
    changes.removed = [.init(conversation, seqs)]
    for seen in messages where seqs.contains(seen.message.seq) {
      changes.messages.append(try cached(HeldMessage(seen, asOf: event)))
    }
    try change(bringing: [], changes) { $0.askForCounts(aheadOf: messages) }
  }

  /// Own messages that the server has lost go out of the conversation, and wait to be offered again.
  func orphan(_ conversation: ID<Conversation>, after lastSeq: Int) throws(CacheFault) {
    guard lastSeq < Int.max else { return }
    let beyond = try held(.stretch(lastSeq + 1...Int.max, of: conversation))
    guard !beyond.isEmpty else { return }
    let me = replica.me?.account.id
    var changes = CacheChanges()
    changes.removed = [.init(conversation, lastSeq + 1...Int.max)]
    changes.rows = beyond.filter { $0.message.author == me && $0.message.content != nil }
      .map { CacheRow(.orphan, $0.message.id.description, writing: $0) }
    try change(bringing: [], changes) { _ in }
  }

  // MARK: Beginning

  /// Begins with a snapshot, or begins anew. Messages that are held stay; where events are missing between them and the
  /// snapshot, they are to be compared before the cursor may move, so it stays where it was.
  /// - Returns: whether somebody else was here: then nothing of theirs is left.
  @discardableResult
  public func begin(_ snapshot: Snapshot, others: [OwnConversation] = []) throws(CacheFault) -> Bool {
    let isOther = replica.me.map { $0.account.id != snapshot.me.account.id } ?? false
    guard !isOther else {
      try erase()
      return true
    }
    var fresh = Replica(snapshot)
    for own in others {
      fresh.hold(own, asOf: snapshot.cursor.event)
      if let last = own.lastMessage { fresh.hold([last], asOf: snapshot.cursor.event) }
    }
    var changes = CacheChanges()
    var generation = generation
    if let before = replica.cursor {
      if before.epoch != snapshot.cursor.epoch {
        generation += 1
        changes.rows.append(CacheRow(.note, "generation", writing: generation))
      }
      // Whose marks they are, no digest says: those of what was held before are unsure from now on.
      changes.rows.append(CacheRow(.note, Self.marksNote, writing: snapshot.cursor.event))
      fresh.move(to: before)
      // Only looked at, and no stream of ours: its messages are fetched when they are looked at again.
      for id in histories.keys where fresh.conversations[id] == nil { changes.removed.append(.init(id)) }
    }
    let last = fresh.conversations.values.flatMap { $0.messages.values.map(\.message.id) }
    var newer: [ID<Message>: HeldMessage] = [:]
    for cached in try self.messages(.ids(last)) where cached.generation == generation {
      newer[cached.message.id] = cached.held
    }
    var kept = fresh
    kept.setMessagesAside()
    for new in fresh.conversations.values.flatMap(\.messages.values)
    where newer[new.message.id].map({ new.mayReplace($0) }) ?? true {
      let name = try placeName(of: new.message)
      changes.messages.append(
        CachedMessage(new, generation: generation, indexing.index(new.message, placeName: name)))
    }
    try keep(kept, bringing: [], changes)
    return false
  }

  /// Nothing is left on this device. It can be begun anew.
  public func erase() throws(CacheFault) {
    try store.erase()
    (replica, histories, operations, drafts, orphans, notes) = (Replica(), [:], [:], [:], [:], [:])
    (unsent, asked) = ([:], [])
    erasures += 1
    try store.keep(indexVersion)
    tell(CacheNews.erased)
  }

  private var indexVersion: CacheChanges {
    var changes = CacheChanges()
    changes.rows = [CacheRow(.note, "index", writing: "\(indexing.version).\(SearchText.version)")]
    return changes
  }

  /// Whoever asks from now on is refused.
  public func close() {
    isClosed = true
    for observer in observers.values { observer.finish() }
    observers = [:]
  }

  // MARK: What was not sent yet

  /// The message that an operation will make, as far as anybody here can say, with what it is found by; nil for what makes
  /// none.
  func unsent(_ operation: OutboxOperation) -> CachedMessage? {
    guard let draft = operation.draft else { return nil }
    if let known = unsent[operation.id], known.draft == draft { return known.message }
    let message = operation.message(
      of: draft, by: replica.me?.account.id ?? ID(0),
      after: replica.conversations[operation.conversation]?.conversation
    ) { name in account(named: name) }
    let cached = CachedMessage(
      HeldMessage(SeenMessage(message), asOf: 0), generation: generation, indexing.index(message))
    unsent[operation.id] = (draft, cached)
    return cached
  }

  private func account(named name: String) -> ID<Account>? {
    let key = name.lowercased()
    if replica.me?.account.name?.lowercased() == key { return replica.me?.account.id }
    return replica.people.values.first { $0.account.name?.lowercased() == key }?.account.id
  }

  // MARK: Histories and drafts

  public func history(of conversation: ID<Conversation>) -> HeldHistory {
    var history = histories[conversation] ?? HeldHistory()
    guard history.sync == .complete, let held = replica.conversations[conversation] else { return history }
    // What was said while nobody could tell us, before a reset, leaves a hole in what was complete. Where one's history
    // begins, no answer says for certain: in a forum it may begin later than a participation does.
    let (first, last) = (history.first ?? history.held.all.first?.lowerBound ?? .max, held.conversation.lastSeq)
    if first <= last, let hole = history.held.missing(in: first...last).last {
      history.sync = .started(before: hole.upperBound + 1)
    }
    return history
  }

  /// Of several together: complete when all are, and begun when one is.
  public func syncState(of conversations: [ID<Conversation>]) -> SyncState {
    let states = conversations.map { history(of: $0).sync }
    guard let rest = states.first(where: { $0 != .complete }) else { return .complete }
    if rest != .notStarted { return rest }
    return states.allSatisfy { $0 == .notStarted } ? .notStarted : .started(before: .max)
  }

  public var heldConversations: [ID<Conversation>] { histories.keys.sorted() }

  func setSync(_ state: SyncState, of conversation: ID<Conversation>) throws(CacheFault) {
    var changes = CacheChanges()
    changes.syncs[conversation] = state
    try change(bringing: [], changes) { _ in }
  }

  /// A page of a full sync, and how far it has come, in one step.
  func hold(
    _ messages: [SeenMessage], asOf event: Int, sync state: SyncState, of conversation: ID<Conversation>
  ) throws(CacheFault) {
    var changes = CacheChanges()
    changes.syncs[conversation] = state
    let brought = try held(.ids(messages.map(\.message.id)))
    try change(bringing: brought, changes) { $0.hold(ahead: messages, asOf: event) }
  }

  /// What is being written and not yet said.
  public func draft(in conversation: ID<Conversation>) -> Draft? {
    drafts[conversation].flatMap { try? Draft(json: JSONValue(parsing: $0.bytes)) }
  }

  public func setDraft(_ draft: Draft?, in conversation: ID<Conversation>) throws(CacheFault) {
    let key = conversation.description
    try keep([draft.map { CacheRow(.draft, key, writing: $0) } ?? CacheRow(.draft, key, nil)])
  }

  // MARK: Watching

  /// What changes from now on.
  public func news() -> AsyncStream<CacheNews> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: CacheNews.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
    return stream
  }

  private func forget(_ observer: Int) { observers[observer] = nil }

  private func tell(_ news: CacheNews) {
    for observer in observers.values { observer.yield(news) }
  }
}

/// Which things are another than they were.
public struct CacheNews: Sendable, Hashable {
  public var isErased = false
  /// In which conversations messages have come, gone or changed.
  public var messages: Set<ID<Conversation>> = []
  public var people: Set<ID<Account>> = []
  public var forums: Set<ID<Forum>> = []
  public var conversations: Set<ID<Conversation>> = []
  public var operations: Set<String> = []
  /// The cursor has moved, or something that no other word here is for.
  public var isOther = false

  static let erased: CacheNews = {
    var news = CacheNews()
    news.isErased = true
    return news
  }()

  private init() {}

  init(_ changes: CacheChanges) {
    messages = Set(changes.messages.map(\.message.conversation) + changes.removed.map(\.conversation))
    for row in changes.rows {
      switch row.table {
      case .person: if let id = ID<Account>(row.key) { people.insert(id) }
      case .forum: if let id = ID<Forum>(row.key) { forums.insert(id) }
      case .conversation: if let id = ID<Conversation>(row.key) { conversations.insert(id) }
      case .operation: operations.insert(row.key)
      case .place, .level, .relation, .stream, .need, .message, .history, .draft, .orphan, .note: isOther = true
      }
    }
  }
}

extension CacheTable {
  init(_ table: ReplicaRow.Table) {
    self =
      switch table {
      case .place: .place
      case .person: .person
      case .forum: .forum
      case .conversation: .conversation
      case .level: .level
      case .relation: .relation
      case .stream: .stream
      case .need: .need
      }
  }
}
