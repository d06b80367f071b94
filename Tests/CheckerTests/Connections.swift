import ParleyJSON
import ParleyModel

/// Connections between the devices and the server.
extension Schedule {
  func connect(_ device: Device) async {
    disconnect(device)
    let since = stage.audit.lastEvent
    let socket = SimulatedSocket(maxQueuedBytes: device.maxQueuedBytes) { sent in
      self.checkSent(sent, for: device, since: since)
    }
    let query = "topics=me&after=\(device.cursor)"
    guard await stage.connect(socket, query, token: device.user.token, on: self) else { return }
    device.connected(socket)
    await settle()
  }

  /// Closes the connection on both sides.
  func disconnect(_ device: Device) {
    guard let socket = device.socket else { return }
    stage.disconnect(socket, on: self)
    device.disconnected()
  }

  func send(_ command: [UInt8], by device: Device) {
    if let socket = device.socket { stage.send(command, on: socket, self) }
  }

  /// The device receives up to `count` frames.
  @discardableResult
  func take(_ count: Int, by device: Device) async -> Int {
    var taken = 0
    while taken < count, let socket = device.socket, let (sent, hasDrained) = socket.take() {
      taken += 1
      switch device.take(sent.frame) {
      case .accepted: break
      case .acknowledged(let send, let response): acknowledged(send, response, device)
      case .refused(let send):
        sentMessages[send.number].isRefused = true
        device.settle(send)
      case .closed: disconnect(device)
      case .fault(let fault): fail("\(device.name): \(fault)")
      }
      if hasDrained { await stage.drained(socket, on: self) }
    }
    if let command = device.subscribeAgain() {
      send(command, by: device)
      await settle()
    }
    return taken
  }

  private func acknowledged(_ send: Device.Send, _ response: JSONValue, _ device: Device) {
    do {
      var object = try response.object()
      let message: Message = try object.read("message")
      note(send, message.id)
      device.settle(send)
    } catch {
      fail("a response to a message has no message: \(error)")
    }
  }

  func note(_ send: Device.Send, _ message: ID<Message>) {
    if let before = sentMessages[send.number].acknowledged, before != message {
      fail("\(send.clientID) was acknowledged as \(before) and as \(message)")
    }
    sentMessages[send.number].acknowledged = message
  }

  // MARK: Sent frames

  private func checkSent(_ sent: SimulatedSocket.Sent, for device: Device, since: Int) -> SimulatedSocket.Fate {
    let user = device.user.id
    guard case .event(let event) = sent.frame else {
      checkTexts(in: sent.bytes, for: user, since: since)
      return .delivered
    }
    if let fault = stage.audit.fault(event, for: user, stage.progress, seq: stage.seq) { fail(fault) }
    checkTexts(in: sent.bytes, for: user, since: stage.progress.delivered)
    guard case .conversation(let conversation) = event.stream, event.content != .hidden else { return .delivered }
    return fate(sent, in: conversation)
  }

  /// Checks that every message text in a response or frame may be read by the user. Own texts are always allowed.
  func checkTexts(in bytes: [UInt8], for user: ID<User>, since: Int) {
    for number in TaggedText.numbers(in: bytes) {
      guard sentMessages.indices.contains(number) else { return fail("\(user) receives an unknown text") }
      let message = sentMessages[number]
      guard message.user != user else { continue }
      let fault = stage.audit.fault(textIn: message.conversation, for: user, since: since) {
        stage.seq(clientID(number))
      }
      if let fault { fail(fault) }
    }
  }

  func clientID(_ number: Int) -> String { "\(seed)-\(number)" }

  /// The fate of an event with the injected fault of the hub.
  private func fate(_ sent: SimulatedSocket.Sent, in conversation: ID<Conversation>) -> SimulatedSocket.Fate {
    guard let injected, untilFault > 0 else { return .delivered }
    let otherDevice = devices.first { device in
      device.socket != nil && stage.audit.start(of: device.user.id, in: conversation) == nil
    }
    if injected == .ignoresPermissions, otherDevice == nil { return .delivered }
    untilFault -= 1
    guard untilFault == 0 else { return .delivered }
    switch injected {
    case .dropsEvent: return .dropped
    case .repeatsEvent: return .repeated
    case .reordersEvents: return .delayed
    case .ignoresPermissions:
      otherDevice?.socket?.inject(sent)
      return .delivered
    }
  }
}
