import ParleyModel

@testable import ParleyKit

/// The final state, in which all work is done, and its checks.
extension PhoneSchedule {
  private static let maxRounds = 300
  /// An app sends its requests one by one.
  private static let maxCalls = 3_000

  func checkFinalState() async throws {
    note("all work is completed")
    for phone in phones {
      if phone.lifetime.isOver { try await relaunch(phone) }
      phone.network.set(isUp: true)
      await phone.parley.networkAvailable()
    }
    repeat {
      try await runUntilIdle()
      try await stage.noteAccess()
    } while stage.waitingDeliveries > 0 && stage.faults.isEmpty
    guard stage.faults.isEmpty else { return }
    for phone in phones { phone.lifetime.cancelDeath() }
    stage.checkIDs()
    var (failed, orphaned): (Set<String>, Set<String>) = ([], [])
    var expectedReplicas: [ID<User>: Replica] = [:]
    for phone in phones {
      let user = phone.user.id
      var expected: Replica
      if let known = expectedReplicas[user] {
        expected = known
      } else {
        expected = try await stage.replica(of: phone.user)
      }
      expectedReplicas[user] = expected
      // An app caches only the viewed ones of the messages before the snapshot.
      stage.check(try await known(by: phone), of: phone.name, user, against: expected, isWhole: false)
      if try await fetchAll(for: phone) {
        try await runUntilIdle()
        expected = try await stage.replica(of: phone.user)
        expectedReplicas = [user: expected]
      }
      guard stage.faults.isEmpty else { return }
      stage.check(try await known(by: phone), of: phone.name, user, against: expected, isProven: true)
      let refused = await phone.parley.outbox.list()
      failed.formUnion(refused.map(\.id))
      // The files of a lost message are lost, too.
      for operation in refused
      where operation.failure?.refusesAttachments ?? false && operation.draft?.attachments.isEmpty ?? true {
        stage.fail("\(phone.name) sends lost files with \(operation.id)")
      }
      orphaned.formUnion(await checkOrphans(of: phone, expected))
    }
    checkSends(but: failed.union(orphaned).union(try await unreadablePosts()))
    await checkDeletions(but: failed)
  }

  /// Checks that the server does not have the orphans.
  /// - Returns: the ids of their operations, if the phone has sent them.
  private func checkOrphans(of phone: Phone, _ expected: Replica) async -> [String] {
    let orphans = await phone.parley.outbox.orphans
    let stored = expected.conversations.values.flatMap(\.messages.values).map(\.message)
    let (ids, names) = (Set(stored.map(\.id)), Set(stored.compactMap(\.clientID)))
    let wrong = orphans.filter { ids.contains($0.id) || $0.clientID.map { names.contains($0) } ?? false }
    if !stage.hasGoneBack && !orphans.isEmpty || !wrong.isEmpty {
      stage.fail("\(phone.name) takes \(wrong) for lost messages, among \(orphans.map(\.id))")
    }
    return orphans.compactMap(\.clientID).filter { $0.hasPrefix("\(seed)-\(phone.name)-") }
  }

  /// The app's replica with all messages of its store.
  private func known(by phone: Phone) async throws -> Replica {
    let cache = phone.parley.cache
    var replica = await cache.replica
    for id in replica.conversations.keys.sorted() {
      replica.bring(try await cache.messages(.range(1...Int.max, of: id)).map(\.replica))
    }
    return replica
  }

  /// Fetches and verifies all conversations; then own actions without events are correct, too.
  /// - Returns: whether time has passed, in which other apps may have changed data.
  private func fetchAll(for phone: Phone) async throws -> Bool {
    let app = phone.parley
    let all = await app.cache.replica.conversations.keys.sorted()
    isFetching = true
    let fetching = Task {
      defer { isFetching = false }
      try await app.sync.fetchAll(all)
      for conversation in all { _ = try await app.sync.verify(conversation) }
    }
    var hasWaited = false
    for _ in 0..<Self.maxCalls {
      await lane.waitUntilIdle()
      guard isFetching else {
        try await fetching.value
        return hasWaited
      }
      if try await deliverAll() { continue }
      // The fetch sleeps, or is queued behind a sleep.
      guard wakeNext() else { break }
      hasWaited = true
    }
    fetching.cancel()
    stage.fail("\(phone.name) never completes its fetch")
    return hasWaited
  }

  /// Runs until each app is live and has no messages to send.
  func runUntilIdle() async throws {
    for _ in 0..<Self.maxRounds {
      guard stage.faults.isEmpty, !Task.isCancelled else { return }
      await stage.publish(.max, on: self)
      await lane.waitUntilIdle()
      for phone in phones where phone.lifetime.isOver { try await relaunch(phone) }
      if try await deliverAll() { continue }
      var unfinished: [String] = []
      for phone in phones { if let reason = await pendingWork(of: phone) { unfinished.append(reason) } }
      if unfinished.isEmpty { return }
      guard wakeNext() else { return stage.fail("all work is blocked: \(unfinished)") }
    }
    var unfinished: [String] = []
    for phone in phones { unfinished.append(await pendingWork(of: phone) ?? "\(phone.name) is idle") }
    stage.fail("work never completes: \(unfinished)")
  }

  private func pendingWork(of phone: Phone) async -> String? {
    let state = await phone.parley.state
    guard state == .live else { return "\(phone.name) is \(state)" }
    if phone.connections.contains(where: { $0.socket.isDead || $0.socket.isClosed }) {
      return "\(phone.name) has a dead connection"
    }
    let calls = phone.parley.client.activity.count
    guard calls == 0 else { return "\(phone.name) has \(calls) pending requests" }
    let needs = await phone.parley.cache.replica.needs
    guard needs.isEmpty else { return "\(phone.name) needs \(needs)" }
    let waiting = await phone.parley.outbox.list()
    let remaining = waiting.filter { !isRefused($0, waiting) }
    return remaining.isEmpty ? nil : "\(phone.name) has to send \(remaining)"
  }

  /// Whether the server has rejected the operation or its target.
  private func isRefused(_ operation: OutboxOperation, _ all: [OutboxOperation]) -> Bool {
    if let failure = operation.failure { return !failure.isTemporary }
    guard case .unsent(let name) = operation.target, let other = all.first(where: { $0.id == name }) else {
      return false
    }
    return isRefused(other, all)
  }

  /// The posts in conversations that their author may not read any more. After the data has gone back, no response tells
  /// whether the server hides such a message or has lost it, and the app keeps no copy.
  private func unreadablePosts() async throws -> Set<String> {
    guard stage.hasGoneBack else { return [] }
    var names: Set<String> = []
    for phone in phones {
      let readable = try await stage.replica(of: phone.user).conversations
      for (name, conversation) in conversationsOfPosts
      where name.hasPrefix("\(seed)-\(phone.name)-") && readable[conversation] == nil {
        names.insert(name)
      }
    }
    return names
  }

  /// Each posted message is stored, and none twice.
  private func checkSends(but refused: Set<String>) {
    var stored = stage.storedSends()
    for (name, certainty) in expectedMessages.sorted(by: { $0.key < $1.key }) {
      guard stored.removeValue(forKey: name) == nil, !refused.contains(name) else { continue }
      if certainty == .required { stage.fail("\(name) was posted, and is not stored") }
    }
    if !stored.isEmpty { stage.fail("unexpected messages \(stored.keys.sorted())") }
  }

  /// Each deleted message is gone, unless the deletion was rejected or cancelled.
  private func checkDeletions(but refused: Set<String>) async {
    var open: Set<ID<Message>> = []
    for phone in phones {
      for case .message(let id)? in await phone.parley.outbox.list().map(\.target) { open.insert(id) }
    }
    for (name, message) in deletions.sorted(by: { $0.key < $1.key }) where !refused.contains(name) {
      if !open.contains(message), stage.exists(message) { stage.fail("\(name) deletes \(message), which is stored") }
    }
  }
}
