import ParleyNetworking
import ParleyWire

/// A request under way, from before there is a connection until its answer is taken. It lives on the client's loop.
final class ExchangeInProgress {
  enum Head: Sendable {
    case answer(ReceivedResponse)
    /// The connection went on as a WebSocket; its number.
    case socket(Int)
  }

  let number: Int
  let call: Call
  let handshake: WebSocketClientHandshake?
  /// In the loop's time; the whole exchange ends then.
  let endBy: Int64
  weak var connection: ClientConnection?
  private(set) var failure: CallFailure?
  /// Something of the answer has come.
  var hasBegun = false
  var hasHead: Bool { heard != nil }
  private var heard: Head?
  private(set) var isWhole = false
  private(set) var waiting: [UInt8] = []
  private var headWaiter: CheckedContinuation<Result<Head, CallFailure>, Never>?
  private var bodyWaiter: CheckedContinuation<Result<[UInt8]?, CallFailure>, Never>?
  private var drainWaiter: CheckedContinuation<Void, Never>?

  init(_ number: Int, _ call: Call, _ handshake: WebSocketClientHandshake?, now: Int64) {
    self.number = number
    self.call = call
    self.handshake = handshake
    endBy = call.time.map { now + Int64($0 / .nanoseconds(1)) } ?? .max
  }

  /// Whether a connection that had rested may have been closed before the server saw the request, and to ask again
  /// does no harm (RFC 9110 §9.2.2).
  var mayRepeat: Bool {
    guard case .interrupted = failure, !hasBegun else { return false }
    return call.isIdempotent && call.body.isRepeatable
  }

  func repeatLater() {
    failure = nil
  }

  // MARK: What comes

  func got(_ head: Head) {
    heard = head
    if case .socket = head { isWhole = true }
    headWaiter?.resume(returning: .success(head))
    headWaiter = nil
  }

  func got(_ piece: Span<UInt8>) {
    waiting.append(copying: piece)
    wakeReader()
  }

  func ended() {
    isWhole = true
    wakeReader()
    resumeSending()
  }

  /// The first failure is the one that counts.
  func fail(_ reason: CallFailure) {
    guard !isWhole, failure == nil else { return }
    failure = reason
    headWaiter?.resume(returning: .failure(reason))
    headWaiter = nil
    wakeReader()
    resumeSending()
  }

  private func wakeReader() {
    guard let waiter = bodyWaiter, let piece = taken() else { return }
    bodyWaiter = nil
    waiter.resume(returning: piece)
  }

  /// What a reader would get now; nil: nothing yet. What had come before a failure is not handed out: it is no answer.
  private func taken() -> Result<[UInt8]?, CallFailure>? {
    if let failure { return .failure(failure) }
    if !waiting.isEmpty {
      defer { waiting = [] }
      return .success(waiting)
    }
    return isWhole ? .success(nil) : nil
  }

  // MARK: Who waits

  func head(isolation: isolated EventLoop) async -> Result<Head, CallFailure> {
    if let failure { return .failure(failure) }
    if let heard { return .success(heard) }
    return await withCheckedContinuation { headWaiter = $0 }
  }

  func next(isolation: isolated EventLoop) async -> Result<[UInt8]?, CallFailure> {
    if let piece = taken() {
      connection?.taken(by: self)
      return piece
    }
    guard bodyWaiter == nil else { return .failure(.unsendable("two read the same answer")) }
    connection?.taken(by: self)
    return await withCheckedContinuation { bodyWaiter = $0 }
  }

  func drained(isolation: isolated EventLoop) async {
    guard failure == nil, !isWhole else { return }
    await withCheckedContinuation { drainWaiter = $0 }
  }

  func resumeSending() {
    drainWaiter?.resume()
    drainWaiter = nil
  }
}
