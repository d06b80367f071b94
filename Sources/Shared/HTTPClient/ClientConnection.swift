// One client connection with one request at a time. It connects, sends the request, parses the head, and passes the body on
// as the caller reads it; when the buffer is full, the rest stays in the socket (backpressure). After a complete response the
// connection returns to the `ConnectionPool`.

import ParleyNetworking
import ParleyWire

final class ClientConnection: StreamHandler {
  let destination: Destination
  private let pool: ConnectionPool
  private var stream: ParleyNetworking.Stream?
  private var opening: CheckedContinuation<ClientError?, Never>?
  /// Deadline of the exchange that opened the connection.
  private var deadline = Int64.max
  private var exchange: ClientExchange?
  private var parser = ResponseParser()
  private var input: [UInt8] = []
  private var answer: ReceivedResponse?
  private var decoder: BodyDecoder?
  private var interimCount = 0
  private var isBodySent = true
  /// The source of the request body is slow, so the inactivity timeout does not apply to the server.
  private var isAwaitingSource = false
  private var isPaused = false

  private init(_ destination: Destination, _ pool: ConnectionPool) {
    self.destination = destination
    self.pool = pool
  }

  /// Connects, and verifies the certificate under TLS.
  static func open(
    to address: SocketAddress, _ destination: Destination, _ pool: ConnectionPool, for exchange: ClientExchange,
    on loop: isolated EventLoop
  ) async throws(ClientError) -> ClientConnection {
    let connection = ClientConnection(destination, pool)
    exchange.connection = connection
    let failure = await withCheckedContinuation { continuation in
      connection.opening = continuation
      connection.deadline = exchange.deadline
      connection.connect(to: address, on: loop)
    }
    if let failure { throw failure }
    if let failure = exchange.failure {
      connection.drop()
      throw failure
    }
    return connection
  }

  private func connect(to address: SocketAddress, on loop: isolated EventLoop) {
    do throws(StreamError) {
      let tls = destination.isSecure ? try pool.context() : nil
      stream = try ParleyNetworking.Stream.connect(
        to: address, tls: tls, serverName: destination.name, handler: self, on: loop)
      pool.connections[ObjectIdentifier(self)] = self
      stream?.setDeadline(at: min(deadline, loop.now + pool.configuration.connectNanoseconds))
    } catch {
      opened(with: Self.beforeSending(error))
    }
  }

  private static func beforeSending(_ error: StreamError) -> ClientError {
    switch error {
    case .system(let error): .unreachable(error.reason)
    case .tls(let reason): .untrusted(reason)
    }
  }

  private func opened(with failure: ClientError?) {
    opening?.resume(returning: failure)
    opening = nil
  }

  /// Aborts the connection. A pending `open` fails with `cancelled`.
  func drop() {
    opened(with: .cancelled)
    stream?.abort()
  }

  var isOpen: Bool { stream?.isOpen == true }

  // MARK: One exchange

  /// Sends the request and returns the head of the response.
  func perform(
    _ exchange: ClientExchange, on loop: isolated EventLoop
  ) async -> Result<ClientExchange.Head, ClientError> {
    // The deadline may have passed, or the connection closed, since it was opened.
    guard let stream, isOpen, loop.now < exchange.deadline else {
      exchange.fail(loop.now < exchange.deadline ? .interrupted("closed before the request was sent") : .timedOut)
      drop()
      return await exchange.head(isolation: loop)
    }
    do throws(ClientError) {
      var head = try exchange.request.head(to: destination, upgrade: exchange.handshake?.fields)
      if case .bytes(let bytes) = exchange.request.body { head += bytes }
      self.exchange = exchange
      exchange.connection = self
      exchange.isSent = true
      (parser, answer, decoder, interimCount) = (ResponseParser(), nil, nil, 0)
      stream.write(head)
      setDeadline()
      startSending(exchange, on: loop)
    } catch {
      exchange.fail(error)
      finishExchange()
    }
    return await exchange.head(isolation: loop)
  }

  private func startSending(_ exchange: ClientExchange, on loop: isolated EventLoop) {
    guard case .stream(let length, let next) = exchange.request.body, length > 0 else { return }
    isBodySent = false
    Task {
      _ = loop
      await self.send(length, next, of: exchange, on: loop)
    }
  }

  private func send(
    _ length: Int, _ next: @Sendable () async throws -> [UInt8], of exchange: ClientExchange,
    on loop: isolated EventLoop
  ) async {
    var sent = 0
    while sent < length {
      isAwaitingSource = true
      let piece: [UInt8]
      do { piece = try await next() } catch {
        if isSending(exchange) { fail(error is CancellationError ? .cancelled : .invalidRequest("\(error)")) }
        return
      }
      guard isSending(exchange), let stream else { return }
      isAwaitingSource = false
      guard !piece.isEmpty, piece.count <= length - sent else {
        return fail(.invalidRequest("the body does not match its declared length"))
      }
      sent += piece.count
      stream.write(piece)
      setDeadline()
      if stream.isFull {
        await exchange.drained(isolation: loop)
        guard isSending(exchange) else { return }
      }
    }
    isBodySent = true
  }

  private func isSending(_ exchange: ClientExchange) -> Bool {
    self.exchange === exchange && exchange.failure == nil && !exchange.isComplete
  }

  private func setDeadline() {
    guard let stream else { return }
    let inactivityTimeout = stream.now + Int64(pool.configuration.inactivityTimeout) * 1_000_000_000
    stream.setDeadline(at: min(inactivityTimeout, exchange?.deadline ?? .max))
  }

  /// Resumes reading from the socket: the caller has emptied the buffer.
  func taken(by exchange: ClientExchange) {
    guard self.exchange === exchange, isPaused else { return }
    isPaused = false
    setDeadline()
    stream?.resumeReading()
  }

  /// Cancels an exchange whose response is no longer read.
  func abandon(_ exchange: ClientExchange) {
    guard self.exchange === exchange else { return }
    fail(.cancelled)
  }

  private func fail(_ reason: ClientError) {
    let failed = exchange
    exchange = nil
    stream?.abort()
    failed?.fail(reason)
  }

  /// Ends the exchange and returns the connection to the pool, if it can be reused.
  private func finishExchange() {
    exchange = nil
    isPaused = false
    guard let stream, stream.isOpen else { return }
    guard isBodySent, input.isEmpty, answer?.keepsAlive == true, pool.store(self) else {
      isBodySent ? stream.finish() : stream.abort()
      return
    }
    stream.setDeadline(after: pool.configuration.idleTimeout)
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {
    // The timeout of the connect must not end a connection whose request waits for a busy executor.
    stream?.setDeadline(at: deadline)
    opened(with: nil)
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    // RFC 9112 §9.2: bytes without a pending request are not a response.
    guard let exchange else {
      stream?.abort()
      return
    }
    exchange.hasReceived = true
    input.append(copying: bytes)
    setDeadline()
    do {
      while answer == nil {
        guard try readHead(exchange, on: loop) else { return }
      }
      try readBody(exchange)
    } catch let error as BodyError {
      fail(error == .tooLarge ? .tooLarge : .malformed(error.explanation))
    } catch let error as ResponseError {
      fail(.malformed(error.explanation))
    } catch {
      fail(.malformed("\(error)"))
    }
  }

  /// Parses one head. False: it is incomplete, or the connection was upgraded.
  private func readHead(_ exchange: ClientExchange, on loop: isolated EventLoop) throws -> Bool {
    let bytes = input
    guard let (head, length) = try parser.parse(bytes.span, to: exchange.request.method) else { return false }
    input.removeFirst(length)
    if head.status == .switchingProtocols {
      try upgrade(exchange, head, on: loop)
      return false
    }
    if head.isInterim {
      interimCount += 1
      guard interimCount <= ClientLimits.maxInterimResponses else {
        throw ClientError.malformed("too many interim responses")
      }
      return true
    }
    answer = head
    decoder = BodyDecoder(head.framing, limit: exchange.request.maxResponseBytes)
    exchange.receive(.answer(head))
    return true
  }

  private func upgrade(
    _ exchange: ClientExchange, _ head: ReceivedResponse, on loop: isolated EventLoop
  ) throws {
    guard let handshake = exchange.handshake, let stream else {
      throw ClientError.malformed("unrequested protocol upgrade")
    }
    let agreement = try handshake.read(head.status, head.fields)
    let socket = SocketConnection(stream, agreement, pool.configuration)
    pool.sockets[exchange.number] = socket
    pool.connections[ObjectIdentifier(self)] = nil
    self.exchange = nil
    self.stream = nil
    stream.setHandler(socket)
    exchange.receive(.socket(exchange.number))
    let early = input
    input = []
    socket.begin(early.span, on: loop)
  }

  private func readBody(_ exchange: ClientExchange) throws {
    guard var decoder else { return }
    var used = 0
    let bytes = input
    reading: while true {
      let part = bytes.span.extracting(used...)
      switch try decoder.next(part) {
      case .payload(let range):
        exchange.receive(part.extracting(range))
        used += range.upperBound
      case .more:
        input.removeAll(keepingCapacity: true)
        self.decoder = decoder
        break reading
      case .end(let length):
        input.removeFirst(used + length)
        exchange.ended()
        finishExchange()
        return
      }
    }
    if exchange.buffered.count >= ClientLimits.waiting {
      isPaused = true
      stream?.pauseReading()
    }
  }

  func ended(on loop: isolated EventLoop) {
    if let exchange, decoder?.mayEndHere == true {
      exchange.ended()
      self.exchange = nil
      stream?.finish()
    } else {
      fail(.interrupted(answer == nil ? "closed by the server" : "the response is incomplete"))
    }
  }

  func drained(on loop: isolated EventLoop) {
    setDeadline()
    exchange?.resumeBody()
  }

  func resumed(on loop: isolated EventLoop) {}

  func expired(on loop: isolated EventLoop) {
    guard let stream else { return }
    if opening != nil {
      opened(with: stream.now < deadline ? .unreachable("connect timed out") : .timedOut)
      return stream.abort()
    }
    guard let exchange else { return stream.finish() }
    if stream.now < exchange.deadline, stream.hasProgressed() || isPaused || isAwaitingSource { return setDeadline() }
    fail(.timedOut)
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    pool.remove(self)
    opened(with: error.map(Self.beforeSending) ?? .unreachable("connection closed during the handshake"))
    fail(.interrupted(error?.description ?? "closed by this client"))
  }
}
