import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The WebSocket of one device. Frames of the server are queued until the device receives them.
final class SimulatedSocket: WebSocket {
  enum Frame {
    case event(ReceivedEvent)
    /// The response to a command, with the problem's code if it was rejected.
    case response(Int, problem: String?, JSONValue)
    case complete
    /// The server has restarted since it made the cursor that this one replaces.
    case restarted(EventCursor)
    /// The device must discard its replica, for this reason.
    case reset(String)
    case lagging(EventStream)
    /// A removed topic, or a signal.
    case other
    case closed
  }

  struct Sent {
    let frame: Frame
    let bytes: [UInt8]
  }

  /// The simulated delivery of a frame.
  enum Fate {
    case delivered, dropped, repeated, delayed
  }

  let subprotocol: String? = nil
  let isCompressed = false
  private let streams = DeflateStreams()
  private(set) var queued = 0
  private var waiting: [Sent] = []
  /// A delayed frame, delivered after the next one.
  private var delayedFrame: Sent?
  /// The limit of queued bytes, low for a slow consumer.
  private let maxQueuedBytes: Int
  /// The connection is dead in both directions, and neither side has noticed.
  var isDead = false
  private(set) var isClosed = false
  private var isFull = false
  /// Commands without a response.
  private(set) var openCommands = 0
  /// Checks each sent frame, and returns its fate.
  private let onSend: (Sent) -> Fate

  init(maxQueuedBytes: Int, onSend: @escaping (Sent) -> Fate) {
    self.maxQueuedBytes = maxQueuedBytes
    self.onSend = onSend
  }

  // MARK: Server side

  func send(_ message: WebSocketMessage) -> Bool {
    switch message {
    case .text(let bytes), .binary(let bytes): send(bytes)
    }
  }

  func send(_ frame: SharedFrame) -> Bool {
    guard hasSpace(for: frame.plain.count) else { return false }
    var session = WebSocketSession(role: .client { 0 }, messageLimit: .max, streams: streams)
    var actions: [WebSocketSession.Action] = []
    session.receive(frame.plain.span, into: &actions)
    for case .text(let bytes) in actions { transmit(bytes) }
    return true
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    guard hasSpace(for: bytes.count) else { return false }
    transmit(bytes)
    return true
  }

  private func hasSpace(for count: Int) -> Bool {
    guard !isClosed else { return false }
    guard queued + count <= maxQueuedBytes || waiting.isEmpty else {
      isFull = true
      return false
    }
    return true
  }

  private func transmit(_ bytes: [UInt8]) {
    let sent = Sent(frame: Frame(bytes), bytes: bytes)
    if case .response = sent.frame { openCommands -= 1 }
    switch onSend(sent) {
    case .delivered: enqueue(sent)
    case .dropped: break
    case .repeated: for _ in 0..<2 { enqueue(sent) }
    case .delayed:
      delayedFrame = sent
      return
    }
    if let delayedFrame {
      self.delayedFrame = nil
      enqueue(delayedFrame)
    }
  }

  /// Delivers a frame that was sent to another device.
  func inject(_ sent: Sent) {
    _ = onSend(sent)
    enqueue(sent)
  }

  private func enqueue(_ sent: Sent) {
    waiting.append(sent)
    queued += sent.bytes.count
  }

  func close(_ code: CloseCode, reason: String) {
    guard !isClosed else { return }
    isClosed = true
    openCommands = 0
    waiting.append(Sent(frame: .closed, bytes: []))
  }

  func charge(_ bytes: Int) {}
  func setMessageLimit(_ limit: Int?) {}
  func pause() {}
  func resume() {}

  // MARK: Device side

  /// Sends a command. Returns false if it is lost.
  func sendCommand() -> Bool {
    guard !isClosed, !isDead else { return false }
    openCommands += 1
    return true
  }

  /// Whether frames are queued.
  var hasFrames: Bool { !isDead && !waiting.isEmpty }

  /// Whether a command is in progress. On a full connection, a response may wait for buffer space.
  var isBusy: Bool { openCommands > 0 && !(isFull && !waiting.isEmpty) }

  /// The next frame, and whether the server is to be notified that the buffer has drained.
  func take() -> (sent: Sent, hasDrained: Bool)? {
    guard !isDead, !waiting.isEmpty else { return nil }
    let sent = waiting.removeFirst()
    queued -= sent.bytes.count
    guard waiting.isEmpty, isFull else { return (sent, false) }
    isFull = false
    return (sent, true)
  }

  /// Closes the connection; queued frames are lost.
  func disconnect() {
    isClosed = true
    openCommands = 0
    waiting = []
  }
}

extension SimulatedSocket.Frame {
  /// An invalid frame resets the device.
  init(_ bytes: [UInt8]) {
    do {
      try self.init(JSONValue(parsing: bytes))
    } catch {
      self = .reset("invalid frame: \(error), \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  private init(_ value: JSONValue) throws {
    var object = try value.object()
    if let commandID: Int = try object.optional("re") {
      let problem = try object.optional("problem") { problem throws(JSONError) in
        var members = try problem.object()
        return try members.string("code")
      }
      self = .response(commandID, problem: problem, value)
      return
    }
    switch try object.string("event") {
    case "complete": self = .complete
    case "restarted": self = .restarted(try object.read("cursor"))
    case "reset": self = .reset("it was reset: \(try object.string("reason"))")
    case "lagging":
      let name = try object.string("stream")
      guard let stream = EventStream(name) else { throw try object.value("stream").error(.invalid) }
      self = .lagging(stream)
    case "notice", "typing", "presence", "forum.activity": self = .other
    default: self = .event(try ReceivedEvent(json: value))
    }
  }
}
