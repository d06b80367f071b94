import ParleyJSON
import ParleyModel

/// One device of a user with a replica and an outbox, driven by the scheduler. It sends no requests itself: the
/// scheduler passes frames to it, and reads its state and its needs. Another client can be driven in the same way.
final class Device {
  let name: String
  let user: CheckedSite.TestUser
  /// The limit of bytes queued for it.
  let maxQueuedBytes: Int
  /// Whether it subscribes again after `lagging`, or reconnects.
  let subscribesAgain: Bool
  private(set) var replica = Replica()
  /// Unacknowledged messages in order, stored before they are sent.
  private(set) var outbox: [Send] = []
  /// The state that it has after a restart.
  private var saved: (replica: Replica, resumeCursor: EventCursor?)

  private(set) var socket: SimulatedSocket?
  private var pendingCommands: [Int: Send] = [:]
  private var nextCommand = 1
  /// The last event of this connection, and the offset of each stream.
  private var lastEvent = 0
  private var offsets: [EventStream: Int] = [:]
  private var lagging: Set<EventStream> = []
  /// The command that subscribes again.
  private var subscribeCommand: Int?
  /// The cursor to resume from after skipped events that it has not received; else it resumes from its own cursor.
  private var resumeCursor: EventCursor?

  struct Send {
    let number: Int
    let clientID: String
    let conversation: ID<Conversation>
    let text: String
  }

  init(_ name: String, _ user: CheckedSite.TestUser, maxQueuedBytes: Int, subscribesAgain: Bool) {
    self.name = name
    self.user = user
    self.maxQueuedBytes = maxQueuedBytes
    self.subscribesAgain = subscribesAgain
    saved = (replica, nil)
  }

  // MARK: Stored state

  func begin(with snapshot: Snapshot) {
    replica = Replica(snapshot)
    save()
  }

  func save() { saved = (replica, resumeCursor) }

  func relaunch() {
    (replica, resumeCursor) = saved
    disconnected()
  }

  func write(_ send: Send) { outbox.append(send) }

  /// Removes an acknowledged or rejected message.
  func settle(_ send: Send) { outbox.removeAll { $0.number == send.number } }

  // MARK: The connection

  var cursor: String { (resumeCursor ?? replica.cursor)?.description ?? "" }

  func connected(_ socket: SimulatedSocket) {
    disconnected()
    self.socket = socket
  }

  func disconnected() {
    socket = nil
    pendingCommands = [:]
    lastEvent = 0
    offsets = [:]
    lagging = []
    subscribeCommand = nil
  }

  func command(_ members: (inout JSONWriter) -> Void, for send: Send? = nil) -> [UInt8] {
    let id = nextCommand
    nextCommand += 1
    pendingCommands[id] = send
    var json = JSONWriter()
    json.object { json in
      json.field("id", id)
      members(&json)
    }
    return json.bytes
  }

  func command(of send: Send) -> [UInt8] {
    command(
      { json in
        json.field("do", "send")
        json.field("conversation_id", send.conversation)
        json.field("client_id", send.clientID)
        json.field("text", send.text)
      }, for: send)
  }

  /// The command after `lagging`: subscribes again from the cursor before the skipped events.
  func subscribeAgain() -> [UInt8]? {
    guard !lagging.isEmpty, subscribeCommand == nil, let from = resumeCursor else { return nil }
    lagging = []
    subscribeCommand = nextCommand
    return command { json in
      json.field("do", "subscribe")
      json.array("topics") { json in
        json.object { json in
          json.field("topic", "me")
          json.field("cursor", from)
        }
      }
    }
  }

  enum FrameResult {
    case accepted
    case acknowledged(Send, JSONValue)
    case refused(Send)
    /// The connection must be closed.
    case closed
    case fault(String)
  }

  func take(_ frame: SimulatedSocket.Frame) -> FrameResult {
    switch frame {
    case .event(let event): return take(event).map { .fault($0) } ?? .accepted
    case .response(let id, let problem, let value):
      if subscribeCommand == id {
        subscribeCommand = nil
        offsets = [:]
        if lagging.isEmpty { resumeCursor = nil }
      }
      guard let send = pendingCommands.removeValue(forKey: id) else { return .accepted }
      switch problem {
      case nil: return .acknowledged(send, value)
      // Retried later.
      case "rate_limited": return .accepted
      default: return .refused(send)
      }
    case .lagging(let stream):
      // Its cursor is before the skipped events.
      guard subscribesAgain else { return .closed }
      if resumeCursor == nil { resumeCursor = replica.cursor }
      lagging.insert(stream)
      return .accepted
    case .complete:
      if lagging.isEmpty { resumeCursor = nil }
      return .accepted
    case .restarted(let cursor):
      if resumeCursor == nil { replica.move(to: cursor) } else { resumeCursor = cursor }
      return .accepted
    case .reset(let reason): return .fault(reason)
    case .closed: return .closed
    case .other: return .accepted
    }
  }

  /// The reason why an event is not allowed here.
  private func take(_ event: ReceivedEvent) -> String? {
    let isRepeated = resumeCursor != nil
    guard event.id > lastEvent || isRepeated else { return "event \(event.id) follows \(lastEvent)" }
    lastEvent = max(lastEvent, event.id)
    if let last = offsets[event.stream], !isRepeated {
      guard event.offset == last + 1 else { return "\(event.stream) continues at \(event.offset) after \(last)" }
    }
    offsets[event.stream] = event.offset
    // The stream of a conversation that was removed and added again continues at a later offset.
    if case .gained(let gained) = event.content { offsets[.conversation(gained.conversation.id)] = nil }
    if case .thing(let id) = event.content, case .user = event.stream { offsets[.conversation(ID(id))] = nil }
    guard case .missing(let after) = replica.apply(event), !isRepeated else { return nil }
    return "\(event.stream) has a gap after \(after), before \(event.offset)"
  }

  // MARK: Needs

  var needs: [Replica.Need] { replica.needs.sorted { "\($0)" < "\($1)" } }
  var asOf: Int { replica.cursor?.event ?? 0 }

  func merge(_ body: (inout Replica) -> Void) { body(&replica) }
}
