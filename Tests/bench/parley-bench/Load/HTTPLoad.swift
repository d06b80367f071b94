import ParleyNetworking
import ParleyWire

/// Requests over persistent connections.
struct HTTPLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) {
    self.arguments = arguments
  }

  func run() async throws -> LoadReport {
    let requests = HTTPRequests(
      arguments, fields: arguments.fields, depth: arguments.depth, isTimedFromConnecting: false)
    return try await run(requests)
  }

  fileprivate func run(_ requests: HTTPRequests) async throws -> LoadReport {
    let loadLoops = try await LoadLoops(arguments)
    try await loadLoops.open(arguments.connections) { connections, _ in HTTPLoadClient(connections, requests) }
    let seconds = try await loadLoops.measure(atMost: arguments.seconds)
    let tally = await loadLoops.tally
    try await loadLoops.close()
    return LoadReport(arguments: arguments, seconds: seconds, tally: tally)
  }
}

/// A connection with a full TLS handshake per request: the client sends `Connection: close`. The latency includes
/// connecting.
struct HandshakeLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.target.tls != nil else { throw UsageError("load tls needs an https:// URL.") }
    self.arguments = arguments
  }

  func run() async throws -> LoadReport {
    let fields = arguments.fields + [(name: "Connection", value: "close")]
    return try await HTTPLoad(arguments).run(
      HTTPRequests(arguments, fields: fields, depth: 1, isTimedFromConnecting: true))
  }
}

/// The encoded requests.
struct HTTPRequests: Sendable {
  let method: Method
  let all: [[UInt8]]
  let depth: Int
  let isTimedFromConnecting: Bool

  init(
    _ arguments: LoadArguments, fields: [(name: String, value: String)], depth: Int, isTimedFromConnecting: Bool
  ) {
    method = arguments.method
    self.depth = depth
    self.isTimedFromConnecting = isTimedFromConnecting
    all = arguments.target.pages.map {
      arguments.target.request(arguments.method, $0, fields, body: arguments.body)
    }
  }
}

private final class HTTPLoadClient: StreamHandler, LoadClient {
  private let connections: LoopConnections
  private let requests: HTTPRequests
  private var stream: ParleyNetworking.Stream?
  private var parser = ResponseParser()
  /// The response in progress.
  private var response: (head: ReceivedResponse, body: BodyDecoder)?
  /// An incomplete response head.
  private var buffer: [UInt8] = []
  private var connectedAt: Int64 = 0
  /// The send times of the requests in flight, a ring buffer.
  private var sentAt: [Int64]
  private var oldest = 0
  private var inFlight = 0
  private var next = 0
  private var wasOpen = false
  /// The server closes the connection after the current response.
  private var isLast = false

  init(_ connections: LoopConnections, _ requests: HTTPRequests) {
    self.connections = connections
    self.requests = requests
    sentAt = Array(repeating: 0, count: requests.depth)
  }

  // MARK: LoadClient

  func open(on loop: isolated EventLoop) throws(StreamError) {
    connectedAt = Clock.monotonic()
    parser = ResponseParser()
    response = nil
    buffer = []
    inFlight = 0
    isLast = false
    stream = try connections.connect(self, on: loop)
  }

  func begin(on loop: isolated EventLoop) {
    connectedAt = Clock.monotonic()
    send(at: connectedAt)
  }

  func leave(on loop: isolated EventLoop) {
    stream?.finish()
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {
    if wasOpen { return send(at: Clock.monotonic()) }
    wasOpen = true
    connections.clientOpened(on: loop)
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    connections.received(bytes.count)
    let now = Clock.monotonic()
    do throws(Fault) {
      if buffer.isEmpty {
        let used = try read(bytes, at: now)
        if used < bytes.count { buffer.append(copying: bytes.extracting(used...)) }
      } else {
        buffer.append(copying: bytes)
        let input = buffer
        buffer = Array(input[try read(input.span, at: now)...])
      }
      if isLast, response == nil { stream?.finish() } else { send(at: now) }
    } catch {
      connections.record(error.text)
      stream?.abort()
    }
  }

  func ended(on loop: isolated EventLoop) {
    if let response, response.head.framing == .untilClose { completed(response.head, at: Clock.monotonic()) }
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    guard !connections.isClosing, connections.isMeasuring || !wasOpen else { return connections.clientClosed() }
    guard isLast, inFlight == 0 else {
      connections.clientClosed()
      return connections.clientLost(error?.description ?? "closed by the server", wasOpen: wasOpen, on: loop)
    }
    do {
      try open(on: loop)
    } catch {
      connections.clientClosed()
      connections.clientLost("\(error)", wasOpen: true, on: loop)
    }
  }

  // MARK: Requests and responses

  private func send(at now: Int64) {
    guard connections.isMeasuring, !isLast, let stream else { return }
    while inFlight < requests.depth {
      sentAt[(oldest + inFlight) % requests.depth] = requests.isTimedFromConnecting ? connectedAt : now
      inFlight += 1
      stream.write(requests.all[next])
      next = next + 1 == requests.all.count ? 0 : next + 1
    }
  }

  private struct Fault: Error {
    let text: String
  }

  /// Returns the number of consumed bytes. The remaining ones are an incomplete response head.
  private func read(_ bytes: Span<UInt8>, at now: Int64) throws(Fault) -> Int {
    var used = 0
    while used < bytes.count {
      let input = bytes.extracting(used...)
      guard response == nil else {
        used += try readBody(input, at: now)
        continue
      }
      guard let (head, length) = try readHead(input) else { return used }
      used += length
      guard !head.isInterim else { continue }
      guard inFlight > 0, !isLast else { throw Fault(text: "a response without a request") }
      isLast = !head.keepsAlive
      let body = BodyDecoder(head.framing, limit: .max)
      if body.isDone { completed(head, at: now) } else { response = (head, body) }
    }
    return used
  }

  private func readHead(_ input: Span<UInt8>) throws(Fault) -> (head: ReceivedResponse, length: Int)? {
    do { return try parser.parse(input, to: requests.method) } catch { throw Fault(text: error.explanation) }
  }

  private func readBody(_ input: Span<UInt8>, at now: Int64) throws(Fault) -> Int {
    guard var response else { return 0 }
    let step: BodyDecoder.Step
    do { step = try response.body.next(input) } catch { throw Fault(text: error.explanation) }
    let used =
      switch step {
      case .payload(let range): range.upperBound
      case .more: input.count
      case .end(let length): length
      }
    if response.body.isDone {
      self.response = nil
      completed(response.head, at: now)
    } else {
      self.response = response
    }
    return used
  }

  private func completed(_ head: ReceivedResponse, at now: Int64) {
    response = nil
    let began = sentAt[oldest]
    oldest = oldest + 1 == requests.depth ? 0 : oldest + 1
    inFlight -= 1
    if 200...299 ~= head.status.code {
      connections.done(after: now - began)
    } else {
      connections.record("status \(head.status.code)")
    }
  }
}
