// An HTTP/1 connection. The handler starts as soon as the head is parsed and runs on this loop. One request is in
// progress at a time: pipelined requests wait in bounded memory, and mostly in the kernel.
//
//     head ──▶ body ──▶ handling ──▶ head …          (answered: the unread rest of the body is discarded)
//       └────────────────▶ handling ──▶ closing      (refused, `Connection: close`, or draining)
//
// All framing is decided here: Content-Length, chunked, or the end of the connection for HTTP/1.0.

import ParleyNetworking
import ParleyWire
import Web

final class HTTPConnection: StreamHandler {
  private enum Phase {
    /// Reading a head, or idle.
    case head
    /// The handler runs while the body arrives.
    case body
    /// The handler runs; the body is complete.
    case handling
    /// Answered while the body still arrives.
    case discarding
    /// No further bytes are parsed.
    case closing
    case closed
  }

  private let shard: Shard
  let isEncrypted: Bool
  private let peerAddress: IPAddress?
  private var stream: ParleyNetworking.Stream?
  private var phase = Phase.head
  private var parser: RequestParser
  private var exchange: Exchange?
  private var task: Task<Void, Never>?
  private var writer: BodyWriter?
  /// The WebSocket connection after an upgrade.
  private var successor: WebSocketConnection?

  /// The bytes that are read and not yet consumed, from `start`.
  private var pending: [UInt8] = []
  private var start = 0
  private var isConsuming = false
  /// Pipelined requests wait although none is in progress: for the next turn, or for room in the send queue.
  private var isDeferred = false
  private var isHeadTimed = false
  private var hasPeerEnded = false
  private var isPaused = false
  private var pausedAt: Int64 = 0
  private var discarded = 0
  /// The time at which the last response was finished or the client last received bytes.
  private var lastProgress = Int64.min / 2
  /// Whether the deadline applies to the send queue.
  private var isOutputTimed = false

  /// The number of unread body bytes at which reading pauses.
  private static let bodyWindow = 131_072
  /// The number of pipelined bytes at which reading pauses while a request is in progress.
  private static let pipelineWindow = 65_536
  /// The maximum number of unread body bytes that are discarded to keep the connection alive.
  private static let maxDiscarded = 262_144

  init(shard: Shard, peer: IPAddress?, isEncrypted: Bool) {
    self.shard = shard
    self.isEncrypted = isEncrypted
    peerAddress = peer
    parser = RequestParser(limits: shard.application.limits.head)
  }

  private var limits: Limits { shard.application.limits }
  var isIdle: Bool { phase == .head && exchange == nil }
  /// The size of the receive and send buffers in bytes.
  var footprint: Int { pending.count + (exchange?.body.footprint ?? 0) + (stream?.unshared ?? 0) }

  func attach(_ stream: ParleyNetworking.Stream, on loop: isolated EventLoop) {
    self.stream = stream
    stream.setHighWater(limits.output)
    let time = isEncrypted ? limits.handshakeTime : limits.headTime
    stream.setDeadline(after: time)
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {
    setDeadline(limits.headTime)
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    if pending.isEmpty, !isConsuming {
      let used = consume(bytes, loop)
      if used < bytes.count, phase != .closed || successor != nil {
        pending.append(copying: bytes.extracting(used...))
      }
    } else {
      pending.append(copying: bytes)
      consumePending(loop)
    }
    passToSuccessor(loop)
    updateReading(loop)
  }

  func ended(on loop: isolated EventLoop) {
    hasPeerEnded = true
    switch phase {
    case .head:
      // A partial head is dropped. Complete pipelined requests are answered first.
      if !isDeferred { close() }
    case .body:
      // RFC 9112 §8: the body is incomplete, and so is the request.
      exchange?.body.fail(.disconnected)
      exchange?.keepsAlive = false
    case .discarding:
      close()
    case .handling, .closing, .closed:
      break
    }
  }

  func drained(on loop: isolated EventLoop) {
    writer?.wake()
    consumePending(loop)
    passToSuccessor(loop)
    updateReading(loop)
  }

  func expired(on loop: isolated EventLoop) {
    guard let stream else { return }
    isOutputTimed = false
    if stream.queued > 0 || stream.isFull {
      // Extends the deadline if the client has received bytes since.
      if stream.hasProgressed() { lastProgress = stream.now }
      if !extendOutputDeadline(limits.byteTime) { stream.abort() }
      return
    }
    switch phase {
    case .head:
      // Complete requests may be received already: the client does not keep us waiting.
      if isDeferred { return }
      if isHeadTimed, stream.isOpen { return reject(.requestTimeout, "The request took too long.", loop) }
      if !extendOutputDeadline(limits.idleTime) { close() }
    case .body:
      // The client waits for the handler: the timeout does not apply.
      if isPaused || exchange?.awaitsContinue == true { return setDeadline(limits.byteTime) }
      exchange?.body.fail(Problem(.requestTimeout, code: "timeout", title: "The body took too long."))
      exchange?.keepsAlive = false
    case .handling:
      break
    case .discarding, .closing:
      stream.abort()
    case .closed:
      break
    }
  }

  /// Extends the deadline to `seconds` after the last progress. Returns false if that has passed.
  private func extendOutputDeadline(_ seconds: Int) -> Bool {
    guard let stream else { return false }
    let end = lastProgress + Int64(seconds) * 1_000_000_000
    guard end > stream.now else { return false }
    isOutputTimed = true
    stream.setDeadline(at: end)
    return true
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    let isLogged = phase == .discarding
    phase = .closed
    stream = nil
    pending = []
    exchange?.body.fail(.disconnected)
    if let exchange, exchange.isStarted, !isLogged { log(exchange, isAborted: true) }
    exchange = nil
    task?.cancel()
    task = nil
    writer?.wake()
    writer = nil
    shard.remove(self)
  }

  // MARK: Reading

  private func consumePending(_ loop: isolated EventLoop) {
    guard !isConsuming, start < pending.count else { return }
    // Keeps the buffer alive during the read. A handler that ends meanwhile does not re-enter this function.
    let buffer = pending
    let used = consume(buffer.span.extracting(start...), loop)
    // The buffer is empty if the connection was closed meanwhile.
    guard !pending.isEmpty else { return }
    start += used
    if start == pending.count {
      pending = []
      start = 0
    } else if start > Self.pipelineWindow {
      pending.removeFirst(start)
      start = 0
    }
  }

  /// Parses `bytes` and returns the number of consumed bytes.
  private func consume(_ bytes: Span<UInt8>, _ loop: isolated EventLoop) -> Int {
    isConsuming = true
    isDeferred = false
    defer { isConsuming = false }
    var used = 0
    var requestCount = 0
    while used < bytes.count {
      let rest = bytes.extracting(used...)
      switch phase {
      case .head:
        guard exchange == nil, let stream, !stream.isFull else {
          isDeferred = true
          return used
        }
        guard requestCount < limits.pipelined else {
          isDeferred = true
          stream.requestTurn()
          return used
        }
        do {
          guard let (head, length) = try parser.parse(rest) else {
            if !isHeadTimed {
              isHeadTimed = true
              setDeadline(limits.headTime)
            }
            return used
          }
          used += length
          requestCount += 1
          startRequest(head, loop)
        } catch {
          reject(error.status, error.explanation, loop)
          return bytes.count
        }
      case .body, .discarding:
        guard readBody(rest, &used, loop) else { return bytes.count }
      case .handling:
        return used
      case .closing:
        return bytes.count
      case .closed:
        return successor == nil ? bytes.count : used
      }
    }
    if phase == .body { startHandler(loop) }
    return used
  }

  /// Returns false if the body can't be read further.
  private func readBody(_ rest: Span<UInt8>, _ used: inout Int, _ loop: isolated EventLoop) -> Bool {
    guard let exchange else { return false }
    exchange.awaitsContinue = false
    // Joins the chunks of one read: queued chunks of one byte would cost fifty times their size.
    var payload: [UInt8] = []
    var offset = 0
    do throws(BodyError) {
      while offset < rest.count, exchange.decoder?.isDone == false {
        let input = rest.extracting(offset...)
        switch try exchange.decoder?.next(input) {
        case .payload(let range):
          offset += range.upperBound
          if phase == .body { payload.append(copying: input.extracting(range)) } else { discarded += range.count }
        case .more, nil: offset = rest.count
        case .end(let length): offset += length
        }
      }
    } catch {
      bodyFailed(error, loop)
      return false
    }
    used += offset
    guard discarded <= Self.maxDiscarded else {
      finishAndClose()
      return false
    }
    exchange.body.push(payload)
    if exchange.decoder?.isDone != false { bodyEnded(loop) }
    return true
  }

  private func bodyFailed(_ error: BodyError, _ loop: isolated EventLoop) {
    guard phase != .discarding else { return finishAndClose() }
    var problem = Problem(error.status, code: Self.code(error.status), title: error.explanation)
    if error == .tooLarge, let limit = exchange?.plan.bodyLimit { problem = .tooLarge(limit: limit) }
    problem.closesConnection = true
    exchange?.keepsAlive = false
    exchange?.body.fail(problem)
    phase = .handling
    startHandler(loop)
  }

  private func bodyEnded(_ loop: isolated EventLoop) {
    if phase == .discarding {
      startNextRequest()
    } else {
      phase = .handling
      exchange?.body.finish()
      startHandler(loop)
    }
  }

  /// Pauses reading if a buffer is full, so that further bytes stay in the kernel, or resumes it.
  private func updateReading(_ loop: isolated EventLoop) {
    guard let stream, phase != .closed else { return }
    let isFull: Bool
    switch phase {
    case .head:
      if !isDeferred, hasPeerEnded || shard.isDraining && pending.isEmpty { return close() }
      isFull = isDeferred
    case .body: isFull = (exchange?.body.buffered ?? 0) > Self.bodyWindow
    case .handling: isFull = pending.count - start > Self.pipelineWindow
    case .discarding, .closing, .closed: isFull = false
    }
    if isFull, !isPaused {
      isPaused = true
      pausedAt = stream.now
      stream.pauseReading()
    } else if !isFull {
      resumeReading()
    }
    if phase == .body { setBodyDeadline() }
  }

  /// Continues with pipelined bytes.
  func resumed(on loop: isolated EventLoop) {
    consumePending(loop)
    passToSuccessor(loop)
    updateReading(loop)
  }

  // MARK: Handling

  private func startRequest(_ head: RequestHead, _ loop: isolated EventLoop) {
    isHeadTimed = false
    let plan = shard.application.plan(head)
    let keepsAlive = head.keepsAlive && !shard.isDraining
    guard head.framing != .none, head.framing != .length(0) else {
      phase = .handling
      exchange = Exchange(
        head: head, id: shard.nextID(), began: loop.now, plan: plan, body: shard.emptyBody, decoder: nil,
        keepsAlive: keepsAlive)
      startHandler(loop)
      return
    }
    phase = .body
    var contentLength: Int?
    if case .length(let length) = head.framing { contentLength = length }
    let onFirstRead: (() -> Void)? = head.expectsContinue ? { [weak self] in self?.sendContinue() } : nil
    let body = RequestBody(contentLength: contentLength, limit: plan.bodyLimit, onFirstRead: onFirstRead) {
      [weak self] in
      self?.bodyConsumed()
    }
    exchange = Exchange(
      head: head, id: shard.nextID(), began: loop.now, plan: plan, body: body,
      decoder: BodyDecoder(head.framing, limit: plan.bodyLimit), keepsAlive: keepsAlive)
    setDeadline(limits.byteTime)
    // A client that expects 100 (Continue) sends no body until the handler reads.
    if head.expectsContinue { startHandler(loop) }
  }

  /// Called on the loop from the handler's task after it has read the buffered body.
  private func bodyConsumed() {
    // Continues in a later turn: reading now would re-enter the handler.
    stream?.requestTurn()
  }

  private func sendContinue() {
    guard let exchange, !exchange.isAnswered, exchange.awaitsContinue else { return }
    exchange.awaitsContinue = false
    if let stream { exchange.bodyStartedAt = stream.now }
    setBodyDeadline()
    stream?.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
  }

  private func startHandler(_ loop: isolated EventLoop) {
    guard let exchange, !exchange.isStarted else { return }
    exchange.isStarted = true
    let application = shard.application
    let request = Request(head: exchange.head, body: exchange.body)
    let context = Context(
      id: exchange.id, now: shard.clock.milliseconds(loop.now), uptime: loop.now / 1_000_000, loop: loop,
      peer: peerAddress,
      isEncrypted: isEncrypted, head: exchange.head, addresses: application.addresses, locals: shard.locals)
    let task = Task.immediate {
      _ = loop
      let response = await application.respond(request, context, exchange.plan)
      self.answer(response, to: exchange, on: loop)
    }
    // A handler that did not suspend has ended by now, and the next exchange may have started.
    if self.exchange === exchange, !exchange.isAnswered { self.task = task }
  }

  // MARK: Answering

  private func answer(_ response: Response, to exchange: Exchange, on loop: isolated EventLoop) {
    guard let stream, self.exchange === exchange, phase != .closed else { return }
    exchange.isAnswered = true
    exchange.status = response.status

    if case .webSocket(let upgrade) = response.body {
      return self.upgrade(upgrade, response, exchange, stream, loop)
    }
    if response.fields.hasToken("connection", "close") || phase == .body && !canDiscard(exchange) {
      exchange.keepsAlive = false
    }
    var output = exchange.writeHead(response, shard, now: loop.now)
    guard response.status.allowsBody, exchange.head.method != .head else {
      stream.write(output)
      return completed()
    }
    switch response.body {
    case .none, .webSocket:
      stream.write(output)
      completed()
    case .bytes(let bytes):
      exchange.sent = bytes.count
      if response.smallLength != nil {
        output.append(contentsOf: bytes)
        stream.write(output)
      } else {
        stream.write(output)
        if response.isRetained { stream.write(retained: bytes) } else { stream.write(bytes) }
      }
      completed()
    case .segments(let segments):
      stream.write(output)
      for segment in segments {
        exchange.sent += segment.count
        switch segment {
        case .bytes(let bytes): stream.write(bytes)
        case .file(let file, let range):
          stream.write(
            FileSlice(descriptor: file.descriptor, owner: file, offset: range.lowerBound, count: range.count))
        }
      }
      completed()
    case .stream(_, let write):
      stream.write(output)
      startWriting(write, exchange, loop)
    }
  }

  private func canDiscard(_ exchange: Exchange) -> Bool {
    if exchange.head.expectsContinue { return false }
    if let contentLength = exchange.body.contentLength { return contentLength <= Self.maxDiscarded }
    return true
  }

  private func startWriting(
    _ write: @escaping (BodyWriter) async throws -> Void, _ exchange: Exchange, _ loop: isolated EventLoop
  ) {
    let writer = BodyWriter { [weak self] bytes throws(BodyWriter.Disconnected) in
      guard let self, self.exchange === exchange else { throw BodyWriter.Disconnected() }
      return try self.send(bytes, exchange)
    }
    self.writer = writer
    let task = Task.immediate {
      _ = loop
      do {
        try await write(writer)
        self.finishWriting(exchange, nil)
      } catch {
        self.finishWriting(exchange, error)
      }
    }
    if self.exchange === exchange { self.task = task }
  }

  private func send(_ bytes: [UInt8], _ exchange: Exchange) throws(BodyWriter.Disconnected) -> Bool {
    guard let stream else { throw BodyWriter.Disconnected() }
    exchange.sent += bytes.count
    if exchange.isChunked {
      var chunk: [UInt8] = []
      chunk.reserveCapacity(bytes.count + 20)
      Chunk.appendPrefix(bytes.count, to: &chunk)
      chunk.append(contentsOf: bytes)
      chunk.append(contentsOf: Chunk.suffix)
      stream.write(chunk)
    } else {
      if let declaredLength = exchange.declaredLength, exchange.sent > declaredLength {
        shard.log("\(exchange.id) wrote more bytes than its Content-Length")
        stream.abort()
        throw BodyWriter.Disconnected()
      }
      stream.write(bytes)
    }
    // Set once and not moved by each write: otherwise a stuck client would have no timeout while the handler writes.
    if !isOutputTimed {
      isOutputTimed = true
      setDeadline(limits.byteTime)
    }
    return !stream.isFull
  }

  private func finishWriting(_ exchange: Exchange, _ error: (any Error)?) {
    writer = nil
    guard let stream, self.exchange === exchange else { return }
    if let error, !(error is BodyWriter.Disconnected) { shard.log("\(exchange.id) \(error)") }
    // An incomplete body must not look complete.
    let isShort = exchange.declaredLength.map { $0 != exchange.sent } ?? false
    guard error == nil, !isShort else { return stream.abort() }
    if exchange.isChunked { stream.write(Chunk.last) }
    completed()
  }

  /// Called when the response is completely in the send queue.
  private func completed() {
    guard let exchange else { return }
    log(exchange, isAborted: false)
    task = nil
    if !exchange.keepsAlive || hasPeerEnded && pending.count == start { return finishAndClose() }
    guard phase == .body else { return startNextRequest() }
    phase = .discarding
    discarded = exchange.body.buffered
    exchange.body.fail(.disconnected)
    setDeadline(limits.byteTime)
    resumeReading()
  }

  private func startNextRequest() {
    exchange = nil
    phase = .head
    markProgress()
    // The response may still be queued: checks its progress first, then the idle timeout.
    setDeadline(min(limits.byteTime, limits.idleTime))
    // Inside `consume`, its loop continues.
    guard !isConsuming else { return }
    isDeferred = start < pending.count
    if isDeferred || isPaused {
      stream?.requestTurn()
    } else if shard.isDraining {
      close()
    }
  }

  private func markProgress() {
    isOutputTimed = false
    if let stream { lastProgress = stream.now }
  }

  private func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    if let stream { exchange?.bodyStartedAt += stream.now - pausedAt }
    stream?.resumeReading()
  }

  /// A body may pause for `byteTime` and must arrive at the minimum average rate.
  private func setBodyDeadline() {
    guard let stream, let exchange else { return }
    stream.setDeadline(at: min(stream.now + Int64(limits.byteTime) * 1_000_000_000, exchange.bodyDeadline(limits)))
  }

  // MARK: Upgrading

  private func upgrade(
    _ upgrade: WebSocketUpgrade, _ response: Response, _ exchange: Exchange, _ stream: ParleyNetworking.Stream,
    _ loop: isolated EventLoop
  ) {
    do {
      let (fields, agreement) = try WebSocketHandshake.accept(
        exchange.head, subprotocols: upgrade.subprotocols, deflate: upgrade.options.deflate)
      var output = shard.beginHead(.switchingProtocols, fields, now: loop.now)
      output.append(contentsOf: response.fields.wireBytes)
      exchange.id.endHead(&output)
      stream.write(output)
      exchange.status = .switchingProtocols
      log(exchange, isAborted: false)

      let socket = WebSocketConnection(
        shard: shard, stream: stream, agreement: agreement, upgrade: upgrade)
      shard.replace(self, with: socket)
      stream.setHandler(socket)
      phase = .closed
      self.exchange = nil
      self.stream = nil
      task = nil
      if isPaused { stream.resumeReading() }
      socket.open(upgrade, on: loop)
      successor = socket
      if !isConsuming { passToSuccessor(loop) }
      if shard.isDraining { socket.drain() }
    } catch {
      var problem = Problem(error.status, code: Self.code(error.status), title: error.reason, fields: error.fields)
      problem.closesConnection = true
      answer(problem.response(id: exchange.id), to: exchange, on: loop)
    }
  }

  /// Passes the bytes after the handshake to the WebSocket, then the end of input if the peer closed its side while the
  /// handler ran.
  private func passToSuccessor(_ loop: isolated EventLoop) {
    guard let socket = successor else { return }
    successor = nil
    let rest = pending
    let from = start
    pending = []
    start = 0
    if from < rest.count { socket.received(rest.span.extracting(from...), on: loop) }
    if hasPeerEnded { socket.ended(on: loop) }
  }

  // MARK: Refusing and closing

  /// Answers a request with invalid framing. No further bytes of this connection are parsed.
  private func reject(_ status: Status, _ explanation: String, _ loop: isolated EventLoop) {
    guard let stream else { return }
    let id = shard.nextID()
    var problem = Problem(status, code: Self.code(status), title: explanation)
    problem.closesConnection = true
    let response = problem.response(id: id)
    var output = shard.beginHead(status, response.fields, now: loop.now)
    shard.application.commonFields.append(to: &output, unlessIn: response.fields)
    output.append("Content-Length: \(response.length ?? 0)\r\n")
    id.endHead(&output)
    if case .bytes(let bytes) = response.body { output.append(contentsOf: bytes) }
    stream.write(output)
    shard.accessLog?.logRejected(status: status, client: peerAddress, id: id, at: shard.clock.milliseconds(loop.now))
    finishAndClose()
  }

  private static func code(_ status: Status) -> String {
    switch status {
    case .requestTimeout: "timeout"
    case .contentTooLarge, .uriTooLong, .headerFieldsTooLarge: "too_large"
    case .notImplemented: "not_implemented"
    case .versionNotSupported: "version_not_supported"
    default: "invalid"
    }
  }

  private func finishAndClose() {
    exchange = nil
    phase = .closing
    pending = []
    start = 0
    markProgress()
    setDeadline(limits.byteTime)
    stream?.finish()
  }

  private func close() {
    phase = .closing
    stream?.finish()
  }

  /// Closes an idle connection now and a busy one after its response.
  func drain() {
    exchange?.keepsAlive = false
    if isIdle, pending.isEmpty { close() }
  }

  func abort() {
    stream?.abort()
  }

  private func setDeadline(_ seconds: Int) {
    stream?.setDeadline(after: seconds)
  }

  private func log(_ exchange: Exchange, isAborted: Bool) {
    guard let accessLog = shard.accessLog else { return }
    let now = ParleyNetworking.Clock.monotonic()
    accessLog.logRequest(
      exchange.head, status: exchange.status, sent: exchange.sent, id: exchange.id,
      client: shard.application.addresses.client(peer: peerAddress, exchange.head.fields),
      at: shard.clock.milliseconds(now), nanoseconds: now - exchange.began, isAborted: isAborted)
  }
}
