// The scheduler of the outbox. Each conversation has a lane that sends one operation at a time; up to `maxLanes` lanes run
// concurrently. `start` runs the lanes continuously; `sendAll` and `sendWaiting` run them once, manually. A lane never has two
// senders.

public import ParleyModel

extension Outbox {
  /// The limit of concurrent lanes.
  private static let maxLanes = 4

  // MARK: Automatic sending

  /// Sends operations until `stop`. Interrupted operations are retried, which is idempotent.
  public func start() async throws(CacheFault) {
    try await retryInterrupted()
    isRunning = true
    schedule()
  }

  /// Stops sending. Operations stay stored.
  public func stop() async {
    isRunning = false
    for lane in lanes.values { lane.task?.cancel() }
    for task in retryTimers.values { task.cancel() }
    retryTimers = [:]
    for lane in lanes.values { await lane.task?.value }
    publish(.stopped)
  }

  /// Call it when the network is available again. Ends all backoffs.
  public func networkAvailable() {
    for task in retryTimers.values { task.cancel() }
    retryTimers = [:]
    schedule()
  }

  private func retryInterrupted() async throws(CacheFault) {
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

  /// The operations that can be sent, deletions first, then in order.
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
      case .deferred(let operation, let fault):
        guard isRunning, !Task.isCancelled else { break serving }
        scheduleRetry(conversation, fault.retryDelay ?? clock.pause(operation.attempts))
        break serving
      case .storageFailed: break serving
      }
    }
    lanes[conversation] = nil
    // An operation may have been added meanwhile, or may wait for a free lane.
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

  // MARK: Manual sending

  /// Sends the pending and failed operations of a conversation, deletions first, then in order, up to the first failure.
  /// - Returns: the failure; nil if all operations were sent.
  @discardableResult
  public func sendAll(in conversation: ID<Conversation>? = nil) async throws(CacheFault) -> ClientFault? {
    try await lock.withLock { () async throws(CacheFault) in
      try await cache.retryOperations { (conversation ?? $0.conversation) == $0.conversation }
      let round = try await send(in: conversation, stopsAtFailure: true)
      return round.failed.first?.failure ?? round.stopped
    }
  }

  /// Sends the pending and interrupted operations once. Continues after an operation that the server refuses.
  public func sendWaiting() async throws(CacheFault) -> OutboxRound {
    try await lock.withLock { () async throws(CacheFault) in
      try await retryInterrupted()
      return try await send(in: nil, stopsAtFailure: false)
    }
  }

  private func send(in conversation: ID<Conversation>?, stopsAtFailure: Bool) async throws(CacheFault) -> OutboxRound {
    var round = OutboxRound()
    var deferred: Set<ID<Conversation>> = []
    while let operation = await pendingOperations().first(where: {
      (conversation ?? $0.conversation) == $0.conversation && !deferred.contains($0.conversation)
    }) {
      let laneID = operation.conversation
      // The loop of `start` runs this lane.
      if let lane = lanes[laneID] {
        await lane.task?.value
        if let operation = await cache.operations[operation.id], operation.failure != nil {
          round.failed.append(operation)
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
      case .sent(let operation, let message): round.sent.append(.init(operation: operation, message: message))
      case .cancelled: break
      case .failed(let operation):
        round.failed.append(operation)
        if stopsAtFailure { return round }
      case .deferred(_, let fault):
        round.stopped = fault
        // If the server can't be reached, the other conversations would fail, too.
        if stopsAtFailure || fault.problem == nil || fault.isSignedOut { return round }
        deferred.insert(laneID)
      case .storageFailed(let fault): throw fault
      }
    }
    return round
  }

  // MARK: Attempts

  private enum Outcome {
    case sent(OutboxOperation, ID<Message>?)
    /// The user cancelled the operation during the attempt.
    case cancelled
    /// The server refused the operation.
    case failed(OutboxOperation)
    case deferred(OutboxOperation, ClientFault)
    /// The cache can't be written. Sending stops: an unsaved attempt would be unknown after a crash.
    case storageFailed(CacheFault)
  }

  private func attempt(_ operation: OutboxOperation) async -> Outcome {
    do throws(CacheFault) {
      guard var operation = try await cache.beginTry(of: operation.id) else { return .cancelled }
      let fault: ClientFault
      do {
        let message = try await delivery.deliver(&operation)
        publish(.didSend(operation, message: message))
        return .sent(operation, message)
      } catch {
        fault = error as? ClientFault ?? .storageFailed
      }
      lastFault = fault
      // A locally cancelled attempt was not refused by the server.
      let isDeferred = fault.isTemporary || fault.isSignedOut || fault == .cancelled
      let ended: OutboxOperation
      switch try await cache.endTry(of: operation.id, fault, isDeferred: isDeferred) {
      case .removed: return .cancelled
      case .changed: return await attempt(operation)
      case .kept(let operation): ended = operation
      case .dropped(let operation, let others):
        for one in others { publish(.cancelled(one.id)) }
        guard operation.kind == .read else { return .cancelled }
        ended = operation
      }
      if Task.isCancelled { return .deferred(ended, fault) }
      publish(.didFail(ended, fault))
      if fault.isSignedOut {
        isRunning = false
        publish(.signedOut)
      }
      return isDeferred ? .deferred(ended, fault) : .failed(ended)
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
