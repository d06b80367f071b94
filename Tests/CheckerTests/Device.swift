import ParleyJSON
import ParleyModel

/// What the scheduler drives: one device of a user, which holds what it was told and wants to say something. It asks
/// nothing itself. Whoever builds a client can be driven instead: it is told what came, says what it holds, and lists what
/// it has to ask.
final class Device {
  let name: String
  let user: CheckedSite.TestUser
  /// Bytes that it lets wait.
  let room: Int
  /// What it does when it was told that it lags: asks again for what it follows, or comes back on another line.
  let asksAgain: Bool
  private(set) var replica = Replica()
  /// What it has to say and has no answer to, in order. It is written down before it leaves.
  private(set) var outbox: [Send] = []
  /// What it would find after it was started anew.
  private var saved: (replica: Replica, behind: EventCursor?)

  private(set) var line: Line?
  private var asked: [Int: Send] = [:]
  private var nextCommand = 1
  /// Of this connection: the last event, and where each stream is.
  private var lastEvent = 0
  private var offsets: [EventStream: Int] = [:]
  private var lagging: Set<EventStream> = []
  /// The command by which it asked to be told again.
  private var repeating: Int?
  /// Where it goes on from where something was left out that it has not got yet; else from its cursor.
  private var behind: EventCursor?

  struct Send {
    let number: Int
    let clientID: String
    let conversation: ID<Conversation>
    let text: String
  }

  init(_ name: String, _ user: CheckedSite.TestUser, room: Int, asksAgain: Bool) {
    self.name = name
    self.user = user
    self.room = room
    self.asksAgain = asksAgain
    saved = (replica, nil)
  }

  // MARK: What it keeps

  func begin(with snapshot: Snapshot) {
    replica = Replica(snapshot)
    save()
  }

  func save() { saved = (replica, behind) }

  func relaunch() {
    (replica, behind) = saved
    disconnected()
  }

  func write(_ send: Send) { outbox.append(send) }

  /// It was answered, one way or the other.
  func settle(_ send: Send) { outbox.removeAll { $0.number == send.number } }

  // MARK: The connection

  var cursor: String { (behind ?? replica.cursor)?.description ?? "" }

  func connected(_ line: Line) {
    disconnected()
    self.line = line
  }

  func disconnected() {
    line = nil
    asked = [:]
    lastEvent = 0
    offsets = [:]
    lagging = []
    repeating = nil
  }

  func command(_ members: (inout JSONWriter) -> Void, for send: Send? = nil) -> [UInt8] {
    let id = nextCommand
    nextCommand += 1
    asked[id] = send
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

  /// What it asks after it was told that it lags: all that it follows, from where it was then.
  func askAgain() -> [UInt8]? {
    guard !lagging.isEmpty, repeating == nil, let from = behind else { return nil }
    lagging = []
    repeating = nextCommand
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

  enum Told {
    case nothing
    case acknowledged(Send, JSONValue)
    case refused(Send)
    /// The connection is of no use any more.
    case over
    case fault(String)
  }

  func take(_ frame: Line.Frame) -> Told {
    switch frame {
    case .event(let event): return take(event).map { .fault($0) } ?? .nothing
    case .answer(let id, let problem, let value):
      if repeating == id {
        repeating = nil
        offsets = [:]
        if lagging.isEmpty { behind = nil }
      }
      guard let send = asked.removeValue(forKey: id) else { return .nothing }
      switch problem {
      case nil: return .acknowledged(send, value)
      // Later, then.
      case "rate_limited": return .nothing
      default: return .refused(send)
      }
    case .lagging(let stream):
      // Its cursor stands before what was left out.
      guard asksAgain else { return .over }
      if behind == nil { behind = replica.cursor }
      lagging.insert(stream)
      return .nothing
    case .complete:
      if lagging.isEmpty { behind = nil }
      return .nothing
    case .reset(let reason): return .fault(reason)
    case .closed: return .over
    case .other: return .nothing
    }
  }

  /// Why it should not have come.
  private func take(_ event: ReceivedEvent) -> String? {
    let isRepeated = behind != nil
    guard event.id > lastEvent || isRepeated else { return "event \(event.id) comes after \(lastEvent)" }
    lastEvent = max(lastEvent, event.id)
    if let last = offsets[event.stream], !isRepeated {
      guard event.offset == last + 1 else { return "\(event.stream) goes on at \(event.offset) after \(last)" }
    }
    offsets[event.stream] = event.offset
    // What was lost and is gained again goes on further behind.
    switch event.content {
    case .gained(let gained): offsets[.conversation(gained.conversation.id)] = nil
    case .thing(let id): if case .user = event.stream { offsets[.conversation(ID(id))] = nil }
    default: break
    }
    guard case .missing(let after) = replica.apply(event), !isRepeated else { return nil }
    return "\(event.stream) has a hole after \(after), before \(event.offset)"
  }

  // MARK: What it asks

  var needs: [Replica.Need] { replica.needs.sorted { "\($0)" < "\($1)" } }
  var asOf: Int { replica.cursor?.event ?? 0 }

  func hold(_ body: (inout Replica) -> Void) { body(&replica) }
}
