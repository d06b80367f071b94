import Foundation
import ParleyJSON
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The database from before a migration: its comparison with the current one, and its return.
@Suite struct WayBackTests {
  /// A site with a copy of its database and later changes: `site/`.
  private static func site(_ change: (Garden) async throws -> Void) async throws -> Scratch {
    let scratch = try Scratch()
    let before = try await Garden(in: scratch.path + "/site")
    _ = try await before.post("before", as: "before")
    await before.store.close()
    #expect(try scratch.run("cp site/parley.db copy") == 0)
    let garden = try await Garden(in: scratch.path + "/site")
    try await change(garden)
    await garden.store.close()
    // At the end: the clock of the garden is ahead, so it would delete a copy of today.
    #expect(try scratch.run("mv copy site/parley.db.before-migration") == 0)
    return scratch
  }

  private static func wayBack(_ scratch: Scratch) throws -> WayBack {
    try #require(WayBack(data: scratch.path + "/site"))
  }

  @Test func `a change without a message is an event`() async throws {
    let none = try await Self.site { _ in }
    let unchanged = try Self.wayBack(none).changes(at: 5)
    #expect(unchanged.messages == 0 && unchanged.events == 0)
    let scratch = try await Self.site { garden in
      try await garden.store.write { tx throws(Refusal) in
        let messages = try tx.run { connection in try connection.all("select id from message") { row in try row.int(0) }
        }
        for id in messages { _ = try tx.delete(ID(id), by: Garden.ada) }
      }
    }
    let changed = try Self.wayBack(scratch).changes(at: 5)
    #expect(changed.messages == 0 && changed.events > 0)
  }

  @Test func `missing messages are kept with ids as strings`() async throws {
    let scratch = try await Self.site { garden in
      for number in 0..<2 { _ = try await garden.post("later \(number)") }
    }
    let wayBack = try Self.wayBack(scratch)
    #expect(try wayBack.changes(at: 5).messages == 2)
    let folder = try DataFolder(scratch.path + "/site")
    let restored = try folder.putBack(wayBack, aside: "5", at: 5) { _ in }
    folder.release()
    #expect(restored.warning == nil && restored.replaced == scratch.path + "/site/replaced-5")
    let lines = try scratch.bytes(of: "site/replaced-5/since.jsonl").split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == 2)
    for (number, line) in lines.enumerated() {
      var message = try JSONValue(parsing: Array(line)).object()
      let text = try message.string("text")
      #expect(text == "later \(number)")
      for name in ["id", "conversation_id", "author_id"] {
        let id = try message.string(name)
        #expect(Int(id) != nil, "\(name)")
      }
    }
    #expect(try Garden.messages(in: scratch.path + "/site").count == 1)
    #expect(try !scratch.names(in: "site").contains("parley.db.before-migration"))
  }

  @Test func `the messages of a damaged database are not complete, and a sentence says so`() async throws {
    let scratch = try await Self.site { garden in
      _ = try await garden.post("readable")
      _ = try await garden.post(String(repeating: "~^", count: 12_000))
    }
    // Pointers of overflow pages, which a comparison does not read.
    var bytes = try scratch.bytes(of: "site/parley.db")
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    var damaged = 0
    for page in stride(from: 0, to: bytes.count, by: pageSize) {
      guard bytes[(page + 4)..<(page + 68)].allSatisfy({ [UInt8(ascii: "~"), UInt8(ascii: "^")].contains($0) }) else {
        continue
      }
      bytes.replaceSubrange(page..<(page + 4), with: [0xff, 0xff, 0xff, 0xff])
      damaged += 1
    }
    #expect(damaged > 1)
    try scratch.write(bytes, to: "site/parley.db")
    let folder = try DataFolder(scratch.path + "/site")
    let restored = try folder.putBack(try Self.wayBack(scratch), aside: "5", at: 5) { _ in }
    folder.release()
    let warning = try #require(restored.warning)
    #expect(warning.hasPrefix("The replaced database is damaged") && warning.contains("since.jsonl"))
    let lines = try scratch.bytes(of: "site/replaced-5/since.jsonl").split(separator: UInt8(ascii: "\n"))
    #expect(lines.count < 2)
    #expect(try scratch.bytes(of: "site/replaced-5/parley.db") == bytes)
    #expect(try Garden.messages(in: scratch.path + "/site").count == 1)
  }

  @Test func `a foreign copy is not compared`() async throws {
    let scratch = try await Self.site { _ in }
    let other = try await Garden(in: scratch.path + "/other")
    _ = try await other.post("elsewhere")
    await other.store.close()
    #expect(try scratch.run("cp other/parley.db site/parley.db.before-migration") == 0)
    let wayBack = try Self.wayBack(scratch)
    let fault = #expect(throws: BackupFault.self) { try wayBack.changes(at: 5) }
    #expect(fault?.description.contains("can't be compared with the database") == true)
  }
}
