import ParleyModel

/// A moment at which nothing is under way, and what has to be so then.
extension Schedule {
  func rest() async throws {
    note("all comes to rest")
    var rounds = 0
    while try await !isQuiet() {
      rounds += 1
      guard stage.faults.isEmpty, !Task.isCancelled else { return }
      guard rounds < 40 else {
        return fail(
          "it never comes to rest: \(devices.map { "\($0.name) needs \($0.needs), says \($0.outbox.count)" })")
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

  /// Does what is left to do; whether there was nothing.
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

  /// What was acknowledged is there, and nothing is there twice.
  private func checkSends() {
    var stored = stage.storedSends()
    for (number, words) in said.enumerated() {
      let id = stored.removeValue(forKey: clientID(number))
      if let acknowledged = words.acknowledged {
        if id != acknowledged.number { fail("\(number) was acknowledged as \(acknowledged), and is \(id ?? 0)") }
      } else if !words.isRefused {
        fail("\(number) was never answered")
      }
    }
    if !stored.isEmpty { fail("nobody has said \(stored.keys.sorted())") }
  }
}
