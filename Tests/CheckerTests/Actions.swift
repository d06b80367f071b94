import ParleyJSON
import ParleyModel
import ParleyWire

/// The steps of a schedule.
extension Schedule {
  /// Runs `count` steps, and checks the final state.
  func run(steps count: Int, devices deviceCount: Int) async throws {
    try await stage.noteAccess()
    for number in 0..<deviceCount {
      let user = site.users[number % site.users.count]
      // Some have a very small buffer.
      let maxQueuedBytes = pick([2_000, 20_000, 200_000])
      let device = Device(
        "\(user.name)’s \(number)", user, maxQueuedBytes: maxQueuedBytes, subscribesAgain: pick([true, false]))
      devices.append(device)
      if let snapshot = site.snapshots[user.id] { device.begin(with: snapshot) }
      await connect(device)
    }
    for number in 0..<count {
      guard stage.faults.isEmpty else { break }
      try await step()
      if number == count / 2, random.next() % 4 == 0 { try await checkFinalState() }
    }
    try await checkFinalState()
  }

  func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &random)] }

  private func step() async throws {
    let device = pick(devices)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<26: try await post(device)
    case 26..<34: try await change(device)
    case 34..<39: await read(device)
    case 39..<49: try await changeMembership(device)
    case 49..<53: try await manageConversations(device)
    case 53..<58:
      note("\(device.name) is disconnected")
      disconnect(device)
    case 58..<62:
      note("\(device.name) is disconnected silently")
      device.socket?.isDead = true
    case 62..<64:
      note("heartbeats close the dead connections")
      for device in devices where device.socket?.isDead ?? false { disconnect(device) }
    case 64..<69:
      note("\(device.name) reconnects")
      await connect(device)
    case 69..<71:
      note("\(device.name) restarts")
      disconnect(device)
      device.relaunch()
    case 71..<73: device.save()
    case 73..<76: try await sendAgain(device)
    case 76..<78:
      let kill = random.next() % 2 == 0
      note(kill ? "the server is killed" : "the server restarts")
      try await restart(kill: kill)
    case 78..<80: await moveClock()
    case 80..<88: await publish(.random(in: 1...4, using: &random))
    case 88..<96: await take(.random(in: 1...12, using: &random), by: device)
    default: try await fetchNeeds(of: device)
    }
    if random.next() % 3 > 0 { await publish(.max) }
  }

  private func moveClock() async {
    let days = pick([-1, 1])
    note("the clock moves by \(days) day")
    await stage.pass(days: days, on: self)
  }

  // MARK: User actions

  /// A conversation of the device's replica.
  private func conversation(for device: Device) -> ID<Conversation>? {
    let own = device.replica.conversations.filter { $0.value.isOwn }.keys.sorted()
    return own.isEmpty ? nil : pick(own)
  }

  private func message(for device: Device, isOwn: Bool) -> Message? {
    let all = device.replica.conversations.values.flatMap(\.messages.values).map(\.message)
      .filter { $0.tombstone == nil && (!isOwn || $0.author == device.user.id) }
      .sorted { $0.id < $1.id }
    return all.isEmpty ? nil : pick(all)
  }

  private func post(_ device: Device) async throws {
    guard let conversation = conversation(for: device) else { return }
    let number = sentMessages.count
    let send = Device.Send(
      number: number, clientID: clientID(number), conversation: conversation, text: TaggedText.text(number))
    sentMessages.append(SentRecord(user: device.user.id, conversation: conversation))
    device.write(send)
    note("\(device.name) posts \(number) in \(conversation)")
    try await post(send, by: device)
  }

  /// Sends over the socket or as a request. Some requests and some responses are lost.
  private func post(_ send: Device.Send, by device: Device) async throws {
    let fate = Int.random(in: 0..<10, using: &random)
    guard fate > 0 else { return }
    if device.socket != nil, random.next() % 4 > 0 {
      self.send(device.command(of: send), by: device)
      if fate == 1 { disconnect(device) }
      await settle()
    } else {
      let response = await request(of: send, by: device)
      guard fate > 1 else { return }
      try handle(send, response, device)
    }
  }

  func postByRequest(_ send: Device.Send, by device: Device) async throws {
    try handle(send, await request(of: send, by: device), device)
  }

  private func request(of send: Device.Send, by device: Device) async -> (status: Int, body: [UInt8]) {
    var json = JSONWriter()
    json.object { json in
      json.field("client_id", send.clientID)
      json.field("text", send.text)
    }
    return await perform(.post, "/conversations/\(send.conversation)/messages", by: device.user, json.bytes)
  }

  private func handle(_ send: Device.Send, _ response: (status: Int, body: [UInt8]), _ device: Device) throws {
    switch response.status {
    case 200, 201:
      note(send, try Message(json: JSONValue(parsing: response.body)).id)
      device.settle(send)
    case 403, 404, 409, 410:
      sentMessages[send.number].isRefused = true
      device.settle(send)
    // A clock that was set back makes them wait; the device sends it again.
    case 429: stage.clock.pass(1_000)
    default: fail("the response to a message was \(response.status): \(String(decoding: response.body, as: UTF8.self))")
    }
  }

  /// Sends unacknowledged messages again, perhaps over the other transport.
  private func sendAgain(_ device: Device) async throws {
    for send in device.outbox {
      note("\(device.name) retries \(send.number)")
      try await post(send, by: device)
    }
  }

  private func number(of message: Message) -> Int? {
    sentMessages.indices.first { clientID($0) == message.clientID }
  }

  private func change(_ device: Device) async throws {
    let kind = Int.random(in: 0..<4, using: &random)
    guard let message = message(for: device, isOwn: kind < 2) else { return }
    let overSocket = device.socket != nil && random.next() % 2 == 0
    let path = "/messages/\(message.id)"
    switch kind {
    case 0:
      guard let number = number(of: message) else { return }
      note("\(device.name) edits \(number)")
      let text = TaggedText.text(number, "edited \(stage.steps.count)")
      if overSocket {
        send(
          device.command { json in
            json.field("do", "edit")
            json.field("message_id", message.id)
            json.field("text", text)
          }, by: device)
      } else {
        _ = await perform(.patch, path, by: device.user, Array(#"{"text":"\#(text)"}"#.utf8))
      }
    case 1:
      note("\(device.name) deletes \(message.id)")
      if overSocket {
        send(
          device.command { json in
            json.field("do", "delete")
            json.field("message_id", message.id)
          }, by: device)
      } else {
        _ = await perform(.delete, path, by: device.user)
      }
    default:
      let (type, isOn) = (pick(["like", "star", "com.example.done"]), random.next() % 3 > 0)
      note("\(device.name) sets action \(type) on \(message.id): \(isOn)")
      if overSocket {
        send(
          device.command { json in
            json.field("do", isOn ? "set_action" : "remove_action")
            json.field("message_id", message.id)
            json.field("type", type)
          }, by: device)
      } else {
        _ = await perform(isOn ? .put : .delete, "\(path)/actions/\(type)", by: device.user)
      }
    }
    await settle()
  }

  private func read(_ device: Device) async {
    guard let message = message(for: device, isOwn: false) else { return }
    note("\(device.name) reads \(message.conversation) up to \(message.seq)")
    let body = Array(#"{"message_id":"\#(message.id)"}"#.utf8)
    _ = await perform(.put, "/conversations/\(message.conversation)/read", by: device.user, body)
  }

  /// Adds or removes a user.
  private func changeMembership(_ device: Device) async throws {
    let (other, isIn) = (pick(site.users), random.next() % 2 == 0)
    switch random.next() % 4 {
    case 0:
      note("\(other.name) \(isIn ? "joins" : "leaves") the forum")
      // The forum's admin adds and removes members.
      await move(other, isIn, "/forums/\(site.forum)/members", by: site.users[0])
    case 1:
      guard !channels.isEmpty else { return }
      let channel = pick(channels)
      note("\(other.name) \(isIn ? "joins" : "leaves") channel \(channel)")
      await move(other, isIn, "/conversations/\(channel)/participants", by: other)
    default:
      guard let conversation = conversation(for: device) else { return }
      note(
        "\(device.name) \(isIn ? "adds" : "removes") \(other.name) \(isIn ? "to" : "from") \(conversation)")
      await move(other, isIn, "/conversations/\(conversation)/participants", by: device.user)
    }
    try await stage.noteAccess()
  }

  private func move(_ other: CheckedSite.TestUser, _ isIn: Bool, _ path: String, by user: CheckedSite.TestUser) async {
    let path = "\(path)/\(other.id)"
    _ = await isIn ? perform(.put, path, by: user, Array("{}".utf8)) : perform(.delete, path, by: user)
  }

  /// Creates a group, with or without visible history for later participants, or an open channel. Sometimes deletes
  /// one.
  private func manageConversations(_ device: Device) async throws {
    if random.next() % 4 == 0, let conversation = conversation(for: device) {
      note("\(device.name) deletes \(conversation)")
      _ = await perform(.delete, "/conversations/\(conversation)", by: device.user)
    } else {
      let others = site.users.filter { $0.id != device.user.id && random.next() % 2 == 0 }
      let (isVisible, isChannel) = (random.next() % 2 == 0, random.next() % 3 == 0)
      let kind = isChannel ? "channel" : "group"
      note("\(device.name) creates a \(kind) with \(others.map(\.name)), history \(isVisible)")
      let ids = others.map { "\"\($0.id)\"" }.joined(separator: ",")
      let open = isChannel ? #","type":"com.example.club","readers":{"open_to":"users"}"# : ""
      let body = #"{"kind":"\#(kind)","title":"t","participants":[\#(ids)],"history_visible":\#(isVisible)\#(open)}"#
      let response = await perform(.post, "/conversations", by: device.user, Array(body.utf8))
      if isChannel, response.status == 201 {
        var made = try JSONValue(parsing: response.body).object()
        channels.append(try made.read("id"))
      }
    }
    try await stage.noteAccess()
  }

  func perform(
    _ method: ParleyWire.Method, _ path: String, by user: CheckedSite.TestUser, _ body: [UInt8] = []
  ) async -> (status: Int, body: [UInt8]) {
    let response = await stage.perform(method, path, token: user.token, body, on: self)
    checkTexts(in: response.body, for: user.id, since: stage.audit.lastEvent)
    return response
  }
}
