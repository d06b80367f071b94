// A connection after its upgrade to WebSocket. `WebSocketSession` implements the protocol; this class transfers the
// bytes, enforces timeouts and bounds the queues. A silent peer is pinged after half of the idle time and aborted at
// its end.

import ParleyNetworking
import ParleyWire
import Web

final class WebSocketConnection: StreamHandler, WebSocket {
  private let shard: Shard
  private let options: WebSocketOptions
  private let deflate: PerMessageDeflate?
  let subprotocol: String?
  private var stream: ParleyNetworking.Stream?
  private var session: WebSocketSession
  private var handler: (any WebSocketHandler)?
  private var mustNotifyDrained = false
  private var isPingPending = false
  /// The time at which the session's inflatable bytes were last refilled, in nanoseconds.
  private var refilledAt: Int64
  /// The deadline of the incomplete message.
  private var messageDeadline: Int64?
  private var isPaused = false
  /// The input while the handler is paused: first the parsed actions, then the unparsed bytes.
  private var pausedActions: [WebSocketSession.Action] = []
  private var pausedActionBytes = 0
  /// The size of the handler's own buffers.
  private var handlerBytes = 0
  private var pausedBytes: [UInt8] = []
  private var hasPeerEnded = false
  /// We sent Close: messages that arrive before the peer's Close are dropped.
  private var hasSentClose = false
  /// The handler's `closed` was called. No further calls follow.
  private var hasEnded = false
  private var isOpen: Bool { !hasSentClose && !hasEnded }

  /// The number of bytes per parse step, since deflate may expand messages a thousand times.
  private static let maxSlice = 16_384
  /// The timeout of the peer's Close, in seconds.
  private static let closeTime = 5

  init(
    shard: Shard, stream: ParleyNetworking.Stream, agreement: WebSocketHandshake.Agreement,
    upgrade: WebSocketUpgrade
  ) {
    self.shard = shard
    self.stream = stream
    options = upgrade.options
    deflate = agreement.deflate
    subprotocol = agreement.subprotocol
    session = WebSocketSession(
      role: .server, messageLimit: upgrade.options.messageLimit ?? shard.limits.socketMessage,
      deflate: agreement.deflate, streams: shard.deflateStreams)
    refilledAt = stream.now
    if let inflation = options.inflation { session.inflatable = inflation.burst }
  }

  func open(_ upgrade: WebSocketUpgrade, on loop: isolated EventLoop) {
    setIdleDeadline()
    let handler = upgrade.open(self)
    self.handler = handler
    handler.opened(on: loop)
  }

  // MARK: StreamHandler

  func opened(on loop: isolated EventLoop) {}

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    isPingPending = false
    if isPaused || !pausedActions.isEmpty || !pausedBytes.isEmpty {
      pausedBytes.append(copying: bytes)
    } else {
      process(bytes, loop)
    }
    if session.isInMessage, !isPaused, messageDeadline == nil, let stream {
      messageDeadline = stream.now + Int64(shard.limits.socketMessageTime) * 1_000_000_000
    }
    if isOpen { setIdleDeadline() }
    countBuffers()
  }

  /// Counts the receive buffers. Above the memory budget it closes the socket.
  private func countBuffers() {
    guard let stream, !stream.charge(ownBytes) else { return }
    if isOpen { close(.tryLater, reason: "the server is short of memory") } else { stream.abort() }
  }

  private func process(_ bytes: Span<UInt8>, _ loop: isolated EventLoop) {
    var offset = 0
    refillInflatable()
    while offset < bytes.count, !isPaused {
      let end = min(offset + Self.maxSlice, bytes.count)
      var actions: [WebSocketSession.Action] = []
      session.room = stream?.room ?? 0
      session.receive(bytes.extracting(offset..<end), into: &actions)
      offset = end
      countBuffers()
      perform(actions, loop)
    }
    if offset < bytes.count { pausedBytes.append(copying: bytes.extracting(offset...)) }
  }

  private func refillInflatable() {
    guard let inflation = options.inflation, let stream else { return }
    let nanosecondsPerByte = 1_000_000_000 / Int64(inflation.perSecond)
    let count = (stream.now - refilledAt) / nanosecondsPerByte
    session.inflatable = min(inflation.burst, session.inflatable + Int(count))
    refilledAt += count * nanosecondsPerByte
  }

  func ended(on loop: isolated EventLoop) {
    hasPeerEnded = true
    // After an upgrade the paused input precedes the end.
    if !isPaused, pausedActions.isEmpty, pausedBytes.isEmpty { endInput(loop) }
  }

  private func endInput(_ loop: isolated EventLoop) {
    var actions: [WebSocketSession.Action] = []
    session.transportEnded(into: &actions)
    perform(actions, loop)
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {
    guard mustNotifyDrained else { return }
    mustNotifyDrained = false
    handler?.drained(on: loop)
  }

  /// Delivers the queued input after the handler has resumed.
  func resumed(on loop: isolated EventLoop) {
    guard !isPaused else { return }
    let actions = takePausedActions()
    perform(actions, loop)
    guard !isPaused else { return }
    let bytes = pausedBytes
    pausedBytes = []
    process(bytes.span, loop)
    countBuffers()
    guard !isPaused else { return }
    if hasPeerEnded { endInput(loop) } else { stream?.resumeReading() }
  }

  func expired(on loop: isolated EventLoop) {
    // Reading is paused, so only received bytes show that the peer is alive.
    if isOpen, isPaused, let stream, stream.queued == 0 || stream.hasProgressed() { return setIdleDeadline() }
    if isOpen, let messageDeadline, let stream, stream.now >= messageDeadline {
      return close(.policy, reason: "the message took too long")
    }
    guard isOpen, !isPingPending, let ping = session.sendPing() else {
      stream?.abort()
      return
    }
    // A peer that does not read does not answer pings either.
    isPingPending = true
    stream?.write(ping)
    setIdleDeadline()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    // Delivers the messages received before the end, even to a paused handler.
    while !pausedActions.isEmpty {
      isPaused = false
      perform(takePausedActions(), loop)
    }
    pausedBytes = []
    isPaused = false
    var actions: [WebSocketSession.Action] = []
    session.transportEnded(into: &actions)
    perform(actions, loop)
    shard.remove(self)
  }

  private func takePausedActions() -> [WebSocketSession.Action] {
    defer {
      pausedActions = []
      pausedActionBytes = 0
    }
    return pausedActions
  }

  private func perform(_ actions: [WebSocketSession.Action], _ loop: isolated EventLoop) {
    for (index, action) in actions.enumerated() {
      if isPaused {
        pausedActions.append(contentsOf: actions[index...])
        pausedActionBytes += actions[index...].reduce(0) { $0 + $1.count }
        return
      }
      switch action {
      case .text where hasSentClose, .binary where hasSentClose: break
      case .text(let bytes):
        messageDeadline = nil
        handler?.received(.text(bytes), on: loop)
      case .binary(let bytes):
        messageDeadline = nil
        handler?.received(.binary(bytes), on: loop)
      case .ping, .pong: break
      case .send(let bytes):
        // Pongs are queued too. A peer that sends pings without reading is aborted.
        guard let stream, stream.queued < options.queue + Self.maxControlBytes else {
          stream?.abort()
          continue
        }
        stream.write(bytes)
      case .closed(let closing):
        let handler = self.handler
        self.handler = nil
        session.finish()
        hasEnded = true
        handler?.closed(closing, on: loop)
        setDeadline(Self.closeTime)
        stream?.finish()
      }
    }
  }

  /// The maximum size of our control frames beyond the queue's limit, in bytes.
  private static let maxControlBytes = 65_536

  // MARK: WebSocket

  var isCompressed: Bool { deflate != nil }

  var queued: Int { stream?.queued ?? 0 }

  /// The size of the receive and send buffers in bytes.
  var footprint: Int { ownBytes + (stream?.unshared ?? 0) }
  private var ownBytes: Int { handlerBytes + pausedActionBytes + pausedBytes.count + session.footprint }

  func send(_ message: WebSocketMessage) -> Bool {
    guard hasRoom(for: message.count) else { return false }
    let frame =
      switch message {
      case .text(let bytes): session.send(text: bytes)
      case .binary(let bytes): session.send(binary: bytes)
      }
    return write(frame)
  }

  func send(_ frame: SharedFrame) -> Bool {
    let bytes = frame.bytes(for: deflate)
    guard hasRoom(for: bytes.count), let stream else { return false }
    stream.write(shared: bytes)
    return true
  }

  private func write(_ frame: [UInt8]?) -> Bool {
    guard let frame, let stream else { return false }
    stream.write(frame)
    countBuffers()
    return true
  }

  private func hasRoom(for count: Int) -> Bool {
    guard let stream, isOpen else { return false }
    // An empty queue accepts a message of any size; the next one waits.
    let queued = stream.queued
    guard queued > 0, queued + count > options.queue else { return true }
    switch options.overflow {
    case .refuse:
      mustNotifyDrained = true
      // An earlier notification would refuse the same message again, in a loop.
      stream.notifyWhenDrained(to: min(options.queue / 2, options.queue - count))
    case .close(let code):
      close(code, reason: "too slow")
    }
    return false
  }

  func close(_ code: CloseCode, reason: String) {
    guard let frame = session.close(code, reason: reason) else { return }
    hasSentClose = true
    _ = stream?.charge(ownBytes)
    stream?.write(frame)
    setDeadline(Self.closeTime)
    // The peer's Close follows the queued input.
    resume()
  }

  func charge(_ bytes: Int) {
    guard bytes != handlerBytes else { return }
    handlerBytes = bytes
    countBuffers()
  }

  func setMessageLimit(_ limit: Int?) {
    session.messageLimit = limit ?? shard.limits.socketMessage
  }

  func pause() {
    guard !isPaused else { return }
    isPaused = true
    // The peer can't continue while reading is paused.
    messageDeadline = nil
    stream?.pauseReading()
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    stream?.requestTurn()
  }

  func drain() {
    close(.goingAway, reason: CloseCode.restartReason)
  }

  func abort() {
    stream?.abort()
  }

  /// Sets the deadline of the next bytes or of the incomplete message.
  private func setIdleDeadline() {
    guard let stream else { return }
    let quiet = stream.now + Int64(max(1, shard.limits.socketIdleTime / 2)) * 1_000_000_000
    stream.setDeadline(at: min(quiet, messageDeadline ?? .max))
  }

  private func setDeadline(_ seconds: Int) {
    stream?.setDeadline(after: max(1, seconds))
  }
}

extension WebSocketSession.Action {
  fileprivate var count: Int {
    switch self {
    case .text(let bytes), .binary(let bytes), .send(let bytes): bytes.count
    case .ping, .pong, .closed: 0
    }
  }
}

extension WebSocketMessage {
  fileprivate var count: Int {
    switch self {
    case .text(let bytes), .binary(let bytes): bytes.count
    }
  }
}
