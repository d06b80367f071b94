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
    try ErasureJournal.read(in: scratch.path).erasures.map(\.user)
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
