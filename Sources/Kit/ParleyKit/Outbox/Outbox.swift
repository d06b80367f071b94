// The queue of operations that the server has not yet confirmed.
//
// - An operation is saved before any request. Each attempt is saved before it begins, so an app that was killed knows the
//   operations with an unknown result. They can be repeated safely: their ids are idempotency keys.
// - The operations of a conversation are sent one at a time, first in, first out, but deletions first. An operation on an
//   unsent message waits for it and is then retargeted to the created message.
// - A temporary fault is retried with backoff. An operation that the server refuses has failed: it stays for the user to
//   retry or cancel, and later operations are sent.

import ParleyJSON
public import ParleyModel

/// Operations that are sent as soon as there is a network: messages, edits, deletions, actions, read positions, and changes
/// of conversations.
public actor Outbox {
  let cache: Cache
  let client: Client
  let openFile: @Sendable (PendingFile) async throws -> FileSource
  let clock: Clock
  /// Whether pending operations are sent automatically (`OutboxLanes.swift`).
  var isRunning = false
  var lanes: [ID<Conversation>: Lane] = [:]
  /// Backoff timers of conversations.
  var retryTimers: [ID<Conversation>: Task<Void, Never>] = [:]
  /// The fault of the last failed attempt.
  var lastFault: ClientFault?
  /// Serializes manual sends.
  let lock = AsyncLock()
  private(set) var observers: [Int: AsyncStream<OutboxEvent>.Continuation] = [:]
  private var lastObserver = 0

  /// The sender of a conversation and its current operation.
  struct Lane {
    var operation: OutboxOperation.Name?
    var task: Task<Void, Never>?
  }

  /// - Parameter open: opens a local file.
  public init(
    _ cache: Cache, _ client: Client, clock: Clock, open: @escaping @Sendable (PendingFile) async throws -> FileSource
  ) {
    self.cache = cache
    self.client = client
    openFile = open
    self.clock = clock
  }

  // MARK: Adding operations

  /// Sends a message now, or when the network is available. Until the message has an id, the operation's id identifies it.
  ///
  /// A reply to a cached repost answers its post, in the feed of the post. A post that is not cached is fetched for that.
  @discardableResult
  public func send(_ draft: Draft, in conversation: ID<Conversation>) async throws -> OutboxOperation {
    let (draft, conversation) = try await addressed(draft, in: conversation)
    return try await add(.send(draft), in: conversation)
  }

  /// Edits a message. If the message is certainly unsent, its draft is changed instead.
  @discardableResult
  public func edit(_ target: Draft.Target, in conversation: ID<Conversation>, to text: String) async throws
    -> OutboxOperation
  {
    let edit = try await cache.addEdit(of: target, in: conversation, to: text, id: clock.name(), at: clock.now())
    return try begin(edit)
  }

  /// Deletes a message. A message that is certainly unsent is removed from the outbox, without a request. Otherwise the
  /// deletion is sent first and replaces the other changes of the message.
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

  /// Sets or removes an action on a message; on a cached repost, on its post. Does nothing if it already has that state.
  @discardableResult
  public func setAction(
    _ type: ActionType, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true
  ) async throws -> OutboxOperation? {
    let (target, conversation) = try await acted(target, in: conversation)
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

  func add(
    _ work: OutboxOperation.Work, in conversation: ID<Conversation>, id: OutboxOperation.Name? = nil
  ) async throws -> OutboxOperation {
    return try begin(try await cache.addOperation(work, in: conversation, id: id ?? clock.name(), at: clock.now()))
  }

  private func begin(_ operation: OutboxOperation?) throws(OutboxRefusal) -> OutboxOperation {
    guard let operation else { throw .targetGone }
    schedule()
    return operation
  }

  // MARK: Reposts

  /// The draft and its conversation: a reply to a repost goes to the feed of its post, which the repost does not name.
  func addressed(
    _ draft: Draft, in conversation: ID<Conversation>
  ) async throws -> (draft: Draft, conversation: ID<Conversation>) {
    guard let target = draft.replyTo, let post = try await cache.post(ofRepost: target) else {
      return (draft, conversation)
    }
    var draft = draft
    draft.replyTo = .message(post)
    if let known = try await cache.messages(.ids([post])).first { return (draft, known.message.conversation) }
    return (draft, try await client.send(.getMessage(post)).message.conversation)
  }

  /// The target of an action and its conversation: those of the post for a repost.
  private func acted(
    _ target: Draft.Target, in conversation: ID<Conversation>
  ) async throws -> (target: Draft.Target, conversation: ID<Conversation>) {
    guard let post = try await cache.post(ofRepost: target) else { return (target, conversation) }
    return (.message(post), try await cache.messages(.ids([post])).first?.message.conversation ?? conversation)
  }

  // MARK: Queue

  /// The operations in their order.
  public func list(_ kind: OutboxOperation.Kind? = nil, in conversation: ID<Conversation>? = nil) async
    -> [OutboxOperation]
  {
    await cache.orderedOperations.filter {
      (kind ?? $0.kind) == $0.kind && (conversation ?? $0.conversation) == $0.conversation
    }
  }

  /// Retries a failed or pending operation now. It keeps its position before later operations.
  @discardableResult
  public func retry(_ id: OutboxOperation.Name) async throws -> OutboxOperation {
    try await cache.retryOperations { $0.id == id }
    guard let operation = await cache.operations[id] else { throw OutboxRefusal.unknownOperation }
    retryTimers.removeValue(forKey: operation.conversation)?.cancel()
    schedule()
    return operation
  }

  /// Removes an operation, and the changes of the message that it would have created. Replies to the message are sent
  /// without a reference. A message that the server may have is deleted there, as by `delete`.
  public func cancel(_ id: OutboxOperation.Name) async throws {
    switch try await cache.cancelOperation(id, deletion: clock.name(), at: clock.now()) {
    case nil, .noTarget: throw OutboxRefusal.unknownOperation
    case .added: publish(.cancelled(id))
    case .removed(let removed):
      if let lane = removed.first.flatMap({ lanes[$0.conversation] }), lane.operation == id { lane.task?.cancel() }
      for operation in removed { publish(.cancelled(operation.id)) }
    }
    schedule()
  }

  // MARK: Observers

  /// Completed, failed and changed operations from now on.
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
