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

  /// Changes a message. The draft of one that the server can't have is changed here.
  @discardableResult
  public func edit(_ target: Draft.Target, in conversation: ID<Conversation>, to text: String) async throws
    -> OutboxOperation
  {
    let edit = try await cache.addEdit(of: target, in: conversation, to: text, id: clock.name(), at: clock.now())
    return try begin(edit)
  }

  /// Deletes a message. One that the server can't have is removed here, and nothing is left to send. Otherwise the deletion
  /// goes ahead of everything else and replaces the other changes of the message.
  @discardableResult
  public func delete(
    _ target: Draft.Target, in conversation: ID<Conversation>, andFiles: Bool = false
  ) async throws -> OutboxOperation? {
    let added = try await cache.addDeletion(
      of: target, in: conversation, andFiles: andFiles, id: clock.name(), at: clock.now())
    switch added {
    case .removed(let operations):
      for operation in operations { publish(.cancelled(operation.id)) }
      schedule()
      return nil
    case .added(let operation): return try begin(operation)
    case .noTarget: throw OutboxRefusal.targetGone
    }
  }

  /// Sets an action on a message or removes it. Does nothing if it is so already.
  @discardableResult
  public func setAction(
    _ type: String, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true
  ) async throws -> OutboxOperation? {
    let added = try await cache.addAction(
      type, on: target, in: conversation, isSet: isSet, id: clock.name(), at: clock.now())
    switch added {
    case .unchanged: return nil
    case .added(let operation): return try begin(operation)
    case .noTarget: throw OutboxRefusal.targetGone
    }
  }

  /// Moves the read position up to a message. Only the latest of several queued positions is sent.
  @discardableResult
  public func markRead(_ message: ID<Message>, in conversation: ID<Conversation>) async throws -> OutboxOperation {
    return try begin(try await cache.addRead(message, in: conversation, id: clock.name(), at: clock.now()))
  }

  private func add(_ work: OutboxOperation.Work, in conversation: ID<Conversation>) async throws -> OutboxOperation {
    return try begin(try await cache.addOperation(work, in: conversation, id: clock.name(), at: clock.now()))
  }

  private func begin(_ operation: OutboxOperation?) throws(OutboxRefusal) -> OutboxOperation {
    guard let operation else { throw .targetGone }
    schedule()
    return operation
  }

  // MARK: What waits

  /// In their order.
  public func list(_ kind: OutboxOperation.Kind? = nil, in conversation: ID<Conversation>? = nil) async
    -> [OutboxOperation]
  {
    await cache.orderedOperations.filter { (kind ?? $0.kind) == $0.kind && (conversation ?? $0.conversation) == $0.conversation }
  }

  /// Tries again what failed, or what waits, now. What failed keeps its place before what was said after it.
  public func retry(_ id: OutboxOperation.Name) async throws {
    guard let operation = await cache.operations[id] else { throw OutboxRefusal.unknownOperation }
    try await cache.retryOperations { $0.id == id }
    retryTimers.removeValue(forKey: operation.conversation)?.cancel()
    schedule()
  }

  /// Removes an operation, and the changes of the message that it would have created. Replies to the message are sent
  /// without a reference.
  public func cancel(_ id: OutboxOperation.Name) async throws {
    let removed = try await cache.removeOperation(id)
    guard let operation = removed.first else { throw OutboxRefusal.unknownOperation }
    if lanes[operation.conversation]?.operation == id { lanes[operation.conversation]?.task?.cancel() }
    for operation in removed { publish(.cancelled(operation.id)) }
    schedule()
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
