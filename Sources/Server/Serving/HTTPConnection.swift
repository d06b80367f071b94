// One connection while it speaks HTTP. Bytes come in; a head is read as soon as it is there; the handler starts at
// once and runs on this loop; its answer is written in order. One request is under way at a time: what a client sends
// ahead waits, in bounded memory, and mostly in the kernel.
//
//     head ──▶ body ──▶ handling ──▶ head …          (answered: what the handler left of the body is dropped)
//       └────────────────▶ handling ──▶ closing      (refused, asked to close, or draining)
//
// Framing is decided here and nowhere else: Content-Length, chunked, or the end of the connection for HTTP/1.0.

import ParleyNetworking
import ParleyWire
import Web

final class HTTPConnection: StreamHandler {
  private enum Phase {
    /// Waiting for a head, or in the middle of one.
    case head
    /// The handler runs, and the body is still coming in.
    case body
    /// The handler runs; the body is complete.
    case handling
    /// Answered, but the client is still sending the body of it.
    case discarding
    /// Nothing more is read.
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
  /// What this connection has become.
  private var successor: WebSocketConnection?

  /// What was read and not yet consumed, from `start`.
  private var pending: [UInt8] = []
  private var start = 0
  private var isConsuming = false
  /// Requests wait here although none is under way: for other connections to have a turn, or for earlier answers to be
  /// taken.
  private var isDeferred = false
  private var isHeadTimed = false
  private var hasPeerEnded = false
  private var isPaused = false
  private var pausedAt: Int64 = 0
  private var discarded = 0
  /// When the last answer was finished, or the client last seen to take a part of one.
  private var lastProgress = Int64.min / 2
  /// Whether the deadline is there for a streamed answer to be taken.
  private var isOutputTimed = false

  /// How much of a body waits for its handler before the socket is left alone.
  private static let bodyWindow = 131_072
  /// How many bytes that came ahead are held while a request is under way.
  private static let pipelineWindow = 65_536
  /// How much of an unwanted body is read, so that the connection can go on.
  private static let maxDiscarded = 262_144

  init(shard: Shard, peer: IPAddress?, isEncrypted: Bool) {
    self.shard = shard
    self.isEncrypted = isEncrypted
    peerAddress = peer
    parser = RequestParser(limits: shard.application.limits.head)
  }

  private var limits: Limits { shard.application.limits }
  var isIdle: Bool { phase == .head && exchange == nil }
  /// Bytes that came and that wait to be sent.
  var footprint: Int { pending.count + (exchange?.body.footprint ?? 0) + (stream?.unshared ?? 0) }

  func attach(_ stream: ParleyNetworking.Stream, on loop: isolated EventLoop) {
    self.stream = stream
    stream.setHighWater(limits.output)
    let time = isEncrypted ? limits.handshakeTime : limits.headTime
    stream.setDeadline(after: time)
  }

  // MARK: What the stream tells

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
      // Half a head is no request; whole ones that are held are answered first.
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
      // The client takes what we send, if slowly; or it does not.
      if stream.hasProgressed() { lastProgress = stream.now }
      if !extendOutputDeadline(limits.byteTime) { stream.abort() }
      return
    }
    switch phase {
    case .head:
      if isHeadTimed, stream.isOpen { return refuse(.requestTimeout, "The request took too long.", loop) }
      if !extendOutputDeadline(limits.idleTime) { close() }
    case .body:
      // The client is waiting for the handler, not the handler for the client.
      if isPaused || exchange?.owesContinue == true { return setDeadline(limits.byteTime) }
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

  /// False when it has been quiet for so long already.
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
    // The buffer is held here while it is read; a handler that ends meanwhile does not come back into this function.
    let buffer = pending
    let used = consume(buffer.span.extracting(start...), loop)
    // Whoever closed meanwhile has let go of the bytes.
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

  /// Reads what it can; how many bytes that took.
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
          refuse(error.status, error.explanation, loop)
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

  /// False when the body can't be read on.
  private func readBody(_ rest: Span<UInt8>, _ used: inout Int, _ loop: isolated EventLoop) -> Bool {
    guard let exchange else { return false }
    exchange.owesContinue = false
    // One piece for all that came at once: chunks of one byte would else cost fifty times their size while they wait.
    var piece: [UInt8] = []
    var offset = 0
    do throws(BodyError) {
      while offset < rest.count, exchange.decoder?.isDone == false {
        let input = rest.extracting(offset...)
        switch try exchange.decoder?.next(input) {
        case .payload(let range):
          offset += range.upperBound
          if phase == .body { piece.append(copying: input.extracting(range)) } else { discarded += range.count }
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
    exchange.body.push(piece)
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

  /// After a stretch of reading: reads on, or leaves the rest in the kernel until there is room.
  private func updateReading(_ loop: isolated EventLoop) {
    guard let stream, phase != .closed else { return }
    let isFull: Bool
    switch phase {
    case .head:
      if hasPeerEnded, !isDeferred { return close() }
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

  /// Goes on with what a client sent ahead.
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
    let body = RequestBody(contentLength: contentLength, limit: plan.bodyLimit, onFirstRead: onFirstRead) { [weak self] in
      self?.bodyConsumed()
    }
    exchange = Exchange(
      head: head, id: shard.nextID(), began: loop.now, plan: plan, body: body,
      decoder: BodyDecoder(head.framing, limit: plan.bodyLimit), keepsAlive: keepsAlive)
    setDeadline(limits.byteTime)
    // A client that waits for 100 sends nothing until the handler asks.
    if head.expectsContinue { startHandler(loop) }
  }

  /// The handler took what waited; there is room again. Called on the loop, from the handler's task.
  private func bodyConsumed() {
    // Reading on at once would come back into the handler that is just taking bytes.
    stream?.requestTurn()
  }

  private func sendContinue() {
    guard let exchange, !exchange.isAnswered, exchange.owesContinue else { return }
    exchange.owesContinue = false
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
      id: exchange.id, now: shard.clock.milliseconds(loop.now), loop: loop, peer: peerAddress,
      isEncrypted: isEncrypted, head: exchange.head, addresses: application.addresses, locals: shard.locals)
    let task = Task.immediate {
      _ = loop
      let response = await application.respond(request, context, exchange.plan)
      self.answer(response, to: exchange, on: loop)
    }
    // A handler that did not wait has ended by now, and may have begun the next exchange.
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
        self.wrote(exchange, nil)
      } catch {
        self.wrote(exchange, error)
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
        shard.log("\(exchange.id) wrote more than it promised")
        stream.abort()
        throw BodyWriter.Disconnected()
      }
      stream.write(bytes)
    }
    // Set once and not moved by each write, or somebody who takes nothing would be waited for as long as we write.
    if !isOutputTimed {
      isOutputTimed = true
      setDeadline(limits.byteTime)
    }
    return !stream.isFull
  }

  private func wrote(_ exchange: Exchange, _ error: (any Error)?) {
    writer = nil
    guard let stream, self.exchange === exchange else { return }
    if let error, !(error is BodyWriter.Disconnected) { shard.log("\(exchange.id) \(error)") }
    // A body that broke off must not look complete.
    let isShort = exchange.declaredLength.map { $0 != exchange.sent } ?? false
    guard error == nil, !isShort else { return stream.abort() }
    if exchange.isChunked { stream.write(Chunk.last) }
    completed()
  }

  /// The answer is on its way.
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
    if shard.isDraining, pending.count == start { return close() }
    markProgress()
    // The answer is not yet on its way: whether it is taken is asked first, and then how long there was no request.
    setDeadline(min(limits.byteTime, limits.idleTime))
    // Inside `consume` its loop goes on by itself.
    if !isConsuming, start < pending.count || isPaused { stream?.requestTurn() }
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

  /// A body may rest for a while, and has to come at some rate on the whole.
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
      // It has left while the handler thought.
      if hasPeerEnded { socket.ended(on: loop) }
      if shard.isDraining { socket.drain() }
    } catch {
      var problem = Problem(error.status, code: Self.code(error.status), title: error.reason, fields: error.fields)
      problem.closesConnection = true
      answer(problem.response(id: exchange.id), to: exchange, on: loop)
    }
  }

  /// Gives what came behind the handshake to the socket.
  private func passToSuccessor(_ loop: isolated EventLoop) {
    guard let socket = successor else { return }
    successor = nil
    let rest = pending
    let from = start
    pending = []
    start = 0
    if from < rest.count { socket.received(rest.span.extracting(from...), on: loop) }
  }

  // MARK: Refusing and closing

  /// Answers a request whose framing can't be trusted; nothing that follows on this connection is read.
  private func refuse(_ status: Status, _ explanation: String, _ loop: isolated EventLoop) {
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

  /// The server is stopping: idle connections end now, the others after their answer.
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
