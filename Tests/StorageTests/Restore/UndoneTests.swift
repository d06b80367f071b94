import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The report of a restore about the replaced data, and its effect on sessions, links and erased users.
@Suite struct UndoneTests {
  private static let backupTime: Int64 = 1_800_000_000_000
  private static let begin = "Site as of 2027-01-15 08:00 UTC"

  /// A closed site with a backup and a later history: `site/`, `good.tar`.
  private static func site() async throws -> Scratch {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/site", jobs: [.departure])
    let kept = try await garden.post("before the backup")
    try await garden.store.write { tx throws(Refusal) in
      for (index, kind) in [Session.Kind.session, .session, .token, .token].enumerated() {
        _ = try tx.add(
          NewSession(user: Garden.grace, kind: kind, digest: [UInt8(index)], name: "", scope: .read))
      }
      try tx.addLink(.reset, for: Garden.grace, digest: [9])
    }
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    for number in 0..<3 { _ = try await garden.post("lost \(number)") }
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.delete(kept.id, by: Garden.ada)
      try tx.run { connection in
        try connection.execute("delete from session where digest in (x'00', x'02')")
        try connection.execute(
          "insert into sanction (id, user_id, kind, created_by, created_at) values (900, 2, 'ban', 1, 1)")
        try connection.execute("update account set state = 'disabled' where id = 2")
      }
    }
    await garden.store.close()
    return scratch
  }

  private static func restore(
    _ scratch: Scratch, keepsSessions: Bool = false
  ) throws -> DataFolder.Restored {
    let folder = try DataFolder(scratch.path + "/site")
    defer { folder.release() }
    return try folder.restore(
      scratch.path + "/good.tar", replacing: true, aside: "5", keepsSessions: keepsSessions, at: backupTime + 1_000
    ) { _ in }
  }

  private static func rows<Value>(
    _ sql: SQL, in scratch: Scratch, read: (borrowing Row) throws -> Value
  ) throws -> [Value] {
    let connection = try Connection.reader(scratch.path + "/site/parley.db")
    defer { connection.close() }
    return try connection.all(sql, read: read)
  }

  private static func sessions(in scratch: Scratch) throws -> [[UInt8]] {
    try rows("select digest from session order by digest", in: scratch) { row in try row.bytes(0) }
  }

  @Test func `the restore counts what it undid and adds it to the audit log`() async throws {
    let scratch = try await Self.site()
    let restored = try Self.restore(scratch)
    #expect(
      restored.undone == Self.begin
        + ", without 3 later messages, 1 message deletion. Applied again: 1 ban, 1 revoked token, 1 ended session."
    )
    #expect(restored.isCompared && restored.erasedAgain == 0 && restored.warning == nil)
    let entries = try Self.rows("select action, actor_id, subject, reason from audit", in: scratch) { row in
      (try row.text(0), try row.int(1), try row.int(2), try row.text(3))
    }
    #expect(entries.count == 1)
    #expect(entries.first.map { $0 == ("site.restored", 1, 0, restored.undone) } == true)
    #expect(try Garden.faults(in: scratch.path + "/site") == [])
    // The same backup again.
    try FileManager.default.removeItem(atPath: scratch.path + "/site/replaced-5")
    #expect(
      try Self.restore(scratch).undone == Self.begin
        + ". Applied again: 1 ban, 2 revoked tokens, 2 ended sessions.")
  }

  @Test func `sessions, tokens and links end unless they are kept`() async throws {
    let scratch = try await Self.site()
    _ = try Self.restore(scratch)
    #expect(try Self.sessions(in: scratch) == [])
    #expect(try Self.rows("select 1 from link", in: scratch) { _ in true } == [])
  }

  @Test func `kept sessions do not include those that ended since the backup`() async throws {
    let scratch = try await Self.site()
    _ = try Self.restore(scratch, keepsSessions: true)
    #expect(try Self.sessions(in: scratch) == [[1], [3]])
    #expect(try Self.rows("select 1 from link", in: scratch) { _ in true } == [])
  }

  @Test(arguments: [
    ("rm parley.db*", "there is none."), ("echo seeds >parley.db", "it can't be read"),
    ("rm parley.db* && cp ../other/parley.db .", "its history is not that of the backup."),
  ])
  func `a database that can't be compared is reported in one line`(damage: String, reason: String) async throws {
    let scratch = try await Self.site()
    let other = try await Garden(in: scratch.path + "/other")
    await other.store.close()
    #expect(try scratch.run("cd site && \(damage)") == 0)
    let restored = try Self.restore(scratch, keepsSessions: true)
    #expect(
      restored.undone.hasPrefix(
        "\(Self.begin). What was undone is unknown, because the replaced database can't be compared: \(reason)"))
    #expect(
      restored.undone.hasSuffix(
        " Bans, silences, roles, passwords, second factors and invites are those of the backup."))
    #expect(!restored.isCompared && !restored.undone.contains("\n"))
    #expect(try Self.sessions(in: scratch).count == 4)
  }

  // MARK: Erased users

  private static func erase(_ user: ID<User>, in garden: Garden) async throws {
    try await garden.store.write { tx throws(Refusal) in _ = try tx.depart(user, as: .erased, by: user) }
  }

  /// Restores the backup after an erasure and opens the site again.
  private static func checkErasedAgain(
    _ scratch: Scratch, _ prepare: (_ scratch: Scratch) throws -> Void = { _ in }
  ) async throws {
    let site = try await Garden(in: scratch.path + "/site", jobs: [.departure])
    try await erase(Garden.ada, in: site)
    await site.store.close()
    try prepare(scratch)
    let restored = try restore(scratch)
    #expect(restored.erasedAgain == 1)
    #expect(restored.undone.contains("1 erased user (at the next start)"))
    #expect(
      try rows("select name from account order by id", in: scratch) { try $0.text(0) } == ["ada", "grace"])

    let after = try await Garden(in: scratch.path + "/site", jobs: [.departure])
    await after.store.eraseAgain()
    await after.store.jobs.run()
    #expect(after.logLines.all.contains { $0.contains("The user 1 was erased after the backup") })
    await after.store.close()
    #expect(try rows("select name from account order by id", in: scratch) { try $0.text(0) } == ["", "grace"])
    #expect(try rows("select 1 from message where author_id = 1 and text is not null", in: scratch) { _ in 1 } == [])
    #expect(try Garden.faults(in: scratch.path + "/site") == [])
    // Once.
    let later = try await Garden(in: scratch.path + "/site", jobs: [.departure])
    await later.store.eraseAgain()
    #expect(later.logLines.all == [])
    await later.store.close()
    #expect(try ErasureJournal.read(in: scratch.path + "/site").erasures.map(\.user) == [1])
  }

  @Test func `a user erased after the backup is erased again at the next start`() async throws {
    try await Self.checkErasedAgain(try await Self.site())
  }

  @Test func `the journal alone names the erased users of a damaged database`() async throws {
    try await Self.checkErasedAgain(try await Self.site()) { scratch throws in
      #expect(try scratch.run("cd site && rm -f parley.db-* && echo seeds >parley.db") == 0)
    }
  }

  @Test func `the replaced database alone names the erased users without a journal`() async throws {
    try await Self.checkErasedAgain(try await Self.site()) { scratch throws in
      #expect(try scratch.run("rm site/erasures") == 0)
    }
  }

  @Test func `a newer backup brings its journal`() async throws {
    let scratch = try await Self.site()
    try await Self.checkErasedAgain(scratch) { scratch throws in
      let folder = try DataFolder(scratch.path + "/site")
      _ = try folder.backUp(to: scratch.path + "/newer.tar", program: "test", at: Self.backupTime) { _ in }
      folder.release()
      // Another machine.
      #expect(try scratch.run("rm -r site && mkdir site && tar xf newer.tar -C site erasures") == 0)
    }
    let contents = try BackupReader.read(scratch.path + "/newer.tar", .verifying) { _ in }
    #expect(contents.erasures.map(\.user) == [1])
  }

  @Test func `a user of another site with the same id stays`() async throws {
    let scratch = try await Self.site()
    let other = try await Garden(in: scratch.path + "/other", at: Self.backupTime + 1)
    try await Self.erase(Garden.ada, in: other)
    await other.store.close()
    #expect(try scratch.run("cp other/erasures site/erasures") == 0)
    #expect(try Self.restore(scratch).erasedAgain == 0)
    let after = try await Garden(in: scratch.path + "/site")
    await after.store.eraseAgain()
    await after.store.close()
    #expect(try Self.rows("select name from account where id = 1", in: scratch) { try $0.text(0) } == ["ada"])
    // The lines stay.
    #expect(try scratch.run("diff other/erasures site/erasures") == 0)
  }
}
