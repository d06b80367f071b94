import ParleyJSON
import ParleyKit
import ParleyModel

@testable import ParleyWire

/// The steps of a schedule.
extension PhoneSchedule {
  func step() async throws {
    let phone = pick(phones)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<24: try await post(phone)
    case 24..<40: try await change(phone)
    case 40..<42: await fetchSome(phone)
    case 42..<46: try await read(phone)
    case 46..<49: try await draft(phone)
    case 49..<53: try await reviseOutbox(phone)
    case 53..<61: try await changeMembership(phone)
    case 61..<64: try await manageConversations(phone)
    case 64..<69:
      note("\(phone.name) is disconnected")
      try await disconnect(phone)
    case 69..<75:
      note("\(phone.name) has a network again")
      phone.network.set(isUp: true)
      await phone.parley.networkAvailable()
    case 75..<79:
      note("\(phone.name) is disconnected silently")
      for connection in phone.connections { connection.socket.isDead = true }
    case 79..<84: try await relaunch(phone)
    case 84..<87:
      let (writeCount, isLastDurable) = (Int.random(in: 1...4, using: &random), chance(1, in: 2))
      note("\(phone.name) will die after \(writeCount) writes, the last one durable: \(isLastDurable)")
      phone.lifetime.end(after: writeCount, isLastDurable: isLastDurable)
    case 87..<90: try await restart()
    case 90..<92:
      let days = pick([-1, 1])
      note("the server’s clock moves by \(days) day")
      await stage.pass(days: days, on: self)
    case 94..<96:
      note("the server removes its event log")
      try await stage.removeEventLog(on: self)
    case 92..<94:
      let days = pick([-1, 0, 1])
      note("the clock of \(phone.name) is \(days) day off")
      phone.set(days: Int64(days))
    default: await stage.publish(.random(in: 1...4, using: &random), on: self)
    }
  }

  private func restart() async throws {
    let kill = chance(1, in: 2)
    note(kill ? "the server is killed" : "the server restarts")
    try await stage.restart(kill: kill, on: self)
    for phone in phones { closeConnections(phone) }
  }

  // MARK: Actions in an app

  /// Runs `body`; ignores rejections, and storage faults of an app that has died.
  private func use(_ phone: Phone, _ body: () async throws -> Void) async throws {
    do { try await body() } catch {
      switch error {
      case is OutboxRefusal: return
      case is CacheFault where phone.lifetime.isOver: return
      default: throw error
      }
    }
  }

  private func conversation(for phone: Phone) async -> ID<Conversation>? {
    let own = await phone.parley.cache.replica.conversations.filter { $0.value.isOwn }.keys.sorted()
    return own.isEmpty ? nil : pick(own)
  }

  private func message(for phone: Phone, isOwn: Bool) async throws -> Message? {
    guard let conversation = await conversation(for: phone) else { return nil }
    let known = try await phone.parley.cache.messages(.range(1...Int.max, of: conversation)).map(\.message)
      .filter { $0.tombstone == nil && $0.kind == .message && (!isOwn || $0.author == phone.user.id) }
    return known.isEmpty ? nil : pick(known)
  }

  /// A stored message, or one that waits in the outbox.
  private func target(
    for phone: Phone, isOwn: Bool
  ) async throws -> (target: Draft.Target, conversation: ID<Conversation>)? {
    let unsent = await phone.parley.outbox.list(.send)
    if !unsent.isEmpty, chance(1, in: 2) {
      let one = pick(unsent)
      return (.unsent(one.id), one.conversation)
    }
    return try await message(for: phone, isOwn: isOwn).map { (.message($0.id), $0.conversation) }
  }

  private func post(_ phone: Phone) async throws {
    guard let conversation = await conversation(for: phone) else { return }
    var draft = Draft("words \(stage.steps.count)")
    if chance(1, in: 5), let replied = try await target(for: phone, isOwn: false),
      replied.conversation == conversation
    {
      draft.replyTo = replied.target
    }
    if chance(1, in: 12) {
      let name = "\(phone.name)-file-\(stage.steps.count)"
      draft.files = [PendingFile(id: name, path: "the bytes of \(name)", name: "note.txt")]
    }
    let before = phone.lastName
    try await use(phone) {
      let operation = try await phone.parley.outbox.send(draft, in: conversation)
      note("\(phone.name) posts \(operation.id) in \(conversation)")
      expectedMessages[operation.id] = .required
      conversationsOfPosts[operation.id] = conversation
    }
    if phone.lastName != before, expectedMessages[phone.lastName] == nil {
      expectedMessages[phone.lastName] = .optional
    }
  }

  private func change(_ phone: Phone) async throws {
    let kind = Int.random(in: 0..<4, using: &random)
    guard let (target, conversation) = try await target(for: phone, isOwn: kind < 2) else { return }
    let outbox = phone.parley.outbox
    try await use(phone) {
      switch kind {
      case 0:
        note("\(phone.name) edits \(target)")
        try await outbox.edit(target, in: conversation, to: "edited \(stage.steps.count)")
      case 1:
        note("\(phone.name) deletes \(target)")
        if case .unsent(let name) = target { expectedMessages[name] = .optional }
        let operation = try await outbox.delete(target, in: conversation, andFiles: chance(1, in: 2))
        if let operation, case .message(let id) = target { deletions[operation.id] = id }
      default:
        let (type, isSet) = (pick([ActionType.like, .star, .own("com.example.done")]), chance(2, in: 3))
        note("\(phone.name) sets action \(type.name) on \(target): \(isSet)")
        try await outbox.setAction(type, on: target, in: conversation, isSet: isSet)
      }
    }
  }

  private func read(_ phone: Phone) async throws {
    guard let message = try await message(for: phone, isOwn: false) else { return }
    note("\(phone.name) reads \(message.conversation) up to \(message.seq)")
    try await use(phone) { try await phone.parley.outbox.markRead(message.id, in: message.conversation) }
  }

  /// Fetches all messages of some conversations, concurrently with later steps.
  private func fetchSome(_ phone: Phone) async {
    let own = await phone.parley.cache.replica.conversations.filter { $0.value.isOwn }.keys.sorted()
      .filter { _ in chance(1, in: 2) }
    note("\(phone.name) fetches all of \(own)")
    perform(phone) { app in try await app.sync.fetchAll(own) }
  }

  /// Starts a request that runs concurrently with later steps. It may fail.
  private func perform(_ phone: Phone, _ body: @escaping @Sendable (Parley) async throws -> Void) {
    let app = phone.parley
    Task {
      do { try await body(app) } catch is ClientFault {} catch is SyncRefusal {} catch is CacheFault {} catch {
        stage.fail("\(error)")
      }
    }
  }

  private func draft(_ phone: Phone) async throws {
    guard let conversation = await conversation(for: phone) else { return }
    note("\(phone.name) drafts in \(conversation)")
    let draft = chance(1, in: 4) ? nil : Draft("begun \(stage.steps.count)")
    try await use(phone) { try await phone.parley.cache.setDraft(draft, in: conversation) }
  }

  /// Cancels or retries a pending or rejected operation.
  private func reviseOutbox(_ phone: Phone) async throws {
    let waiting = await phone.parley.outbox.list()
    guard !waiting.isEmpty else { return }
    let operation = pick(waiting)
    let isRetried = chance(1, in: 2)
    note("\(phone.name) \(isRetried ? "retries" : "cancels") \(operation.id)")
    try await use(phone) {
      guard !isRetried else {
        try await phone.parley.outbox.retry(operation.id)
        return
      }
      drop(operation.id, waiting)
      try await phone.parley.outbox.cancel(operation.id)
    }
  }

  private func drop(_ name: String, _ waiting: [OutboxOperation]) {
    if expectedMessages[name] != nil { expectedMessages[name] = .optional }
    deletions[name] = nil
    // Replies remain.
    for operation in waiting where operation.target == .unsent(name) && operation.kind != .send {
      drop(operation.id, waiting)
    }
  }

  // MARK: Actions outside the app

  private func changeMembership(_ phone: Phone) async throws {
    let (other, isIn) = (pick(stage.site.users), chance(1, in: 2))
    if chance(1, in: 2), let conversation = await conversation(for: phone) {
      note("\(phone.name) \(isIn ? "adds" : "removes") \(other.name) \(isIn ? "to" : "from") \(conversation)")
      return perform(phone) { app in
        if isIn {
          _ = try await app.client.send(.setParticipant(of: conversation, to: .id(other.id)))
        } else {
          try await app.client.send(.removeParticipant(of: conversation, user: .id(other.id)))
        }
      }
    }
    // Open channels are joined by the user, with an app if there is one.
    if isIn, chance(1, in: 3), !channels.isEmpty {
      let channel = pick(channels)
      note("\(phone.name) joins \(channel)")
      return perform(phone) { app in _ = try await app.client.send(.setParticipant(of: channel, to: .me)) }
    }
    let path: String
    var user = phone.user
    if chance(1, in: 3), !channels.isEmpty {
      (path, user) = ("/conversations/\(pick(channels))/participants", other)
    } else if let conversation = await conversation(for: phone) {
      path = "/conversations/\(conversation)/participants"
    } else {
      return
    }
    note("\(user.name) \(isIn ? "adds" : "removes") \(other.name) \(isIn ? "to" : "from") \(path)")
    _ = await stage.perform(
      isIn ? .put : .delete, "\(path)/\(other.id)", token: user.token, isIn ? Array("{}".utf8) : [], on: self)
  }

  /// Creates a group or an open channel. Sometimes deletes one.
  private func manageConversations(_ phone: Phone) async throws {
    if chance(1, in: 4), let conversation = await conversation(for: phone) {
      note("\(phone.name) deletes \(conversation)")
      return perform(phone) { app in try await app.client.send(.deleteConversation(conversation)) }
    }
    let others = stage.site.users.filter { $0.id != phone.user.id && chance(1, in: 2) }
    let (isVisible, isChannel) = (chance(1, in: 2), chance(1, in: 3))
    let kind = isChannel ? Conversation.Kind.channel : .group
    note("\(phone.name) creates a \(kind) with \(others.map(\.name)), history \(isVisible)")
    let users = others.map(\.id)
    perform(phone) { app in
      let made = try await app.client.send(
        .createConversation(
          kind, with: users.map { .id($0) }, title: "t", type: isChannel ? "com.example.club" : nil,
          readers: isChannel ? .init(.users) : nil, isHistoryVisible: isVisible))
      if isChannel { await self.add(channel: made.conversation.id) }
    }
  }

  private func add(channel: ID<Conversation>) { channels.append(channel) }

  // MARK: Restarts

  /// Restarts an app that was killed or has died. It must load the state that it had.
  func relaunch(_ phone: Phone) async throws {
    let hasDied = phone.lifetime.isOver
    note("\(phone.name) \(hasDied ? "has died" : "is killed") and restarts")
    let before = hasDied ? nil : await phone.savedState()
    for connection in phone.connections { stage.disconnect(connection.socket, on: self) }
    let app = phone.kill()
    Task { await app.stop() }
    await lane.waitUntilIdle()
    try phone.launch()
    if let before {
      let now = await phone.savedState()
      if before.replica != now.replica { stage.fail("\(phone.name) has a different replica after its restart") }
      if before.operations != now.operations {
        stage.fail("\(phone.name) had to send \(before.operations), and now \(now.operations)")
      }
      if before.drafts != now.drafts { stage.fail("\(phone.name) has lost a draft") }
    }
    await phone.parley.start()
    await lane.waitUntilIdle()
  }
}
