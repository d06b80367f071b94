// One connection after its upgrade. The session says what bytes mean; this moves them, watches the time and bounds
// what waits to be sent. A peer that gives no sign of life is pinged after half of the idle time and dropped at its end.

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
  private var owesDrained = false
  private var isPingPending = false
  /// When the message that has begun must be whole.
  private var messageDeadline: Int64?
  private var isPaused = false
  /// What had come when the handler paused: first what the session made of it, then bytes as they came.
  private var pausedActions: [WebSocketSession.Action] = []
  private var pausedBytes: [UInt8] = []
  /// We sent Close: what came before the answer to it is not the handler's any longer.
  private var hasSentClose = false
  /// Nothing follows: the handler was told so.
  private var hasEnded = false
  private var isOpen: Bool { !hasSentClose && !hasEnded }

  /// The session is given so many bytes at once, since deflated messages may become a thousand times as long.
  private static let maxSlice = 16_384
  /// How long a peer may take to answer our Close.
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
      role: .server, messageLimit: upgrade.options.messageLimit ?? shard.application.limits.socketMessage,
      deflate: agreement.deflate, streams: shard.deflateStreams)
  }

  func open(_ upgrade: WebSocketUpgrade, on loop: isolated EventLoop) {
    setIdleDeadline()
    let handler = upgrade.open(self)
    self.handler = handler
    handler.opened(on: loop)
  }

  // MARK: What the stream tells

  func opened(on loop: isolated EventLoop) {}

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    isPingPending = false
    if isPaused || !pausedActions.isEmpty || !pausedBytes.isEmpty { pausedBytes.append(copying: bytes) } else { process(bytes, loop) }
    if session.isInMessage, !isPaused, messageDeadline == nil, let stream {
      messageDeadline = stream.now + Int64(shard.application.limits.socketMessageTime) * 1_000_000_000
    }
    if isOpen { setIdleDeadline() }
  }

  private func process(_ bytes: Span<UInt8>, _ loop: isolated EventLoop) {
    var offset = 0
    while offset < bytes.count, !isPaused {
      let end = min(offset + Self.maxSlice, bytes.count)
      var actions: [WebSocketSession.Action] = []
      session.receive(bytes.extracting(offset..<end), into: &actions)
      offset = end
      perform(actions, loop)
    }
    if offset < bytes.count { pausedBytes.append(copying: bytes.extracting(offset...)) }
  }

  func ended(on loop: isolated EventLoop) {
    var actions: [WebSocketSession.Action] = []
    session.transportEnded(into: &actions)
    perform(actions, loop)
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {
    guard owesDrained else { return }
    owesDrained = false
    handler?.drained(on: loop)
  }

  /// The handler takes messages again: first those that are here.
  func resumed(on loop: isolated EventLoop) {
    guard !isPaused else { return }
    let actions = pausedActions
    pausedActions = []
    perform(actions, loop)
    guard !isPaused else { return }
    let bytes = pausedBytes
    pausedBytes = []
    process(bytes.span, loop)
    if !isPaused { stream?.resumeReading() }
  }

  func expired(on loop: isolated EventLoop) {
    // Nothing is read from a peer that the handler keeps waiting; what it takes is its sign of life.
    if isOpen, isPaused, let stream, stream.queued == 0 || stream.hasProgressed() { return setIdleDeadline() }
    if isOpen, let messageDeadline, let stream, stream.now >= messageDeadline {
      return close(.policy, reason: "the message took too long")
    }
    guard isOpen, !isPingPending, let ping = session.sendPing() else {
      stream?.abort()
      return
    }
    // A peer that takes nothing answers no ping either.
    isPingPending = true
    stream?.write(ping)
    setIdleDeadline()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    // What had come before is the handler's, paused or not.
    while !pausedActions.isEmpty {
      isPaused = false
      let actions = pausedActions
      pausedActions = []
      perform(actions, loop)
    }
    pausedBytes = []
    isPaused = false
    var actions: [WebSocketSession.Action] = []
    session.transportEnded(into: &actions)
    perform(actions, loop)
    shard.remove(self)
  }

  private func perform(_ actions: [WebSocketSession.Action], _ loop: isolated EventLoop) {
    for (index, action) in actions.enumerated() {
      if isPaused {
        pausedActions.append(contentsOf: actions[index...])
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
        // Answers to pings wait too; a peer that pings without reading is cut off.
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

  /// How much of our own control frames may wait beyond the queue.
  private static let maxControlBytes = 65_536

  // MARK: What the handler asks

  var isCompressed: Bool { deflate != nil }

  var queued: Int { stream?.queued ?? 0 }

  /// Bytes that came and that wait to be sent.
  var footprint: Int {
    let messages = pausedActions.reduce(0) { $0 + $1.count }
    return messages + pausedBytes.count + session.footprint + (stream?.unshared ?? 0)
  }

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
    return true
  }

  private func hasRoom(for count: Int) -> Bool {
    guard let stream, isOpen else { return false }
    // An empty queue takes any message: its length is the sender's choice, and the next one waits.
    guard stream.queued > 0, stream.queued + count > options.queue else { return true }
    switch options.overflow {
    case .refuse:
      owesDrained = true
      // Sooner the same message would be refused again, and the handler asked again, round and round.
      stream.notifyWhenDrained(to: min(options.queue / 2, options.queue - count))
    case .close(let code):
      close(code, reason: "too slow")
    }
    return false
  }

  func close(_ code: CloseCode, reason: String) {
    guard let frame = session.close(code, reason: reason) else { return }
    hasSentClose = true
    stream?.write(frame)
    setDeadline(Self.closeTime)
    // The peer's Close stands behind what was held back.
    resume()
  }

  func pause() {
    guard !isPaused else { return }
    isPaused = true
    // The peer can't go on while nobody reads.
    messageDeadline = nil
    stream?.pauseReading()
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    stream?.requestTurn()
  }

  /// The server is stopping: come back in a while, and not all at once.
  func drain() {
    close(.goingAway, reason: "restarting; retry in \(Int.random(in: 500...10_000)) ms")
  }

  func abort() {
    stream?.abort()
  }

  /// Until the next sign of life is due, or the rest of a message.
  private func setIdleDeadline() {
    guard let stream else { return }
    let quiet = stream.now + Int64(max(1, shard.application.limits.socketIdleTime / 2)) * 1_000_000_000
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
