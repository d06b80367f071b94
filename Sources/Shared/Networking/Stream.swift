// One connection: a socket, TLS where it is wanted, and the bytes that wait to be sent. It reads when it may and hands
// over what it read, in memory that the loop lends; it writes once per turn. Its handler says what the bytes mean.

import CParleyLinux
import Glibc

/// What is told of a stream, always on its loop.
public protocol StreamHandler: AnyObject {
  /// Bytes can flow: the connection stands and, under TLS, the handshake is done.
  func opened(on loop: isolated EventLoop)
  /// The peer sent these. They are lent for the call; nothing is handed over while reading is paused.
  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop)
  /// The peer will send nothing more.
  func ended(on loop: isolated EventLoop)
  /// After the queue had reached its high water, it has emptied to half of that.
  func drained(on loop: isolated EventLoop)
  /// The turn that was asked for by `askTurn` has come.
  func resumed(on loop: isolated EventLoop)
  /// The deadline that was set has passed.
  func expired(on loop: isolated EventLoop)
  /// The stream is gone, and says nothing after this. `nil`: closed from this side or cleanly by the peer.
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
    /// What waits is sent, then our side is closed.
    case finishing
    /// Our side is closed; what the peer still sends is read and dropped, so that our last words are not cut off.
    case lingering
    /// Closed at the end of this turn, whatever waits.
    case aborting
    case closed
  }

  public let peer: SocketAddress

  /// Nil once closed, so that whoever still holds the stream does not hold the socket.
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
  /// The peer's end is announced, perhaps behind bytes that were not read yet.
  private var peerEnded = false
  /// The peer's end was read: nothing is left to come.
  private var hasReadEnd = false
  private var isTurnEndAsked = false
  private var isRepeatAsked = false
  /// Reading rests until TLS's own answers are taken.
  private var awaitsCiphertext = false
  /// Ciphertext that came without a word of the peer's in it.
  private var barren = 0
  private var isResumeAsked = false
  private var isAboveHighWater = false
  private var lastTotal = 0
  private var highWater = Stream.usualHighWater
  private var lowWater = Stream.usualHighWater / 2

  /// The queue length from which a writer should wait for `drained`.
  private static let usualHighWater = 262_144
  /// How long the peer may take to close its side after ours.
  private static let lingerTime: Int64 = 2_000_000_000
  /// How often one stream reads in a turn before the others have theirs.
  private static let readsPerTurn = 4
  /// TLS has records that say nothing but cost an answer (RFC 8446 §4.6.3, KeyUpdate). So many bytes of them end the
  /// connection; each byte that says something is worth this many, which is more than the smallest record costs.
  private static let mostBarren = 131_072
  private static let worth = 64
  /// How much ciphertext is made ahead of the socket.
  private static let ciphertextAhead = 65_536
  /// How much is sent in a turn before the others have theirs.
  static let bytesPerTurn = 1_048_576

  /// Takes over a connected socket, or one that is connecting.
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

  /// Serves a connection that a listener accepted.
  public static func accept(
    _ descriptor: Descriptor, peer: SocketAddress, tls: TLSContext?, handler: any StreamHandler,
    on loop: isolated EventLoop
  ) throws(StreamError) -> Stream {
    let session = try tls.map { context throws(StreamError) in try context.session() }
    do {
      let stream = try Stream(
        descriptor, peer: peer, tls: session, isConnecting: false, handler: handler, on: loop)
      // The caller first keeps the stream; then it opens.
      stream.askTurnEnd()
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
      ).afterTurn(on: loop, if: result == 0)
    } catch {
      throw .system(error)
    }
  }

  private func afterTurn(on loop: isolated EventLoop, if isConnected: Bool) -> Stream {
    if isConnected { askTurnEnd() }
    return self
  }

  public var isOpen: Bool { phase == .open }

  /// Bytes in memory that wait to be sent.
  public var queued: Int { output.count + (tls?.pending ?? 0) }

  /// Of those, what is in memory for this connection alone.
  public var held: Int { output.held + (tls?.pending ?? 0) }

  // MARK: Writing

  public func write(_ bytes: [UInt8]) {
    queue { $0.append(bytes) }
  }

  /// The same for what stays in memory after it.
  public func write(kept bytes: [UInt8]) {
    queue { $0.append(kept: bytes) }
  }

  /// The same for what many connections of the loop send.
  public func write(shared bytes: [UInt8]) {
    queue { $0.append(shared: bytes, at: &reactor.seam) }
  }

  private func queue(_ append: (inout OutputQueue) -> Void) {
    guard phase == .open || phase == .handshaking || phase == .connecting else { return }
    append(&output)
    noteQueue()
    askTurnEnd()
  }

  public func write(_ slice: FileSlice) {
    guard phase == .open else { return }
    output.append(slice)
    // A file waits on the socket, not in memory; whoever sends one waits for `drained` as for a full queue.
    isAboveHighWater = true
    askTurnEnd()
  }

  /// Sets the queue length from which a writer should wait.
  public func setHighWater(_ bytes: Int) {
    highWater = bytes
    lowWater = bytes / 2
  }

  /// Whether a writer should wait for `drained`.
  public var isFull: Bool { isAboveHighWater }

  /// Asks for `drained` when at most so many bytes wait, although the queue is short of its high water.
  public func notifyWhenDrained(to level: Int) {
    isAboveHighWater = true
    lowWater = min(lowWater, max(0, level))
    askTurnEnd()
  }

  /// Whether anything was sent since this was last asked.
  public func hasProgressed() -> Bool {
    defer { lastTotal = output.total }
    return output.total != lastTotal
  }

  /// Another handler goes on with the connection.
  public func hand(to handler: any StreamHandler) {
    self.handler = handler
  }

  private func noteQueue() {
    if output.count >= highWater { isAboveHighWater = true }
  }

  /// Sends what waits, closes our side, and lets the peer close its own.
  public func finish() {
    guard phase == .open else {
      if phase == .handshaking || phase == .connecting { abort() }
      return
    }
    phase = .finishing
    askTurnEnd()
  }

  /// Closes at the end of the turn; what waits is dropped. The peer is told by a reset, so that it takes nothing that it
  /// has for the whole, and the system keeps nothing to send to it.
  public func abort() {
    guard phase != .closed else { return }
    phase = .aborting
    askTurnEnd()
  }

  // MARK: Reading

  public func pauseReading() {
    isPaused = true
  }

  public func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    // Under TLS plain bytes may wait although the socket has none.
    if isReadable || tls != nil, phase == .open { readSoon() }
  }

  /// `expired` is called when this much time has passed; a later call moves it.
  public func setDeadline(after seconds: Int) {
    setDeadline(at: reactor.now + Int64(seconds) * 1_000_000_000)
  }

  /// The loop's time.
  public var now: Int64 { reactor.now }

  /// In the loop's own time.
  public func setDeadline(at time: Int64) {
    guard phase != .closed, phase != .lingering, phase != .aborting else { return }
    reactor.setDeadline(time, of: number)
  }

  // MARK: What the loop tells

  func ready(_ readiness: Readiness, on loop: isolated EventLoop) {
    guard phase != .closed, phase != .aborting else { return }
    if readiness.contains(.ended) { peerEnded = true }
    // A refusal may be told as the one or the other.
    if phase == .connecting { finishConnecting(loop) }
    if readiness.contains(.writable) {
      isWritable = true
      if !output.isEmpty || tls != nil { askTurnEnd() }
    }
    if readiness.contains(.readable) {
      isReadable = true
      if phase == .handshaking { advanceHandshake(loop) }
      if phase != .handshaking, phase != .connecting { read(loop) }
    }
  }

  func repeated(on loop: isolated EventLoop) {
    isRepeatAsked = false
    if isResumeAsked {
      isResumeAsked = false
      handler?.resumed(on: loop)
    }
    if !output.isEmpty { askTurnEnd() }
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
    isTurnEndAsked = false
    if phase == .aborting { return close(nil, loop) }
    if phase == .handshaking { advanceHandshake(loop) }
    flush(loop)
  }

  private func readSoon() {
    guard !isRepeatAsked else { return }
    isRepeatAsked = true
    reactor.again(self)
  }

  /// Asks for `resumed`, after the other connections have had a turn.
  public func askTurn() {
    isResumeAsked = true
    readSoon()
  }

  private func askTurnEnd() {
    guard !isTurnEndAsked else { return }
    isTurnEndAsked = true
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
          return close(.tls("the peer left during the handshake"), loop)
        }
        guard count > 0 else { return }
        unsafe tls.feed(UnsafeRawBufferPointer(rebasing: reactor.input.bytes[..<count]))
      }
      open(loop)
      deliverPlain(loop)
    } catch {
      _ = sendCiphertext(loop)  // the alert that says why
      close(.tls(error.reason), loop)
    }
  }

  private func open(_ loop: isolated EventLoop) {
    phase = .open
    handler?.opened(on: loop)
    if isReadable, !isPaused { readSoon() }
  }

  // MARK: Moving bytes

  private func read(_ loop: isolated EventLoop) {
    for _ in 0..<Self.readsPerTurn {
      guard isReadable, !isPaused || phase != .open, phase != .closed, phase != .aborting else { return }
      // What the peer sends may demand answers of TLS itself; who does not take them is not read from.
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
        barren += count
        deliverPlain(loop)
        if barren > Self.mostBarren { return close(.tls("much was sent, and nothing said"), loop) }
      } else {
        handler?.received(
          unsafe Span(_unsafeElements: reactor.input.bytes[..<count].bindMemory(to: UInt8.self)), on: loop)
      }
    }
    if isReadable, !isPaused { readSoon() }
  }

  /// Reads into the loop's buffer. Negative: the stream was closed. Zero with `isReadable`: the peer's end; without:
  /// nothing there now.
  private func readSocket(_ loop: isolated EventLoop) -> Int {
    while true {
      let size = unsafe reactor.input.bytes.count
      let count = unsafe Glibc.read(number, reactor.input.bytes.baseAddress, size)
      if count > 0 {
        // A short read of a stream socket has emptied it: the next arrival is a new edge.
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
        barren = max(0, barren - Self.worth * count)
        handler?.received(
          unsafe Span(_unsafeElements: reactor.plaintext.bytes[..<count].bindMemory(to: UInt8.self)), on: loop)
      }
      if tls.peerClosed, phase == .open { peerFinished(loop) }
      if tls.pending > 0 { askTurnEnd() }
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
      askTurnEnd()
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

  /// False when the stream was closed.
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
        let took = unsafe output.take { plain in
          do throws(TLSFailure) {
            return try unsafe tls.write(plain)
          } catch {
            failure = error
            return 0
          }
        }
        if let failure { throw failure }
        guard let took else {
          close(.system(SystemError("reading a file", code: EIO)), loop)
          return false
        }
        if !took { return true }
      }
    } catch {
      close(.tls((error as? TLSFailure)?.reason ?? "failed"), loop)
      return false
    }
  }

  /// Sends the ciphertext that waits. False when the stream was closed.
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
    // Closing while bytes of the peer wait unread would reset the connection under our last words.
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

/// Closing is to reset the connection.
private func setReset(_ descriptor: Int32) {
  var option = linger(l_onoff: 1, l_linger: 0)
  unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}

func setNoDelay(_ descriptor: Int32) {
  var on: Int32 = 1
  unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
}
