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

final class HTTPConnection: StreamHandler, RequestMemory {
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

  let shard: Shard
  let isEncrypted: Bool
  let peer: IPAddress?
  private var stream: ParleyNetworking.Stream?
  private var phase = Phase.head
  private var parser: RequestParser
  private var exchange: Exchange?
  /// The WebSocket connection after an upgrade.
  private var successor: WebSocketConnection?

  private var pending = PendingInput()
  private var isConsuming = false
  /// Pipelined requests wait although none is in progress: for the next turn, or for room in the send queue.
  private var isDeferred = false
  private var isHeadTimed = false
  private var hasPeerEnded = false
  private var isPaused = false
  private var pausedAt: Int64 = 0
  private var outputDeadline = OutputDeadline()

  /// The number of unread body bytes at which reading pauses.
  private static let bodyWindow = 131_072
  /// The number of pipelined bytes at which reading pauses while a request is in progress.
  private static let pipelineWindow = 65_536

  init(shard: Shard, peer: IPAddress?, isEncrypted: Bool) {
    self.shard = shard
    self.isEncrypted = isEncrypted
    self.peer = peer
    parser = RequestParser(limits: shard.limits.head)
  }

  private var limits: Limits { shard.limits }
  var isIdle: Bool { phase == .head && exchange == nil }
  /// The size of the receive and send buffers in bytes.
  var footprint: Int { ownBytes + (stream?.unshared ?? 0) }
  /// The size of the receive buffers, with the memory that the handler has reserved.
  private var ownBytes: Int {
    guard let exchange else { return pending.footprint }
    return pending.footprint + exchange.body.footprint + exchange.reserved
  }

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
        pending.append(bytes.extracting(used...))
      }
    } else {
      pending.append(bytes)
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
    exchange?.resumeWriting()
    consumePending(loop)
    passToSuccessor(loop)
    updateReading(loop)
  }

  func expired(on loop: isolated EventLoop) {
    guard let stream else { return }
    outputDeadline.expire()
    if stream.queued > 0 || stream.isFull {
      if !outputDeadline.extendSending(stream, seconds: limits.byteTime) { stream.abort() }
      return
    }
    switch phase {
    case .head:
      // Complete requests may be received already: the client does not keep us waiting.
      if isDeferred { return }
      if isHeadTimed, stream.isOpen { return reject(.requestTimeout, "The request took too long.", loop) }
      if !outputDeadline.extend(stream, seconds: limits.idleTime) { close() }
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

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    let isLogged = phase == .discarding
    phase = .closed
    stream = nil
    pending.removeAll()
    let exchange = self.exchange
    self.exchange = nil
    exchange?.cancel()
    if let exchange, exchange.isStarted, !isLogged { exchange.log(on: self, isAborted: true) }
    shard.remove(self)
  }

  // MARK: Reading

  private func consumePending(_ loop: isolated EventLoop) {
    guard !isConsuming, !pending.isEmpty else { return }
    // The copy is alive during the read. A handler that ends meanwhile does not re-enter this function.
    let (bytes, start) = pending.contents
    pending.consume(consume(bytes.span.extracting(start...), loop))
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
    do throws(BodyError) {
      used += try exchange.readBody(rest, isDiscarded: phase == .discarding)
    } catch {
      bodyFailed(error, loop)
      return false
    }
    guard !exchange.hasDiscardedTooMuch else {
      finishAndClose()
      return false
    }
    if exchange.isBodyComplete { bodyEnded(loop) }
    return true
  }

  private func bodyFailed(_ error: BodyError, _ loop: isolated EventLoop) {
    guard phase != .discarding else { return finishAndClose() }
    var problem = Problem(refused: error.status, error.explanation)
    if error == .tooLarge, let limit = exchange?.plan.bodyLimit { problem = .tooLarge(limit: limit) }
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
    guard let stream, phase != .closed, countBuffers() else { return }
    let isFull: Bool
    switch phase {
    case .head:
      if !isDeferred, hasPeerEnded || shard.isDraining && pending.isEmpty { return close() }
      isFull = isDeferred
    case .body: isFull = (exchange?.body.buffered ?? 0) > Self.bodyWindow
    case .handling: isFull = pending.count > Self.pipelineWindow
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

  /// Counts the receive buffers. Above the memory budget it refuses the body, or closes the connection.
  @discardableResult private func countBuffers() -> Bool {
    guard let stream, !stream.charge(ownBytes) else { return true }
    switch phase {
    case .body:
      exchange?.body.refuse(.unavailable)
      exchange?.keepsAlive = false
      return stream.charge(ownBytes)
    case .handling where pending.isEmpty:
      // The last read completed the body.
      return true
    case .head, .handling, .discarding, .closing, .closed:
      stream.abort()
      return false
    }
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
    let exchange = Exchange(head, on: self, now: loop.now)
    self.exchange = exchange
    guard !exchange.isBodyComplete else {
      phase = .handling
      return startHandler(loop)
    }
    phase = .body
    setDeadline(limits.byteTime)
    // A client that expects 100 (Continue) sends no body until the handler reads.
    if head.expectsContinue { startHandler(loop) }
  }

  /// Called on the loop from the handler's task after it has read the buffered body.
  func bodyConsumed() {
    // Continues in a later turn: reading now would re-enter the handler.
    stream?.requestTurn()
  }

  func sendContinue() {
    guard let stream, exchange?.continueBody(at: stream.now) == true else { return }
    setBodyDeadline()
    stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
  }

  private func startHandler(_ loop: isolated EventLoop) { exchange?.start(on: self, loop) }

  // MARK: Answering

  /// Counts memory of the handler until its response is sent. Returns false above the memory budget.
  func reserve(_ bytes: Int) -> Bool {
    guard let exchange, let stream else { return true }
    exchange.reserved += bytes
    guard !stream.charge(ownBytes) else { return true }
    exchange.reserved -= bytes
    return false
  }

  /// The response replaces the memory that the handler has reserved.
  func endReservation() { countBuffers() }

  /// The stream for the response to this request; nil after the connection has closed.
  func stream(of exchange: Exchange) -> ParleyNetworking.Stream? { self.exchange === exchange ? stream : nil }

  /// Called after each write of a streamed response.
  func startOutputDeadline(_ stream: ParleyNetworking.Stream) {
    outputDeadline.start(stream, seconds: limits.byteTime)
  }

  /// Called when the response is completely in the send queue.
  func completed(_ exchange: Exchange) {
    exchange.log(on: self)
    if !exchange.keepsAlive || hasPeerEnded && pending.isEmpty { return finishAndClose() }
    guard phase == .body else { return startNextRequest() }
    phase = .discarding
    exchange.discardBody()
    setDeadline(limits.byteTime)
    resumeReading()
  }

  private func startNextRequest() {
    exchange = nil
    phase = .head
    countBuffers()
    // Checks the progress of the response first, then the idle timeout.
    if let stream { outputDeadline.restart(stream, seconds: min(limits.byteTime, limits.idleTime)) }
    // Inside `consume`, its loop continues.
    guard !isConsuming else { return }
    isDeferred = !pending.isEmpty
    if isDeferred || isPaused {
      stream?.requestTurn()
    } else if shard.isDraining {
      close()
    }
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

  func upgrade(
    _ upgrade: WebSocketUpgrade, _ response: Response, _ exchange: Exchange, _ stream: ParleyNetworking.Stream,
    _ loop: isolated EventLoop
  ) {
    do {
      let (fields, agreement) = try WebSocketHandshake.accept(
        exchange.request.head, subprotocols: upgrade.subprotocols, deflate: upgrade.options.deflate)
      stream.write(exchange.writeUpgradeHead(fields, response, shard, now: loop.now))
      exchange.log(on: self)

      let socket = WebSocketConnection(
        shard: shard, stream: stream, agreement: agreement, upgrade: upgrade)
      shard.replace(self, with: socket)
      stream.setHandler(socket)
      phase = .closed
      self.exchange = nil
      self.stream = nil
      if isPaused { stream.resumeReading() }
      socket.open(upgrade, on: loop)
      successor = socket
      if !isConsuming { passToSuccessor(loop) }
      if shard.isDraining { socket.drain() }
    } catch {
      let problem = Problem(refused: error.status, error.reason, fields: error.fields)
      let origin = shard.application.addresses.origin(peer: peer, isEncrypted: isEncrypted, exchange.request.head)
      exchange.answer(problem.response(id: exchange.id, origin: origin), on: self, loop)
    }
  }

  /// Passes the bytes after the handshake to the WebSocket, then the end of input if the peer closed its side while the
  /// handler ran.
  private func passToSuccessor(_ loop: isolated EventLoop) {
    guard let socket = successor else { return }
    successor = nil
    let (bytes, start) = pending.contents
    pending.removeAll()
    if start < bytes.count { socket.received(bytes.span.extracting(start...), on: loop) }
    if hasPeerEnded { socket.ended(on: loop) }
  }

  // MARK: Refusing and closing

  /// Answers a request with invalid framing. No further bytes of this connection are parsed.
  private func reject(_ status: Status, _ explanation: String, _ loop: isolated EventLoop) {
    guard let stream else { return }
    let id = shard.nextID()
    let problem = Problem(refused: status, explanation)
    stream.write(shard.rejection(problem, id, isEncrypted: isEncrypted, now: loop.now))
    shard.counts.addMalformed()
    shard.accessLog?.logRejected(status: status, client: peer, id: id, at: shard.clock.milliseconds(loop.now))
    finishAndClose()
  }

  private func finishAndClose() {
    exchange = nil
    phase = .closing
    pending.removeAll()
    countBuffers()
    guard let stream else { return }
    outputDeadline.restart(stream, seconds: limits.byteTime)
    stream.finish()
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
}
