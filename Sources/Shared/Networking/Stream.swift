// One connection: a socket, an optional TLS session and an output queue. It reads into a buffer of the loop and passes
// the bytes to its handler, which implements the protocol. It writes once per turn.

public final class Stream: DescriptorHandler {
  private enum Phase {
    case connecting, handshaking, open
    /// Sends the output queue, then closes the write side.
    case finishing
    /// The write side is closed. Reads and drops input, so that a reset does not discard our last output.
    case lingering
    /// Closes at the end of this turn and drops the output queue.
    case aborting
    case closed
  }

  public let peer: SocketAddress

  let socket: StreamSocket
  private let reactor: Reactor
  private var tls: TLSChannel?
  private var phase: Phase
  private var output: OutputQueue
  private var handler: (any StreamHandler)?
  private var isPaused = false
  /// The end of input was read.
  private var hasReadEnd = false
  private var isTurnEndRequested = false
  private var isTurnRequested = false
  private var isResumeRequested = false
  private var lastSent = 0
  /// The size of the handler's buffers.
  private var charged = 0
  /// The bytes of this connection that the loop's memory counts.
  private var counted = 0

  /// Nanoseconds for the peer to close its side after ours.
  private static let lingerTime: Int64 = 2_000_000_000
  /// Reads of one stream per turn.
  private static let readsPerTurn = 4
  /// Bytes that one stream sends per turn.
  static let bytesPerTurn = 131_072

  /// Takes ownership of a connected or connecting socket.
  init(
    _ descriptor: Descriptor, peer: SocketAddress, tls: TLSSession?, isConnecting: Bool,
    handler: any StreamHandler, on loop: isolated EventLoop
  ) throws(SystemError) {
    reactor = loop.reactor
    output = OutputQueue(loop.reactor.memory)
    socket = StreamSocket(descriptor, isConnecting: isConnecting, reactor)
    self.peer = peer
    self.tls = tls.map { TLSChannel($0) }
    self.handler = handler
    phase = isConnecting ? .connecting : .handshaking
    try reactor.add(descriptor, self)
    loop.load.add(1, ordering: .relaxed)
  }

  /// Creates a stream for a connection that a listener accepted.
  public static func accept(
    _ descriptor: Descriptor, peer: SocketAddress, tls: TLSContext?, handler: any StreamHandler,
    on loop: isolated EventLoop
  ) throws(StreamError) -> Stream {
    let session = try tls.map { context throws(StreamError) in try context.session() }
    do {
      let stream = try Stream(
        descriptor, peer: peer, tls: session, isConnecting: false, handler: handler, on: loop)
      // `opened` follows at the end of the turn, when the caller has stored the stream.
      stream.requestTurnEnd()
      return stream
    } catch {
      throw .system(error)
    }
  }

  /// Connects; `opened` or `closed` follows.
  public static func connect(
    to address: SocketAddress, tls: TLSContext? = nil, serverName: String? = nil, handler: any StreamHandler,
    on loop: isolated EventLoop
  ) throws(StreamError) -> Stream {
    let session = try tls.map { context throws(StreamError) in try context.session(serverName: serverName) }
    do throws(SystemError) {
      let (descriptor, isConnected) = try StreamSocket.connect(to: address)
      let stream = try Stream(
        descriptor, peer: address, tls: session, isConnecting: !isConnected, handler: handler, on: loop)
      if isConnected { stream.requestTurnEnd() }
      return stream
    } catch {
      throw .system(error)
    }
  }

  public var isOpen: Bool { phase == .open }

  /// The certificate of the peer; nil without TLS and before the handshake.
  public var peerCertificate: Certificate? { tls?.peerCertificate }

  /// Unsent bytes in memory.
  public var queued: Int { output.count + (tls?.pending ?? 0) }

  /// Unsent bytes that only this connection references.
  public var unshared: Int { output.unshared + (tls?.pending ?? 0) }

  // MARK: Memory

  /// Counts the buffers of the handler, which have this size now. Returns false if their growth exceeds the budget; the
  /// handler then refuses the peer.
  public func charge(_ bytes: Int) -> Bool {
    guard bytes != charged else { return true }
    let before = charged
    charged = bytes
    guard !countBuffers(unshared: unshared) else { return true }
    charged = before
    return false
  }

  /// The number of bytes by which the handler's buffers may grow.
  public var room: Int { reactor.memory.room }

  /// - Parameter unshared: the unsent bytes that only this connection references.
  private func countBuffers(unshared: Int) -> Bool {
    guard phase != .closed else { return true }
    let size = unshared + charged
    if size < counted {
      reactor.memory.shrink(by: counted - size)
    } else if size > counted {
      guard reactor.memory.grow(by: size - counted, to: size) else { return false }
    }
    counted = size
    return true
  }

  // MARK: Writing

  public func write(_ bytes: [UInt8]) {
    queue { $0.append(bytes) }
  }

  /// Sends a buffer that other objects retain, too.
  public func write(retained bytes: [UInt8]) {
    queue { $0.append(retained: bytes) }
  }

  /// Sends a broadcast buffer, shared by many connections of the loop.
  public func write(shared bytes: [UInt8]) {
    queue { [coalescing = reactor.coalescing] in $0.append(shared: bytes, with: coalescing) }
  }

  private func queue(_ append: (inout OutputQueue) -> Void) {
    guard phase == .open || phase == .handshaking || phase == .connecting else { return }
    let unshared = output.enqueue(append)
    guard countBuffers(unshared: unshared + (tls?.pending ?? 0)) else { return abort() }
    requestTurnEnd()
  }

  public func write(_ slice: FileSlice) {
    guard phase == .open else { return }
    output.append(slice)
    requestTurnEnd()
  }

  /// Sets the queue length from which a writer should wait.
  public func setHighWater(_ bytes: Int) {
    output.backpressure.setHighWater(bytes)
  }

  /// Whether a writer should wait for `drained`.
  public var isFull: Bool { output.backpressure.isFull }

  /// Requests `drained` at this queue length, even if the high-water mark was not reached.
  public func notifyWhenDrained(to level: Int) {
    output.backpressure.wait(until: level)
    requestTurnEnd()
  }

  /// Whether bytes were sent since the previous call.
  public func hasProgressed() -> Bool {
    defer { lastSent = output.total }
    return output.total != lastSent
  }

  /// Replaces the handler, for a protocol upgrade.
  public func setHandler(_ handler: any StreamHandler) {
    self.handler = handler
  }

  /// Continues an open connection under TLS; `opened` follows again after the handshake. All input after this call belongs to
  /// the handshake, so plaintext in it ends the connection and `received` never has it. The handler itself refuses plaintext
  /// that arrived in one span with the reply to its command.
  ///
  /// - Throws: if the stream has TLS or unsent output.
  public func startTLS(_ context: TLSContext, serverName: String) throws(StreamError) {
    guard phase == .open, tls == nil, output.isEmpty else { throw .tls("the connection is not ready for TLS") }
    tls = TLSChannel(try context.session(serverName: serverName))
    phase = .handshaking
    requestTurnEnd()
  }

  /// Sends the output queue, closes the write side and waits for the peer to close its side.
  public func finish() {
    guard phase == .open else {
      if phase == .handshaking || phase == .connecting { abort() }
      return
    }
    phase = .finishing
    requestTurnEnd()
  }

  /// Closes at the end of the turn with a reset and drops the output queue. The reset tells the peer that the data is
  /// incomplete and frees the socket's send buffer.
  public func abort() {
    guard phase != .closed else { return }
    phase = .aborting
    requestTurnEnd()
  }

  // MARK: Reading

  public func pauseReading() {
    isPaused = true
  }

  public func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    // The TLS session may have decrypted bytes although the socket has no input.
    if socket.isReadable || tls != nil, phase == .open { readSoon() }
  }

  /// Sets or replaces the deadline for `expired`.
  public func setDeadline(after seconds: Int) {
    setDeadline(at: reactor.now + Int64(seconds) * 1_000_000_000)
  }

  /// The monotonic time of the loop.
  public var now: Int64 { reactor.now }

  /// Sets or replaces the deadline, in the time of the loop.
  public func setDeadline(at time: Int64) {
    guard phase != .closed, phase != .lingering, phase != .aborting else { return }
    reactor.setDeadline(time, of: socket.number)
  }

  // MARK: DescriptorHandler

  func ready(_ readiness: Readiness, on loop: isolated EventLoop) {
    guard phase != .closed, phase != .aborting else { return }
    if readiness.contains(.ended) { socket.hasEnded = true }
    // A refused connection may be reported as readable or writable.
    if phase == .connecting { finishConnecting(loop) }
    if readiness.contains(.writable) {
      socket.isWritable = true
      if !output.isEmpty || tls != nil { requestTurnEnd() }
    }
    if readiness.contains(.readable) {
      socket.isReadable = true
      if phase == .handshaking { advanceHandshake(loop) }
      if phase != .handshaking, phase != .connecting { read(loop) }
    }
  }

  func repeated(on loop: isolated EventLoop) {
    isTurnRequested = false
    if isResumeRequested {
      isResumeRequested = false
      handler?.resumed(on: loop)
    }
    if !output.isEmpty { requestTurnEnd() }
    deliverPlain(loop)
    if socket.isReadable, phase == .open || phase == .finishing || phase == .lingering { read(loop) }
  }

  func expired(on loop: isolated EventLoop) {
    if phase == .lingering {
      close(nil, loop)
    } else {
      handler?.expired(on: loop)
    }
  }

  func turnEnded(on loop: isolated EventLoop) {
    isTurnEndRequested = false
    if phase == .aborting { return close(nil, loop) }
    if phase == .handshaking { advanceHandshake(loop) }
    flush(loop)
  }

  private func readSoon() {
    guard !isTurnRequested else { return }
    isTurnRequested = true
    reactor.requestTurn(self)
  }

  /// Requests a call of `resumed` in a later turn, after the other connections.
  public func requestTurn() {
    isResumeRequested = true
    readSoon()
  }

  private func requestTurnEnd() {
    guard !isTurnEndRequested else { return }
    isTurnEndRequested = true
    reactor.atTurnEnd(self)
  }

  // MARK: Opening

  private func finishConnecting(_ loop: isolated EventLoop) {
    if let error = socket.connectError { return close(.system(error), loop) }
    socket.isWritable = true
    phase = .handshaking
    advanceHandshake(loop)
  }

  private func advanceHandshake(_ loop: isolated EventLoop) {
    guard phase == .handshaking else { return }
    guard let tls else { return open(loop) }
    do {
      while true {
        let isDone = try tls.handshake()
        guard sendCiphertext(loop) else { return }
        if isDone { break }
        guard socket.isReadable else { return }
        switch socket.read() {
        case .bytes(let count):
          unsafe tls.feedHandshake(UnsafeRawBufferPointer(rebasing: reactor.input.bytes[..<count]))
        case .blocked: return
        case .end: return close(.tls("the peer closed the connection during the handshake"), loop)
        case .failed(let error): return close(.system(error), loop)
        }
      }
      open(loop)
      deliverPlain(loop)
    } catch {
      _ = sendCiphertext(loop)  // The TLS alert.
      close(.tls(error.reason), loop)
    }
  }

  private func open(_ loop: isolated EventLoop) {
    phase = .open
    handler?.opened(on: loop)
    if socket.isReadable, !isPaused { readSoon() }
  }

  // MARK: Reading and writing

  private func read(_ loop: isolated EventLoop) {
    for _ in 0..<Self.readsPerTurn {
      guard socket.isReadable, !isPaused || phase != .open, phase != .closed, phase != .aborting else { return }
      if tls?.suspendsReading() == true { return }
      let count: Int
      switch socket.read() {
      case .bytes(let read): count = read
      case .blocked: return
      case .end: return peerFinished(loop)
      case .failed(let error): return close(.system(error), loop)
      }
      if phase == .lingering || phase == .finishing { continue }
      if tls != nil {
        unsafe tls?.feed(UnsafeRawBufferPointer(rebasing: reactor.input.bytes[..<count]))
        deliverPlain(loop)
        if tls?.isAbused == true { return close(.tls("too many records without data"), loop) }
      } else {
        handler?.received(
          unsafe Span(_unsafeElements: reactor.input.bytes[..<count].bindMemory(to: UInt8.self)), on: loop)
      }
    }
    if socket.isReadable, !isPaused { readSoon() }
  }

  private func deliverPlain(_ loop: isolated EventLoop) {
    guard tls != nil, phase == .open, !isPaused else { return }
    do {
      while !isPaused, phase == .open {
        guard let count = try unsafe tls?.read(into: reactor.plaintext.bytes), count > 0 else { break }
        handler?.received(
          unsafe Span(_unsafeElements: reactor.plaintext.bytes[..<count].bindMemory(to: UInt8.self)), on: loop)
      }
      guard let tls else { return }
      if tls.hasPeerClosed, phase == .open { peerFinished(loop) }
      if tls.pending > 0 { requestTurnEnd() }
    } catch {
      _ = sendCiphertext(loop)
      close(.tls(error.reason), loop)
    }
  }

  private func peerFinished(_ loop: isolated EventLoop) {
    socket.isReadable = false
    hasReadEnd = true
    switch phase {
    case .open:
      handler?.ended(on: loop)
    case .lingering, .connecting, .handshaking:
      close(nil, loop)
    case .finishing:
      requestTurnEnd()
    case .closed, .aborting:
      break
    }
  }

  private func flush(_ loop: isolated EventLoop) {
    guard phase == .open || phase == .finishing else { return }
    var pending = 0
    let rest: OutputQueue.Rest
    if let tls {
      let before = output.total
      switch tls.send(&output, to: socket, allowance: reactor.allowance) {
      case .done: break
      case .more: readSoon()
      case .failed(let error): return close(error, loop)
      }
      if self.tls?.mayResumeReading() == true { readSoon() }
      pending = tls.pending
      rest = output.rest(since: before, pending: pending)
    } else if socket.isWritable {
      let outcome: OutputQueue.Outcome
      (outcome, rest) = output.flush(to: socket.number, allowance: reactor.allowance)
      switch outcome {
      case .sentAll: break
      case .sentSome: readSoon()
      case .blocked: socket.awaitRoom()
      case .failed(let error): return close(.system(error), loop)
      }
    } else {
      rest = output.rest(since: output.total)
    }
    reactor.didSend(rest.sent)
    guard !rest.exceedsBudget, countBuffers(unshared: rest.unshared + pending) else { return abort() }
    if rest.hasDrained { handler?.drained(on: loop) }
    if phase == .finishing, output.isEmpty, tls?.pending ?? 0 == 0 { linger(loop) }
  }

  /// Sends the pending ciphertext. Returns false if the stream was closed.
  private func sendCiphertext(_ loop: isolated EventLoop) -> Bool {
    guard let error = tls?.send(to: socket) else { return true }
    close(.system(error), loop)
    return false
  }

  private func linger(_ loop: isolated EventLoop) {
    if let error = tls?.finish(to: socket) { return close(.system(error), loop) }
    // close(2) with unread input sends a reset, which may discard our last output at the peer.
    if hasReadEnd { return close(nil, loop) }
    phase = .lingering
    socket.finish()
    reactor.setDeadline(reactor.now + Self.lingerTime, of: socket.number)
    isPaused = false
    if socket.isReadable { readSoon() }
  }

  private func close(_ error: StreamError?, _ loop: isolated EventLoop) {
    guard phase != .closed else { return }
    socket.close(withReset: phase == .aborting)
    output.removeAll()
    tls = nil
    charged = 0
    _ = countBuffers(unshared: 0)
    phase = .closed
    loop.load.subtract(1, ordering: .relaxed)
    let handler = self.handler
    self.handler = nil
    handler?.closed(error, on: loop)
  }
}
