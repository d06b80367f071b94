import Foundation
import ParleyModel
import ParleySQLite
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite struct PurgeTests {
  /// Words with unique prefixes, so that the index stores them whole. The searched bytes are after the prefix.
  private enum Secret: String, CaseIterable {
    case text = "qxzhwvkjbtext", edited = "zqvjxkwplearlier", annotation = "jqxzvwkbannotation"
    case place = "vzqkjxhwplace", removed = "xjqzvkwbremoved", long = "kzxqjvwhlong"

    var core: String { String(rawValue.dropFirst(3)) }
  }

  private static func post(_ count: Int, to garden: Garden, _ random: inout Seeded) async throws {
    for _ in 0..<(count / 500) {
      let texts = (0..<500).map { _ in
        (0..<Int.random(in: 3...30, using: &random)).map { _ in "word\(Int.random(in: 0..<5_000, using: &random))" }
          .joined(separator: " ")
      }
      try await garden.write { tx throws(Refusal) in
        for text in texts {
          _ = try tx.post(NewMessage(conversation: Garden.room, author: Garden.grace, text: text))
        }
      }
    }
  }

  /// The secrets that occur in the bytes of the database's files.
  private static func secretsOnDisk(in garden: Garden) throws -> [String] {
    let files = try ["/parley.db", "/parley.db-wal"].map {
      try Data(contentsOf: URL(filePath: garden.folder + $0))
    }
    return Secret.allCases.filter { secret in files.contains { $0.range(of: Data(secret.core.utf8)) != nil } }
      .map(\.rawValue)
  }

  private static func purge(_ garden: Garden, rewriting isRewriting: Bool = false) throws {
    let connection = try Connection.writer(garden.folder + "/parley.db")
    defer { connection.close() }
    var purgeRound = PurgeRound(rewriting: isRewriting)
    while try purgeRound.step(connection) == .more {}
    #expect(try purgeRound.step(connection) == .done)
  }

  @Test func `deleted text is in no database file, for every kind of deletion`() async throws {
    let garden = try await Garden()
    var random = Seeded(seed: 1)
    try await Self.post(10_000, to: garden, &random)
    let text = try await garden.post("first \(Secret.text.rawValue)").id
    let edited = try await garden.post("first \(Secret.edited.rawValue)").id
    let annotated = try await garden.post(Garden.message(saying: Secret.annotation.rawValue))
    var placed = NewMessage(conversation: Garden.room, author: Garden.ada, text: "here")
    placed.annotations = MessageAnnotations(
      json: "[]", types: [], location: Location(name: Secret.place.rawValue, latitude: 0, longitude: 0))
    let place = try await garden.post(placed)
    let removed = try await garden.post(Garden.message(saying: Secret.removed.rawValue))
    // Longer than a page, so that it is on overflow pages.
    let long = try await garden.post(String(repeating: Secret.long.rawValue + " ", count: 1_200)).id
    try await Self.post(5_000, to: garden, &random)
    try await garden.write { tx throws(Refusal) in
      try tx.edit(edited, to: MessageText("then"), by: Garden.ada)
      try tx.edit(removed, to: MessageText("then \(Secret.removed.rawValue)"), by: Garden.ada)
    }
    try await Self.post(5_000, to: garden, &random)
    #expect(try Self.secretsOnDisk(in: garden).count == Secret.allCases.count)

    try await garden.write { tx throws(Refusal) in
      for id in [text, annotated, place, long] { try tx.delete(id, by: Garden.ada) }
      try tx.deleteRevision(1, of: edited, by: Garden.ada)
      try tx.remove(removed, by: Garden.grace, reason: nil, sealedFor: 0)
    }
    // The sealed copy is text, too.
    try Self.purge(garden)
    #expect(try Self.secretsOnDisk(in: garden) == [Secret.removed.rawValue])

    #expect(try await garden.write { tx throws(Refusal) in try tx.expireSealed(limit: 10) } == false)
    #expect(try Self.secretsOnDisk(in: garden).isEmpty == false)
    try Self.purge(garden)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    #expect(try garden.found(by: "word17").isEmpty == false)
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a purge round completes under concurrent writes`() async throws {
    let garden = try await Garden()
    var random = Seeded(seed: 2)
    try await Self.post(5_000, to: garden, &random)
    let id = try await garden.post("first \(Secret.text.rawValue)").id
    try await Self.post(5_000, to: garden, &random)
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    let connection = try Connection.writer(garden.folder + "/parley.db")
    defer { connection.close() }
    var purgeRound = PurgeRound()
    var steps = 0
    while try purgeRound.step(connection) == .more, steps < 1_000 {
      steps += 1
      for _ in 0..<3 { _ = try await garden.post("meanwhile \(steps)") }
    }
    #expect(steps < 1_000)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    #expect(try garden.found(by: "meanwhile").count == 3 * steps)
  }

  @Test func `a blocking reader is reported without waiting`() async throws {
    let garden = try await Garden()
    let id = try await garden.post(Secret.text.rawValue).id
    let reader = try Connection.reader(garden.folder + "/parley.db")
    let snapshot = try reader.begin(.deferred)
    _ = try reader.first("select count(*) from message") { try $0.int(0) }
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    let connection = try Connection.writer(garden.folder + "/parley.db")
    defer { connection.close() }
    var purgeRound = PurgeRound()
    while try purgeRound.step(connection) == .more {}
    #expect(try purgeRound.step(connection) == .blocked)
    #expect(try Self.secretsOnDisk(in: garden) == [Secret.text.rawValue])
    snapshot.rollBack()
    #expect(try purgeRound.step(connection) == .done)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    reader.close()
  }

  @Test func `rewriting purges deleted text and keeps the rest`() async throws {
    let garden = try await Garden()
    let id = try await garden.post(Secret.text.rawValue).id
    _ = try await garden.post(Garden.message(saying: "tulip"))
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    let before = try garden.tables()
    try Self.purge(garden, rewriting: true)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    #expect(try garden.tables() == before)
    #expect(try garden.found(by: "tulip").count == 1)
    _ = try await garden.post("and on it goes")
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  // MARK: By housekeeping

  private static func tick(_ housekeeping: Housekeeping, _ garden: Garden, minutes: Int64) async {
    for _ in 0..<(6 * minutes) {
      garden.clock.pass(seconds: 10)
      await housekeeping.tick()
    }
  }

  private static func destruction(_ garden: Garden) throws -> DestructionCounters {
    try garden.store.reader().read { tx throws(Refusal) in try tx.destruction() }
  }

  private static func segments(_ garden: Garden) throws -> [Int] {
    let reader = try Connection.reader(garden.folder + "/parley.db")
    defer { reader.close() }
    return try reader.all("select distinct segid from search_idx order by segid") { try $0.int(0) }
  }

  @Test func `housekeeping purges deleted text within ten minutes`() async throws {
    let garden = try await Garden()
    // Rewriting is disabled, so that the rounds purge it.
    let housekeeping = Housekeeping(garden.store, maxRewrittenBytes: 0)
    var random = Seeded(seed: 4)
    try await Self.post(5_000, to: garden, &random)
    let text = try await garden.post("first \(Secret.text.rawValue)").id
    let edited = try await garden.post("first \(Secret.edited.rawValue)").id
    let annotated = try await garden.post(Garden.message(saying: Secret.annotation.rawValue))
    let removed = try await garden.post(Garden.message(saying: Secret.removed.rawValue))
    try await garden.react(to: text, saying: Secret.long.rawValue, copyKeptFor: 300_000)
    var placed = NewMessage(conversation: Garden.room, author: Garden.ada, text: "here")
    placed.annotations = MessageAnnotations(
      json: "[]", types: [], location: Location(name: Secret.place.rawValue, latitude: 0, longitude: 0))
    let place = try await garden.post(placed)
    try await Self.post(5_000, to: garden, &random)
    try await garden.write { tx throws(Refusal) in try tx.edit(edited, to: MessageText("then"), by: Garden.ada) }
    await Self.tick(housekeeping, garden, minutes: 4)
    #expect(try Self.secretsOnDisk(in: garden).count == Secret.allCases.count)

    try await garden.write { tx throws(Refusal) in
      for id in [text, annotated, place] { try tx.delete(id, by: Garden.ada) }
      try tx.deleteRevision(1, of: edited, by: Garden.ada)
      try tx.remove(removed, by: Garden.grace, reason: nil, sealedFor: 86_400_000)
    }
    await Self.tick(housekeeping, garden, minutes: 10)
    #expect(try Self.secretsOnDisk(in: garden) == [Secret.removed.rawValue], "the seal is not over yet")
    garden.clock.pass(seconds: 86_400 - 600)
    await Self.tick(housekeeping, garden, minutes: 10)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    #expect(try Self.destruction(garden).rewritten == 0)
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `text deleted during a round is purged by the next one`() async throws {
    let garden = try await Garden()
    let housekeeping = Housekeeping(garden.store, maxRewrittenBytes: 0)
    let text = try await garden.post(Secret.text.rawValue).id
    let other = try await garden.post(Secret.edited.rawValue).id
    try await garden.write { tx throws(Refusal) in try tx.delete(text, by: Garden.ada) }
    await housekeeping.tick()
    #expect(try Self.secretsOnDisk(in: garden) == [Secret.edited.rawValue])
    try await garden.write { tx throws(Refusal) in try tx.delete(other, by: Garden.ada) }
    await Self.tick(housekeeping, garden, minutes: 3)
    #expect(try Self.destruction(garden).purged == 1)
    await Self.tick(housekeeping, garden, minutes: 1)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    #expect(try Self.destruction(garden).purged == 2)
  }

  @Test func `without deletions the index is unchanged`() async throws {
    let garden = try await Garden()
    for number in 0..<3 { _ = try await garden.post("seeds \(number)") }
    let before = try Self.segments(garden)
    await Self.tick(Housekeeping(garden.store), garden, minutes: 10)
    #expect(try Self.segments(garden) == before && before.count > 1)
    // A refused deletion does not count.
    let id = try await garden.post("roses").id
    await #expect(throws: Refusal.conflict) {
      try await garden.write { tx throws(Refusal) in
        try tx.delete(id, by: Garden.ada)
        throw .conflict
      }
    }
    #expect(try Self.destruction(garden).count == 0)
  }

  @Test func `a restart keeps pending purges`() async throws {
    let garden = try await Garden()
    var random = Seeded(seed: 5)
    let id = try await garden.post(Secret.text.rawValue).id
    try await Self.post(1_000, to: garden, &random)
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    await garden.store.close()
    let again = try await Garden(in: garden.folder)
    await Housekeeping(again.store).tick()
    #expect(try Self.secretsOnDisk(in: again) == [])
    await again.store.close()
  }

  @Test func `housekeeping retries after a blocking reader`() async throws {
    let garden = try await Garden()
    let housekeeping = Housekeeping(garden.store)
    let id = try await garden.post(Secret.text.rawValue).id
    let reader = try Connection.reader(garden.folder + "/parley.db")
    let snapshot = try reader.begin(.deferred)
    _ = try reader.first("select count(*) from message") { try $0.int(0) }
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    await Self.tick(housekeeping, garden, minutes: 5)
    #expect(try Self.secretsOnDisk(in: garden) == [Secret.text.rawValue])
    snapshot.rollBack()
    reader.close()
    await housekeeping.tick()
    #expect(try Self.secretsOnDisk(in: garden) == [])
    #expect(garden.refusals == [])
  }

  @Test func `the database is rewritten once a day up to a maximum size`() async throws {
    let garden = try await Garden()
    func destroy() async throws {
      let id = try await garden.post("seeds").id
      try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    }
    try await destroy()
    await Self.tick(Housekeeping(garden.store, maxRewrittenBytes: 4_096), garden, minutes: 5)
    #expect(try Self.destruction(garden).purged == 1)
    #expect(try Self.destruction(garden).rewritten == 0)
    let housekeeping = Housekeeping(garden.store)
    await Self.tick(housekeeping, garden, minutes: 1)
    #expect(try Self.destruction(garden).rewritten == 1)
    try await destroy()
    await Self.tick(housekeeping, garden, minutes: 10)
    #expect(try Self.destruction(garden).purged == 2)
    #expect(try Self.destruction(garden).rewritten == 1)
    garden.clock.pass(seconds: 86_400)
    await Self.tick(housekeeping, garden, minutes: 1)
    #expect(try Self.destruction(garden).rewritten == 2)
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  // MARK: On request

  @Test func `a purge removes all deleted text and reports its counts`() async throws {
    let garden = try await Garden()
    var random = Seeded(seed: 6)
    let text = try await garden.post(Secret.text.rawValue).id
    let removed = try await garden.post(Garden.message(saying: Secret.removed.rawValue))
    try await garden.react(to: text, saying: Secret.long.rawValue)
    try await Self.post(2_000, to: garden, &random)
    try await garden.write { tx throws(Refusal) in
      try tx.delete(text, by: Garden.ada)
      try tx.remove(removed, by: Garden.grace, reason: nil, sealedFor: 1_000)
    }
    garden.clock.pass(seconds: 1)
    let (phases, seen) = AsyncStream.makeStream(of: PurgePhase.self)
    let report = try await garden.store.purge { phase in seen.yield(phase) }
    seen.finish()
    #expect(report.seals == 1 && report.copies == 1)
    #expect(report.sizeAfter > 0)
    var all: [PurgePhase] = []
    for await phase in phases where all.last != phase { all.append(phase) }
    #expect(all == PurgePhase.allCases)
    #expect(try Self.secretsOnDisk(in: garden) == [])
    let destruction = try Self.destruction(garden)
    #expect(destruction.rewritten == destruction.count && destruction.purged == destruction.count)
    #expect(try Garden.faults(in: garden.folder) == [])
    let again = try await garden.store.purge { _ in }
    #expect(again.seals == 0 && again.copies == 0)
  }

  @Test func `a purge removes files of deleted messages and leaves those of drafts`() async throws {
    let garden = try await Garden()
    func add(_ bytes: [UInt8]) async throws -> (file: File, path: String) {
      let writer = garden.store.blobs.writer()
      try await writer.append(bytes)
      let content = try await writer.finish()
      let file = try await garden.write { tx throws(Refusal) in
        try tx.add(
          NewFile(
            owner: Garden.ada, FileDraft(name: "x"), content, kind: "text", mimeType: "text/plain", width: nil,
            height: nil), in: FileQuota(user: 1_000, site: 1_000))
      }
      return (file, garden.store.blobs.path(of: content.digest))
    }
    let (attached, draft) = (try await add([1, 2]), try await add([3, 4]))
    garden.clock.pass(seconds: 1)
    var message = NewMessage(conversation: Garden.room, author: Garden.ada, text: "look")
    message.attachments = [attached.file.id]
    let id = try await garden.post(message)
    _ = try await garden.store.purge { _ in }
    #expect(Disk.exists(attached.path))
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    let report = try await garden.store.purge { _ in }
    #expect(report.files == 1)
    #expect(!Disk.exists(attached.path))
    #expect(Disk.exists(draft.path))
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a purge can be cancelled while a reader blocks it`() async throws {
    let garden = try await Garden()
    let id = try await garden.post(Secret.text.rawValue).id
    let reader = try Connection.reader(garden.folder + "/parley.db")
    let snapshot = try reader.begin(.deferred)
    _ = try reader.first("select count(*) from message") { try $0.int(0) }
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    let tries = Mutex(0)
    await #expect(throws: PurgeFault.cancelled) {
      try await garden.store.purge { phase throws(PurgeFault) in
        guard phase == .truncatingLog else { return }
        let count = tries.withLock { tries in
          tries += 1
          return tries
        }
        if count == 3 { throw .cancelled }
      }
    }
    snapshot.rollBack()
    reader.close()
    #expect(try Self.destruction(garden).purged == 0)
    _ = try await garden.store.purge { _ in }
    #expect(try Self.secretsOnDisk(in: garden) == [])
  }

  @Test func `a purge of a closed store fails`() async throws {
    let garden = try await Garden()
    await garden.store.close()
    await #expect(throws: PurgeFault.unavailable) { try await garden.store.purge { _ in } }
  }

  @Test func `a purge deletes the copies of a killed test of migrations`() async throws {
    let garden = try await Garden()
    let folder = garden.folder + "/migration.test"
    try FileManager.default.createDirectory(atPath: folder + "/17", withIntermediateDirectories: true)
    try Data("a rose".utf8).write(to: URL(filePath: folder + "/17/parley.db"))
    _ = try await garden.store.purge { _ in }
    #expect(!FileManager.default.fileExists(atPath: folder))
    await garden.store.close()
  }
}
