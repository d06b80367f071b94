import ParleyKit
import ParleyModel

/// The final state, in which all work is done, and its checks.
extension PhoneSchedule {
  private static let maxRounds = 300
  /// An app sends its requests one by one.
  private static let maxCalls = 3_000

  func rest() async throws {
    note("all work is completed")
    for phone in phones {
      if phone.life.isOver { try await relaunch(phone) }
      phone.air.set(isUp: true)
      await phone.parley.networkAvailable()
    }
    repeat {
      try await calm()
      try await stage.noteAccess()
    } while stage.waitingDeliveries > 0 && stage.faults.isEmpty
    guard stage.faults.isEmpty else { return }
    for phone in phones { phone.life.spare() }
    var failed: Set<String> = []
    var truths: [ID<User>: Replica] = [:]
    for phone in phones {
      let user = phone.user.id
      var truth: Replica
      if let known = truths[user] { truth = known } else { truth = try await stage.replica(of: phone.user) }
      truths[user] = truth
      // Of messages before the snapshot, an app caches only the viewed ones.
      stage.check(try await held(by: phone), of: phone.name, user, against: truth, isWhole: false)
      if try await fetchAll(for: phone) {
        try await calm()
        truth = try await stage.replica(of: phone.user)
        truths = [user: truth]
      }
      guard stage.faults.isEmpty else { return }
      stage.check(try await held(by: phone), of: phone.name, user, against: truth, isProven: true)
      failed.formUnion(await phone.parley.outbox.list().map(\.id))
      // No schedule restores the server from a backup.
      let orphans = await phone.parley.outbox.orphans.map(\.id)
      if !orphans.isEmpty { stage.fail("\(phone.name) takes \(orphans) for lost messages") }
    }
    checkSends(but: failed)
    await checkDeletions(but: failed)
  }

  /// The app's replica with all messages of its store.
  private func held(by phone: Phone) async throws -> Replica {
    let cache = phone.parley.cache
    var replica = await cache.replica
    for id in replica.conversations.keys.sorted() {
      replica.bring(try await cache.messages(.range(1...Int.max, of: id)).map(\.held))
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
      await lane.quiet()
      guard isFetching else {
        try await fetching.value
        return hasWaited
      }
      if try await carryAll() { continue }
      // It sleeps, or is queued behind a sleep.
      guard wakeNext() else { break }
      hasWaited = true
    }
    fetching.cancel()
    stage.fail("\(phone.name) never completes its fetch")
    return hasWaited
  }

  /// Runs until each app is live and has no messages to send.
  func calm() async throws {
    for _ in 0..<Self.maxRounds {
      guard stage.faults.isEmpty, !Task.isCancelled else { return }
      await stage.publish(.max, on: self)
      await lane.quiet()
      for phone in phones where phone.life.isOver { try await relaunch(phone) }
      if try await carryAll() { continue }
      var restless: [String] = []
      for phone in phones { if let why = await restlessness(of: phone) { restless.append(why) } }
      if restless.isEmpty { return }
      guard wakeNext() else { return stage.fail("all work is blocked: \(restless)") }
    }
    var restless: [String] = []
    for phone in phones { restless.append(await restlessness(of: phone) ?? "\(phone.name) is idle") }
    stage.fail("work never completes: \(restless)")
  }

  private func restlessness(of phone: Phone) async -> String? {
    let state = await phone.parley.state
    guard state == .live else { return "\(phone.name) is \(state)" }
    if phone.wires.contains(where: { $0.line.isDead || $0.line.isClosed }) { return "\(phone.name) has a dead connection" }
    let calls = phone.parley.client.activity.count
    guard calls == 0 else { return "\(phone.name) has \(calls) pending requests" }
    let needs = await phone.parley.cache.replica.needs
    guard needs.isEmpty else { return "\(phone.name) needs \(needs)" }
    let waiting = await phone.parley.outbox.list()
    let left = waiting.filter { !isRefused($0, waiting) }
    return left.isEmpty ? nil : "\(phone.name) has to send \(left)"
  }

  /// Whether the server has rejected the operation or its target.
  private func isRefused(_ operation: OutboxOperation, _ all: [OutboxOperation]) -> Bool {
    if let failure = operation.failure { return !failure.isTemporary }
    guard case .unsent(let name) = operation.target, let other = all.first(where: { $0.id == name }) else {
      return false
    }
    return isRefused(other, all)
  }

  /// Each posted message is stored, and none twice.
  private func checkSends(but refused: Set<String>) {
    var stored = stage.storedSends()
    for (name, certainty) in said.sorted(by: { $0.key < $1.key }) {
      guard stored.removeValue(forKey: name) == nil, !refused.contains(name) else { continue }
      if certainty == .surely { stage.fail("\(name) was posted, and is not stored") }
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
      if !open.contains(message), stage.isThere(message) { stage.fail("\(name) deletes \(message), which is stored") }
    }
  }
}
