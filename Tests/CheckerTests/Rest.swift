import ParleyModel

/// The final state, in which all work is done, and its checks.
extension Schedule {
  func rest() async throws {
    note("all work is completed")
    var rounds = 0
    while try await !isQuiet() {
      rounds += 1
      guard stage.faults.isEmpty, !Task.isCancelled else { return }
      guard rounds < 40 else {
        return fail(
          "work never completes: \(devices.map { "\($0.name) needs \($0.needs), has \($0.outbox.count) to send" })")
      }
    }
    checkSends()
    var truths: [ID<User>: Replica] = [:]
    for device in devices {
      let user = device.user.id
      let truth: Replica
      if let known = truths[user] { truth = known } else { truth = try await stage.replica(of: device.user) }
      truths[user] = truth
      stage.check(device.replica, of: device.name, user, against: truth)
    }
  }

  /// Does one round of the remaining work; returns whether none was left.
  private func isQuiet() async throws -> Bool {
    try await stage.noteAccess()
    await publish(.max)
    var isQuiet = true
    for device in devices {
      if device.line.map({ $0.isClosed || $0.isDead }) ?? true {
        await connect(device)
        isQuiet = false
      }
      if await take(.max, by: device) > 0 { isQuiet = false }
      for send in device.outbox {
        try await post(send, by: device)
        isQuiet = false
      }
      if !device.needs.isEmpty {
        try await ask(device)
        isQuiet = false
      }
    }
    return isQuiet && stage.waitingDeliveries == 0
  }

  /// Each acknowledged message is stored, and none twice.
  private func checkSends() {
    var stored = stage.storedSends()
    for (number, words) in said.enumerated() {
      let id = stored.removeValue(forKey: clientID(number))
      if let acknowledged = words.acknowledged {
        if id != acknowledged.number { fail("\(number) was acknowledged as \(acknowledged), and is \(id ?? 0)") }
      } else if !words.isRefused {
        fail("\(number) was never acknowledged")
      }
    }
    if !stored.isEmpty { fail("unexpected messages \(stored.keys.sorted())") }
  }
}
