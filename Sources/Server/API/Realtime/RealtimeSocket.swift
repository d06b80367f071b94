// One client on a WebSocket: its commands and its events. `SubscriptionState` selects the events; this class sends them
// and runs commands by the same rules as the endpoints.
//
// Commands start in order, without waiting for each other: a rule without parsing off the loop is in the writer's queue
// when its task first suspends. A command with parsing off the loop blocks later ones. Answers are sent in the order of
// the commands.
//
// Outgoing data is queued in the socket. If the socket's queue is full, a new event makes its stream lag until the client
// subscribes again; the pages of a catch-up are read later; and answers wait in `output`. No command starts while an
// answer waits, so there are few of them, and at most one long one.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import PubSub
import Web

final class RealtimeSocket: WebSocketHandler, Subscriber, LogReader {
  static let subprotocol = "parley.v1"
  static let tokenPrefix = "parley.token."

  /// A client that is not yet identified may send short messages only.
  static func options(for caller: Caller) -> WebSocketOptions {
    WebSocketOptions(
      messageLimit: caller.user == nil ? RealtimeLimits.unidentifiedMessage : nil, inflation: RealtimeLimits.inflation,
      queue: RealtimeLimits.queue, overflow: .refuse)
  }

  /// The request that opened the socket.
  struct Origin {
    let api: API
    let id: RequestID
    /// The public origin of the site.
    let site: String
    let address: IPAddress?
    let caller: Caller
    /// The topics of the URL, subscribed without a command.
    let topics: [LiveTopic]
    let after: String?
  }

  private let socket: any WebSocket
  private let origin: Origin
  private let live: LoopBroadcasts
  private var client: RealtimeClient
  private var commands = CommandQueue()
  private var output: SocketOutput
  private var reader: SubscriptionReader
  private var audiences: Set<Signal.Audience> = []
  private var isClosed = false

  private var community: Community { origin.api.community }
  var session: ID<Session>? { client.caller.session }

  init(_ socket: any WebSocket, _ origin: Origin, _ live: LoopBroadcasts) {
    self.socket = socket
    self.origin = origin
    self.live = live
    client = RealtimeClient(origin, live, on: socket)
    output = SocketOutput(socket)
    reader = SubscriptionReader(origin.caller.user)
  }

  // MARK: WebSocketHandler

  func opened(on loop: isolated any Actor) {
    live.board.add(self)
    if socket.isCompressed { community.hub.addCompressed() }
    live.start()
    if live.isClosed { return hubClosed() }
    // The session may have ended since the request was authenticated, before this loop had a subscriber to notify.
    do throws(Refusal) { try client.checkSession() } catch {
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
    if !output.isBlocked {
      perform(reader.state.resume())
      output.sendPresence(community.hub)
      beginQueuedCommands(loop)
    }
    live.startReading(isolation: loop)
  }

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    guard !isClosed else { return }
    isClosed = true
    unsubscribeAll()
    live.board.remove(self)
    if socket.isCompressed { community.hub.removeCompressed() }
    output = SocketOutput(socket)
    commands.dropQueued()
    client.leave()
  }

  // MARK: Subscriber

  func receive(_ publication: Publication) {
    guard let frame = reader.state.receive(publication) else { return }
    guard output.send(frame) else { return lag(from: publication.event) }
  }

  func receive(_ run: StreamBatch) {
    guard output.hasRoom(for: run), reader.state.receive(run) else {
      for publication in run.publications { receive(publication) }
      return
    }
    guard output.send(run) else { return lag(from: run.first) }
  }

  private func lag(from event: Event) {
    reader.state.markLagging(event.stream, from: event.id)
    send(Control.lagging(event.stream, lastOffset: event.offset - 1))
  }

  func receive(_ signal: Signal, _ frame: Frame) {
    guard reader.state.accepts(signal) else { return }
    output.send(signal: frame)
  }

  func accessChanged(_ change: AccessChange) { perform(reader.state.accessChanged(change)) }

  func eventsLost() { perform(reader.state.eventsLost()) }

  func sessionEnded() {
    do throws(Refusal) { try client.checkAdmitted() } catch {
      if case .banned(let until, let reason) = error { send(Control.banned(until: until, reason: reason)) }
    }
    close(.ended)
  }

  func hubClosed() { close(.goingAway, CloseCode.restartReason) }

  func tick(_ now: Int64) {
    output.sendPresence(community.hub)
    if client.isUnidentified(at: now) { return close(.unidentified) }
    client.keepSession(at: now)
    perform(reader.retry())
    if output.isTooSlow(at: now) { close(.tooSlow) }
  }

  private func close(_ reason: CloseReason) {
    guard let code = CloseCode(UInt16(reason.rawValue)) else { return }
    close(code, reason.code)
  }

  private func close(_ code: CloseCode, _ reason: String) {
    commands.dropQueued()
    socket.close(code, reason: reason)
  }

  // MARK: Subscriptions

  private func perform(_ actions: [SubscriptionState.Action]) {
    for action in actions {
      switch action {
      case .read(let topics, let after):
        reader.enqueueRead(topics, after: after)
        live.enqueue(self)
      case .subscribe(let audience):
        guard audiences.insert(audience).inserted else { continue }
        live.board.subscribe(audience, self)
        if audience == .presence { output.startPresence(community.hub) }
      case .unsubscribe(let audience):
        if audience == .presence { output.stopPresence() }
        if audiences.remove(audience) != nil { live.board.unsubscribe(audience, self) }
      case .sendBuffered: while let publication = reader.state.nextBuffered() { receive(publication) }
      case .answer(let ticket, let outcome): answer(ticket, outcome)
      case .lost(let topic): send(Control.lost(topic))
      case .reset(let reason, let head): send(Control.reset(reason, community.cursor(at: head)))
      }
    }
  }

  private func unsubscribeAll() {
    for audience in audiences { live.board.unsubscribe(audience, self) }
    audiences = []
    output.stopPresence()
  }

  func startReading(isolation: isolated (any Actor)?) {
    guard !isClosed, let read = reader.startRead() else { return }
    let caller = client.caller
    Task.immediate {
      _ = isolation
      let result: Result<CatchUp, Refusal>
      do throws(Refusal) {
        result = .success(
          try await self.live.catchUp(
            read.topics, from: .after(read.after), RealtimeLimits.page, for: caller, cache: read.cache))
      } catch {
        result = .failure(error)
      }
      self.finish(read, result)
      self.live.startReading(isolation: isolation)
    }
  }

  private func finish(_ read: SubscriptionReader.Read, _ result: Result<CatchUp, Refusal>) {
    guard !isClosed, reader.isCurrent(read) else { return }
    switch result {
    case .success(.page(let page)):
      let state = reader.state
      let sent = output.send(state.newItems(page), of: page, community) { state.carriesCursor($0) }
      perform(reader.state.didSend(page, through: sent.through, isWhole: sent.isWhole))
      reader.didRead()
    case .success(.reset(let reason, let head)): perform(reader.state.didReset(reason, head: head))
    case .failure(let refusal): refusal == .unauthenticated ? close(.ended) : reader.readFailed()
    }
  }

  /// Subscribes to topics, each with the client's cursor.
  private func subscribe(
    _ topics: [(topic: LiveTopic, cursor: String?)], for origin: SubscriptionRequests.Origin
  ) {
    let head: Int
    do throws(Refusal) { head = try live.view.head() } catch { return refuse(origin, Problem(error)) }
    let groups = SubscriptionReader.groups(topics, in: community)
    guard reader.state.canSubscribe(Set(topics.map(\.topic)), from: groups.count) else {
      return refuse(origin, Problem(Refusal.invalid("topics", .tooMany(limit: SubscriptionState.maxTopics))))
    }
    if let event = groups.compactMap(\.startPoint.eventOfEarlierStart).min() {
      send(Control.restarted(community.cursor(at: event)))
    }
    perform(reader.subscribe(groups, head: head, for: origin))
  }

  private func answer(_ ticket: Int, _ outcome: SubscriptionState.Outcome) {
    guard let (origin, outcomes) = reader.finish(ticket, outcome) else { return }
    let answer = SubscriptionAnswer(outcomes, resumingAt: community.cursor(at: reader.state.resumePosition))
    guard case .command(let slot) = origin else { return send(answer.control) }
    if answer.isRefused { return refuse(slot, Problem(Refusal.notFound)) }
    reply(slot) { json in
      if let user = client.caller.user { json.field("user_id", user) }
      answer.writeFields(to: &json)
    }
  }

  // MARK: Commands

  private func receive(_ message: WebSocketMessage, _ loop: isolated any Actor) {
    defer { if commands.isFull { socket.pause() } }
    guard case .text(let bytes) = message else {
      refuse(commands.open(RealtimeCommand.noID), .badRequest("Commands are text messages."))
      return commandRefused()
    }
    var object: JSONObject
    let id: JSONRaw
    do throws(JSONError) {
      (object, id) = try RealtimeCommand.open(bytes)
    } catch {
      refuse(commands.open(RealtimeCommand.noID), Problem(error))
      return commandRefused()
    }
    let slot = commands.open(id)
    guard commands.spend(now: live.now) else {
      refuse(slot, .rateLimited(RealtimeLimits.commands.burst, seconds: 1))
      return commandRefused()
    }
    do throws(JSONError) {
      let command = try RealtimeCommand(&object)
      guard !commands.isBlocked, !output.isBlocked else { return commands.enqueue(slot, command, size: bytes.count) }
      begin(slot, command, loop)
    } catch {
      refuse(slot, RealtimeCommand.problem(of: bytes, error, community.bounds))
      commandRefused()
    }
  }

  /// Closes the socket of a client that goes on with malformed commands, or above the rate limit.
  private func commandRefused() {
    if commands.countRefused(now: live.now) { close(.policy, "too many invalid commands") }
  }

  private func begin(_ slot: Int, _ command: RealtimeCommand, _ loop: isolated any Actor) {
    switch command {
    case .hello(let token, let cursor, let topics): hello(slot, token, cursor, topics)
    case .subscribe(let topics): subscribe(topics, for: .command(slot: slot))
    case .unsubscribe(let topics):
      perform(reader.state.unsubscribe(topics))
      reply(slot) { _ in }
    case .ping: reply(slot) { json in json.field("now", Timestamp(community.hub.wall)) }
    case .typing(let conversation): attempt(slot) { try client.sendTyping(in: conversation) }
    case .presence(let state, let shown): attempt(slot) { try client.setPresence(state, showing: shown) }
    case .publish(let app, let data): attempt(slot) { try client.publish(data, as: app) }
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
      try client.count(command.rateLimit)
    } catch {
      return refuse(slot, error)
    }
    client.noteWrite()
    if command.blocksLaterCommands { commands.block(at: slot) }
    let client = self.client
    Task.immediate {
      _ = loop
      do {
        let write = try await client.change(command)
        self.reply(slot, write)
      } catch {
        self.refuse(slot, Problem(error))
      }
      self.commands.finished(slot)
      self.beginQueuedCommands(loop)
      self.live.startReading(isolation: loop)
    }
  }

  /// Starts queued commands after a blocking command has finished or no answer waits any longer.
  private func beginQueuedCommands(_ loop: isolated any Actor) {
    while !output.isBlocked, !isClosed, let (slot, command) = commands.next() { begin(slot, command, loop) }
  }

  /// Authenticates the client, once.
  private func hello(_ slot: Int, _ token: String?, _ cursor: String?, _ topics: [LiveTopic]) {
    if let token {
      do throws(Refusal) {
        // A user has none of the visitor's subscriptions.
        if try client.authenticate(token) {
          for slot in reader.restart(for: client.caller.user) { refuse(slot, Problem(Refusal.conflict)) }
          unsubscribeAll()
          identified()
        }
      } catch {
        return refuse(slot, Problem(error))
      }
    }
    do throws(Refusal) { _ = try client.caller.requireUser() } catch { return refuse(slot, Problem(error)) }
    subscribe(topics.map { ($0, cursor) }, for: .command(slot: slot))
  }

  private func identified() {
    guard client.caller.user != nil else { return }
    socket.setMessageLimit(nil)
    client.arrive()
  }

  // MARK: Answers

  private func reply(_ slot: Int, _ members: (inout JSONWriter) -> Void) {
    answer(slot) { json in
      json.field("ok", true)
      members(&json)
    }
  }

  private func refuse(_ origin: SubscriptionRequests.Origin, _ problem: Problem) {
    switch origin {
    case .url: close(.unavailable)
    case .command(let slot): refuse(slot, problem)
    }
  }

  private func refuse(_ slot: Int, _ problem: Problem) {
    let document = JSONRaw(trusted: problem.document(id: origin.id, origin: origin.site))
    answer(slot) { json in json.field("problem", document) }
  }

  private func answer(_ slot: Int, _ members: (inout JSONWriter) -> Void) {
    guard !isClosed else { return }
    output.enqueue(commands.answer(slot, members))
    flush()
  }

  /// Sends a control message behind the waiting answers.
  private func send(_ control: [UInt8]) {
    output.enqueue([control])
    flush()
  }

  private func flush() { output.flush(whileReading: !commands.isFull) }
}
