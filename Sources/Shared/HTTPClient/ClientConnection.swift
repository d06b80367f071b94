// One connection of a client, with one request at a time. It connects, sends, reads the head, and hands the body on as it
// is taken; what the caller does not take stays in the socket. When an answer has ended cleanly the connection rests in
// `Lines` and may carry another.

import ParleyNetworking
import ParleyWire

final class ClientConnection: StreamHandler {
  let destination: Destination
  private let lines: Lines
  private var stream: ParleyNetworking.Stream?
  private var opening: CheckedContinuation<CallFailure?, Never>?
  /// When the request is over that it is opened for.
  private var endBy = Int64.max
  private var exchange: ExchangeInProgress?
  private var parser = ResponseParser()
  private var input: [UInt8] = []
  private var answer: ReceivedResponse?
  private var decoder: BodyDecoder?
  private var interims = 0
  private var isSent = true
  /// The next piece of the body is asked of its source, so the silence is not the server's.
  private var awaitsSource = false
  private var isPaused = false

  private init(_ destination: Destination, _ lines: Lines) {
    self.destination = destination
    self.lines = lines
  }

  /// Connects, and proves under TLS whom it has reached.
  static func open(
    to address: SocketAddress, _ destination: Destination, _ lines: Lines, for exchange: ExchangeInProgress,
    on loop: isolated EventLoop
  ) async throws(CallFailure) -> ClientConnection {
    let connection = ClientConnection(destination, lines)
    exchange.connection = connection
    let failure = await withCheckedContinuation { continuation in
      connection.opening = continuation
      connection.endBy = exchange.endBy
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
      let tls = destination.isSecure ? try lines.context() : nil
      stream = try ParleyNetworking.Stream.connect(
        to: address, tls: tls, serverName: destination.name, handler: self, on: loop)
      lines.connections[ObjectIdentifier(self)] = self
      stream?.setDeadline(at: min(endBy, loop.now + lines.patience.toConnect))
    } catch {
      opened(with: Self.beforeSending(error))
    }
  }

  private static func beforeSending(_ error: StreamError) -> CallFailure {
    switch error {
    case .system(let error): .unreachable(error.reason)
    case .tls(let reason): .untrusted(reason)
    }
  }

  private func opened(with failure: CallFailure?) {
    opening?.resume(returning: failure)
    opening = nil
  }

  /// Who waits for it gives up.
  func drop() {
    opened(with: .cancelled)
    stream?.abort()
  }

  var isOpen: Bool { stream?.isOpen == true }

  // MARK: One exchange

  /// Sends the request; the head of its answer, or why there is none.
  func perform(
    _ exchange: ExchangeInProgress, on loop: isolated EventLoop
  ) async -> Result<ExchangeInProgress.Head, CallFailure> {
    // The time may have run out, and the connection with it, between its opening and this.
    guard let stream, isOpen, loop.now < exchange.endBy else {
      exchange.fail(loop.now < exchange.endBy ? .interrupted("the server has closed it") : .timedOut)
      drop()
      return await exchange.head(isolation: loop)
    }
    do throws(CallFailure) {
      var head = try exchange.call.head(to: destination, upgrade: exchange.handshake?.fields)
      if case .bytes(let bytes) = exchange.call.body { head += bytes }
      self.exchange = exchange
      exchange.connection = self
      (parser, answer, decoder, interims) = (ResponseParser(), nil, nil, 0)
      stream.write(head)
      setDeadline()
      startSending(exchange, on: loop)
    } catch {
      exchange.fail(error)
      rest()
    }
    return await exchange.head(isolation: loop)
  }

  private func startSending(_ exchange: ExchangeInProgress, on loop: isolated EventLoop) {
    guard case .pieces(let length, let next) = exchange.call.body, length > 0 else { return }
    isSent = false
    Task {
      _ = loop
      await self.send(length, next, of: exchange, on: loop)
    }
  }

  private func send(
    _ length: Int, _ next: @Sendable () async throws -> [UInt8], of exchange: ExchangeInProgress,
    on loop: isolated EventLoop
  ) async {
    var sent = 0
    while sent < length {
      awaitsSource = true
      let piece: [UInt8]
      do { piece = try await next() } catch {
        if isSending(exchange) { fail(error is CancellationError ? .cancelled : .unsendable("\(error)")) }
        return
      }
      guard isSending(exchange), let stream else { return }
      awaitsSource = false
      guard !piece.isEmpty, piece.count <= length - sent else {
        return fail(.unsendable("the source has not as many bytes as it said"))
      }
      sent += piece.count
      stream.write(piece)
      setDeadline()
      if stream.isFull {
        await exchange.drained(isolation: loop)
        guard isSending(exchange) else { return }
      }
    }
    isSent = true
  }

  private func isSending(_ exchange: ExchangeInProgress) -> Bool {
    self.exchange === exchange && exchange.failure == nil && !exchange.isWhole
  }

  private func setDeadline() {
    guard let stream else { return }
    let silence = stream.now + Int64(lines.patience.silence) * 1_000_000_000
    stream.setDeadline(at: min(silence, exchange?.endBy ?? .max))
  }

  /// The reader of this exchange has taken what waited.
  func taken(by exchange: ExchangeInProgress) {
    guard self.exchange === exchange, isPaused else { return }
    isPaused = false
    setDeadline()
    stream?.resumeReading()
  }

  /// Nobody reads the rest of this answer.
  func abandon(_ exchange: ExchangeInProgress) {
    guard self.exchange === exchange else { return }
    fail(.cancelled)
  }

  private func fail(_ reason: CallFailure) {
    let failed = exchange
    exchange = nil
    stream?.abort()
    failed?.fail(reason)
  }

  /// The exchange is over; the connection waits for the next one if it may.
  private func rest() {
    exchange = nil
    isPaused = false
    guard let stream, stream.isOpen else { return }
    guard isSent, input.isEmpty, answer?.keepsAlive == true, lines.keep(self) else {
      isSent ? stream.finish() : stream.abort()
      return
    }
    stream.setDeadline(after: lines.patience.resting)
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) { opened(with: nil) }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    // RFC 9112 §9.2: what comes without a request is nobody's answer.
    guard let exchange else {
      stream?.abort()
      return
    }
    exchange.hasBegun = true
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

  /// Reads one head. False when there is none yet, or the connection has become something else.
  private func readHead(_ exchange: ExchangeInProgress, on loop: isolated EventLoop) throws -> Bool {
    let bytes = input
    guard let (head, length) = try parser.parse(bytes.span, to: exchange.call.method) else { return false }
    input.removeFirst(length)
    if head.status == .switchingProtocols {
      try upgrade(exchange, head, on: loop)
      return false
    }
    if head.isInterim {
      interims += 1
      guard interims <= CallLimits.interimAnswers else { throw CallFailure.malformed("too many interim answers") }
      return true
    }
    answer = head
    decoder = BodyDecoder(head.framing, limit: exchange.call.answerLimit)
    exchange.got(.answer(head))
    return true
  }

  private func upgrade(
    _ exchange: ExchangeInProgress, _ head: ReceivedResponse, on loop: isolated EventLoop
  ) throws {
    guard let handshake = exchange.handshake, let stream else {
      throw CallFailure.malformed("it changes to a protocol that nobody asked for")
    }
    let agreement = try handshake.read(head.status, head.fields)
    let socket = SocketConnection(stream, agreement, lines.patience)
    lines.sockets[exchange.number] = socket
    lines.connections[ObjectIdentifier(self)] = nil
    self.exchange = nil
    self.stream = nil
    stream.hand(to: socket)
    exchange.got(.socket(exchange.number))
    let early = input
    input = []
    socket.begin(early.span, on: loop)
  }

  private func readBody(_ exchange: ExchangeInProgress) throws {
    guard var decoder else { return }
    var used = 0
    let bytes = input
    reading: while true {
      let part = bytes.span.extracting(used...)
      switch try decoder.next(part) {
      case .payload(let range):
        exchange.got(part.extracting(range))
        used += range.upperBound
      case .more:
        input.removeAll(keepingCapacity: true)
        self.decoder = decoder
        break reading
      case .end(let length):
        input.removeFirst(used + length)
        exchange.ended()
        rest()
        return
      }
    }
    if exchange.waiting.count >= CallLimits.waiting {
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
      fail(.interrupted("the server has closed it"))
    }
  }

  func drained(on loop: isolated EventLoop) {
    setDeadline()
    exchange?.resumeSending()
  }

  func resumed(on loop: isolated EventLoop) {}

  func expired(on loop: isolated EventLoop) {
    guard let stream else { return }
    if opening != nil {
      opened(with: stream.now < endBy ? .unreachable("it does not take the connection") : .timedOut)
      return stream.abort()
    }
    guard let exchange else { return stream.finish() }
    if stream.now < exchange.endBy, stream.hasProgressed() || isPaused || awaitsSource { return setDeadline() }
    fail(.timedOut)
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    lines.forget(self)
    opened(with: error.map(Self.beforeSending) ?? .unreachable("it closes the connection"))
    fail(.interrupted(error?.description ?? "the server has closed it"))
  }
}
