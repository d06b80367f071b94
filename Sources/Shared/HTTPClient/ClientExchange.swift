import ParleyNetworking
import ParleyWire

/// One request and its response, from before the connect until the body is read. Confined to the client's event loop.
final class ClientExchange {
  enum Head: Sendable {
    case answer(ReceivedResponse)
    /// The connection was upgraded to the WebSocket of this number.
    case socket(Int)
  }

  let number: Int
  let request: ClientRequest
  let handshake: WebSocketClientHandshake?
  /// End of the whole exchange, in nanoseconds of the loop's clock.
  let deadline: Int64
  weak var connection: ClientConnection?
  private(set) var failure: ClientError?
  /// Whether a connection has written the request.
  var isSent = false
  /// Whether a byte of the response was received.
  var hasReceived = false
  var hasHead: Bool { receivedHead != nil }
  private var receivedHead: Head?
  private(set) var isComplete = false
  private(set) var buffered: [UInt8] = []
  private var headWaiter: CheckedContinuation<Result<Head, ClientError>, Never>?
  private var bodyWaiter: CheckedContinuation<Result<[UInt8]?, ClientError>, Never>?
  private var drainWaiter: CheckedContinuation<Void, Never>?

  init(_ number: Int, _ request: ClientRequest, _ handshake: WebSocketClientHandshake?, now: Int64) {
    self.number = number
    self.request = request
    self.handshake = handshake
    deadline = request.timeout.map { now + Int64($0 / .nanoseconds(1)) } ?? .max
  }

  /// Whether a retry is safe: the connection closed before the request was written, or before the first byte of the response
  /// to an idempotent method (RFC 9110 §9.2.2).
  var isRetryable: Bool {
    guard case .interrupted = failure, !hasReceived else { return false }
    return !isSent || request.isIdempotent && request.body.isReplayable
  }

  func prepareRetry() {
    failure = nil
  }

  // MARK: Events of the connection

  func receive(_ head: Head) {
    receivedHead = head
    if case .socket = head { isComplete = true }
    headWaiter?.resume(returning: .success(head))
    headWaiter = nil
  }

  func receive(_ piece: Span<UInt8>) {
    buffered.append(copying: piece)
    wakeReader()
  }

  func ended() {
    isComplete = true
    wakeReader()
    resumeBody()
  }

  /// Records the first failure; later ones are ignored.
  func fail(_ reason: ClientError) {
    guard !isComplete, failure == nil else { return }
    failure = reason
    headWaiter?.resume(returning: .failure(reason))
    headWaiter = nil
    wakeReader()
    resumeBody()
  }

  private func wakeReader() {
    guard let waiter = bodyWaiter, let chunk = nextResult() else { return }
    bodyWaiter = nil
    waiter.resume(returning: chunk)
  }

  /// The result for a reader; nil: no bytes yet. After a failure, buffered bytes are dropped: a truncated response is not
  /// a response.
  private func nextResult() -> Result<[UInt8]?, ClientError>? {
    if let failure { return .failure(failure) }
    if !buffered.isEmpty {
      defer { buffered = [] }
      return .success(buffered)
    }
    return isComplete ? .success(nil) : nil
  }

  // MARK: Waiting callers

  func head(isolation: isolated EventLoop) async -> Result<Head, ClientError> {
    if let failure { return .failure(failure) }
    if let receivedHead { return .success(receivedHead) }
    return await withCheckedContinuation { headWaiter = $0 }
  }

  func next(isolation: isolated EventLoop) async -> Result<[UInt8]?, ClientError> {
    if let chunk = nextResult() {
      connection?.taken(by: self)
      return chunk
    }
    guard bodyWaiter == nil else { return .failure(.invalidRequest("the response has another reader")) }
    connection?.taken(by: self)
    return await withCheckedContinuation { bodyWaiter = $0 }
  }

  func drained(isolation: isolated EventLoop) async {
    guard failure == nil, !isComplete else { return }
    await withCheckedContinuation { drainWaiter = $0 }
  }

  func resumeBody() {
    drainWaiter?.resume()
    drainWaiter = nil
  }
}
