import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// One connection of a device. What the server sends stands in it until the device takes it.
final class Line: WebSocket {
  enum Frame {
    case event(ReceivedEvent)
    /// To a command; where it was refused, the problem's code.
    case answer(Int, problem: String?, JSONValue)
    case complete
    /// What the device holds is of no use any more, and why.
    case reset(String)
    case lagging(EventStream)
    /// A topic is there no longer, or a signal.
    case other
    case closed
  }

  struct Sent {
    let frame: Frame
    let bytes: [UInt8]
  }

  /// What becomes of something on its way.
  enum Fate {
    case arrives, vanishes, comesTwice, comesLate
  }

  let subprotocol: String? = nil
  let isCompressed = false
  private let streams = DeflateStreams()
  private(set) var queued = 0
  private var waiting: [Sent] = []
  /// Comes behind the next.
  private var late: Sent?
  /// Bytes that may wait: a slow reader has little.
  private let room: Int
  /// Nothing arrives any more, on either side, and nobody knows it yet.
  var isDead = false
  private(set) var isClosed = false
  private var hasRefused = false
  /// Commands that wait for their answers.
  private(set) var openCommands = 0
  /// Sees everything when it leaves, and decides what becomes of it.
  private let leaves: (Sent) -> Fate

  init(room: Int, leaves: @escaping (Sent) -> Fate) {
    self.room = room
    self.leaves = leaves
  }

  // MARK: The server's end

  func send(_ message: WebSocketMessage) -> Bool {
    switch message {
    case .text(let bytes), .binary(let bytes): send(bytes)
    }
  }

  func send(_ frame: SharedFrame) -> Bool {
    guard hasRoom(for: frame.plain.count) else { return false }
    var session = WebSocketSession(role: .client { 0 }, messageLimit: .max, streams: streams)
    var actions: [WebSocketSession.Action] = []
    session.receive(frame.plain.span, into: &actions)
    for case .text(let bytes) in actions { leave(bytes) }
    return true
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    guard hasRoom(for: bytes.count) else { return false }
    leave(bytes)
    return true
  }

  private func hasRoom(for count: Int) -> Bool {
    guard !isClosed else { return false }
    guard queued + count <= room || waiting.isEmpty else {
      hasRefused = true
      return false
    }
    return true
  }

  private func leave(_ bytes: [UInt8]) {
    let sent = Sent(frame: Frame(bytes), bytes: bytes)
    if case .answer = sent.frame { openCommands -= 1 }
    switch leaves(sent) {
    case .arrives: arrive(sent)
    case .vanishes: break
    case .comesTwice: for _ in 0..<2 { arrive(sent) }
    case .comesLate:
      late = sent
      return
    }
    if let late {
      self.late = nil
      arrive(late)
    }
  }

  /// What was meant for another.
  func stray(_ sent: Sent) {
    _ = leaves(sent)
    arrive(sent)
  }

  private func arrive(_ sent: Sent) {
    waiting.append(sent)
    queued += sent.bytes.count
  }

  func close(_ code: CloseCode, reason: String) {
    guard !isClosed else { return }
    isClosed = true
    openCommands = 0
    waiting.append(Sent(frame: .closed, bytes: []))
  }

  func pause() {}
  func resume() {}

  // MARK: The device's end

  /// A command leaves; whether it arrives.
  func ask() -> Bool {
    guard !isClosed, !isDead else { return false }
    openCommands += 1
    return true
  }

  /// Something has come that nobody has taken.
  var hasNews: Bool { !isDead && !waiting.isEmpty }

  /// Something is being done for it. Where the line takes no more, an answer may wait for room.
  var isBusy: Bool { openCommands > 0 && !(hasRefused && !waiting.isEmpty) }

  /// The next that came, and whether the server is to hear that there is room again.
  func take() -> (sent: Sent, hasDrained: Bool)? {
    guard !isDead, !waiting.isEmpty else { return nil }
    let sent = waiting.removeFirst()
    queued -= sent.bytes.count
    guard waiting.isEmpty, hasRefused else { return (sent, false) }
    hasRefused = false
    return (sent, true)
  }

  /// The connection is gone: what was under way is lost.
  func cut() {
    isClosed = true
    openCommands = 0
    waiting = []
  }
}

extension Line.Frame {
  /// After what is no frame of ours a device could only begin anew.
  init(_ bytes: [UInt8]) {
    do {
      try self.init(JSONValue(parsing: bytes))
    } catch {
      self = .reset("what was sent is no frame: \(error), \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  private init(_ value: JSONValue) throws {
    var object = try value.object()
    if let answered: Int = try object.optional("re") {
      let problem = try object.optional("problem") { problem throws(JSONError) in
        var members = try problem.object()
        return try members.string("code")
      }
      self = .answer(answered, problem: problem, value)
      return
    }
    switch try object.string("event") {
    case "complete": self = .complete
    case "reset": self = .reset("it was told to begin anew: \(try object.string("reason"))")
    case "lagging":
      let name = try object.string("stream")
      guard let stream = EventStream(name) else { throw try object.value("stream").error(.invalid) }
      self = .lagging(stream)
    case "notice", "typing", "presence", "forum.activity": self = .other
    default: self = .event(try ReceivedEvent(json: value))
    }
  }
}
