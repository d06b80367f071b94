import ParleyNetworking
import ParleyWire

/// Requests over kept connections.
struct HTTPLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) {
    self.arguments = arguments
  }

  func run() async throws -> Report {
    let requests = HTTPRequests(
      arguments, fields: arguments.fields, depth: arguments.depth, isTimedFromConnecting: false)
    return try await run(requests)
  }

  fileprivate func run(_ requests: HTTPRequests) async throws -> Report {
    let team = try await Team(arguments)
    try await team.open(arguments.connections) { crew, _ in HTTPClient(crew, requests) }
    let seconds = try await team.measure(atMost: arguments.seconds)
    let tally = await team.tally
    try await team.close()
    return Report(arguments: arguments, seconds: seconds, tally: tally)
  }
}

/// A connection and a full TLS handshake for each request: the same client, asked to close after every answer. The
/// time counts from the first packet of the connection.
struct HandshakeLoad {
  private let arguments: LoadArguments

  init(_ arguments: LoadArguments) throws(UsageError) {
    guard arguments.target.tls != nil else { throw UsageError("load tls needs an https:// URL.") }
    self.arguments = arguments
  }

  func run() async throws -> Report {
    let fields = arguments.fields + [(name: "Connection", value: "close")]
    return try await HTTPLoad(arguments).run(
      HTTPRequests(arguments, fields: fields, depth: 1, isTimedFromConnecting: true))
  }
}

/// What each client asks, ready to be sent.
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

private final class HTTPClient: StreamHandler, LoadClient {
  private let crew: Crew
  private let requests: HTTPRequests
  private var stream: ParleyNetworking.Stream?
  private var parser = ResponseParser()
  /// The answer whose body is arriving.
  private var answer: (head: ReceivedResponse, body: BodyDecoder)?
  /// The beginning of a head.
  private var rest: [UInt8] = []
  private var connectedAt: Int64 = 0
  /// When each request under way was sent, in a ring.
  private var sentAt: [Int64]
  private var oldest = 0
  private var underWay = 0
  private var next = 0
  private var wasOpen = false
  /// The server closes after the present answer.
  private var isLast = false

  init(_ crew: Crew, _ requests: HTTPRequests) {
    self.crew = crew
    self.requests = requests
    sentAt = Array(repeating: 0, count: requests.depth)
  }

  // MARK: LoadClient

  func open(on loop: isolated EventLoop) throws(StreamError) {
    connectedAt = Clock.monotonic()
    parser = ResponseParser()
    answer = nil
    rest = []
    underWay = 0
    isLast = false
    stream = try crew.connect(self, on: loop)
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
    crew.clientOpened(on: loop)
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    crew.received(bytes.count)
    let now = Clock.monotonic()
    do throws(Fault) {
      if rest.isEmpty {
        let used = try read(bytes, at: now)
        if used < bytes.count { rest.append(copying: bytes.extracting(used...)) }
      } else {
        rest.append(copying: bytes)
        let whole = rest
        rest = Array(whole[try read(whole.span, at: now)...])
      }
      if isLast, answer == nil { stream?.finish() } else { send(at: now) }
    } catch {
      crew.note(error.text)
      stream?.abort()
    }
  }

  func ended(on loop: isolated EventLoop) {
    if let answer, answer.head.framing == .untilClose { answered(answer.head, at: Clock.monotonic()) }
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    guard !crew.isLeaving, crew.isMeasuring || !wasOpen else { return crew.clientGone() }
    guard isLast, underWay == 0 else {
      crew.clientGone()
      return crew.clientLost(error?.description ?? "closed by the server", wasOpen: wasOpen, on: loop)
    }
    do {
      try open(on: loop)
    } catch {
      crew.clientGone()
      crew.clientLost("\(error)", wasOpen: true, on: loop)
    }
  }

  // MARK: Asking and reading

  private func send(at now: Int64) {
    guard crew.isMeasuring, !isLast, let stream else { return }
    while underWay < requests.depth {
      sentAt[(oldest + underWay) % requests.depth] = requests.isTimedFromConnecting ? connectedAt : now
      underWay += 1
      stream.write(requests.all[next])
      next = next + 1 == requests.all.count ? 0 : next + 1
    }
  }

  private struct Fault: Error {
    let text: String
  }

  /// How many of the bytes are done with; what is left is the beginning of a head.
  private func read(_ bytes: Span<UInt8>, at now: Int64) throws(Fault) -> Int {
    var used = 0
    while used < bytes.count {
      let input = bytes.extracting(used...)
      guard answer == nil else {
        used += try readBody(input, at: now)
        continue
      }
      guard let (head, length) = try readHead(input) else { return used }
      used += length
      guard !head.isInterim else { continue }
      guard underWay > 0, !isLast else { throw Fault(text: "an answer that nobody asked for") }
      isLast = !head.keepsAlive
      let body = BodyDecoder(head.framing, limit: .max)
      if body.isDone { answered(head, at: now) } else { answer = (head, body) }
    }
    return used
  }

  private func readHead(_ input: Span<UInt8>) throws(Fault) -> (head: ReceivedResponse, length: Int)? {
    do { return try parser.parse(input, to: requests.method) } catch { throw Fault(text: error.explanation) }
  }

  private func readBody(_ input: Span<UInt8>, at now: Int64) throws(Fault) -> Int {
    guard var answer else { return 0 }
    let step: BodyDecoder.Step
    do { step = try answer.body.next(input) } catch { throw Fault(text: error.explanation) }
    let used =
      switch step {
      case .payload(let range): range.upperBound
      case .more: input.count
      case .end(let length): length
      }
    if answer.body.isDone {
      self.answer = nil
      answered(answer.head, at: now)
    } else {
      self.answer = answer
    }
    return used
  }

  private func answered(_ head: ReceivedResponse, at now: Int64) {
    answer = nil
    let began = sentAt[oldest]
    oldest = oldest + 1 == requests.depth ? 0 : oldest + 1
    underWay -= 1
    if 200...299 ~= head.status.code { crew.done(after: now - began) } else { crew.note("status \(head.status.code)") }
  }
}
