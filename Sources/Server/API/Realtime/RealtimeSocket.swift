// One client on a WebSocket: what it asks and what it is told. `SubscriptionState` decides which events it gets; this moves them,
// and carries out commands by the same rules as the endpoints.
//
// Commands begin in the order in which they came, without waiting for each other: a rule that needs no reading aside is
// in the writer's queue when its task first waits. What has to be read aside holds up those behind it. Answers leave in the
// order of the commands.
//
// All that waits to be sent stands in the socket's own queue. Where that refuses, an event makes its stream lag, a page of
// the log is read again later, and answers wait here. No command begins while one does: so those are few, and of the long
// ones no more than one.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Web

final class RealtimeSocket: WebSocketHandler, Subscriber {
  static let subprotocol = "parley.v1"
  static let tokenPrefix = "parley.token."
  static let options = WebSocketOptions(queue: Bound.queue, overflow: .refuse)

  /// What one client may cost.
  enum Bound {
    /// Bytes that wait to be sent.
    static let queue = 262_144
    /// Above this, signals are left out.
    static let signalQueue = 65_536
    /// Commands that were not answered yet; beyond, no more are read.
    static let open = 64
    /// Commands at once, and in a minute.
    static let commands = Allowance(burst: 256, perMinute: 1_200)
    /// Milliseconds until somebody has said who they are.
    static let identification: Int64 = 10_000
    /// Milliseconds during which something waits to be sent and nothing of it is taken.
    static let stuck: Int64 = 30_000
    /// Of a page that is read on.
    static let page = PageBounds(events: 200, bytes: 131_072)
    /// What a program tells others.
    static let appBytes = 16_384
  }

  /// How it came.
  struct Origin {
    let api: API
    let id: RequestID
    let address: IPAddress?
    let caller: Caller
    /// What it follows without a command.
    let topics: [LiveTopic]
    let after: String?
  }

  private struct Slot {
    let id: JSONRaw?
    var answer: [UInt8]?
  }

  /// A subscription from several places, answered once.
  private struct Subscription {
    var remaining: Int
    var outcomes: [SubscriptionState.Outcome] = []
  }

  private let socket: any WebSocket
  private let origin: Origin
  private let live: LiveLoop
  private var caller: Caller
  private var following: SubscriptionState
  private var audiences: Set<Signal.Audience> = []
  private let openedAt: Int64
  private var isOver = false

  private var slots: [Slot] = []
  private var firstSlot = 0
  /// What may not begin before another is done.
  private var barrier: Int?
  private var held: [(slot: Int, command: RealtimeCommand)] = []
  private var bucket: Int64 = 0
  private var outbox: [[UInt8]] = []
  /// Those who are here and of whom it was not told yet.
  private var untold: [ID<User>] = []

  private var subscriptions: [Int: Subscription] = [:]
  private var nextTicket = 0
  private var slotOfTicket: [Int: Int] = [:]
  private var wanted: (topics: [LiveTopic], after: Int)?
  /// A page that was asked for by another who the client was before is nobody's.
  private var generation = 0
  /// While it reads on.
  private var cache: CatchUpCache?
  private var retries = false
  private var stuck: (queued: Int, since: Int64)?

  private var api: API { origin.api }
  private var community: Community { origin.api.community }
  var session: ID<Session>? { caller.session }

  init(_ socket: any WebSocket, _ origin: Origin, _ live: LiveLoop, now: Int64) {
    self.socket = socket
    self.origin = origin
    self.live = live
    caller = origin.caller
    following = SubscriptionState(user: origin.caller.user)
    openedAt = now
  }

  // MARK: What the socket tells

  func opened(on loop: isolated any Actor) {
    live.board.add(self)
    live.start()
    if live.isClosed { return hubClosed() }
    // Since the request was let in its way in may have ended, unheard by a loop on which nobody was.
    do throws(Refusal) { try live.view.checkSession(of: caller) } catch {
      return close(error == .unauthenticated ? .ended : .unavailable)
    }
    identified()
    if !origin.topics.isEmpty {
      subscribe(origin.topics.map { ($0, origin.after) }, slot: nil)
    }
    live.startReading(isolation: loop)
  }

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    guard case .text(let bytes) = message else { return close(.unsupported, "commands are text") }
    receive(bytes, loop)
    live.startReading(isolation: loop)
  }

  func drained(on loop: isolated any Actor) {
    flush()
    if outbox.isEmpty {
      perform(following.resume())
      tellPresent()
      beginHeld(loop)
    }
    live.startReading(isolation: loop)
  }

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    guard !isOver else { return }
    isOver = true
    for audience in audiences { live.board.unsubscribe(audience, self) }
    live.board.remove(self)
    outbox = []
    held = []
    guard let user = caller.user else { return }
    community.hub.stopTyping(user)
    community.hub.update(ObjectIdentifier(self), of: user, .offline, now: live.now)
  }

  // MARK: What is published

  func receive(_ publication: Publication) {
    guard let frame = following.receive(publication) else { return }
    // What waits for room goes first.
    guard outbox.isEmpty, socket.send(SharedFrame(frame)) else { return lag(from: publication.event) }
  }

  func receive(_ run: StreamBatch) {
    guard outbox.isEmpty, socket.queued + run.framed.count <= Bound.queue, following.receive(run) else {
      for publication in run.publications { receive(publication) }
      return
    }
    guard socket.send(SharedFrame(plain: run.framed, deflated: run.deflated)) else { return lag(from: run.first) }
  }

  private func lag(from event: Event) {
    following.markLagging(event.stream)
    tell(Control.lagging(event.stream, lastOffset: event.offset - 1))
  }

  func receive(_ signal: Signal, _ frame: Frame) {
    guard following.accepts(signal), outbox.isEmpty, socket.queued < Bound.signalQueue else { return }
    socket.send(SharedFrame(frame))
  }

  func accessChanged(_ change: AccessChange) { perform(following.accessChanged(change)) }

  func eventsLost() { perform(following.eventsLost()) }

  func sessionEnded() { close(.ended) }

  /// As the server says it: come back in a while, and not all at once.
  func hubClosed() { close(.goingAway, "restarting; retry in \(Int.random(in: 500...10_000)) ms") }

  func tick(_ now: Int64) {
    live.note(now)
    tellPresent()
    if caller.user == nil, now - openedAt >= Bound.identification { return close(.unidentified) }
    if retries {
      retries = false
      perform(following.resume())
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
    held = []
    socket.close(code, reason: reason)
  }

  // MARK: Sending

  private func tell(_ bytes: [UInt8]) {
    outbox.append(bytes)
    flush()
  }

  private func flush() {
    while let next = outbox.first {
      guard socket.send(.text(next)) else { break }
      outbox.removeFirst()
    }
    // Nobody may ask for more than they take.
    if !outbox.isEmpty || slots.count >= Bound.open { socket.pause() } else { socket.resume() }
  }

  // MARK: SubscriptionState

  private func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read(let topics, let after):
        wanted = (topics, after)
        live.enqueue(self)
      case .subscribe(let audience):
        guard audiences.insert(audience).inserted else { continue }
        live.board.subscribe(audience, self)
        if audience == .presence {
          untold = community.hub.present
          tellPresent()
        }
      case .unsubscribe(let audience):
        if audience == .presence { untold = [] }
        if audiences.remove(audience) != nil { live.board.unsubscribe(audience, self) }
      case .sendBuffered: while let publication = following.nextBuffered() { receive(publication) }
      case .answer(let ticket, let outcome): answer(ticket, outcome)
      case .lost(let topic): tell(Control.lost(topic))
      case .reset(let reason, let head): tell(Control.reset(reason, community.cursor(at: head)))
      }
    }
  }

  func startReading(isolation: isolated (any Actor)?) {
    guard let request = wanted, !isOver else { return }
    wanted = nil
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
      self.took(result, generation)
      self.live.startReading(isolation: isolation)
    }
  }

  private func took(_ result: Result<CatchUp, Refusal>, _ generation: Int) {
    guard !isOver, generation == self.generation else { return }
    switch result {
    case .success(.page(let page)):
      took(page)
      if following.isLive { cache = nil }
    case .success(.reset(let reason, let head)): perform(following.didReset(reason, head: head))
    case .failure(.unauthenticated): close(.ended)
    case .failure:
      following.readFailed()
      retries = true
    }
  }

  private func took(_ page: CatchUpPage) {
    let fresh = following.newItems(page)
    if page.isShared, !fresh.isEmpty, fresh.count == page.items.count, outbox.isEmpty, sendWhole(page.content) {
      return perform(following.didSend(page, through: page.through, isWhole: true))
    }
    var through = 0
    for item in fresh {
      guard outbox.isEmpty, socket.send(.text(item.text)) else {
        return perform(following.didSend(page, through: through, isWhole: false))
      }
      through = item.event
    }
    perform(following.didSend(page, through: page.through, isWhole: true))
  }

  /// In one, as it was put together for everyone who missed the same. False when there is no room for all of it.
  private func sendWhole(_ content: CatchUpPage.Content) -> Bool {
    let plain = content.frames(isCompressed: false) { SharedFrame(text: $0).plain }
    guard socket.queued + plain.count <= Bound.queue else { return false }
    guard socket.isCompressed else { return socket.send(SharedFrame(plain: plain, deflated: nil)) }
    let hub = community.hub
    let deflated = content.frames(isCompressed: true) { hub.makeFrame($0).shortest }
    return socket.send(SharedFrame(plain: plain, deflated: deflated))
  }

  /// Who is here, as far as there is room; the rest a little later. Who has gone meanwhile was told to have gone.
  private func tellPresent() {
    while let user = untold.last, outbox.isEmpty, socket.queued < Bound.signalQueue {
      untold.removeLast()
      guard let presence = community.hub.presence(of: user) else { continue }
      socket.send(.text(Signal.presence(user, presence, lastSeenAt: nil).jsonBytes))
    }
  }

  /// Topics with where the client is in each.
  private func subscribe(_ topics: [(topic: LiveTopic, cursor: String?)], slot: Int?) {
    let head: Int
    do throws(Refusal) { head = try live.view.head() } catch { return refuse(slot, Problem(error)) }
    // Those that stand at one place are read together.
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
    guard following.canSubscribe(Set(topics.map(\.topic)), from: groups.count) else {
      return refuse(slot, Problem(Refusal.invalid("topics", .tooMany(limit: SubscriptionState.maxTopics))))
    }
    if let slot { subscriptions[slot] = Subscription(remaining: groups.count) }
    for (startPoint, topics) in groups {
      let ticket = nextTicket
      nextTicket += 1
      slotOfTicket[ticket] = slot ?? -1
      if slot == nil { subscriptions[-1] = Subscription(remaining: groups.count) }
      let actions =
        switch startPoint {
        case .head: following.subscribe(topics, after: head, ticket: ticket)
        case .unknown: following.subscribe(topics, after: head, reset: .epoch, ticket: ticket)
        case .after(let event): following.subscribe(topics, after: event, ticket: ticket)
        }
      perform(actions)
    }
  }

  private func answer(_ ticket: Int, _ outcome: SubscriptionState.Outcome) {
    guard let slot = slotOfTicket.removeValue(forKey: ticket), var subscription = subscriptions[slot] else { return }
    subscription.outcomes.append(outcome)
    subscription.remaining -= 1
    subscriptions[slot] = subscription.remaining == 0 ? nil : subscription
    guard subscription.remaining == 0 else { return }
    let outcomes = subscription.outcomes
    let cursor = community.cursor(at: outcomes.map(\.through).min() ?? 0)
    let lost = outcomes.flatMap(\.lost)
    let reason = outcomes.compactMap(\.reset).first
    guard slot >= 0 else {
      return tell(reason.map { Control.reset($0, cursor, lost: lost) } ?? Control.complete(cursor, lost: lost))
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

  private func receive(_ bytes: [UInt8], _ loop: isolated any Actor) {
    var object: JSONObject
    let id: JSONRaw
    do throws(JSONError) {
      object = try JSONValue(parsing: bytes).object()
      let value = try object.value("id")
      guard value.kind == .number || value.kind == .string, value.raw.bytes.count <= 64 else {
        throw value.error(.invalid)
      }
      id = value.raw
    } catch {
      // Without a name an answer would be nobody's.
      return close(.malformed)
    }
    let slot = firstSlot + slots.count
    slots.append(Slot(id: id))
    defer { if slots.count >= Bound.open { socket.pause() } }
    guard mayAsk() else { return refuse(slot, .rateLimited(Bound.commands.burst, seconds: 1)) }
    do throws(JSONError) {
      let command = try RealtimeCommand(&object)
      guard barrier == nil, held.isEmpty, outbox.isEmpty else { return held.append((slot, command)) }
      begin(slot, command, loop)
    } catch {
      refuse(slot, Problem(error))
    }
  }

  private func mayAsk() -> Bool {
    let each = 86_400_000 / Int64(Bound.commands.perDay)
    let now = max(live.now, openedAt)
    let kept = max(bucket, now)
    guard kept + each - now <= each * Int64(Bound.commands.burst) else { return false }
    bucket = kept + each
    return true
  }

  private func begin(_ slot: Int, _ command: RealtimeCommand, _ loop: isolated any Actor) {
    switch command {
    case .hello(let token, let cursor, let topics): hello(slot, token, cursor, topics)
    case .subscribe(let topics): subscribe(topics, slot: slot)
    case .unsubscribe(let topics):
      perform(following.unsubscribe(topics))
      reply(slot) { _ in }
    case .ping: reply(slot) { json in json.field("now", Timestamp(live.now)) }
    case .typing(let conversation):
      attempt(slot) {
        try count(.signalling)
        try live.view.sendTyping(in: conversation, by: caller, now: live.now)
      }
    case .presence(let state):
      attempt(slot) {
        try count(.signalling)
        let user = try caller.requireUser()
        guard try live.view.showsPresence(user) else { return }
        try note(state, of: user)
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

  /// What changes something: begun now, answered when it is on the disk.
  private func start(_ slot: Int, _ command: RealtimeCommand, _ loop: isolated any Actor) {
    do throws(Problem) {
      try count(command.work)
    } catch {
      return refuse(slot, error)
    }
    if command.takesLong { barrier = slot }
    let caller = self.caller
    Task.immediate {
      _ = loop
      do {
        let write = try await self.change(command, by: caller)
        self.reply(slot, write)
      } catch {
        self.refuse(slot, Problem(error))
      }
      if self.barrier == slot { self.barrier = nil }
      self.beginHeld(loop)
      self.live.startReading(isolation: loop)
    }
  }

  /// More than one connection may ask: a user is counted wherever they are.
  private func count(_ work: Work) throws(Problem) {
    try api.limiter.count(work, by: caller, at: origin.address, now: live.now)
  }

  /// Goes on with what a long one has held up, or answers that nobody took.
  private func beginHeld(_ loop: isolated any Actor) {
    while barrier == nil, outbox.isEmpty, !held.isEmpty, !isOver {
      let (slot, command) = held.removeFirst()
      begin(slot, command, loop)
    }
  }

  private func change(
    _ command: RealtimeCommand, by caller: Caller
  ) async throws -> (inout JSONWriter) -> Void {
    switch command {
    case .send(let draft, let conversation):
      let posted = try await community.postMessage(draft, in: conversation, by: caller)
      let missed = try await live.view.missed(in: conversation, after: draft.catchUpAfter, for: caller)
      return { json in
        json.field("created", posted.isNew)
        json.field("message", posted.message)
        if let missed { json.object("catch_up") { json in missed.writeFields(to: &json) } }
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

  /// Says who they are, once.
  private func hello(_ slot: Int, _ token: String?, _ cursor: String?, _ topics: [LiveTopic]) {
    if let token {
      do throws(Refusal) {
        guard let known = try live.view.authenticate(token) else { throw .unauthenticated }
        guard caller.user == nil || caller.user == known.user else { throw .conflict }
        let isNew = caller.user == nil
        caller = known
        if isNew {
          // What was followed as nobody is followed by somebody else now, and what is not followed yet will not be.
          forgetSubscriptions()
          perform(following.unsubscribe(following.topics))
          for audience in audiences { live.board.unsubscribe(audience, self) }
          (audiences, untold) = ([], [])
          following = SubscriptionState(user: known.user)
          generation += 1
          wanted = nil
          identified()
        }
      } catch {
        return refuse(slot, Problem(error))
      }
    }
    guard caller.user != nil else { return refuse(slot, .unauthenticated) }
    subscribe(topics.map { ($0, cursor) }, slot: slot)
  }

  private func forgetSubscriptions() {
    let slots = Set(slotOfTicket.values)
    (slotOfTicket, subscriptions) = ([:], [:])
    for slot in slots where slot >= 0 { refuse(slot, Problem(Refusal.conflict)) }
  }

  private func identified() {
    guard let user = caller.user else { return }
    do throws(Refusal) {
      guard try live.view.showsPresence(user) else { return }
      try note(.online, of: user)
    } catch {
      // Where it can't be read what they want, nothing is told.
    }
  }

  private func note(_ presence: Signal.Presence, of user: ID<User>) throws(Refusal) {
    community.hub.update(ObjectIdentifier(self), of: user, presence, now: live.now)
    // Who hid meanwhile was not there to be hidden.
    guard try live.view.showsPresence(user) else { return community.hub.hide(user) }
  }

  // MARK: Answers

  private func reply(_ slot: Int, _ members: (inout JSONWriter) -> Void) {
    answer(slot) { json in
      json.field("ok", true)
      members(&json)
    }
  }

  private func refuse(_ slot: Int?, _ problem: Problem) {
    guard let slot, slot >= 0 else { return close(.unavailable) }
    let document = JSONRaw(trusted: problem.document(id: origin.id))
    answer(slot) { json in json.field("problem", document) }
  }

  private func answer(_ slot: Int, _ members: (inout JSONWriter) -> Void) {
    let index = slot - firstSlot
    guard slots.indices.contains(index), !isOver else { return }
    var json = JSONWriter()
    json.object { json in
      json.field("re", slots[index].id)
      members(&json)
    }
    slots[index].answer = json.bytes
    while let answer = slots.first?.answer {
      slots.removeFirst()
      firstSlot += 1
      outbox.append(answer)
    }
    flush()
  }
}

extension RealtimeCommand {
  fileprivate var work: Work {
    switch self {
    case .send: .sending
    default: .writing
    }
  }
}
