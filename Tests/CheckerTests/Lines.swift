import ParleyJSON
import ParleyModel

/// Connections between the devices and the server.
extension Schedule {
  func connect(_ device: Device) async {
    cut(device)
    let since = stage.audit.lastEvent
    let line = Line(room: device.room) { sent in self.leaves(sent, for: device, since: since) }
    let query = "topics=me&after=\(device.cursor)"
    guard await stage.connect(line, query, token: device.user.token, on: self) else { return }
    device.connected(line)
    await settle()
  }

  /// Closes the connection on both sides.
  func cut(_ device: Device) {
    guard let line = device.line else { return }
    stage.cut(line, on: self)
    device.disconnected()
  }

  func send(_ command: [UInt8], by device: Device) {
    if let line = device.line { stage.send(command, on: line, self) }
  }

  /// The device receives up to `count` frames.
  @discardableResult
  func take(_ count: Int, by device: Device) async -> Int {
    var taken = 0
    while taken < count, let line = device.line, let (sent, hasDrained) = line.take() {
      taken += 1
      switch device.take(sent.frame) {
      case .nothing: break
      case .acknowledged(let send, let answer): acknowledged(send, answer, device)
      case .refused(let send):
        said[send.number].isRefused = true
        device.settle(send)
      case .over: cut(device)
      case .fault(let what): fail("\(device.name): \(what)")
      }
      if hasDrained { await stage.drained(line, on: self) }
    }
    if let again = device.askAgain() {
      send(again, by: device)
      await settle()
    }
    return taken
  }

  private func acknowledged(_ send: Device.Send, _ answer: JSONValue, _ device: Device) {
    do {
      var object = try answer.object()
      let message: Message = try object.read("message")
      note(send, message.id)
      device.settle(send)
    } catch {
      fail("a response to a message has no message: \(error)")
    }
  }

  func note(_ send: Device.Send, _ message: ID<Message>) {
    if let before = said[send.number].acknowledged, before != message {
      fail("\(send.clientID) was acknowledged as \(before) and with \(message)")
    }
    said[send.number].acknowledged = message
  }

  // MARK: Sent frames

  private func leaves(_ sent: Line.Sent, for device: Device, since: Int) -> Line.Fate {
    let user = device.user.id
    guard case .event(let event) = sent.frame else {
      checkWords(in: sent.bytes, for: user, since: since)
      return .arrives
    }
    if let fault = stage.audit.fault(event, for: user, stage.moment, seq: stage.seq) { fail(fault) }
    checkWords(in: sent.bytes, for: user, since: stage.moment.told)
    guard case .conversation(let conversation) = event.stream, event.content != .hidden else { return .arrives }
    return fate(sent, in: conversation)
  }

  /// Checks that every message text in a response or frame may be read by the user. Own texts are always allowed.
  func checkWords(in bytes: [UInt8], for user: ID<User>, since: Int) {
    for number in Words.numbers(in: bytes) {
      guard said.indices.contains(number) else { return fail("\(user) receives an unknown text") }
      let words = said[number]
      guard words.user != user else { continue }
      let fault = stage.audit.fault(wordsIn: words.conversation, for: user, since: since) {
        stage.seq(clientID(number))
      }
      if let fault { fail(fault) }
    }
  }

  func clientID(_ number: Int) -> String { "\(seed)-\(number)" }

  /// The fate of an event with the injected fault of the hub.
  private func fate(_ sent: Line.Sent, in conversation: ID<Conversation>) -> Line.Fate {
    guard let injected, untilFault > 0 else { return .arrives }
    let stranger = devices.first { device in
      device.line != nil && stage.audit.start(of: device.user.id, in: conversation) == nil
    }
    if injected == .asksNoRights, stranger == nil { return .arrives }
    untilFault -= 1
    guard untilFault == 0 else { return .arrives }
    switch injected {
    case .dropsOne: return .vanishes
    case .doublesOne: return .comesTwice
    case .swapsTwo: return .comesLate
    case .asksNoRights:
      stranger?.line?.stray(sent)
      return .arrives
    }
  }
}
