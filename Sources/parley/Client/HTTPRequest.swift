import ParleyNetworking
import ParleyWire
import Synchronization

/// One HTTP request of a command, on a connection of its own.
struct HTTPRequest: Sendable {
  var address: SocketAddress
  /// The value of the Host field.
  var host: String
  var tls: TLSConfiguration?
  /// The server's name in error messages.
  var name: String
  var method: Method = .get
  var path: String
  /// JSON.
  var body: [UInt8]?
  /// Seconds until the response head, and until the end of the response unless it is streaming.
  var timeout = 5
  var isStreaming = false

  /// The connection failed or timed out.
  struct NoResponse: Error, CustomStringConvertible {
    let description: String
  }

  /// Sends the request and collects the response.
  func response() async throws -> (status: Status, body: [UInt8]) {
    let body = CollectedBody()
    let status = try await stream { _, bytes in body.append(bytes) }
    return (status, body.bytes)
  }

  /// Sends the request and streams the response body to `receive`, on another thread.
  func stream(_ receive: @escaping @Sendable (Status, [UInt8]) -> Void) async throws -> Status {
    let loop = try EventLoop(label: "parley.request")
    await loop.start()
    defer { Task { await loop.stop() } }
    return try await withCheckedThrowingContinuation { continuation in
      let result = PendingResult(continuation)
      loop.run { loop in
        do {
          try HTTPExchange(self, receive, result).begin(on: loop)
        } catch {
          result.complete(.failure(error))
        }
      }
    }
  }

  fileprivate var bytes: [UInt8] {
    var head = "\(method.name) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
    if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + (body ?? [])
  }
}

private final class CollectedBody: Sendable {
  private let state = Mutex<[UInt8]>([])
  private static let maxBytes = 1 << 20

  var bytes: [UInt8] { state.withLock { $0 } }
  func append(_ bytes: [UInt8]) {
    state.withLock { if $0.count + bytes.count <= Self.maxBytes { $0 += bytes } }
  }
}

/// Resumes the continuation with the first result and ignores the others.
private final class PendingResult: Sendable {
  private let continuation: Mutex<CheckedContinuation<Status, any Error>?>

  init(_ continuation: CheckedContinuation<Status, any Error>) { self.continuation = Mutex(continuation) }

  func complete(_ result: sending Result<Status, any Error>) {
    let pending = continuation.withLock { pending in
      defer { pending = nil }
      return pending
    }
    pending?.resume(with: result)
  }
}

private final class HTTPExchange: StreamHandler {
  private let request: HTTPRequest
  private let receive: @Sendable (Status, [UInt8]) -> Void
  private let result: PendingResult
  private var stream: ParleyNetworking.Stream?
  private var parser = ResponseParser()
  private var input: [UInt8] = []
  private var status: Status?
  private var decoder: BodyDecoder?
  private var isTimedOut = false

  init(_ request: HTTPRequest, _ receive: @escaping @Sendable (Status, [UInt8]) -> Void, _ result: PendingResult) {
    self.request = request
    self.receive = receive
    self.result = result
  }

  func begin(on loop: isolated EventLoop) throws {
    stream = try ParleyNetworking.Stream.connect(
      to: request.address, tls: request.tls.map { configuration throws(StreamError) in try TLSContext(configuration) },
      serverName: WebAddress(request.name)?.host ?? request.host, handler: self, on: loop)
    stream?.setDeadline(after: request.timeout)
  }

  func opened(on loop: isolated EventLoop) { stream?.write(request.bytes) }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    input.append(copying: bytes)
    do {
      if status == nil { try readHead() }
      try readBody()
    } catch {
      fail("\(request.name) sent an invalid HTTP response")
    }
  }

  private func readHead() throws {
    let bytes = input
    guard let (head, length) = try parser.parse(bytes.span, to: request.method) else { return }
    status = head.status
    decoder = BodyDecoder(head.framing, limit: .max)
    input.removeFirst(length)
  }

  private func readBody() throws {
    guard let status, var decoder else { return }
    defer { self.decoder = decoder }
    while true {
      switch try decoder.next(input.span) {
      case .payload(let range):
        receive(status, Array(input[range]))
        input.removeFirst(range.upperBound)
      case .more:
        input.removeAll(keepingCapacity: true)
        return
      case .end:
        result.complete(.success(status))
        stream?.finish()
        return
      }
    }
  }

  private func fail(_ reason: String) {
    result.complete(.failure(HTTPRequest.NoResponse(description: reason)))
    stream?.abort()
  }

  func ended(on loop: isolated EventLoop) {
    if let status, decoder?.mayEndHere == true { result.complete(.success(status)) }
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}

  func expired(on loop: isolated EventLoop) {
    guard !request.isStreaming || status == nil else { return }
    isTimedOut = true
    stream?.abort()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    let reason =
      isTimedOut
      ? "no response within \(request.timeout) s"
      : error?.description
        ?? (status == nil ? "closed the connection without a response" : "the response was truncated")
    fail("\(request.name): \(reason)")
  }
}
