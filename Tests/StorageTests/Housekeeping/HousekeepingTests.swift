import CFaultyVFS
import Foundation
import ParleyJSON
import ParleyModel
import ParleySQLite
import TestSupport
import Testing

@testable import Storage

@Suite struct HousekeepingTests {
  private static func logSize(_ garden: Garden) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: garden.folder + "/parley.db-wal")
    return try #require(attributes[.size] as? Int)
  }

  private static func count(_ table: String, _ garden: Garden) throws -> Int? {
    try garden.store.reader().read { tx throws(Refusal) in
      try tx.run { connection in
        try connection.first(SQL("select count(*) from \(table)")) { row in try row.int(0) }
      }
    }
  }

  private static func statuses(_ garden: Garden) throws -> Int? {
    try garden.store.reader().read { tx throws(Refusal) in
      try tx.run { connection in
        try connection.first("select count(*) from account where status_text is not null") { row in try row.int(0) }
      }
    }
  }

  @Test func `the write-ahead log is truncated every two minutes after writes`() async throws {
    let garden = try await Garden()
    let housekeeping = Housekeeping(garden.store)
    #expect(try Self.logSize(garden) > 0)
    await housekeeping.tick()
    #expect(try Self.logSize(garden) == 0)
    _ = try await garden.post("seeds")
    garden.clock.pass(seconds: 110)
    await housekeeping.tick()
    #expect(try Self.logSize(garden) > 0)
    garden.clock.pass(seconds: 10)
    await housekeeping.tick()
    #expect(try Self.logSize(garden) == 0)
  }

  @Test func `conversations for later are forgotten past their time, in parts`() async throws {
    let garden = try await Garden()
    let end = garden.clock.now + 60_000
    for (user, until) in [(Garden.ada, end), (Garden.grace, end + 60_000)] {
      try await garden.write { tx throws(Refusal) in try tx.setLater(until: until, Garden.room, of: user) }
    }
    func kept() throws -> [Int] {
      try [Garden.ada, Garden.grace].map { user in
        try garden.store.reader().read { tx throws(Refusal) in try tx.later(of: user).count }
      }
    }
    let housekeeping = Housekeeping(garden.store)
    await housekeeping.tick()
    #expect(try kept() == [1, 1])
    garden.clock.pass(seconds: 60)
    #expect(try kept() == [0, 1])
    await housekeeping.tick()
    garden.clock.pass(seconds: 60)
    let hasMore = try await garden.store.write { tx throws(Refusal) in try tx.removeEndedLater(limit: 1) }
    let hasEvenMore = try await garden.store.write { tx throws(Refusal) in try tx.removeEndedLater(limit: 1) }
    #expect(hasMore && !hasEvenMore)
  }

  @Test func `a status is cleared at its end, in parts, and the change is logged`() async throws {
    let garden = try await Garden()
    let end = garden.clock.now + 60_000
    for (user, until) in [(Garden.ada, end), (Garden.grace, end + 60_000)] {
      try await garden.write { tx throws(Refusal) in
        guard let before = try tx.user(user) else { throw .notFound }
        var after = before
        after.summary.statusText = "on the train"
        after.summary.statusExpiresAt = until
        _ = try tx.change(before, to: after, by: user)
      }
    }
    let housekeeping = Housekeeping(garden.store)
    await housekeeping.tick()
    #expect(try Self.statuses(garden) == 2)
    let logged = garden.delivered.all.count
    garden.clock.pass(seconds: 60)
    await housekeeping.tick()
    #expect(try Self.statuses(garden) == 1)
    #expect(garden.delivered.all.dropFirst(logged).map(\.kind) == [.userUpdated])
    garden.clock.pass(seconds: 60)
    let hasMore = try await garden.store.write { tx throws(Refusal) in try tx.clearEndedStatuses(limit: 1) }
    #expect(try Self.statuses(garden) == 0 && hasMore)
    let hasEvenMore = try await garden.store.write { tx throws(Refusal) in try tx.clearEndedStatuses(limit: 1) }
    #expect(!hasEvenMore)
  }

  @Test func `the event log drops events older than the configured age, from its start`() async throws {
    let garden = try await Garden()
    for number in 0..<5 { _ = try await garden.post("seeds \(number)") }
    garden.clock.pass(seconds: 3_600)
    for number in 0..<3 { _ = try await garden.post("weeds \(number)") }
    let last = try garden.store.reader().read { tx throws(Refusal) in try tx.lastEvent() }
    // The default keeps events forever.
    await Housekeeping(garden.store).tick()
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.firstEvent() } == 1)
    let housekeeping = Housekeeping(garden.store, eventAge: 1_800_000)
    await housekeeping.tick()
    let first = try garden.store.reader().read { tx throws(Refusal) in try tx.firstEvent() }
    #expect(first == last - 2)
    #expect(try Verification(garden.folder).run().flatMap(\.faults) == [])
    garden.clock.pass(seconds: 3_600)
    await housekeeping.tick()
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.firstEvent() } == nil)
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.lastEvent() } == last)
    #expect(try Verification(garden.folder).run().flatMap(\.faults) == [])
    _ = try await garden.post("new")
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.firstEvent() } == last + 1)
    #expect(try Verification(garden.folder).run().flatMap(\.faults) == [])
    // A log shorter than its recorded start is a fault.
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("delete from setting where name = 'event_floor'") }
    }
    #expect(try !Verification(garden.folder).run().flatMap(\.faults).isEmpty)
  }

  @Test func `deleted text is in no file after ten minutes`() async throws {
    let garden = try await Garden()
    let housekeeping = Housekeeping(garden.store)
    let secret = "chrysanthemum-\(UUID())"
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("update account set bio = $1 where id = 1", secret) }
    }
    for _ in 0..<60 {
      garden.clock.pass(seconds: 10)
      await housekeeping.tick()
    }
    #expect(
      try String(decoding: Data(contentsOf: URL(filePath: garden.store.folder.database)), as: UTF8.self)
        .contains(secret))
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("update account set bio = '' where id = 1") }
    }
    for _ in 0..<60 {
      garden.clock.pass(seconds: 10)
      await housekeeping.tick()
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: garden.folder) {
      let bytes = try Data(contentsOf: URL(filePath: garden.folder + "/" + file))
      #expect(!String(decoding: bytes, as: UTF8.self).contains(secret), "\(file)")
    }
  }

  @Test func `an open read transaction keeps the write-ahead log, without blocking`() async throws {
    let garden = try await Garden()
    let housekeeping = Housekeeping(garden.store)
    let reader = try Connection.reader(garden.store.folder.database)
    let snapshot = try reader.begin(.deferred)
    _ = try reader.first("select count(*) from message") { row in try row.int(0) }
    _ = try await garden.post("seeds")
    await housekeeping.tick()
    #expect(try Self.logSize(garden) > 0)
    snapshot.rollBack()
    garden.clock.pass(seconds: 10)
    await housekeeping.tick()
    #expect(try Self.logSize(garden) == 0)
    #expect(garden.refusals == [])
  }

  @Test func `finished jobs are kept for thirty days`() async throws {
    let garden = try await Garden(jobs: [JobKind("wait") { (_, _: inout Int) throws(Refusal) in true }])
    let housekeeping = Housekeeping(garden.store)
    _ = try await garden.store.write { tx throws(Refusal) in
      _ = try tx.startJob(kind: "never", state: 0)
      for _ in 0..<600 { _ = try tx.startJob(kind: "wait", state: 0) }
    }
    await garden.store.jobs.run()
    garden.clock.pass(seconds: 30 * 86_400 - 1)
    await housekeeping.tick()
    #expect(try Self.count("job", garden) == 601)
    garden.clock.pass(seconds: 1)
    await housekeeping.tick()
    #expect(try Self.count("job", garden) == 1, "what is not finished stays")
  }

  @Test func `expired sessions and links are deleted`() async throws {
    let garden = try await Garden()
    let soon = Int(garden.clock.now + 60_000)
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        for (id, expiry) in [(50, soon), (51, soon + 1), (52, nil)] {
          try connection.execute(
            """
            insert into session (id, user_id, kind, digest, name, scope, created_at, expires_at)
            values ($1, 1, 'session', $2, 'laptop', 'write', 0, $3)
            """, id, [UInt8(id)], expiry)
          try connection.execute(
            "insert into link (digest, kind, user_id, created_at, expires_at) values ($1, 'reset', 1, 0, $2)",
            [UInt8(id)], expiry)
        }
      }
    }
    let housekeeping = Housekeeping(garden.store)
    garden.clock.pass(seconds: 60)
    await housekeeping.tick()
    #expect(try Self.count("session", garden) == 2)
    #expect(try Self.count("link", garden) == 2)
  }

  @Test func `the store is ready again after the disk recovers, without a write`() async throws {
    let disk = try FaultyDisk(seed: 3)
    let garden = try await Garden(vfs: disk.name)
    let housekeeping = Housekeeping(garden.store)
    #expect(garden.store.isReady)
    disk.fail(FAULTY_SYNC, times: -1, code: Code.syncFailed)
    await #expect(throws: Refusal.unavailable) { try await garden.post("seeds") }
    #expect(!garden.store.isReady)
    await housekeeping.tick()
    #expect(!garden.store.isReady)
    disk.heal()
    await housekeeping.tick()
    #expect(garden.store.isReady)
    await garden.store.close()
    #expect(!garden.store.isReady)
  }
}
