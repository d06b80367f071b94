// What a user has said and the server has not yet heard.
//
// - An operation is kept before anything else happens. Before each try it is kept that it is tried, so that an app that was
//   killed knows afterwards of which operations it does not know the end; to repeat those is safe by their names.
// - Operations of one conversation go one at a time, first in, first out, but deletions go ahead. What is about a message
//   that was not sent yet waits for it, and is about the message itself from the moment that there is one.
// - What may go well later is tried again, with pauses. What the server refuses has failed: it waits for the user, and what
//   was said after it goes on.

import ParleyJSON
public import ParleyModel

public actor Outbox {
  let cache: Cache
  let client: Client
  let openFile: @Sendable (PendingFile) async throws -> FileSource
  let clock: Clock
  private var lastOrder = 0
  private var isOpen = false
  /// Whether what waits is sent by itself (`Sending.swift`).
  var isRunning = false
  var lanes: [ID<Conversation>: Lane] = [:]
  /// Conversations of which something waits for another try.
  var retryTimers: [ID<Conversation>: Task<Void, Never>] = [:]
  /// Why the last try did not succeed.
  var lastFault: ClientFault?
  /// Who sends by hand does so one after the other.
  let lock = AsyncLock()
  private(set) var observers: [Int: AsyncStream<OutboxEvent>.Continuation] = [:]
  private var lastObserver = 0

  /// A conversation of which something is being sent, and what.
  struct Lane {
    var operation: OutboxOperation.Name?
    var task: Task<Void, Never>?
  }

  /// - Parameter open: finds the bytes of a file that lies on this device.
  public init(
    _ cache: Cache, _ client: Client, clock: Clock, open: @escaping @Sendable (PendingFile) async throws -> FileSource
  ) {
    self.cache = cache
    self.client = client
    openFile = open
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
    if let unsent = try await unsentOperation(target), case .send(var draft) = unsent.work {
      var changed = unsent
      draft.text = text
      changed.work = .send(draft)
      try await save([changed])
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
    if let unsent = try await unsentOperation(target) {
      try await cancel(unsent.id)
      return nil
    }
    let others = await all.filter { $0.target == target && !isUnderWay($0) && $0.kind != .send && $0.kind != .read }
    try await remove(others)
    return try await add(.delete(target, andFiles: andFiles), in: conversation)
  }

  /// Sets a readPosition on a message, or takes it back. What is so already changes nothing.
  @discardableResult
  public func setAction(
    _ type: String, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true
  ) async throws -> OutboxOperation? {
    let waiting = await all.filter { operation in
      if case .action(target, type, _) = operation.work { return !isUnderWay(operation) }
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
    return try await add(.action(target, type: type, isSet: isSet), in: conversation)
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
        operation.retarget(at: sent.message.id)
        return try await begin(operation)
      }
    }
    return try await begin(OutboxOperation(clock.name(), order: next(), conversation, work, createdAt: clock.now()))
  }

  private func begin(_ operation: OutboxOperation) async throws -> OutboxOperation {
    try await save([operation])
    schedule()
    return operation
  }

  func next() -> Int {
    lastOrder += 1
    return lastOrder
  }

  /// The operation of a message of which the server can't know.
  private func unsentOperation(_ target: Draft.Target) async throws -> OutboxOperation? {
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

  var all: [OutboxOperation] {
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
    try await save([operation])
    retryTimers.removeValue(forKey: operation.conversation)?.cancel()
    schedule()
  }

  /// Lets an operation go, and all that was to happen to the message that it would have made.
  public func cancel(_ id: OutboxOperation.Name) async throws {
    guard let operation = await cache.operations[id] else { throw OutboxRefusal.unknownOperation }
    var removed = [operation]
    let all = await all
    var index = 0
    while index < removed.count {
      removed += all.filter { $0.dependsOn == removed[index].id }
      index += 1
    }
    if isUnderWay(operation) { lanes[operation.conversation]?.task?.cancel() }
    try await remove(removed)
    for operation in removed { publish(.cancelled(operation.id)) }
  }

  func save(_ operations: [OutboxOperation]) async throws(CacheFault) {
    try await cache.save(operations.map { CacheRow(.operation, $0.id, writing: $0) })
  }

  private func remove(_ operations: [OutboxOperation]) async throws(CacheFault) {
    try await cache.save(operations.map { CacheRow(.operation, $0.id, nil) })
  }

  /// What was under way when the app ended has failed as `unfinished`.
  func open() async throws(CacheFault) {
    if isOpen { return }
    let all = await all
    if isOpen { return }
    isOpen = true
    lastOrder = max(lastOrder, all.last?.order ?? 0)
    let interrupted = all.filter(\.isUnderWay).map { operation in
      var operation = operation
      operation.isUnderWay = false
      operation.state = .failed(.unfinished)
      return operation
    }
    if !interrupted.isEmpty { try await save(interrupted) }
  }

  // MARK: Watching

  public func events() -> AsyncStream<OutboxEvent> {
    lastObserver += 1
    let number = lastObserver
    let (stream, continuation) = AsyncStream.makeStream(of: OutboxEvent.self)
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeObserver(number) } }
    return stream
  }

  private func removeObserver(_ observer: Int) { observers[observer] = nil }

  func publish(_ event: OutboxEvent) {
    for observer in observers.values { observer.yield(event) }
  }
}
