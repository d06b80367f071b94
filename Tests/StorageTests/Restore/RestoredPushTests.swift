import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// Devices of kept sessions get no push message again that was sent since the backup.
@Suite struct RestoredPushTests {
  @Test func `a restore with kept sessions rings no earlier notification`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/site")
    try await garden.store.write { tx throws(Refusal) in
      let session = try tx.add(
        NewSession(user: Garden.grace, kind: .session, digest: [1], name: "", scope: .read))
      _ = try tx.add(
        NewPushSubscription(
          user: Garden.grace, session: session, name: "Phone", endpoint: "https://push.example.net/1", point: [4],
          auth: [1], language: nil))
      try tx.addNotification(.token, of: Garden.grace, by: Garden.grace)
    }
    let queued = try await garden.store.write { tx throws(Refusal) in
      let window = try tx.pushWindow(after: 0, since: 0, limit: 9)
      return try tx.enqueuePushes(after: window.start, upTo: window.end, since: 0)
    }
    #expect(queued == 1)
    // One waits in the queue, and one for the queue.
    try await garden.store.write { tx throws(Refusal) in
      try tx.addNotification(.token, of: Garden.grace, by: Garden.grace)
    }
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    await garden.store.close()
    let folder = try DataFolder(scratch.path + "/site")
    _ = try folder.restore(
      scratch.path + "/good.tar", replacing: true, aside: "5", keepsSessions: true, at: 1_800_000_001_000
    ) { _ in }
    folder.release()
    let restored = try await Garden(in: scratch.path + "/site", at: 1_800_000_002_000)
    let (waiting, old, devices) = try await restored.store.readInBackground { tx throws(Refusal) in
      (
        try tx.waitingPushCount(), try tx.pushWindow(after: 0, since: 0, limit: 9),
        try tx.pushSubscriptionCount(of: Garden.grace)
      )
    }
    #expect(waiting == 0 && old.end == old.start && devices == 1)
    try await restored.store.write { tx throws(Refusal) in
      try tx.addNotification(.token, of: Garden.grace, by: Garden.grace)
    }
    let new = try await restored.store.readInBackground { tx throws(Refusal) in
      try tx.pushWindow(after: 0, since: 0, limit: 9)
    }
    #expect(new.hasDevices && new.start > 0)
    await restored.store.close()
  }
}
