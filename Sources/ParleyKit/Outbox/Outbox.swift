// What a person has said and the server has not yet heard.
//
// - An operation is kept before anything else happens. Before each try it is kept that it is tried, so that an app that was
//   killed knows afterwards of which operations it does not know the end; to repeat those is safe by their names.
// - Operations of one conversation go one at a time, first in, first out, but deletions go ahead. What is about a message
//   that was not sent yet waits for it, and is about the message itself from the moment that there is one.
// - What may go well later is tried again, with pauses. What the server refuses has failed: it waits for the person, and what
//   was said after it goes on.

import JSON
public import Model

public actor Outbox {
  private let cache: Cache
  private let server: any PlaceServer
  private let clock: Clock
  private var lastOrder = 0
  private var isOpen = false
  private var isRunning = false
  /// Conversations of which something is being sent, and what.
  private var lanes: [ID<Conversation>: Lane] = [:]
  /// Those that wait for another try.
  private var resting: [ID<Conversation>: Task<Void, Never>] = [:]
  private var observers: [Int: AsyncStream<OutboxEvent>.Continuation] = [:]
  private var lastObserver = 0

  /// Conversations that are served at once.
  private static let mostLanes = 4

  private struct Lane {
    var operation: OutboxOperation.Name?
    var task: Task<Void, Never>?
  }

  /// What comes from outside: the time, names that nobody else has, and how long to wait.
  public struct Clock: Sendable {
    /// Milliseconds since 1970.
    public var now: @Sendable () -> Int64
    /// A name for an operation.
    public var name: @Sendable () -> String
    /// How long to wait after so many attempts.
    public var pause: @Sendable (_ attempts: Int) -> Duration

    public init(
      now: @escaping @Sendable () -> Int64, name: @escaping @Sendable () -> String = Clock.randomName,
      pause: @escaping @Sendable (Int) -> Duration = Clock.backOff
    ) {
      self.now = now
      self.name = name
      self.pause = pause
    }
  }

  public init(_ cache: Cache, _ server: any PlaceServer, clock: Clock) {
    self.cache = cache
    self.server = server
    self.clock = clock
  }

  // MARK: Asking for something

  /// Says something: now, or as soon as there is a network. The operation's id is the message's name until it has an id.
  @discardableResult
  public func send(_ draft: Draft, in conversation: ID<Conversation>) async throws -> OutboxOperation {
    try await add(.send(draft), in: conversation)
  }

  /// What was not tried yet, or was refused, is simply said otherwise.
  @discardableResult
  public func edit(_ target: Draft.Target, in conversation: ID<Conversation>, to text: String) async throws
    -> OutboxOperation
  {
    if let unsent = try await neverSent(target), case .send(var draft) = unsent.work {
      var changed = unsent
      draft.text = text
      changed.work = .send(draft)
      try await keep([changed])
      return changed
    }
    return try await add(.edit(target, text: text), in: conversation)
  }

  /// What was never sent is let go, and nothing is left to send. Otherwise the deletion goes ahead of everything else, and
  /// whatever waited on the same message is let go.
  @discardableResult
  public func delete(
    _ target: Draft.Target, in conversation: ID<Conversation>, andFiles: Bool = false
  ) async throws -> OutboxOperation? {
    if let unsent = try await neverSent(target) {
      try await cancel(unsent.id)
      return nil
    }
    let others = await all.filter { $0.target == target && !isUnderWay($0) && $0.kind != .send && $0.kind != .read }
    try await remove(others)
    return try await add(.delete(target, andFiles: andFiles), in: conversation)
  }

  /// Sets a mark on a message, or takes it back. What is so already changes nothing.
  @discardableResult
  public func act(
    _ type: String, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true
  ) async throws -> OutboxOperation? {
    let waiting = await all.filter { operation in
      if case .act(target, type, _) = operation.work { return !isUnderWay(operation) }
      return false
    }
    try await remove(waiting)
    if case .message(let id) = target, waiting.isEmpty,
      let mine = try await cache.messages(.ids([id])).first?.held.mine, mine.contains(type) == isSet
    {
      return nil
    }
    // Never set, nothing to take back.
    if case .unsent = target, !isSet { return nil }
    return try await add(.act(target, type: type, isSet: isSet), in: conversation)
  }

  /// Read up to here. Only the last one is told.
  @discardableResult
  public func markRead(_ message: ID<Message>, in conversation: ID<Conversation>) async throws -> OutboxOperation {
    let earlier = await all.filter { $0.kind == .read && $0.conversation == conversation && !isUnderWay($0) }
    try await remove(earlier)
    return try await add(.read(message), in: conversation)
  }

  private func add(_ work: OutboxOperation.Work, in conversation: ID<Conversation>) async throws -> OutboxOperation {
    try await open()
    if case .unsent(let name) = OutboxOperation("", order: 0, conversation, work, createdAt: 0).target {
      let isThere = await cache.operations[name] != nil
      if !isThere {
        // It was sent in the meantime.
        guard let sent = try await cache.messages(.clientIDs([name])).first else { throw OutboxRefusal.targetGone }
        var operation = OutboxOperation(clock.name(), order: next(), conversation, work, createdAt: clock.now())
        operation.aim(at: sent.message.id)
        return try await begin(operation)
      }
    }
    return try await begin(OutboxOperation(clock.name(), order: next(), conversation, work, createdAt: clock.now()))
  }

  private func begin(_ operation: OutboxOperation) async throws -> OutboxOperation {
    try await keep([operation])
    kick()
    return operation
  }

  private func next() -> Int {
    lastOrder += 1
    return lastOrder
  }

  /// The operation of a message of which the server can't know.
  private func neverSent(_ target: Draft.Target) async throws -> OutboxOperation? {
    guard case .unsent(let name) = target, let operation = await cache.operations[name], !isUnderWay(operation) else {
      return nil
    }
    switch operation.state {
    case .pending: return operation.attempts == 0 ? operation : nil
    // Where nobody knows what the server has heard, it may have the message.
    case .failed(let fault): return fault.isTemporary ? nil : operation
    }
  }

  private func isUnderWay(_ operation: OutboxOperation) -> Bool {
    lanes[operation.conversation]?.operation == operation.id
  }

  // MARK: What waits

  private var all: [OutboxOperation] {
    get async { await cache.operations.values.sorted { $0.order < $1.order } }
  }

  /// In their order.
  public func list(_ kind: OutboxOperation.Kind? = nil, in conversation: ID<Conversation>? = nil) async
    -> [OutboxOperation]
  {
    await all.filter { (kind ?? $0.kind) == $0.kind && (conversation ?? $0.conversation) == $0.conversation }
  }

  /// Tries again what failed, or what waits, now. What failed keeps its place before what was said after it.
  public func retry(_ id: OutboxOperation.Name) async throws {
    guard var operation = await cache.operations[id] else { throw OutboxRefusal.unknownOperation }
    operation.state = .pending
    try await keep([operation])
    resting.removeValue(forKey: operation.conversation)?.cancel()
    kick()
  }

  /// Lets an operation go, and all that was to happen to the message that it would have made.
  public func cancel(_ id: OutboxOperation.Name) async throws {
    guard let operation = await cache.operations[id] else { throw OutboxRefusal.unknownOperation }
    var going = [operation]
    let all = await all
    var place = 0
    while place < going.count {
      going += all.filter { $0.waitsFor == going[place].id }
      place += 1
    }
    if isUnderWay(operation) { lanes[operation.conversation]?.task?.cancel() }
    try await remove(going)
    for operation in going { tell(.cancelled(operation.id)) }
  }

  /// One's own messages that the server has no longer, since it was restored from a backup.
  public var orphans: [Message] {
    get async { await cache.orphans.values.map(\.message).sorted { $0.id < $1.id } }
  }

  /// Says an orphan again, under the name that it had: where the server has it after all, there is still one.
  @discardableResult
  public func offerAgain(_ orphan: ID<Message>) async throws -> OutboxOperation {
    guard let message = await cache.orphans[orphan]?.message, let content = message.content else {
      throw OutboxRefusal.unknownOperation
    }
    var draft = Draft(content.text)
    draft.attachments = content.attachments
    draft.replyTo = message.replyTo.map { .message($0) }
    draft.isMachineOnly = message.isMachineOnly
    if let annotations = content.annotations {
      draft.annotations = (try? Array(json: JSONValue(parsing: annotations.bytes))) ?? []
    }
    try await open()
    let operation = OutboxOperation(
      message.clientID ?? clock.name(), order: next(), message.conversation, .send(draft), createdAt: clock.now())
    try await cache.keep([
      CacheRow(.operation, operation.id, writing: operation), CacheRow(.orphan, orphan.description, nil),
    ])
    kick()
    return operation
  }

  public func forget(_ orphan: ID<Message>) async throws {
    try await cache.keep([CacheRow(.orphan, orphan.description, nil)])
  }

  private func keep(_ operations: [OutboxOperation]) async throws(CacheFault) {
    try await cache.keep(operations.map { CacheRow(.operation, $0.id, writing: $0) })
  }

  private func remove(_ operations: [OutboxOperation]) async throws(CacheFault) {
    try await cache.keep(operations.map { CacheRow(.operation, $0.id, nil) })
  }

  /// What was under way when the app ended has failed as `interrupted`.
  private func open() async throws(CacheFault) {
    if isOpen { return }
    let all = await all
    if isOpen { return }
    isOpen = true
    lastOrder = max(lastOrder, all.last?.order ?? 0)
    let interrupted = all.filter(\.isUnderWay).map { operation in
      var operation = operation
      operation.isUnderWay = false
      operation.state = .failed(.interrupted)
      return operation
    }
    if !interrupted.isEmpty { try await keep(interrupted) }
  }

  // MARK: Sending

  /// Begins to send, until `stop`. What was interrupted is tried again: to repeat it is safe.
  public func start() async throws {
    try await open()
    for var operation in await all where operation.failure == .interrupted {
      operation.state = .pending
      try await keep([operation])
    }
    isRunning = true
    kick()
  }

  public func stop() async {
    isRunning = false
    for lane in lanes.values { lane.task?.cancel() }
    for task in resting.values { task.cancel() }
    resting = [:]
    for lane in lanes.values { await lane.task?.value }
  }

  /// There is a network again: whatever waits for another try is tried now.
  public func networkIsBack() {
    for task in resting.values { task.cancel() }
    resting = [:]
    kick()
  }

  private func kick() {
    guard isRunning else { return }
    Task { await self.fillLanes() }
  }

  private func fillLanes() async {
    for operation in await waiting() {
      guard isRunning, lanes.count < Self.mostLanes else { return }
      let conversation = operation.conversation
      guard lanes[conversation] == nil, resting[conversation] == nil else { continue }
      lanes[conversation] = Lane()
      lanes[conversation]?.task = Task { await self.run(conversation) }
    }
  }

  /// What may go, in the order in which it does: a deletion alone goes ahead.
  private func waiting() async -> [OutboxOperation] {
    let operations = await cache.operations
    return operations.values
      .filter { $0.state == .pending && $0.waitsFor.map { operations[$0] == nil } ?? true }
      .sorted { ($0.kind == .delete ? 0 : 1, $0.order) < ($1.kind == .delete ? 0 : 1, $1.order) }
  }

  private func run(_ conversation: ID<Conversation>) async {
    while isRunning, !Task.isCancelled {
      guard let operation = await waiting().first(where: { $0.conversation == conversation }) else { break }
      lanes[conversation]?.operation = operation.id
      guard await attempt(operation, pausesWhenTemporary: true) else { break }
    }
    lanes[conversation] = nil
    // Something may have come meanwhile, or waited for a lane.
    if isRunning, !Task.isCancelled { await fillLanes() } else { kick() }
  }

  /// Sends everything of a conversation that waits: deletions first, then the rest in order, stopping at the first failure.
  /// - Returns: why it stopped; nil when everything has gone.
  @discardableResult
  public func sendAll(in conversation: ID<Conversation>? = nil) async throws -> ServerFault? {
    await turns.take()
    do {
      let fault = try await sendEverything(in: conversation)
      await turns.give()
      return fault
    } catch {
      await turns.give()
      throw error
    }
  }

  private let turns = Turns()

  private func sendEverything(in conversation: ID<Conversation>?) async throws -> ServerFault? {
    try await open()
    for var operation in await list(in: conversation) where operation.failure != nil {
      operation.state = .pending
      try await keep([operation])
    }
    while let operation = await waiting().first(where: { (conversation ?? $0.conversation) == $0.conversation }) {
      // The loop behind `start` is at it.
      if let lane = lanes[operation.conversation] {
        await lane.task?.value
        if let fault = await cache.operations[operation.id]?.failure { return fault }
        if resting[operation.conversation] != nil { return lastFault }
        continue
      }
      lanes[operation.conversation] = Lane(operation: operation.id)
      let isSent = await attempt(operation, pausesWhenTemporary: false)
      lanes[operation.conversation] = nil
      if let fault = await cache.operations[operation.id]?.failure { return fault }
      guard isSent else { return lastFault ?? .unexpected }
    }
    return nil
  }

  private var lastFault: ServerFault?

  /// Tries once. Whether the lane goes on.
  private func attempt(_ operation: OutboxOperation, pausesWhenTemporary: Bool) async -> Bool {
    do {
      var operation = operation
      operation.attempts += 1
      operation.isUnderWay = true
      try await keep([operation])
      let fault = await perform(operation)
      guard let fault else { return true }
      lastFault = fault
      // It was let go while it was on its way.
      guard var held = await cache.operations[operation.id] else { return true }
      held.isUnderWay = false
      let isWaiting = fault.isTemporary || fault.isSignedOut
      if !isWaiting { held.state = .failed(fault) }
      try await keep([held])
      if Task.isCancelled { return false }
      tell(.didFail(held, fault))
      if fault.isSignedOut {
        isRunning = false
        tell(.signedOut)
        return false
      }
      if isWaiting, pausesWhenTemporary {
        rest(operation.conversation, fault.retryAfter.map { .seconds($0) } ?? clock.pause(held.attempts))
      }
      return !isWaiting
    } catch {
      // The disk takes nothing: nothing is sent of which nobody would know.
      isRunning = false
      return false
    }
  }

  private func rest(_ conversation: ID<Conversation>, _ time: Duration) {
    resting[conversation] = Task {
      do { try await Task.sleep(for: time) } catch { return }
      self.wake(conversation)
    }
  }

  private func wake(_ conversation: ID<Conversation>) {
    resting[conversation] = nil
    kick()
  }

  /// Nil when the server has it, and it is gone from here.
  private func perform(_ operation: OutboxOperation) async -> ServerFault? {
    do {
      let message = try await tryOnce(operation)
      tell(.didSend(operation, message: message))
      return nil
    } catch {
      guard let fault = error as? ServerFault else {
        return ServerFault(code: "cache", isTemporary: true, sentence: "What is kept on this device can't be written.")
      }
      return fault
    }
  }

  /// The message that it was about, or made.
  private func tryOnce(_ operation: OutboxOperation) async throws -> ID<Message>? {
    // An answer knows at least what had happened when it was asked for.
    let known = await cache.replica.cursor?.event ?? 0
    switch operation.work {
    case .send(let draft): return try await say(draft, as: operation, known)
    case .edit(let target, let text):
      let message = try id(of: target)
      let call = ServerCall(.patch, "/messages/\(message)") { json in json.field("text", text) }
      let edited: SeenMessage = try await server.read(call)
      try await settle(operation, [edited], asOf: known)
      return message
    case .delete(let target, let andFiles): return try await erase(id(of: target), andFiles: andFiles, operation, known)
    case .act(let target, let type, let isSet):
      let message = try id(of: target)
      _ = try await server.answer(
        to: ServerCall(isSet ? .put : .delete, "/messages/\(message)/actions/\(PercentEncoding.encode(type))"))
      let seen: SeenMessage = try await server.read(ServerCall(.get, "/messages/\(message)"))
      try await settle(operation, [seen], asOf: known)
      return message
    case .read(let message):
      let path = "/conversations/\(operation.conversation)/read"
      _ = try await server.answer(to: ServerCall(.put, path) { json in json.field("message_id", message) })
      try await settle(operation, [], asOf: known)
      return nil
    }
  }

  private func say(_ draft: Draft, as operation: OutboxOperation, _ known: Int) async throws -> ID<Message> {
    let attachments = draft.attachments + (try await upload(operation, draft))
    let sent: SentMessage = try await server.read(try await post(operation, draft, attachments))
    let message = sent.message.message.id
    try await settle(operation, sent.messages, asOf: known, made: message)
    return message
  }

  private func erase(
    _ message: ID<Message>, andFiles: Bool, _ operation: OutboxOperation, _ known: Int
  ) async throws -> ID<Message> {
    var files: [ID<File>] = []
    if andFiles { files = try await cache.messages(.ids([message])).first?.message.content?.attachments ?? [] }
    let tombstone: SeenMessage = try await server.read(ServerCall(.delete, "/messages/\(message)"))
    for file in files { try await eraseFile(file) }
    try await settle(operation, [tombstone], asOf: known)
    return message
  }

  /// One that is gone already, or in use elsewhere, is no fault.
  private func eraseFile(_ file: ID<File>) async throws {
    do {
      _ = try await server.answer(to: ServerCall(.delete, "/files/\(file)"))
    } catch {
      guard error.isGone || error.status == 409 else { throw error }
    }
  }

  private func id(of target: Draft.Target) throws(ServerFault) -> ID<Message> {
    guard case .message(let id) = target else { throw .unexpected }
    return id
  }

  private func post(_ operation: OutboxOperation, _ draft: Draft, _ attachments: [ID<File>]) async throws -> ServerCall
  {
    let last = try await cache.lastHeld(in: operation.conversation)
    let replyTo = try draft.replyTo.map { target throws(ServerFault) in try id(of: target) }
    return ServerCall(.post, "/conversations/\(operation.conversation)/messages") { json in
      json.field("client_id", operation.id)
      json.field("text", draft.text)
      json.field("sent_at", Timestamp(operation.createdAt))
      if let replyTo { json.field("reply_to", replyTo) }
      if !attachments.isEmpty { json.field("attachments", attachments) }
      if !draft.annotations.isEmpty { json.field("annotations", draft.annotations) }
      if draft.isMachineOnly { json.field("machine_only", true) }
      if let last { json.field("catch_up_after", last) }
    }
  }

  /// The files go first. One that has arrived is not sent twice.
  private func upload(_ operation: OutboxOperation, _ draft: Draft) async throws -> [ID<File>] {
    var draft = draft
    var operation = operation
    var ids: [ID<File>] = []
    for place in draft.files.indices {
      let file = draft.files[place]
      if let known = file.file {
        ids.append(known)
        continue
      }
      let observers = observers
      let name = operation.id
      let id = try await server.upload(file) { sent, size in
        for observer in observers.values {
          observer.yield(.progress(name, file: file.id, sent: sent, size: size))
        }
      }
      draft.files[place].file = id
      operation.work = .send(draft)
      if await cache.operations[operation.id] != nil { try await keep([operation]) }
      ids.append(id)
    }
    return ids
  }

  /// The operation goes and what it made comes, in one step; what waited for the message is about it from now on.
  private func settle(
    _ operation: OutboxOperation, _ messages: [SeenMessage], asOf event: Int, made: ID<Message>? = nil
  ) async throws {
    try await cache.settle(operation.id, messages, asOf: event, made: made)
  }

  // MARK: Watching

  public func events() -> AsyncStream<OutboxEvent> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: OutboxEvent.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.leave(number) } }
    return stream
  }

  private func leave(_ observer: Int) { observers[observer] = nil }

  private func tell(_ event: OutboxEvent) {
    for observer in observers.values { observer.yield(event) }
  }
}

/// The answer to a message that was sent: with what came before it and was not held here.
private struct SentMessage: JSONReadable {
  let message: SeenMessage
  let missed: [SeenMessage]

  init(json value: JSONValue) throws(JSONError) {
    message = try SeenMessage(json: value)
    var object = try value.object()
    missed =
      try object.optional("catch_up") { value throws(JSONError) in
        var page = try value.object()
        return try page.read("data")
      } ?? []
  }

  var messages: [SeenMessage] { missed.filter { $0.message.id != message.message.id } + [message] }
}

extension Cache {
  /// The newest of a conversation's end that is held without a hole.
  func lastHeld(in conversation: ID<Conversation>) throws(CacheFault) -> ID<Message>? {
    guard let stretch = history(of: conversation).held.all.last else { return nil }
    return try messages(.stretch(stretch, of: conversation, .descending, limit: 1)).first?.message.id
  }

  func settle(
    _ operation: OutboxOperation.Name, _ seen: [SeenMessage], asOf event: Int, made message: ID<Message>?
  ) throws(CacheFault) {
    var changes = CacheChanges()
    changes.rows = [CacheRow(.operation, operation, nil)]
    if let message {
      for var waiting in operations.values where waiting.waitsFor == operation {
        waiting.aim(at: message)
        changes.rows.append(CacheRow(.operation, waiting.id, writing: waiting))
      }
    }
    let brought = try messages(.ids(seen.map(\.message.id))).map(\.held)
    try change(bringing: brought, changes) { $0.hold(ahead: seen, asOf: event) }
  }
}
