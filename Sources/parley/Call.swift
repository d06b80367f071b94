// One request to a server, for commands.

import ParleyNetworking
import ParleyWire
import Synchronization

/// Whom to ask, what, and how to know whether it is them.
struct Call: Sendable {
  var address: SocketAddress
  /// What stands in the Host field.
  var host: String
  var tls: TLSConfiguration?
  /// How the server is called when it is spoken of.
  var name: String
  var method: Method = .get
  var path: String
  /// JSON.
  var body: [UInt8]?
  /// Seconds from the request until the answer begins, and until it has ended unless that takes as long as it likes.
  var patience = 5
  var isLong = false

  /// There was no answer, in words.
  struct NoAnswer: Error, CustomStringConvertible {
    let description: String
  }

  /// The whole answer.
  func answer() async throws -> (status: Status, body: [UInt8]) {
    let gathered = Gathered()
    let status = try await stream { _, piece in gathered.add(piece) }
    return (status, gathered.bytes)
  }

  /// The answer piece by piece, on another thread.
  func stream(_ take: @escaping @Sendable (Status, [UInt8]) -> Void) async throws -> Status {
    let loop = try EventLoop(label: "parley.call")
    await loop.start()
    defer { Task { await loop.stop() } }
    return try await withCheckedThrowingContinuation { continuation in
      let result = CallResult(continuation)
      loop.run { loop in
        do {
          try CallExchange(self, take, result).begin(on: loop)
        } catch {
          result.give(.failure(error))
        }
      }
    }
  }

  fileprivate var request: [UInt8] {
    var head = "\(method.name) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
    if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + (body ?? [])
  }
}

private final class Gathered: Sendable {
  private let state = Mutex<[UInt8]>([])
  private static let most = 1 << 20

  var bytes: [UInt8] { state.withLock { $0 } }
  func add(_ piece: [UInt8]) { state.withLock { if $0.count + piece.count <= Self.most { $0 += piece } } }
}

/// Given once, whoever comes first.
private final class CallResult: Sendable {
  private let continuation: Mutex<CheckedContinuation<Status, any Error>?>

  init(_ continuation: CheckedContinuation<Status, any Error>) { self.continuation = Mutex(continuation) }

  func give(_ result: sending Result<Status, any Error>) {
    let waiting = continuation.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    waiting?.resume(with: result)
  }
}

private final class CallExchange: StreamHandler {
  private let call: Call
  private let take: @Sendable (Status, [UInt8]) -> Void
  private let result: CallResult
  private var stream: ParleyNetworking.Stream?
  private var parser = ResponseParser()
  private var input: [UInt8] = []
  private var status: Status?
  private var decoder: BodyDecoder?
  private var isLate = false

  init(_ call: Call, _ take: @escaping @Sendable (Status, [UInt8]) -> Void, _ result: CallResult) {
    self.call = call
    self.take = take
    self.result = result
  }

  func begin(on loop: isolated EventLoop) throws {
    stream = try ParleyNetworking.Stream.connect(
      to: call.address, tls: call.tls.map { configuration throws(StreamError) in try TLSContext(configuration) },
      serverName: WebAddress(call.name)?.host ?? call.host, handler: self, on: loop)
    stream?.setDeadline(after: call.patience)
  }

  func opened(on loop: isolated EventLoop) { stream?.write(call.request) }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    input.append(copying: bytes)
    do {
      if status == nil { try readHead() }
      try readBody()
    } catch {
      fail("\(call.name) answers with something that is not HTTP")
    }
  }

  private func readHead() throws {
    let bytes = input
    guard let (head, length) = try parser.parse(bytes.span, to: call.method) else { return }
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
        take(status, Array(input[range]))
        input.removeFirst(range.upperBound)
      case .more:
        input.removeAll(keepingCapacity: true)
        return
      case .end:
        result.give(.success(status))
        stream?.finish()
        return
      }
    }
  }

  private func fail(_ reason: String) {
    result.give(.failure(Call.NoAnswer(description: reason)))
    stream?.abort()
  }

  func ended(on loop: isolated EventLoop) {
    if let status, decoder?.mayEndHere == true { result.give(.success(status)) }
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}

  func expired(on loop: isolated EventLoop) {
    guard !call.isLong || status == nil else { return }
    isLate = true
    stream?.abort()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    let reason =
      isLate
      ? "does not answer within \(call.patience) s"
      : error?.description ?? (status == nil ? "closed the connection without an answer" : "broke off its answer")
    fail("\(call.name): \(reason)")
  }
}
