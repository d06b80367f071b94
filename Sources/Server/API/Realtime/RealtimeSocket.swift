// One client on a WebSocket: its commands and its events. `SubscriptionState` selects the events; this class sends them
// and runs commands by the same rules as the endpoints.
//
// Commands start in order, without waiting for each other: a rule without parsing off the loop is in the writer's queue
// when its task first suspends. A command with parsing off the loop blocks later ones. Answers are sent in the order of
// the commands.
//
// Outgoing data is queued in the socket. If the socket's queue is full, an event makes its stream lag, a page of the
// log is read again later, and answers wait in `outbox`. No command starts while an answer waits, so there are few of
// them, and at most one long one.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Web

final class RealtimeSocket: WebSocketHandler, Subscriber {
  static let subprotocol = "parley.v1"
  static let tokenPrefix = "parley.token."

  /// A client that is not yet identified may send short messages only.
  static func options(for caller: Caller) -> WebSocketOptions {
    WebSocketOptions(
      messageLimit: caller.user == nil ? Bound.unidentifiedMessage : nil, inflation: Bound.inflation,
      queue: Bound.queue, overflow: .refuse)
  }

  /// Limits per client.
  enum Bound {
    /// The maximum size of the send queue in bytes.
    static let queue = 262_144
    /// The size of the send queue in bytes above which signals are dropped.
    static let signalQueue = 65_536
    /// The maximum size of a message in bytes until the client is identified. Later `Limits.socketMessage` applies.
    static let unidentifiedMessage = 4_096
    /// The bytes that compressed messages may inflate to.
    static let inflation = InflationRate(burst: 1 << 20, perSecond: 65_536)
    /// The number of malformed commands, or commands above the rate limit, within a minute that closes the socket.
    static let refusedCommands = 20
    /// The rate limit of commands.
    static let commands = Allowance(burst: 256, perMinute: 1_200)
    /// The authentication timeout in milliseconds.
    static let identification: Int64 = 10_000
    /// The send timeout in milliseconds: the time without progress of a non-empty queue.
    static let stuck: Int64 = 30_000
    /// The size of a catch-up page.
    static let page = PageBounds(events: 200, bytes: 131_072)
    /// The maximum size of published app data in bytes.
    static let appBytes = 16_384
  }

  /// The request that opened the socket.
  struct Origin {
    let api: API
    let id: RequestID
    let address: IPAddress?
    let caller: Caller
    /// The topics of the URL, subscribed without a command.
    let topics: [LiveTopic]
    let after: String?
  }

  private let socket: any WebSocket
  private let origin: Origin
  private let live: LoopBroadcasts
  private var caller: Caller
  private var subscriptionState: SubscriptionState
  private var audiences: Set<Signal.Audience> = []
  private let openedAt: Int64
  private var isClosed = false

  private var commands = CommandQueue()
  private var commandTokens = TokenBucket()
  /// The times of the malformed and too many commands of the last minute.
  private var refusedAt: [Int64] = []
  private var outbox: [[UInt8]] = []
  /// Present users with an unsent presence.
  private var unsentPresence: [ID<User>] = []

  private var subscriptions = SubscriptionRequests()
  private var pendingRead: (topics: [LiveTopic], after: Int)?
  /// Incremented by authentication. Drops catch-up pages requested before it.
  private var generation = 0
  /// The cache of the running catch-up.
  private var cache: CatchUpCache?
  private var mustRetryRead = false
  private var stuck: (queued: Int, since: Int64)?

  private var api: API { origin.api }
  private var community: Community { origin.api.community }
  var session: ID<Session>? { caller.session }

  init(_ socket: any WebSocket, _ origin: Origin, _ live: LoopBroadcasts) {
    self.socket = socket
    self.origin = origin
    self.live = live
    caller = origin.caller
    subscriptionState = SubscriptionState(user: origin.caller.user)
    openedAt = live.now
  }

  // MARK: WebSocketHandler

  func opened(on loop: isolated any Actor) {
    live.board.add(self)
    live.start()
    if live.isClosed { return hubClosed() }
    // The session may have ended since the request was authenticated, before this loop had a subscriber to notify.
    do throws(Refusal) { try live.view.checkSession(of: caller) } catch {
      return close(error == .unauthenticated ? .ended : .unavailable)
    }
    identified()
    if !origin.topics.isEmpty {
      subscribe(origin.topics.map { ($0, origin.after) }, for: .url)
    }
    live.startReading(isolation: loop)
  }

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    receive(message, loop)
    live.startReading(isolation: loop)
  }

  func drained(on loop: isolated any Actor) {
    flush()
    if outbox.isEmpty {
      perform(subscriptionState.resume())
      sendPresence()
      beginQueuedCommands(loop)
    }
    live.startReading(isolation: loop)
  }

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    guard !isClosed else { return }
    isClosed = true
    for audience in audiences { live.board.unsubscribe(audience, self) }
    live.board.remove(self)
    outbox = []
    commands.dropQueued()
    guard let user = caller.user else { return }
    community.hub.stopTyping(user)
    community.hub.update(ObjectIdentifier(self), of: user, .offline)
  }

  // MARK: Subscriber

  func receive(_ publication: Publication) {
    guard let frame = subscriptionState.receive(publication) else { return }
    // Answers in the outbox are sent first.
    guard outbox.isEmpty, socket.send(SharedFrame(frame)) else { return lag(from: publication.event) }
  }

  func receive(_ run: StreamBatch) {
    guard outbox.isEmpty, socket.queued + run.framed.count <= Bound.queue, subscriptionState.receive(run) else {
      for publication in run.publications { receive(publication) }
      return
    }
    guard socket.send(SharedFrame(plain: run.framed, deflated: run.deflated)) else { return lag(from: run.first) }
  }

  private func lag(from event: Event) {
    subscriptionState.markLagging(event.stream)
    enqueue(Control.lagging(event.stream, lastOffset: event.offset - 1))
  }

  func receive(_ signal: Signal, _ frame: Frame) {
    guard subscriptionState.accepts(signal), outbox.isEmpty, socket.queued < Bound.signalQueue else { return }
    socket.send(SharedFrame(frame))
  }

  func accessChanged(_ change: AccessChange) { perform(subscriptionState.accessChanged(change)) }

  func eventsLost() { perform(subscriptionState.eventsLost()) }

  func sessionEnded() { close(.ended) }

  /// Closes with a random reconnect delay, so that clients do not return all at once.
  func hubClosed() { close(.goingAway, "restarting; retry in \(Int.random(in: 500...10_000)) ms") }

  func tick(_ now: Int64) {
    sendPresence()
    if caller.user == nil, now - openedAt >= Bound.identification { return close(.unidentified) }
    if mustRetryRead {
      mustRetryRead = false
      perform(subscriptionState.resume())
    }
    let queued = socket.queued
    guard queued > Bound.signalQueue || !outbox.isEmpty else {
      stuck = nil
      return
    }
    guard let before = stuck, queued >= before.queued else {
      stuck = (queued, now)
      return
    }
    if now - before.since >= Bound.stuck { close(.tooSlow) }
  }

  private func close(_ reason: CloseReason) {
    guard let code = CloseCode(UInt16(reason.rawValue)) else { return }
    close(code, reason.code)
  }

  private func close(_ code: CloseCode, _ reason: String) {
    commands.dropQueued()
    socket.close(code, reason: reason)
  }

  // MARK: Sending

  private func enqueue(_ bytes: [UInt8]) {
    outbox.append(bytes)
    flush()
  }

  private func flush() {
    while let next = outbox.first {
      guard socket.send(.text(next)) else { break }
      outbox.removeFirst()
    }
    // Backpressure: a client that does not read its answers can't send commands.
    if !outbox.isEmpty || commands.isFull { socket.pause() } else { socket.resume() }
  }

  // MARK: SubscriptionState

  private func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read(let topics, let after):
        pendingRead = (topics, after)
        live.enqueue(self)
      case .subscribe(let audience):
        guard audiences.insert(audience).inserted else { continue }
        live.board.subscribe(audience, self)
        if audience == .presence {
          unsentPresence = community.hub.present
          sendPresence()
        }
      case .unsubscribe(let audience):
        if audience == .presence { unsentPresence = [] }
        if audiences.remove(audience) != nil { live.board.unsubscribe(audience, self) }
      case .sendBuffered: while let publication = subscriptionState.nextBuffered() { receive(publication) }
      case .answer(let ticket, let outcome): answer(ticket, outcome)
      case .lost(let topic): enqueue(Control.lost(topic))
      case .reset(let reason, let head): enqueue(Control.reset(reason, community.cursor(at: head)))
      }
    }
  }

  func startReading(isolation: isolated (any Actor)?) {
    guard let request = pendingRead, !isClosed else { return }
    pendingRead = nil
    let (caller, generation) = (self.caller, self.generation)
    let cache = self.cache ?? CatchUpCache()
    self.cache = cache
    Task.immediate {
      _ = isolation
      let result: Result<CatchUp, Refusal>
      do throws(Refusal) {
        result = .success(
          try await self.live.catchUp(
            request.topics, from: .after(request.after), Bound.page, for: caller, cache: cache))
      } catch {
        result = .failure(error)
      }
      self.finishRead(result, generation)
      self.live.startReading(isolation: isolation)
    }
  }

  private func finishRead(_ result: Result<CatchUp, Refusal>, _ generation: Int) {
    guard !isClosed, generation == self.generation else { return }
    switch result {
    case .success(.page(let page)):
      finishRead(page)
      if subscriptionState.isLive { cache = nil }
    case .success(.reset(let reason, let head)): perform(subscriptionState.didReset(reason, head: head))
    case .failure(.unauthenticated): close(.ended)
    case .failure:
      subscriptionState.readFailed()
      mustRetryRead = true
    }
  }

  private func finishRead(_ page: CatchUpPage) {
    let fresh = subscriptionState.newItems(page)
    if page.isShared, !fresh.isEmpty, fresh.count == page.items.count, outbox.isEmpty, sendWhole(page.content) {
      return perform(subscriptionState.didSend(page, through: page.through, isWhole: true))
    }
    var through = 0
    for item in fresh {
      guard outbox.isEmpty, socket.send(.text(item.text)) else {
        return perform(subscriptionState.didSend(page, through: through, isWhole: false))
      }
      through = item.event
    }
    perform(subscriptionState.didSend(page, through: page.through, isWhole: true))
  }

  /// Sends a page shared by all clients at the same cursor in one write. Returns false if the queue has no room for it.
  private func sendWhole(_ content: CatchUpPage.Content) -> Bool {
    let plain = content.frames(isCompressed: false) { SharedFrame(text: $0).plain }
    guard socket.queued + plain.count <= Bound.queue else { return false }
    guard socket.isCompressed else { return socket.send(SharedFrame(plain: plain, deflated: nil)) }
    let hub = community.hub
    let deflated = content.frames(isCompressed: true) { hub.makeFrame($0).shortest }
    return socket.send(SharedFrame(plain: plain, deflated: deflated))
  }

  /// Sends the presence of present users while the queue has room; the rest follows later. Users that left meanwhile
  /// are skipped: their signal was sent already.
  private func sendPresence() {
    while let user = unsentPresence.last, outbox.isEmpty, socket.queued < Bound.signalQueue {
      unsentPresence.removeLast()
      guard let presence = community.hub.presence(of: user) else { continue }
      socket.send(.text(Signal.presence(user, presence, lastSeenAt: nil).jsonBytes))
    }
  }

  /// Subscribes to topics, each with the client's cursor.
  private func subscribe(
    _ topics: [(topic: LiveTopic, cursor: String?)], for requester: SubscriptionRequests.Requester
  ) {
    let head: Int
    do throws(Refusal) { head = try live.view.head() } catch { return refuse(requester, Problem(error)) }
    // Topics with the same cursor share one catch-up.
    var groups: [(startPoint: StartPoint, topics: [LiveTopic])] = []
    for (topic, cursor) in topics {
      let startPoint = community.startPoint(cursor)
      if let group = groups.firstIndex(where: { $0.startPoint == startPoint }) {
        if !groups[group].topics.contains(topic) { groups[group].topics.append(topic) }
      } else {
        groups.append((startPoint, [topic]))
      }
    }
    if groups.isEmpty { groups.append((.head, [])) }
    guard subscriptionState.canSubscribe(Set(topics.map(\.topic)), from: groups.count) else {
      return refuse(requester, Problem(Refusal.invalid("topics", .tooMany(limit: SubscriptionState.maxTopics))))
    }
    if let event = groups.compactMap(\.startPoint.eventOfEarlierStart).min() {
      enqueue(Control.restarted(community.cursor(at: event)))
    }
    let tickets = subscriptions.open(requester, cursors: groups.count)
    for (ticket, group) in zip(tickets, groups) {
      let topics = group.topics
      let actions =
        switch group.startPoint {
        case .head: subscriptionState.subscribe(topics, after: head, ticket: ticket)
        case .lost(let reason): subscriptionState.subscribe(topics, after: head, reset: reason, ticket: ticket)
        case .after(let event, _): subscriptionState.subscribe(topics, after: event, ticket: ticket)
        }
      perform(actions)
    }
  }

  private func answer(_ ticket: Int, _ outcome: SubscriptionState.Outcome) {
    guard let (requester, outcomes) = subscriptions.finish(ticket, outcome) else { return }
    let cursor = community.cursor(at: outcomes.map(\.through).min() ?? 0)
    let lost = outcomes.flatMap(\.lost)
    let reason = outcomes.compactMap(\.reset).first
    guard case .command(let slot) = requester else {
      return enqueue(reason.map { Control.reset($0, cursor, lost: lost) } ?? Control.complete(cursor, lost: lost))
    }
    if outcomes.allSatisfy(\.isRefused) { return refuse(slot, Problem(Refusal.notFound)) }
    reply(slot) { json in
      if let user = caller.user { json.field("user_id", user) }
      json.field("complete", reason == nil)
      if let reason {
        json.field("reset", true)
        json.field("reason", reason.rawValue)
      }
      json.field("cursor", cursor)
      if !lost.isEmpty { json.field("lost", lost) }
    }
  }

  // MARK: Commands

  private func receive(_ message: WebSocketMessage, _ loop: isolated any Actor) {
    defer { if commands.isFull { socket.pause() } }
    guard case .text(let bytes) = message else {
      refuse(commands.open(Self.noID), .badRequest("Commands are text messages."))
      return commandRefused()
    }
    var object: JSONObject
    let id: JSONRaw
    do throws(JSONError) {
      (object, id) = try Self.parse(bytes)
    } catch {
      refuse(commands.open(Self.noID), Problem(error))
      return commandRefused()
    }
    let slot = commands.open(id)
    guard commandTokens.spend(Bound.commands, now: live.now * 1_000) == nil else {
      refuse(slot, .rateLimited(Bound.commands.burst, seconds: 1))
      return commandRefused()
    }
    do throws(JSONError) {
      let command = try RealtimeCommand(&object)
      guard !commands.isBlocked, outbox.isEmpty else { return commands.enqueue(slot, command) }
      begin(slot, command, loop)
    } catch {
      refuse(slot, Problem(error))
      commandRefused()
    }
  }

  /// The `re` of an answer to a command without a readable `id`.
  private static let noID = JSONRaw(trusted: Array("null".utf8))

  private static func parse(_ bytes: [UInt8]) throws(JSONError) -> (JSONObject, id: JSONRaw) {
    var object = try JSONValue(parsing: bytes).object()
    let id = try object.value("id")
    guard id.kind == .number || id.kind == .string, id.raw.bytes.count <= 64 else { throw id.error(.invalid) }
    return (object, id.raw)
  }

  /// Closes the socket of a client that goes on with malformed commands, or above the rate limit.
  private func commandRefused() {
    let now = live.now
    refusedAt.removeAll { now - $0 >= 60_000 }
    refusedAt.append(now)
    if refusedAt.count >= Bound.refusedCommands { close(.policy, "too many invalid commands") }
  }

  private func begin(_ slot: Int, _ command: RealtimeCommand, _ loop: isolated any Actor) {
    switch command {
    case .hello(let token, let cursor, let topics): hello(slot, token, cursor, topics)
    case .subscribe(let topics): subscribe(topics, for: .command(slot: slot))
    case .unsubscribe(let topics):
      perform(subscriptionState.unsubscribe(topics))
      reply(slot) { _ in }
    case .ping: reply(slot) { json in json.field("now", Timestamp(community.hub.wall)) }
    case .typing(let conversation):
      attempt(slot) {
        try count(.signalling)
        try live.view.sendTyping(in: conversation, by: caller)
      }
    case .presence(let state):
      attempt(slot) {
        try count(.signalling)
        let user = try caller.requireUser()
        guard try live.view.showsPresence(user) else { return }
        try updatePresence(state, of: user)
      }
    case .publish(let app, let data):
      attempt(slot) {
        guard data.bytes.count <= Bound.appBytes else {
          throw Refusal.invalid("data", .tooLong(limit: Bound.appBytes))
        }
        try count(.signalling)
        community.hub.publish(.app(app, from: try live.view.appSender(by: caller), data: data))
      }
    case .send, .edit, .delete, .setAction, .removeAction, .read: start(slot, command, loop)
    }
  }

  private func attempt(_ slot: Int, _ body: () throws -> Void) {
    do {
      try body()
      reply(slot) { _ in }
    } catch {
      refuse(slot, Problem(error))
    }
  }

  /// Starts a change now and answers after the commit is durable.
  private func start(_ slot: Int, _ command: RealtimeCommand, _ loop: isolated any Actor) {
    do throws(Problem) {
      try count(command.work)
    } catch {
      return refuse(slot, error)
    }
    if command.takesLong { commands.block(at: slot) }
    let caller = self.caller
    Task.immediate {
      _ = loop
      do {
        let write = try await self.change(command, by: caller)
        self.reply(slot, write)
      } catch {
        self.refuse(slot, Problem(error))
      }
      self.commands.finished(slot)
      self.beginQueuedCommands(loop)
      self.live.startReading(isolation: loop)
    }
  }

  /// Counts against the user's rate limit, which all connections share.
  private func count(_ work: Work) throws(Problem) {
    try api.limiter.count(work, by: caller, at: origin.address, now: live.now)
  }

  /// Starts queued commands after a blocking command has finished or the outbox is empty.
  private func beginQueuedCommands(_ loop: isolated any Actor) {
    while outbox.isEmpty, !isClosed, let (slot, command) = commands.next() { begin(slot, command, loop) }
  }

  private func change(
    _ command: RealtimeCommand, by caller: Caller
  ) async throws -> (inout JSONWriter) -> Void {
    if community.store.isDiskFull, !command.worksOnFullDisk { throw Refusal.diskFull }
    switch command {
    case .send(let draft, let conversation):
      let posted = try await community.postMessage(draft, in: conversation, by: caller)
      let missed = try await live.view.missed(in: conversation, after: draft.catchUpAfter, for: caller)
      return { json in
        json.field("created", posted.isNew)
        json.field("message", posted.message)
        if let missed {
          json.object("catch_up") { json in missed.writeFields(to: &json, in: ListName(missedIn: conversation)) }
        }
      }
    case .edit(let id, let change):
      let message = try await community.editMessage(id, change, by: caller)
      return { $0.field("message", message) }
    case .delete(let id):
      let message = try await community.deleteMessage(id, by: caller)
      return { $0.field("message", message) }
    case .removeAction(let id, let type):
      try await community.removeAction(id, as: type, by: caller)
      return { _ in }
    case .setAction(let id, let type):
      let message = try await community.setAction(id, as: type, by: caller)
      return { $0.field("message", message) }
    case .read(let conversation, let message):
      let position = try await community.advanceReadPosition(.read, in: conversation, to: message, by: caller)
      return { $0.field("read_position", position) }
    case .hello, .subscribe, .unsubscribe, .typing, .presence, .publish, .ping: return { _ in }
    }
  }

  /// Authenticates the client, once.
  private func hello(_ slot: Int, _ token: String?, _ cursor: String?, _ topics: [LiveTopic]) {
    if let token {
      do throws(Refusal) {
        guard let known = try live.view.authenticate(token) else { throw .unauthenticated }
        guard caller.user == nil || caller.user == known.user else { throw .conflict }
        let isNew = caller.user == nil
        caller = known
        if isNew {
          // Drops the visitor's subscriptions, including pending ones.
          cancelSubscriptions()
          perform(subscriptionState.unsubscribe(subscriptionState.topics))
          for audience in audiences { live.board.unsubscribe(audience, self) }
          (audiences, unsentPresence) = ([], [])
          subscriptionState = SubscriptionState(user: known.user)
          generation += 1
          pendingRead = nil
          identified()
        }
      } catch {
        return refuse(slot, Problem(error))
      }
    }
    guard caller.user != nil else { return refuse(slot, .unauthenticated) }
    subscribe(topics.map { ($0, cursor) }, for: .command(slot: slot))
  }

  private func cancelSubscriptions() {
    for slot in subscriptions.cancelAll() { refuse(slot, Problem(Refusal.conflict)) }
  }

  private func identified() {
    guard let user = caller.user else { return }
    socket.setMessageLimit(nil)
    do throws(Refusal) {
      guard try live.view.showsPresence(user) else { return }
      try updatePresence(.online, of: user)
    } catch {
      // Sends no presence if the user's setting can't be read.
    }
  }

  private func updatePresence(_ presence: Signal.Presence, of user: ID<User>) throws(Refusal) {
    community.hub.update(ObjectIdentifier(self), of: user, presence)
    // Hides the presence if the user has disabled it meanwhile: that change did not find this connection.
    guard try live.view.showsPresence(user) else { return community.hub.hide(user) }
  }

  // MARK: Answers

  private func reply(_ slot: Int, _ members: (inout JSONWriter) -> Void) {
    answer(slot) { json in
      json.field("ok", true)
      members(&json)
    }
  }

  private func refuse(_ requester: SubscriptionRequests.Requester, _ problem: Problem) {
    switch requester {
    case .url: close(.unavailable)
    case .command(let slot): refuse(slot, problem)
    }
  }

  private func refuse(_ slot: Int, _ problem: Problem) {
    let document = JSONRaw(trusted: problem.document(id: origin.id))
    answer(slot) { json in json.field("problem", document) }
  }

  private func answer(_ slot: Int, _ members: (inout JSONWriter) -> Void) {
    guard !isClosed else { return }
    outbox += commands.answer(slot, members)
    flush()
  }
}

extension RealtimeCommand {
  fileprivate var work: Work {
    switch self {
    case .send: .sending
    case .edit, .delete, .setAction, .removeAction, .read, .hello, .subscribe, .unsubscribe, .typing, .presence,
      .publish,
      .ping:
      .writing
    }
  }
}
