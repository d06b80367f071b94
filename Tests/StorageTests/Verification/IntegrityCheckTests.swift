import Foundation
import ParleyModel
import ParleySQLite
import Synchronization
import Testing

@testable import Storage

/// A running store and a database file with damaged pages.
struct IntegrityCheckTests {
  private static let messageCount = 400

  /// Overwrites the pages of three stored messages. Their neighbours may belong to other tables.
  private static func damage(_ folder: String) throws {
    for number in [150, 200, 250] { try damage(folder, messageNumber: number) }
  }

  private static func damage(_ folder: String, messageNumber: Int) throws {
    let pageSize = 4_096
    let file = URL(filePath: folder + "/parley.db")
    var bytes = try Data(contentsOf: file)
    let found = try #require(bytes.range(of: Data("a rose, number \(messageNumber) of".utf8)))
    let page = found.lowerBound / pageSize
    let damaged = page * pageSize..<(page + 1) * pageSize
    bytes.replaceSubrange(damaged, with: Data(repeating: 0xff, count: damaged.count))
    let handle = try FileHandle(forWritingTo: file)
    try handle.seek(toOffset: UInt64(damaged.lowerBound))
    try handle.write(contentsOf: bytes[damaged])
    try handle.close()
  }

  /// A closed store with messages in its database file.
  private static func plantedFolder(_ scratch: Scratch) async throws -> String {
    let garden = try await Garden(in: scratch.path)
    for number in 1...messageCount {
      _ = try await garden.post(
        "a rose, number \(number) of \(messageCount): \(String(repeating: "thorn ", count: 20))")
    }
    await garden.store.close()
    return garden.folder
  }

  @Test func `damage is found after the start, and stops all writes`() async throws {
    let scratch = try Scratch()
    let folder = try await Self.plantedFolder(scratch)
    try Self.damage(folder)
    let garden = try await Garden(in: folder)
    let housekeeping = Housekeeping(garden.store, checksIntegrity: true)
    await housekeeping.tick()
    await garden.store.finishIntegrityCheck()
    #expect(garden.store.writeRefusal == .damaged)
    #expect(!garden.store.isReady)
    await #expect(throws: Refusal.damaged) { try await garden.post("seeds") }
    let lines = garden.logLines.all.filter { $0.contains("DATABASE IS DAMAGED") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("message") == true)
    // Housekeeping does not open the gate again, and the intact part can be read.
    garden.clock.pass(seconds: 600)
    await housekeeping.tick()
    #expect(garden.store.writeRefusal == .damaged)
    #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.owner() } == nil)
    await garden.store.close()
  }

  @Test func `the check runs again the next night, and not before`() async throws {
    let scratch = try Scratch()
    let folder = try await Self.plantedFolder(scratch)
    let garden = try await Garden(in: folder)
    let housekeeping = Housekeeping(garden.store, checksIntegrity: true)
    await housekeeping.tick()
    await garden.store.finishIntegrityCheck()
    #expect(garden.store.isReady)
    try Self.damage(folder)
    await housekeeping.tick()
    await garden.store.finishIntegrityCheck()
    #expect(garden.store.isReady)
    garden.clock.pass(seconds: 86_400)
    await housekeeping.tick()
    await garden.store.finishIntegrityCheck()
    #expect(garden.store.writeRefusal == .damaged)
    await garden.store.close()
  }

  @Test func `a query that meets damage stops all writes, too`() async throws {
    let scratch = try Scratch()
    let folder = try await Self.plantedFolder(scratch)
    try Self.damage(folder)
    let garden = try await Garden(in: folder)
    let ids = (0...Self.messageCount).map { ID<Message>(4 + $0) }
    #expect(throws: Refusal.damaged) {
      try garden.store.reader().read { tx throws(Refusal) in
        for id in ids { _ = try tx.message(id) }
      }
    }
    await #expect(throws: Refusal.damaged) { try await garden.post("seeds") }
    await garden.store.close()
  }

  @Test func `the check pauses within a table, too`() async throws {
    let scratch = try Scratch()
    let path = scratch.path + "/large.db"
    let connection = try Connection.writer(path)
    try connection.execute("create table large (id integer primary key, number integer not null) strict")
    try connection.execute(
      """
      insert into large
      with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < 50000)
      select number, number
      from numbers
      """)
    connection.close()
    let pauses = Mutex(0)
    let lines = Mutex<[String]>([])
    let gate = WriteGate(scratch.path, reserve: nil) { line in lines.withLock { $0.append(line) } }
    let check = IntegrityCheck(path, vfs: nil, gate: gate) { line in
      lines.withLock { $0.append(line) }
    } sleep: { _ in
      pauses.withLock { $0 += 1 }
    }
    check.start {}
    await check.finish()
    // Each row takes several instructions.
    #expect(pauses.withLock { $0 } >= 4)
    #expect(lines.withLock { $0 } == [] && gate.refusal == nil)
  }

  @Test func `closing the store ends a running check`() async throws {
    let scratch = try Scratch()
    let folder = try await Self.plantedFolder(scratch)
    let garden = try await Garden(in: folder)
    garden.store.startIntegrityCheck {}
    await garden.store.close()
    garden.store.startIntegrityCheck {}
    await garden.store.finishIntegrityCheck()
    #expect(garden.logLines.all.allSatisfy { !$0.contains("integrity") })
  }
}
