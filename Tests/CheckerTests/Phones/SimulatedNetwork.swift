import ParleyKit
import Synchronization

/// The network and timers of one app process: all requests and sleeps wait here until the schedule completes them.
final class SimulatedNetwork: Transport {
  enum Outcome: Sendable {
    case response(TransportResponse)
    case socket(LiveSocket)
    case failure(TransportFailure)
  }

  struct PendingRequest: Sendable {
    let number: Int
    let exchange: TransportRequest
    let isSocket: Bool
    /// Nil if the app has cancelled it; the server may still receive it.
    fileprivate(set) var continuation: CheckedContinuation<Outcome, Never>?
    /// The response on its way to the app; nil before the server has the request.
    fileprivate(set) var response: Outcome?

    func settle(_ outcome: Outcome) { continuation?.resume(returning: outcome) }
  }

  struct Pause: Sendable {
    let number: Int
    /// In simulated time.
    let due: Int
    fileprivate let waiter: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var isUp: Bool
    var isDead = false
    var lastNumber = 0
    var pending: [PendingRequest] = []
    var pauses: [Pause] = []

    mutating func number() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let simulatedTime: SimulatedTime
  private let state: Mutex<State>

  init(_ simulatedTime: SimulatedTime, isUp: Bool) {
    self.simulatedTime = simulatedTime
    state = Mutex(State(isUp: isUp))
  }

  static let noNetwork = TransportFailure.unreachable("there is no network")

  // MARK: App side

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    switch await enqueue(exchange, isSocket: false) {
    case .response(let response): return response
    case .socket: throw .malformed("a socket instead of a response")
    case .failure(let failure): throw failure
    }
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    switch await enqueue(exchange, isSocket: true) {
    case .socket(let socket): return socket
    case .response(let response): throw .notUpgraded(status: response.status, body: [])
    case .failure(let failure): throw failure
    }
  }

  private func enqueue(_ exchange: TransportRequest, isSocket: Bool) async -> Outcome {
    let number = state.withLock { $0.number() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = Task.isCancelled
        let failure: TransportFailure? = state.withLock { state in
          if isCancelled { return .cancelled }
          guard state.isUp, !state.isDead else { return Self.noNetwork }
          state.pending.append(
            PendingRequest(number: number, exchange: exchange, isSocket: isSocket, continuation: continuation))
          return nil
        }
        if let failure { continuation.resume(returning: .failure(failure)) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        guard let site = state.pending.firstIndex(where: { $0.number == number }) else {
          return nil as CheckedContinuation<Outcome, Never>?
        }
        defer { state.pending[site].continuation = nil }
        return state.pending[site].continuation
      }
      continuation?.resume(returning: .failure(.cancelled))
    }
  }

  /// Sleeps in simulated time.
  @Sendable func pause(_ milliseconds: Int) async throws {
    let number = state.withLock { $0.number() }
    let due = simulatedTime.now + milliseconds
    let isOver = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isCancelled = Task.isCancelled
        let isWaiting = state.withLock { state in
          guard !isCancelled, !state.isDead else { return false }
          state.pauses.append(Pause(number: number, due: due, waiter: waiter))
          return true
        }
        if !isWaiting { waiter.resume(returning: false) }
      }
    } onCancel: {
      self.end(number, isOver: false)
    }
    if !isOver { throw CancellationError() }
  }

  // MARK: Schedule side

  var pending: [PendingRequest] { state.withLock { $0.pending } }
  var pauses: [Pause] { state.withLock { $0.pauses } }
  var isUp: Bool { state.withLock { $0.isUp } }

  /// Removes a request; the caller must complete it.
  func take(_ number: Int) -> PendingRequest? {
    state.withLock { state in
      state.pending.firstIndex { $0.number == number }.map { state.pending.remove(at: $0) }
    }
  }

  /// Returns a taken request whose response arrives later.
  func delay(_ request: PendingRequest, _ response: Outcome) {
    var request = request
    request.response = response
    state.withLock { $0.pending.append(request) }
  }

  func end(_ number: Int, isOver: Bool = true) {
    let pause = state.withLock { state in
      state.pauses.firstIndex { $0.number == number }.map { state.pauses.remove(at: $0) }
    }
    pause?.waiter.resume(returning: isOver)
  }

  func set(isUp: Bool) { state.withLock { $0.isUp = isUp } }

  /// Ends all requests and sleeps of a killed app.
  func shutDown() {
    let (pending, pauses) = state.withLock { state in
      state.isDead = true
      defer { (state.pending, state.pauses) = ([], []) }
      return (state.pending, state.pauses)
    }
    for one in pending { one.settle(.failure(.cancelled)) }
    for pause in pauses { pause.waiter.resume(returning: false) }
  }
}

/// The simulated time of sleeping apps, in milliseconds.
final class SimulatedTime: Sendable {
  private let time = Atomic<Int>(0)

  var now: Int { time.load(ordering: .relaxed) }

  /// Returns the elapsed time.
  func move(to due: Int) -> Int {
    let before = now
    time.store(max(due, before), ordering: .relaxed)
    return now - before
  }
}

/// A body that is read once.
final class Once: Sendable {
  private let bytes: Mutex<[UInt8]?>

  init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

  func take() -> [UInt8]? {
    bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
  }
}
