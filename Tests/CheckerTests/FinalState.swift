import ParleyModel

/// The final state, in which all work is done, and its checks.
extension Schedule {
  func checkFinalState() async throws {
    note("all work is completed")
    var rounds = 0
    while try await !isIdle() {
      rounds += 1
      guard stage.faults.isEmpty, !Task.isCancelled else { return }
      guard rounds < 40 else {
        return fail(
          "work never completes: \(devices.map { "\($0.name) needs \($0.needs), has \($0.outbox.count) to send" })")
      }
    }
    checkSends()
    var expectedReplicas: [ID<User>: Replica] = [:]
    for device in devices {
      let user = device.user.id
      let expected: Replica
      if let known = expectedReplicas[user] {
        expected = known
      } else {
        expected = try await stage.replica(of: device.user)
      }
      expectedReplicas[user] = expected
      stage.check(device.replica, of: device.name, user, against: expected)
    }
  }

  /// Does one round of the remaining work; returns whether none was left.
  private func isIdle() async throws -> Bool {
    try await stage.noteAccess()
    await publish(.max)
    var isIdle = true
    for device in devices {
      if device.socket.map({ $0.isClosed || $0.isDead }) ?? true {
        await connect(device)
        isIdle = false
      }
      if await take(.max, by: device) > 0 { isIdle = false }
      for send in device.outbox {
        try await postByRequest(send, by: device)
        isIdle = false
      }
      if !device.needs.isEmpty {
        try await fetchNeeds(of: device)
        isIdle = false
      }
    }
    return isIdle && stage.waitingDeliveries == 0
  }

  /// Each acknowledged message is stored, and none twice.
  private func checkSends() {
    var stored = stage.storedSends()
    for (number, message) in sentMessages.enumerated() {
      let id = stored.removeValue(forKey: clientID(number))
      if let acknowledged = message.acknowledged {
        if id != acknowledged.number { fail("\(number) was acknowledged as \(acknowledged), and is \(id ?? 0)") }
      } else if !message.isRefused {
        fail("\(number) was never acknowledged")
      }
    }
    if !stored.isEmpty { fail("unexpected messages \(stored.keys.sorted())") }
  }
}
