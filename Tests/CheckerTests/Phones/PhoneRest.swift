import ParleyKit
import ParleyModel

/// A moment at which nothing is under way, and what has to be so then.
extension PhoneSchedule {
  private static let maxRounds = 300
  /// An app asks for one thing after the other.
  private static let maxCalls = 3_000

  func rest() async throws {
    note("all comes to rest")
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
      // Before the last message and what was told since, an app holds what somebody has looked at.
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

  /// All that an app holds, with the messages that lie in its store.
  private func held(by phone: Phone) async throws -> Replica {
    let cache = phone.parley.cache
    var replica = await cache.replica
    for id in replica.conversations.keys.sorted() {
      replica.bring(try await cache.messages(.range(1...Int.max, of: id)).map(\.held))
    }
    return replica
  }

  /// Everything, and a proof of it: then also the marks are right that nobody could tell of.
  /// - Returns: whether time went by for it, in which others may have done something.
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
      // It waits for a pause of its own, or for its turn behind one.
      guard wakeNext() else { break }
      hasWaited = true
    }
    fetching.cancel()
    stage.fail("\(phone.name) never has all that it asks for")
    return hasWaited
  }

  /// Goes on until everybody follows and has nothing left to send.
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
      guard wakeNext() else { return stage.fail("nothing goes on: \(restless)") }
    }
    var restless: [String] = []
    for phone in phones { restless.append(await restlessness(of: phone) ?? "\(phone.name) rests") }
    stage.fail("it never comes to rest: \(restless)")
  }

  private func restlessness(of phone: Phone) async -> String? {
    let state = await phone.parley.state
    guard state == .live else { return "\(phone.name) is \(state)" }
    if phone.wires.contains(where: { $0.line.isDead || $0.line.isClosed }) { return "\(phone.name) has a dead line" }
    let calls = phone.parley.client.activity.count
    guard calls == 0 else { return "\(phone.name) has asked for \(calls) things" }
    let needs = await phone.parley.cache.replica.needs
    guard needs.isEmpty else { return "\(phone.name) needs \(needs)" }
    let waiting = await phone.parley.outbox.list()
    let left = waiting.filter { !isRefused($0, waiting) }
    return left.isEmpty ? nil : "\(phone.name) has to send \(left)"
  }

  /// The server has refused it, or what it waits for.
  private func isRefused(_ operation: OutboxOperation, _ all: [OutboxOperation]) -> Bool {
    if let failure = operation.failure { return !failure.isTemporary }
    guard case .unsent(let name) = operation.target, let other = all.first(where: { $0.id == name }) else {
      return false
    }
    return isRefused(other, all)
  }

  /// What was said is there, and nothing is there twice.
  private func checkSends(but refused: Set<String>) {
    var stored = stage.storedSends()
    for (name, certainty) in said.sorted(by: { $0.key < $1.key }) {
      guard stored.removeValue(forKey: name) == nil, !refused.contains(name) else { continue }
      if certainty == .surely { stage.fail("\(name) was said, and is not there") }
    }
    if !stored.isEmpty { stage.fail("nobody has said \(stored.keys.sorted())") }
  }

  /// What was deleted is gone, where nothing about it was refused or let go.
  private func checkDeletions(but refused: Set<String>) async {
    var open: Set<ID<Message>> = []
    for phone in phones {
      for case .message(let id)? in await phone.parley.outbox.list().map(\.target) { open.insert(id) }
    }
    for (name, message) in deletions.sorted(by: { $0.key < $1.key }) where !refused.contains(name) {
      if !open.contains(message), stage.isThere(message) { stage.fail("\(name) deletes \(message), which is there") }
    }
  }
}
