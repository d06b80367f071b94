// Keeps a copy equal to what the server holds: a snapshot, and from then on every event in order.
//
// - What is missing of a stream is pulled before anything after it is applied.
// - What events say by an id alone is asked for (`Replica.needs`), and asked for again after a kill.
// - Where the server can't say what happened since our cursor, every conversation is compared by its digest, what differs is
//   fetched anew, and only then the cursor moves. The outbox and the drafts stay.

import ParleyJSON
public import ParleyModel

public actor Sync {
  private let cache: Cache
  private let client: Client
  /// One at a time changes what is held by what the server says.
  private let turns = Turns()

  /// Messages a page, the most that the server gives.
  static let page = 200
  /// A need whose answer is older than what is held is asked for again so often.
  private static let mostAsks = 4

  public init(_ cache: Cache, _ client: Client) {
    self.cache = cache
    self.client = client
  }

  // MARK: Following along

  /// Fetches what a first screen needs, where nothing is held yet.
  public func begin() async throws {
    try await turn { if await cache.replica.cursor == nil { try await beginAnew() } }
  }

  /// Whoever is signed in has to be the person to whom all that is held belongs: of another's, nothing is left here.
  public func verifyPerson() async throws {
    try await turns.next {
      guard let held = await cache.replica.me?.account.id else { return }
      let me = try await client.send(.person(.me))
      guard me.account.id != held else { return }
      try await cache.erase()
      throw SyncRefusal.accountChanged
    }
  }

  /// What has just happened. Events that don't follow on what is held make the missing ones be fetched first.
  public func take(_ events: [ReceivedEvent]) async throws {
    try await turn { try await apply(events) }
  }

  /// The server has given all events up to here.
  public func caughtUp(to cursor: EventCursor) async throws {
    try await turns.next { try await cache.move(to: cursor) }
  }

  /// The server can't say what happened since our cursor.
  public func reset() async throws { try await turn { try await beginAnew() } }

  /// Events of a stream were left out: the connection was too slow.
  public func pull(_ stream: EventStream) async throws {
    try await turn { try await pull(stream, after: await cache.replica.positions[stream]?.offset ?? 0) }
  }

  /// Everything that has happened, without a live connection: the newest of all conversations in one call.
  /// - Parameter wait: so many seconds the server may wait for something to happen.
  public func catchUp(wait: Int = 0) async throws {
    try await turn {
      if await cache.replica.cursor == nil { try await beginAnew() }
      var wait = wait
      while let cursor = await cache.replica.cursor {
        let found = try await client.send(.sync(topics: "me", after: cursor.description, wait: wait)).value
        guard found.reset == nil else {
          try await beginAnew()
          continue
        }
        try await apply(found.events)
        try await cache.move(to: found.cursor)
        wait = 0
        if !found.hasMore { break }
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
      // Still not there: then what is between can't be had, and the thing itself is asked for.
      if offset < next.offset - 1 { try await skip(missing.stream, to: next) }
    }
  }

  private func pull(_ stream: EventStream, after offset: Int) async throws {
    var offset = offset
    while true {
      let found: StreamPage
      do {
        found = try await client.send(.events(of: stream.description, afterOffset: offset, limit: Self.page)).value
      } catch {
        guard error.isGone else { throw error }
        return
      }
      _ = try await cache.apply(found.events, movesCursor: false)
      guard found.hasMore, let last = found.events.last else { return }
      offset = last.offset
    }
  }

  private func skip(_ stream: EventStream, to next: ReceivedEvent) async throws {
    try await cache.skip(stream, to: next.offset - 1, event: next.id - 1)
    guard case .conversation(let id) = stream else { return }
    try await fetchConversation(id)
    _ = try await compare(id)
  }

  // MARK: What no event has told

  /// One after the other. An answer may leave something open of which no event will tell, so that is asked for before the
  /// next one comes.
  private func turn<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    try await turns.next {
      let value = try await body()
      try await askForNeeds()
      return value
    }
  }

  /// What is still open, such as what came beside an answer to the outbox.
  func fetchNeeds() async throws {
    guard await !cache.replica.needs.isEmpty else { return }
    try await turn {}
  }

  private func askForNeeds() async throws {
    for _ in 0..<Self.mostAsks {
      let needs = await cache.replica.needs
      if needs.isEmpty { return }
      // In an order that is always the same.
      for need in needs.sorted(by: { "\($0)" < "\($1)" }) { try await fetch(need) }
    }
  }

  private func fetch(_ need: Replica.Need) async throws {
    // An answer knows at least what had happened when it was asked for.
    let known = await cache.replica.cursor?.event ?? 0
    do {
      switch need {
      case .person(let id):
        try await cache.hold(client.send(.person(.id(id))).value)
      case .forum(let id):
        try await cache.hold(client.send(.forum(id)).value, asOf: known)
      case .conversation(let id): try await fetchConversation(id)
      case .message(let id):
        try await cache.hold([client.send(.message(id)).value], asOf: known)
      case .inbox:
        try await cache.hold(client.send(.inbox(limit: 1)).unread)
      case .everything: try await beginAnew()
      }
    } catch let fault as ClientFault {
      guard fault.isGone else { throw fault }
      try await cache.letGo(need)
    }
  }

  /// With its newest messages.
  private func fetchConversation(_ id: ID<Conversation>) async throws {
    let known = await cache.replica.cursor?.event ?? 0
    let own = try await client.send(Request<OwnConversation>(.get, "/conversations/{id}", [id.description]))
    try await cache.hold(own, asOf: known)
    guard own.conversation.lastSeq > 0 else { return }
    let page = try await fetch(id, [.init("order", "desc")], limit: 50)
    try await cache.hold(page.messages, asOf: page.asOf.event)
  }

  private func fetch(
    _ conversation: ID<Conversation>, _ query: [QueryItem], limit: Int
  ) async throws(ClientFault) -> FetchedMessages {
    let all = [
      QueryItem("limit", "\(limit)"), .init("include_machine", "true"), .init("include_muted", "true"),
    ]
    return try await client.send(
      Request(.get, "/conversations/{id}/messages", [conversation.description], query: query + all))
  }

  // MARK: Beginning

  private func beginAnew() async throws {
    let snapshot = try await client.send(.snapshot()).value
    var others: [OwnConversation] = []
    if snapshot.hasMoreConversations {
      let listed = Set(snapshot.conversations.map(\.conversation.id))
      others = try await all(.conversations(limit: Self.page)).map(\.value)
        .filter { !listed.contains($0.conversation.id) }
    }
    if try await cache.begin(snapshot, others: others) { throw SyncRefusal.accountChanged }
    if snapshot.hasMoreForums {
      for forum in try await all(.forums(limit: Self.page)) {
        try await cache.hold(forum.value, asOf: snapshot.cursor.event)
      }
    }
    for id in await cache.heldConversations {
      guard let held = await cache.replica.conversations[id] else { continue }
      try await cache.orphan(id, after: held.conversation.lastSeq)
      _ = try await compare(id)
    }
    try await cache.move(to: snapshot.cursor)
  }

  private func all<Element>(_ request: Request<Page<Element>>) async throws(ClientFault) -> [Element] {
    var all: [Element] = []
    for try await page in client.pages(of: request) { all += page.elements }
    return all
  }

  // MARK: Conversations

  /// The newest of a conversation, without a hole behind what is held of it.
  /// - Returns: what was not held here before, oldest first.
  @discardableResult
  public func fetchNewest(in conversation: ID<Conversation>) async throws -> [Message] {
    guard await cache.replica.conversations[conversation] != nil else { throw SyncRefusal.unknownConversation }
    guard await !cache.operations.values.contains(where: { $0.conversation == conversation && $0.kind != .read }) else {
      throw SyncRefusal.unsentWork(conversation)
    }
    return try await turn {
      guard let last = try await cache.lastHeld(in: conversation) else {
        let page = try await fetch(conversation, [.init("order", "desc")], limit: 50)
        try await cache.hold(page.messages, asOf: page.asOf.event)
        return page.messages.reversed().map(\.message)
      }
      var new: [Message] = []
      var after = last
      while true {
        let page = try await fetch(
          conversation, [.init("after", after.description), .init("order", "asc")], limit: Self.page)
        try await cache.hold(page.messages, asOf: page.asOf.event)
        new += page.messages.map(\.message)
        guard page.hasMore, let newest = page.messages.last else { return new }
        after = newest.message.id
      }
    }
  }

  /// These messages as the server has them now, wherever they stand; those that nobody may see any longer are not among
  /// them.
  @discardableResult
  public func refresh(_ messages: [ID<Message>]) async throws -> [SeenMessage] {
    try await turn {
      var found: [SeenMessage] = []
      var rest = messages[...]
      while !rest.isEmpty {
        let known = await cache.replica.cursor?.event ?? 0
        let ids = rest.prefix(Self.page).map(\.description).joined(separator: ",")
        let page = try await client.send(.messages(ids: ids)).elements.map(\.value)
        try await cache.hold(page, asOf: known)
        found += page
        rest = rest.dropFirst(Self.page)
      }
      return found
    }
  }

  /// What stands before a message and is not held yet; what is held is not asked for.
  public func fetchOlder(than seq: Int, in conversation: ID<Conversation>, limit: Int = 50) async throws {
    guard seq > 1 else { return }
    let missing = await cache.history(of: conversation).held.missing(in: max(1, seq - limit)...seq - 1)
    guard let top = missing.last else { return }
    try await turn {
      let page = try await fetch(
        conversation, try await before(top.upperBound + 1, in: conversation), limit: min(limit, Self.page))
      try await cache.hold(page.messages, asOf: page.asOf.event)
    }
  }

  /// What of a stretch is not held yet, from its newest end on, page by page. What the server does not give is left out: a
  /// hole for which nothing new came.
  public func fetch(_ seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws {
    var asked: Set<ClosedRange<Int>> = []
    while true {
      let holes = await cache.history(of: conversation).held.missing(in: seqs)
      guard let hole = holes.last(where: { !asked.contains($0) }) else { return }
      let isMore = try await turn {
        let before = await cache.history(of: conversation).held
        try await fill(hole, of: conversation)
        return await cache.history(of: conversation).held != before
      }
      if !isMore { asked.insert(hole) }
    }
  }

  /// A page of a hole, beside what is held at one of its ends.
  private func fill(_ hole: ClosedRange<Int>, of conversation: ID<Conversation>) async throws {
    var query = try await before(hole.upperBound + 1, in: conversation)
    if query.count == 1, hole.lowerBound > 1,
      let anchor = try await cache.messages(.stretch(hole.lowerBound - 1...hole.lowerBound - 1, of: conversation)).first
    {
      query = [.init("after", anchor.message.id.description), .init("order", "asc")]
    }
    let page = try await fetch(conversation, query, limit: min(hole.count, Self.page))
    try await cache.hold(page.messages, asOf: page.asOf.event)
  }

  /// Everything from the beginning of one's history on. It goes on where it was interrupted, asks for nothing that is held,
  /// and is done at once where it was done before.
  /// - Parameter started: called before the first page is asked for, and not at all where nothing is to be done.
  public func fetchAll(
    _ conversations: [ID<Conversation>], started: @Sendable () -> Void = {},
    progress: @Sendable (_ conversation: ID<Conversation>, _ left: Int) -> Void = { _, _ in }
  ) async throws {
    var hasStarted = false
    for conversation in conversations {
      guard await cache.replica.conversations[conversation] != nil else { throw SyncRefusal.unknownConversation }
      if await cache.history(of: conversation).sync == .complete { continue }
      if !hasStarted { started() }
      hasStarted = true
      var asked = Stretches()
      while let (left, page) = try await fetchNextPage(of: conversation, but: asked) {
        asked.add(page)
        progress(conversation, left)
      }
    }
  }

  /// How many are left at most, and which the page was to have; nil when all are held that can be had.
  /// - Parameter asked: what pages were to have. A server that leaves out what should be there is not asked for it again.
  private func fetchNextPage(
    of conversation: ID<Conversation>, but asked: Stretches
  ) async throws -> (left: Int, page: ClosedRange<Int>)? {
    try await turn {
      guard let held = await cache.replica.conversations[conversation] else { throw SyncRefusal.unknownConversation }
      let history = await cache.history(of: conversation)
      var known = history.held
      for page in asked.all { known.add(page) }
      var next = held.conversation.lastSeq
      while let stretch = known.stretch(at: next) { next = stretch.lowerBound - 1 }
      guard next >= held.participation?.fromSeq ?? 1 else {
        try await cache.setSync(.complete, of: conversation)
        return nil
      }
      let page = try await fetch(conversation, try await before(next + 1, in: conversation), limit: Self.page)
      // What is newer than what was asked for, and held, would come again.
      guard let oldest = page.messages.map(\.message.seq).min(),
        oldest <= next || !page.messages.allSatisfy({ history.held.contains($0.message.seq) })
      else {
        try await cache.setSync(.complete, of: conversation)
        return nil
      }
      let isDone = !page.hasMore && history.held.all.first.map { $0.lowerBound >= oldest } ?? true
      try await cache.hold(
        page.messages, asOf: page.asOf.event, sync: isDone ? .complete : .started(before: oldest), of: conversation)
      return isDone ? nil : (oldest - 1, oldest...max(oldest, next))
    }
  }

  /// Where a page begins that ends right before this.
  private func before(_ seq: Int, in conversation: ID<Conversation>) async throws -> [QueryItem] {
    let order = QueryItem("order", "desc")
    guard let anchor = try await cache.messages(.stretch(seq...seq, of: conversation)).first else { return [order] }
    return [.init("before", anchor.message.id.description), order]
  }

  /// A private channel of a type, for an app's own things: mine, and nobody else writes. Of several the oldest one; where
  /// there is none, it is made.
  public func privateChannel(_ spec: ConversationSpec) async throws -> ID<Conversation> {
    let type = spec.type
    return try await turn {
      let replica = await cache.replica
      let me = replica.me?.account.id
      var found: ID<Conversation>?
      for one in replica.conversations.values.map(\.conversation) where one.kind == .channel && one.type == type {
        guard one.createdBy == me, one.writers.audience == .listed, one.writers.isImmutable else { continue }
        found = found.map { min($0, one.id) } ?? one.id
      }
      if let found { return found }
      let known = replica.cursor?.event ?? 0
      let own = try await client.send(
        // Two devices that make it at once make one.
        .createConversation(
          .channel, title: spec.title, type: type, annotations: spec.annotations.isEmpty ? nil : spec.annotations,
          readers: .init(.listed), writers: .init(.listed, isImmutable: true),
          clientID: type.utf8.count <= 56 ? "private:\(type)" : nil))
      try await cache.hold(own.value, asOf: known)
      return own.conversation.id
    }
  }

  /// Several of them, by their types; whatever an app needs before it can begin.
  public func privateChannels(_ specs: [ConversationSpec]) async throws -> [String: ID<Conversation>] {
    var channels: [String: ID<Conversation>] = [:]
    for spec in specs { channels[spec.type] = try await privateChannel(spec) }
    return channels
  }

  // MARK: Proving

  /// What came of comparing a copy.
  public struct Verdict: Sendable, Hashable {
    /// Messages that were compared.
    public var checked = 0
    /// Messages that were fetched anew.
    public var mended = 0
    /// Messages that a digest proves, and whose marks were asked for anew: since a reset nobody could tell of them.
    public var renewed = 0
  }

  /// Compares what is held of a conversation with the server, and mends what differs.
  public func verify(_ conversation: ID<Conversation>) async throws -> Verdict {
    try await catchUp()
    var verdict = try await turn { try await compare(conversation) }
    for seqs in await cache.history(of: conversation).held.all {
      verdict.renewed += try await renewMarks(in: seqs, of: conversation)
    }
    return verdict
  }

  /// Asks for the marks that are not sure since a reset: a digest says nothing of them.
  /// - Returns: on how many messages.
  @discardableResult
  func renewMarks(in seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws -> Int {
    let asOf = await cache.marksAsOf
    guard asOf > 0 else { return 0 }
    var (count, next) = (0, seqs.lowerBound)
    while next <= seqs.upperBound {
      let page = try await cache.messages(.stretch(next...seqs.upperBound, of: conversation, limit: Self.page))
      guard let last = page.last else { break }
      next = last.message.seq + 1
      let unsure = page.filter { $0.held.asOf < asOf && $0.message.tombstone == nil }.map(\.message.id)
      if unsure.isEmpty { continue }
      try await refresh(unsure)
      count += unsure.count
    }
    return count
  }

  /// A conversation as the server has it now, with its newest messages.
  public func refresh(_ conversation: ID<Conversation>) async throws {
    try await turn { try await fetchConversation(conversation) }
  }

  public func refresh(_ forum: ID<Forum>) async throws {
    try await turn { try await fetch(.forum(forum)) }
  }

  private func compare(_ conversation: ID<Conversation>) async throws -> Verdict {
    var verdict = Verdict()
    for stretch in await cache.history(of: conversation).held.all {
      verdict.checked += stretch.count
      verdict.mended += try await compare(stretch, of: conversation)
    }
    return verdict
  }

  /// Stretches of at most so many messages are fetched anew instead of looked at more closely.
  private static let smallest = 50

  private func compare(_ seqs: ClosedRange<Int>, of conversation: ID<Conversation>) async throws -> Int {
    let said: ConversationDigest
    do {
      said = try await client.send(
        .digest(of: conversation, fromSeq: seqs.lowerBound, toSeq: seqs.upperBound, parts: 16)
      ).value
    } catch {
      guard error.isGone || error.problem?.status == 400 else { throw error }
      // One's history begins later than it did, or it is not there at all.
      try await cache.replace(seqs, of: conversation, by: [], asOf: 0)
      return 0
    }
    var mended = 0
    for part in said.parts {
      let held = try await cache.messages(.stretch(part.seqs, of: conversation)).map(\.message)
      if held.count == part.seqs.count, try CopyDigest.of(held) == part.digest { continue }
      if part.seqs.count > Self.smallest, part.seqs != seqs {
        mended += try await compare(part.seqs, of: conversation)
      } else {
        mended += try await fetchAnew(part.seqs, of: conversation, held.first)
      }
    }
    return mended
  }

  private func fetchAnew(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, _ first: Message?
  ) async throws -> Int {
    var found: [SeenMessage] = []
    var asOf = 0
    var query = [QueryItem("order", "asc")]
    if seqs.lowerBound > 1, let previous = first?.previous { query.append(.init("after", previous.description)) }
    while true {
      let page: FetchedMessages
      do { page = try await fetch(conversation, query, limit: min(Self.page, seqs.count)) } catch {
        guard error.isGone || error.problem?.status == 400 else { throw error }
        // Its neighbours are others, too: it is fetched when it is looked at again.
        break
      }
      asOf = page.asOf.event
      found += page.messages
      guard page.hasMore, let last = page.messages.last, last.message.seq < seqs.upperBound else { break }
      query = [.init("order", "asc"), .init("after", last.message.id.description)]
    }
    try await cache.replace(seqs, of: conversation, by: found, asOf: asOf)
    return seqs.count
  }
}
