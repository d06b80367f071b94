// When what waits is sent. A conversation has one lane, in which one operation is under way at a time; a few lanes are served
// at once. `start` keeps the lanes going, `sendAll` and `sendWaiting` go through them once, by hand; both never use a lane
// together.

public import ParleyModel

extension Outbox {
  /// Lanes that are served at once.
  private static let maxLanes = 4

  // MARK: By itself

  /// Begins to send, until `stop`. What was interrupted is tried again: to repeat it is safe.
  public func start() async throws {
    try await retryInterrupted()
    isRunning = true
    schedule()
  }

  public func stop() async {
    isRunning = false
    for lane in lanes.values { lane.task?.cancel() }
    for task in retryTimers.values { task.cancel() }
    retryTimers = [:]
    for lane in lanes.values { await lane.task?.value }
    publish(.stopped)
  }

  /// There is a network again: whatever waits for another try is tried now.
  public func networkAvailable() {
    for task in retryTimers.values { task.cancel() }
    retryTimers = [:]
    schedule()
  }

  private func retryInterrupted() async throws {
    try await cache.retryOperations { $0.failure == .unfinished }
  }

  func schedule() {
    guard isRunning else { return }
    Task { await self.fillLanes() }
  }

  private func fillLanes() async {
    for operation in await pendingOperations() {
      guard isRunning, lanes.count < Self.maxLanes else { return }
      let conversation = operation.conversation
      guard lanes[conversation] == nil, retryTimers[conversation] == nil else { continue }
      lanes[conversation] = Lane()
      lanes[conversation]?.task = Task { await self.runLane(conversation) }
    }
  }

  /// What may go, in the order in which it does: a deletion alone goes ahead.
  private func pendingOperations() async -> [OutboxOperation] {
    let operations = await cache.operations
    return operations.values
      .filter { $0.state == .pending && $0.dependsOn.map { operations[$0] == nil } ?? true }
      .sorted { ($0.kind == .delete ? 0 : 1, $0.order) < ($1.kind == .delete ? 0 : 1, $1.order) }
  }

  private func runLane(_ conversation: ID<Conversation>) async {
    serving: while isRunning, !Task.isCancelled {
      guard let operation = await pendingOperations().first(where: { $0.conversation == conversation }) else { break }
      lanes[conversation]?.operation = operation.id
      switch await attempt(operation) {
      case .sent, .cancelled, .failed: continue
      case .deferred(let held, let fault):
        guard isRunning, !Task.isCancelled else { break serving }
        scheduleRetry(conversation, fault.problem?.retryAfter.map { .seconds($0) } ?? clock.pause(held.attempts))
        break serving
      case .storageFailed: break serving
      }
    }
    lanes[conversation] = nil
    // Something may have come meanwhile, or waited for a lane.
    if isRunning, !Task.isCancelled { await fillLanes() } else { schedule() }
  }

  private func scheduleRetry(_ conversation: ID<Conversation>, _ time: Duration) {
    retryTimers[conversation] = Task {
      do { try await clock.wait(time) } catch { return }
      self.retryTimerFired(conversation)
    }
  }

  private func retryTimerFired(_ conversation: ID<Conversation>) {
    retryTimers[conversation] = nil
    schedule()
  }

  // MARK: By hand

  /// Sends everything of a conversation that waits or has failed: deletions first, then the rest in order, stopping at the
  /// first failure.
  /// - Returns: why it stopped; nil when everything has gone.
  @discardableResult
  public func sendAll(in conversation: ID<Conversation>? = nil) async throws -> ClientFault? {
    try await lock.withLock {
        try await cache.retryOperations { (conversation ?? $0.conversation) == $0.conversation }
      let round = try await send(in: conversation, stopsAtFailure: true)
      return round.failed.first?.failure ?? round.stopped
    }
  }

  /// Sends, once, all that waits, and what was interrupted. What the server refuses has failed, and what was said after it
  /// goes on.
  public func sendWaiting() async throws -> OutboxRound {
    try await lock.withLock {
      try await retryInterrupted()
      return try await send(in: nil, stopsAtFailure: false)
    }
  }

  private func send(in conversation: ID<Conversation>?, stopsAtFailure: Bool) async throws -> OutboxRound {
    var round = OutboxRound()
    var deferred: Set<ID<Conversation>> = []
    while let operation = await pendingOperations().first(where: {
      (conversation ?? $0.conversation) == $0.conversation && !deferred.contains($0.conversation)
    }) {
      let laneID = operation.conversation
      // The loop behind `start` is at it.
      if let lane = lanes[laneID] {
        await lane.task?.value
        if let held = await cache.operations[operation.id], held.failure != nil {
          round.failed.append(held)
          if stopsAtFailure { return round }
        }
        if retryTimers[laneID] == nil { continue }
        deferred.insert(laneID)
        round.stopped = lastFault
        if stopsAtFailure { return round }
        continue
      }
      lanes[laneID] = Lane(operation: operation.id)
      let outcome = await attempt(operation)
      lanes[laneID] = nil
      switch outcome {
      case .sent(let message): round.sent.append(.init(operation: operation, message: message))
      case .cancelled: break
      case .failed(let held):
        round.failed.append(held)
        if stopsAtFailure { return round }
      case .deferred(_, let fault):
        round.stopped = fault
        // Without an answer there will be none for the others.
        if stopsAtFailure || fault.problem == nil || fault.isSignedOut { return round }
        deferred.insert(laneID)
      case .storageFailed(let fault): throw fault
      }
    }
    return round
  }

  // MARK: One try

  private enum Outcome {
    case sent(ID<Message>?)
    /// The user let it go while it was on its way.
    case cancelled
    /// The server refuses it.
    case failed(OutboxOperation)
    case deferred(OutboxOperation, ClientFault)
    /// The disk takes nothing: nothing is sent of which nobody would know.
    case storageFailed(any Error)
  }

  private func attempt(_ operation: OutboxOperation) async -> Outcome {
    do {
      guard let operation = try await cache.beginTry(of: operation.id) else { return .cancelled }
      let fault: ClientFault
      do {
        let message = try await delivery.deliver(operation)
        publish(.didSend(operation, message: message))
        return .sent(message)
      } catch {
        fault = error as? ClientFault ?? .storageFailed
      }
      lastFault = fault
      // A try that was cancelled here was not refused there.
      let isDeferred = fault.isTemporary || fault.isSignedOut || fault == .cancelled
      guard let held = try await cache.endTry(of: operation.id, fault, isDeferred: isDeferred) else {
        return .cancelled
      }
      if Task.isCancelled { return .deferred(held, fault) }
      publish(.didFail(held, fault))
      if fault.isSignedOut {
        isRunning = false
        publish(.signedOut)
      }
      return isDeferred ? .deferred(held, fault) : .failed(held)
    } catch {
      isRunning = false
      lastFault = .storageFailed
      publish(.stopped)
      return .storageFailed(error)
    }
  }

  private var delivery: OutboxDelivery {
    let observers = Array(observers.values)
    return OutboxDelivery(cache: cache, client: client, open: openFile) { operation, file, sent, size in
      for observer in observers { observer.yield(.progress(operation, file: file, sent: sent, size: size)) }
    }
  }
}
