// One connection: a socket, an optional TLS session and an output queue. It reads into a buffer of the loop and passes
// the bytes to its handler, which implements the protocol. It writes once per turn.

import CParleyLinux
import Glibc

/// Handles the events of a stream, on its loop.
public protocol StreamHandler: AnyObject {
  /// The connection is established, including the TLS handshake.
  func opened(on loop: isolated EventLoop)
  /// Input from the peer. The span is valid during the call. Not called while reading is paused.
  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop)
  /// End of input.
  func ended(on loop: isolated EventLoop)
  /// The output queue has drained to the low-water mark after it was full.
  func drained(on loop: isolated EventLoop)
  /// The turn requested with `requestTurn`.
  func resumed(on loop: isolated EventLoop)
  /// The deadline has expired.
  func expired(on loop: isolated EventLoop)
  /// The stream is closed. The last call. The error is nil if this side closed it or the peer closed it cleanly.
  func closed(_ error: StreamError?, on loop: isolated EventLoop)
}

public enum StreamError: Error, Sendable, CustomStringConvertible {
  case system(SystemError)
  case tls(String)

  public var description: String {
    switch self {
    case .system(let error): error.description
    case .tls(let reason): "TLS: \(reason)"
    }
  }
}

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

  /// Nil once closed, so that a reference to the stream does not keep the socket open.
  private var descriptor: Descriptor?
  let number: Int32
  private let reactor: Reactor
  private var tls: TLSSession?
  private var phase: Phase
  private var output = OutputQueue()
  private var handler: (any StreamHandler)?
  private var isReadable = true
  private var isWritable = true
  private var isPaused = false
  /// The poller reported the end of input. Unread bytes may precede it.
  private var peerEnded = false
  /// The end of input was read.
  private var hasReadEnd = false
  private var isTurnEndRequested = false
  private var isTurnRequested = false
  /// Reading is suspended until the pending ciphertext is sent.
  private var awaitsCiphertext = false
  /// Received ciphertext bytes without plaintext, see `maxUnproductive`.
  private var unproductive = 0
  private var isResumeRequested = false
  private var isAboveHighWater = false
  private var lastSent = 0
  private var highWater = Stream.defaultHighWater
  private var lowWater = Stream.defaultHighWater / 2

  /// The default queue length from which a writer should wait for `drained`.
  private static let defaultHighWater = 262_144
  /// Nanoseconds for the peer to close its side after ours.
  private static let lingerTime: Int64 = 2_000_000_000
  /// Reads of one stream per turn.
  private static let readsPerTurn = 4
  /// Some TLS records carry no data but require a response (RFC 8446 §4.6.3, KeyUpdate). The connection is closed after
  /// this many bytes of them. Each plaintext byte offsets `bytesPerPlainByte`, more than the size of the smallest
  /// record.
  private static let maxUnproductive = 131_072
  private static let bytesPerPlainByte = 64
  /// Maximum pending ciphertext bytes.
  private static let ciphertextAhead = 65_536
  /// Bytes that one stream sends per turn.
  static let bytesPerTurn = 1_048_576

  /// Takes ownership of a connected or connecting socket.
  init(
    _ descriptor: Descriptor, peer: SocketAddress, tls: TLSSession?, isConnecting: Bool,
    handler: any StreamHandler, on loop: isolated EventLoop
  ) throws(SystemError) {
    self.descriptor = descriptor
    number = descriptor.number
    reactor = loop.reactor
    self.peer = peer
    self.tls = tls
    self.handler = handler
    phase = isConnecting ? .connecting : .handshaking
    isWritable = !isConnecting
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
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      let descriptor = try Descriptor(checking: socket(address.family, kind, 0), "socket")
      if address.port != nil { setNoDelay(descriptor.number) }
      let result = unsafe address.withSystem { unsafe Glibc.connect(descriptor.number, $0, $1) }
      if result != 0, errno != EINPROGRESS { throw SystemError("connect") }
      return try Stream(
        descriptor, peer: address, tls: session, isConnecting: result != 0, handler: handler, on: loop
      ).openingAtTurnEnd(on: loop, if: result == 0)
    } catch {
      throw .system(error)
    }
  }

  private func openingAtTurnEnd(on loop: isolated EventLoop, if isConnected: Bool) -> Stream {
    if isConnected { requestTurnEnd() }
    return self
  }

  public var isOpen: Bool { phase == .open }

  /// Unsent bytes in memory.
  public var queued: Int { output.count + (tls?.pending ?? 0) }

  /// Unsent bytes that only this connection references.
  public var unshared: Int { output.unshared + (tls?.pending ?? 0) }

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
    queue { $0.append(shared: bytes, with: &reactor.coalescing) }
  }

  private func queue(_ append: (inout OutputQueue) -> Void) {
    guard phase == .open || phase == .handshaking || phase == .connecting else { return }
    append(&output)
    updateHighWater()
    requestTurnEnd()
  }

  public func write(_ slice: FileSlice) {
    guard phase == .open else { return }
    output.append(slice)
    // A file does not count as queued memory, but its sender waits for `drained`, too.
    isAboveHighWater = true
    requestTurnEnd()
  }

  /// Sets the queue length from which a writer should wait.
  public func setHighWater(_ bytes: Int) {
    highWater = bytes
    lowWater = bytes / 2
  }

  /// Whether a writer should wait for `drained`.
  public var isFull: Bool { isAboveHighWater }

  /// Requests `drained` at this queue length, even if the high-water mark was not reached.
  public func notifyWhenDrained(to level: Int) {
    isAboveHighWater = true
    lowWater = min(lowWater, max(0, level))
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

  private func updateHighWater() {
    if output.count >= highWater { isAboveHighWater = true }
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
    if isReadable || tls != nil, phase == .open { readSoon() }
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
    reactor.setDeadline(time, of: number)
  }

  // MARK: DescriptorHandler

  func ready(_ readiness: Readiness, on loop: isolated EventLoop) {
    guard phase != .closed, phase != .aborting else { return }
    if readiness.contains(.ended) { peerEnded = true }
    // A refused connection may be reported as readable or writable.
    if phase == .connecting { finishConnecting(loop) }
    if readiness.contains(.writable) {
      isWritable = true
      if !output.isEmpty || tls != nil { requestTurnEnd() }
    }
    if readiness.contains(.readable) {
      isReadable = true
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
    if isReadable, phase == .open || phase == .finishing || phase == .lingering { read(loop) }
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
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length)
    guard code == 0 else { return close(.system(SystemError("connect", code: code)), loop) }
    isWritable = true
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
        guard isReadable else { return }
        let count = readSocket(loop)
        if count == 0 {
          if phase != .closed, !isReadable { return }
          return close(.tls("the peer closed the connection during the handshake"), loop)
        }
        guard count > 0 else { return }
        unsafe tls.feed(UnsafeRawBufferPointer(rebasing: reactor.input.bytes[..<count]))
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
    if isReadable, !isPaused { readSoon() }
  }

  // MARK: Reading and writing

  private func read(_ loop: isolated EventLoop) {
    for _ in 0..<Self.readsPerTurn {
      guard isReadable, !isPaused || phase != .open, phase != .closed, phase != .aborting else { return }
      // Input may require TLS responses. Stop reading from a peer that does not receive them.
      if let tls, tls.pending > Self.ciphertextAhead {
        awaitsCiphertext = true
        return
      }
      let count = readSocket(loop)
      if count < 0 { return }
      if count == 0 {
        if isReadable { peerFinished(loop) }
        return
      }
      if phase == .lingering || phase == .finishing { continue }
      if let tls {
        unsafe tls.feed(UnsafeRawBufferPointer(rebasing: reactor.input.bytes[..<count]))
        unproductive += count
        deliverPlain(loop)
        if unproductive > Self.maxUnproductive { return close(.tls("too many records without data"), loop) }
      } else {
        handler?.received(
          unsafe Span(_unsafeElements: reactor.input.bytes[..<count].bindMemory(to: UInt8.self)), on: loop)
      }
    }
    if isReadable, !isPaused { readSoon() }
  }

  /// Reads into the loop's buffer. Returns -1 if the stream was closed. 0 is the end of input if `isReadable`,
  /// otherwise no input is available.
  private func readSocket(_ loop: isolated EventLoop) -> Int {
    while true {
      let size = unsafe reactor.input.bytes.count
      let count = unsafe Glibc.read(number, reactor.input.bytes.baseAddress, size)
      if count > 0 {
        // A short read has emptied the socket: new input triggers a new edge.
        if count < size, !peerEnded, reactor.reportsEnd {
          isReadable = false
          reactor.await(.readable, of: number)
        }
        return count
      }
      if count == 0 {
        isReadable = true
        return 0
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        isReadable = false
        reactor.await(.readable, of: number)
        return 0
      default:
        close(.system(SystemError("read")), loop)
        return -1
      }
    }
  }

  private func deliverPlain(_ loop: isolated EventLoop) {
    guard let tls, phase == .open, !isPaused else { return }
    do {
      while !isPaused, phase == .open {
        let count = try unsafe tls.read(into: reactor.plaintext.bytes)
        if count == 0 { break }
        unproductive = max(0, unproductive - Self.bytesPerPlainByte * count)
        handler?.received(
          unsafe Span(_unsafeElements: reactor.plaintext.bytes[..<count].bindMemory(to: UInt8.self)), on: loop)
      }
      if tls.peerClosed, phase == .open { peerFinished(loop) }
      if tls.pending > 0 { requestTurnEnd() }
    } catch {
      _ = sendCiphertext(loop)
      close(.tls(error.reason), loop)
    }
  }

  private func peerFinished(_ loop: isolated EventLoop) {
    isReadable = false
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
    if let tls {
      guard encryptAndSend(loop) else { return }
      if awaitsCiphertext, tls.pending <= Self.ciphertextAhead {
        awaitsCiphertext = false
        readSoon()
      }
    } else if isWritable, !output.isEmpty {
      switch output.write(to: number) {
      case .sentAll: break
      case .sentSome: readSoon()
      case .blocked:
        isWritable = false
        reactor.await(.writable, of: number)
      case .failed(let error):
        return close(.system(error), loop)
      }
    }
    if isAboveHighWater, queued <= lowWater, !output.hasFile {
      isAboveHighWater = false
      lowWater = highWater / 2
      handler?.drained(on: loop)
    }
    if phase == .finishing, output.isEmpty, tls?.pending ?? 0 == 0 { linger(loop) }
  }

  /// Returns false if the stream was closed.
  private func encryptAndSend(_ loop: isolated EventLoop) -> Bool {
    guard let tls else { return true }
    let bound = output.total + Self.bytesPerTurn
    do {
      while true {
        guard output.total < bound else {
          readSoon()
          return true
        }
        guard sendCiphertext(loop) else { return false }
        guard isWritable, tls.pending < Self.ciphertextAhead, !output.isEmpty else { return true }
        var failure: TLSFailure?
        let hasSent = unsafe output.consumeNext { plain in
          do throws(TLSFailure) {
            return try unsafe tls.write(plain)
          } catch {
            failure = error
            return 0
          }
        }
        if let failure { throw failure }
        guard let hasSent else {
          close(.system(SystemError("reading a file", code: EIO)), loop)
          return false
        }
        if !hasSent { return true }
      }
    } catch {
      close(.tls((error as? TLSFailure)?.reason ?? "failed"), loop)
      return false
    }
  }

  /// Sends the pending ciphertext. Returns false if the stream was closed.
  private func sendCiphertext(_ loop: isolated EventLoop) -> Bool {
    guard let tls else { return true }
    while isWritable, tls.pending > 0 {
      let written = unsafe tls.withCiphertext { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
      if written > 0 {
        tls.dropCiphertext(written)
      } else if errno == EAGAIN {
        isWritable = false
        reactor.await(.writable, of: number)
      } else if errno != EINTR {
        close(.system(SystemError("write")), loop)
        return false
      }
    }
    return true
  }

  private func linger(_ loop: isolated EventLoop) {
    if let tls {
      tls.close()
      guard sendCiphertext(loop) else { return }
    }
    // close(2) with unread input sends a reset, which may discard our last output at the peer.
    if hasReadEnd { return close(nil, loop) }
    phase = .lingering
    shutdown(number, Int32(SHUT_WR))
    reactor.setDeadline(reactor.now + Self.lingerTime, of: number)
    isPaused = false
    if isReadable { readSoon() }
  }

  private func close(_ error: StreamError?, _ loop: isolated EventLoop) {
    guard phase != .closed else { return }
    if phase == .aborting { setReset(number) } else { shutdown(number, Int32(SHUT_RDWR)) }
    phase = .closed
    output.removeAll()
    reactor.remove(number)
    descriptor = nil
    loop.load.subtract(1, ordering: .relaxed)
    tls = nil
    let handler = self.handler
    self.handler = nil
    handler?.closed(error, on: loop)
  }
}

/// Makes close(2) send a reset.
private func setReset(_ descriptor: Int32) {
  var option = linger(l_onoff: 1, l_linger: 0)
  unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}

func setNoDelay(_ descriptor: Int32) {
  var on: Int32 = 1
  unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
}
