import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The file `erasures` of the data folder.
@Suite struct ErasureJournalTests {
  private static func erase(_ user: ID<User>, in garden: Garden) async throws {
    try await garden.store.write { tx throws(Refusal) in _ = try tx.depart(user, as: .erased, by: user) }
  }

  private static func users(in scratch: Scratch) throws -> [Int] {
    try ErasureJournal.read(in: scratch.path).erasures.compactMap(\.user)
  }

  @Test func `an answered erasure has a line with its id and digests only`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path, jobs: [.departure])
    #expect(try !scratch.names().contains("erasures"))
    try await Self.erase(Garden.ada, in: garden)
    let line = String(decoding: try scratch.bytes(of: "erasures"), as: UTF8.self)
    #expect(line.wholeMatch(of: #/1 [0-9a-f]{64} [0-9a-f]{16}\n/#) != nil)
    try await Self.erase(Garden.grace, in: garden)
    #expect(try Self.users(in: scratch) == [1, 2])
    #expect(String(decoding: try scratch.bytes(of: "erasures"), as: UTF8.self).hasPrefix(line))
    await garden.store.close()
  }

  @Test func `a user that left or an erasure that was rolled back has no line`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path, jobs: [.departure])
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.depart(Garden.ada, as: .left, by: Garden.ada)
    }
    await #expect(throws: Refusal.conflict) {
      try await garden.store.write { tx throws(Refusal) in
        _ = try tx.depart(Garden.grace, as: .erased, by: Garden.grace)
        throw .conflict
      }
    }
    await garden.store.close()
    #expect(try !scratch.names().contains("erasures"))
  }

  @Test func `a start adds the erased users that have no line`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path, jobs: [.departure])
    for user in [Garden.ada, Garden.grace] { try await Self.erase(user, in: garden) }
    await garden.store.close()
    let whole = try scratch.bytes(of: "erasures")
    // No file, and an append that was cut off at each of its bytes.
    for length in [0] + Array(whole.count / 2..<whole.count) {
      try scratch.write(Array(whole.prefix(length)), to: "erasures")
      let again = try await Garden(in: scratch.path, jobs: [.departure])
      await again.store.close()
      #expect(try scratch.bytes(of: "erasures") == whole, "\(length) bytes")
      #expect(again.logLines.all == [])
    }
  }

  @Test func `destroyed messages and files have lines, and a restore destroys them again`() async throws {
    let scratch = try Scratch()
    let folder = scratch.path + "/garden"
    let jobs: [JobKind] = [.departure, .fileDestruction]
    let garden = try await Garden(in: folder, jobs: jobs)
    // The owner destroys contents again.
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("update account set role = 'owner' where id = 1") }
    }
    let message = try await garden.post("chrysanthemum")
    let other = try await garden.post("rose")
    let digest = [UInt8](repeating: 7, count: 32)
    _ = try await garden.store.backUp(to: scratch.path + "/old.tar", program: "test") { _ in }
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.destroyMessage(message.id, by: Garden.ada)
      _ = try tx.destroyContents([digest], by: Garden.ada)
    }
    let lines = String(decoding: try scratch.bytes(of: "garden/erasures"), as: UTF8.self)
    #expect(
      lines.wholeMatch(of: #/message \d+ [0-9a-f]{64} [0-9a-f]{16}\nfile (07){32} [0-9a-f]{16}\n/#) != nil, "\(lines)")
    await garden.store.close()

    // A start adds lines that a crash left out.
    try scratch.write([], to: "garden/erasures")
    await (try await Garden(in: folder, jobs: jobs)).store.close()
    #expect(String(decoding: try scratch.bytes(of: "garden/erasures"), as: UTF8.self) == lines)

    let data = try DataFolder(folder)
    let restored = try data.restore(scratch.path + "/old.tar", replacing: true, aside: "5", at: 5) { _ in }
    data.release()
    #expect(restored.erasedAgain == 2)
    #expect(
      restored.undone.contains(
        "1 destroyed message (at the next start), 1 destroyed file (at the next start)"),
      "\(restored.undone)")
    for times in [1, 0] {
      let again = try await Garden(in: folder, jobs: jobs)
      await again.store.eraseAgain()
      let states = try await again.store.readInBackground { tx throws(Refusal) in
        try [message.id, other.id].map { id throws(Refusal) -> ParleyModel.Message.Deletion? in
          guard case .deleted(let tombstone) = try tx.messages([id]).first?.state else { return nil }
          return tombstone.deletion
        }
      }
      #expect(states == [.erased, nil])
      let isDestroyed = try await again.store.write { tx throws(Refusal) in try tx.isDestroyed(digest) }
      #expect(isDestroyed)
      #expect(again.logLines.all.count { $0.contains("is now erased again") } == 2 * times)
      await again.store.close()
    }
    #expect(try Garden.faults(in: folder) == [])
  }

  /// Whether the journal, the replaced database or both name the destroyed user, who may be erased in the backup.
  @Test(arguments: [(true, true, false), (true, false, false), (false, true, false), (true, true, true)])
  func `a restore destroys the files of a destroyed user again`(
    hasJournal: Bool, hasDatabase: Bool, wasErased: Bool
  ) async throws {
    let scratch = try Scratch()
    let folder = scratch.path + "/garden"
    let garden = try await Garden(in: folder, jobs: [.departure])
    let file = try await garden.upload()
    // Another user's message keeps the file of an erased user.
    try await garden.write { tx throws(Refusal) in
      var message = NewMessage(conversation: Garden.room, author: Garden.grace, text: "look")
      message.attachments = [file]
      _ = try tx.post(message)
    }
    if wasErased {
      try await Self.erase(Garden.ada, in: garden)
      await garden.store.jobs.run()
    }
    _ = try await garden.store.backUp(to: scratch.path + "/old.tar", program: "test") { _ in }
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.depart(Garden.ada, as: .erased, destroyingFiles: true, by: Garden.grace)
      try tx.audit(.userDestroyed, by: Garden.grace, subject: Garden.ada.number)
    }
    await garden.store.jobs.run()
    await garden.store.close()
    if !hasJournal { try scratch.write([], to: "garden/erasures") }
    if !hasDatabase { #expect(try scratch.run("cd garden && rm -f parley.db-* && echo seeds >parley.db") == 0) }

    let data = try DataFolder(folder)
    let restored = try data.restore(scratch.path + "/old.tar", replacing: true, aside: "5", at: 5) { _ in }
    data.release()
    #expect(restored.erasedAgain == 1)
    #expect(restored.undone.contains("1 destroyed user (at the next start)"), "\(restored.undone)")
    for times in [1, 0] {
      let again = try await Garden(in: folder, jobs: [.departure])
      await again.store.eraseAgain()
      await again.store.jobs.run()
      let (kept, user) = try await again.store.readInBackground { tx throws(Refusal) in
        (try tx.keptFile(file), try tx.user(Garden.ada))
      }
      #expect(kept == nil && user?.standing?.state == .erased)
      #expect(again.logLines.all.count { $0.contains("is now erased again") } == times)
      await again.store.close()
    }
  }

  @Test func `damage is logged, and the file is kept`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path, jobs: [.departure])
    for user in [Garden.ada, Garden.grace] { try await Self.erase(user, in: garden) }
    await garden.store.close()
    let whole = try scratch.bytes(of: "erasures")
    for offset in stride(from: 0, to: whole.count, by: 7) {
      var damaged = whole
      damaged[offset] ^= 1
      // Users that no database here has.
      damaged += try ErasureJournal.bytes(of: [Erasure(user: 77, createdAt: 5)])
      try scratch.write(damaged, to: "erasures")
      let again = try await Garden(in: scratch.path, jobs: [.departure])
      #expect(again.logLines.all.count == 1)
      #expect(again.logLines.all.first?.contains("is damaged from line") == true, "byte \(offset)")
      try await Self.erase(Garden.ada, in: again)
      await again.store.close()
      #expect(try Set(Self.users(in: scratch)) == [1, 2, 77], "byte \(offset)")
      #expect(try scratch.bytes(of: "erasures-damaged") == damaged)
    }
  }

  @Test func `a journal that can't be written stops no erasure`() async throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(atPath: scratch.path + "/erasures", withIntermediateDirectories: false)
    let garden = try await Garden(in: scratch.path, jobs: [.departure])
    try await Self.erase(Garden.ada, in: garden)
    #expect(garden.logLines.all.count == 2)
    #expect(garden.logLines.all.allSatisfy { $0.contains("journal of erasures can't be") })
    await garden.store.close()
    let folder = try DataFolder(scratch.path)
    #expect(throws: BackupFault.self) {
      let good = try Scratch()
      _ = try folder.backUp(to: good.path + "/good.tar", program: "test", at: 5) { _ in }
      _ = try folder.restore(good.path + "/good.tar", replacing: true, aside: "5", at: 5) { _ in }
    }
    folder.release()
    try FileManager.default.removeItem(atPath: scratch.path + "/erasures")
    let again = try await Garden(in: scratch.path, jobs: [.departure])
    await again.store.close()
    #expect(try Self.users(in: scratch) == [1])
  }

  @Test func `an archive with a journal is refused after any change of it`() async throws {
    let scratch = try Scratch()
    let garden = try await Garden(in: scratch.path + "/garden", jobs: [.departure])
    try await Self.erase(Garden.ada, in: garden)
    _ = try await garden.store.backUp(to: scratch.path + "/good.tar", program: "test") { _ in }
    await garden.store.close()
    #expect(try scratch.run("mkdir out && cd out && tar xf ../good.tar && sha256sum -c SHA256SUMS") == 0)
    #expect(try scratch.run("cmp out/erasures garden/erasures") == 0)
    let good = try scratch.bytes(of: "good.tar")
    let line = Array(try scratch.bytes(of: "out/erasures").prefix(60))
    let start = try #require(good.indices.first { good[$0...].starts(with: line) })
    for offset in stride(from: start, to: start + 80, by: 9) {
      var bad = good
      bad[offset] ^= 1
      try scratch.write(bad, to: "bad.tar")
      #expect(throws: BackupDamage.altered("erasures"), "byte \(offset)") {
        try BackupReader.read(scratch.path + "/bad.tar", .verifying) { _ in }
      }
    }
  }
}
