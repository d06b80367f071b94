// When what waits is sent. A conversation has one lane, in which one operation is under way at a time; a few lanes are served
// at once. `start` keeps the lanes going, `sendAll` and `sendWaiting` go through them once, by hand; both never use a lane
// together.

public import ParleyModel

extension Outbox {
  /// Lanes that are served at once.
  private static let mostLanes = 4

  // MARK: By itself

  /// Begins to send, until `stop`. What was interrupted is tried again: to repeat it is safe.
  public func start() async throws {
    try await retryInterrupted()
    isRunning = true
    kick()
  }

  public func stop() async {
    isRunning = false
    for lane in lanes.values { lane.task?.cancel() }
    for task in resting.values { task.cancel() }
    resting = [:]
    for lane in lanes.values { await lane.task?.value }
    tell(.stopped)
  }

  /// There is a network again: whatever waits for another try is tried now.
  public func networkIsBack() {
    for task in resting.values { task.cancel() }
    resting = [:]
    kick()
  }

  private func retryInterrupted() async throws {
    try await open()
    for var operation in await all where operation.failure == .unfinished {
      operation.state = .pending
      try await keep([operation])
    }
  }

  func kick() {
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
    serving: while isRunning, !Task.isCancelled {
      guard let operation = await waiting().first(where: { $0.conversation == conversation }) else { break }
      lanes[conversation]?.operation = operation.id
      switch await attempt(operation) {
      case .sent, .letGo, .failed: continue
      case .waits(let held, let fault):
        guard isRunning, !Task.isCancelled else { break serving }
        rest(conversation, fault.problem?.retryAfter.map { .seconds($0) } ?? clock.pause(held.attempts))
        break serving
      case .broken: break serving
      }
    }
    lanes[conversation] = nil
    // Something may have come meanwhile, or waited for a lane.
    if isRunning, !Task.isCancelled { await fillLanes() } else { kick() }
  }

  private func rest(_ conversation: ID<Conversation>, _ time: Duration) {
    resting[conversation] = Task {
      do { try await clock.wait(time) } catch { return }
      self.wake(conversation)
    }
  }

  private func wake(_ conversation: ID<Conversation>) {
    resting[conversation] = nil
    kick()
  }

  // MARK: By hand

  /// Sends everything of a conversation that waits or has failed: deletions first, then the rest in order, stopping at the
  /// first failure.
  /// - Returns: why it stopped; nil when everything has gone.
  @discardableResult
  public func sendAll(in conversation: ID<Conversation>? = nil) async throws -> ClientFault? {
    try await turns.next {
      try await open()
      for var operation in await list(in: conversation) where operation.failure != nil {
        operation.state = .pending
        try await keep([operation])
      }
      let round = try await send(in: conversation, stopsAtFailure: true)
      return round.failed.first?.failure ?? round.stopped
    }
  }

  /// Sends, once, all that waits, and what was interrupted. What the server refuses has failed, and what was said after it
  /// goes on.
  public func sendWaiting() async throws -> OutboxRound {
    try await turns.next {
      try await retryInterrupted()
      return try await send(in: nil, stopsAtFailure: false)
    }
  }

  private func send(in conversation: ID<Conversation>?, stopsAtFailure: Bool) async throws -> OutboxRound {
    var round = OutboxRound()
    var later: Set<ID<Conversation>> = []
    while let operation = await waiting().first(where: {
      (conversation ?? $0.conversation) == $0.conversation && !later.contains($0.conversation)
    }) {
      let place = operation.conversation
      // The loop behind `start` is at it.
      if let lane = lanes[place] {
        await lane.task?.value
        if let held = await cache.operations[operation.id], held.failure != nil {
          round.failed.append(held)
          if stopsAtFailure { return round }
        }
        if resting[place] == nil { continue }
        later.insert(place)
        round.stopped = lastFault
        if stopsAtFailure { return round }
        continue
      }
      lanes[place] = Lane(operation: operation.id)
      let outcome = await attempt(operation)
      lanes[place] = nil
      switch outcome {
      case .sent(let message): round.sent.append(.init(operation: operation, message: message))
      case .letGo: break
      case .failed(let held):
        round.failed.append(held)
        if stopsAtFailure { return round }
      case .waits(_, let fault):
        round.stopped = fault
        // Without an answer there will be none for the others.
        if stopsAtFailure || fault.problem == nil || fault.isSignedOut { return round }
        later.insert(place)
      case .broken(let fault): throw fault
      }
    }
    return round
  }

  // MARK: One try

  private enum Outcome {
    case sent(ID<Message>?)
    /// The person let it go while it was on its way.
    case letGo
    /// The server refuses it.
    case failed(OutboxOperation)
    case waits(OutboxOperation, ClientFault)
    /// The disk takes nothing: nothing is sent of which nobody would know.
    case broken(any Error)
  }

  private func attempt(_ operation: OutboxOperation) async -> Outcome {
    do {
      var operation = operation
      operation.attempts += 1
      operation.isUnderWay = true
      try await keep([operation])
      let fault: ClientFault
      do {
        let message = try await delivery.deliver(operation)
        tell(.didSend(operation, message: message))
        return .sent(message)
      } catch {
        fault = error as? ClientFault ?? .notKept
      }
      lastFault = fault
      guard var held = await cache.operations[operation.id] else { return .letGo }
      held.isUnderWay = false
      // What was given up here was not refused there.
      let isWaiting = fault.isTemporary || fault.isSignedOut || fault == .cancelled
      if !isWaiting { held.state = .failed(fault) }
      try await keep([held])
      if Task.isCancelled { return .waits(held, fault) }
      tell(.didFail(held, fault))
      if fault.isSignedOut {
        isRunning = false
        tell(.signedOut)
      }
      return isWaiting ? .waits(held, fault) : .failed(held)
    } catch {
      isRunning = false
      lastFault = .notKept
      tell(.stopped)
      return .broken(error)
    }
  }

  private var delivery: Delivery {
    let observers = Array(observers.values)
    return Delivery(cache: cache, client: client, open: openFile) { operation, file, sent, size in
      for observer in observers { observer.yield(.progress(operation, file: file, sent: sent, size: size)) }
    }
  }
}
