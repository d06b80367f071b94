import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct SearchFaultsTests {
  private static func faults(_ garden: Garden, limit: Int = 100) throws -> [Int] {
    try garden.store.reader().read(within: .seconds(60)) { tx throws(Refusal) in try tx.searchFaults(limit: limit) }
      .map(\.number)
  }

  private static func plant() async throws -> (Garden, [Int]) {
    let garden = try await Garden()
    var ids: [Int] = []
    for text in ["red rose", "日本の花", "🍕 time", "", "crème brûlée", "red rose"] {
      ids.append(try await garden.post(text).id.number)
    }
    return (garden, ids)
  }

  @Test func `a correct index has no faults`() async throws {
    let (garden, ids) = try await Self.plant()
    try await garden.edit(ID(ids[0]), to: "blue rose")
    try await garden.delete(ID(ids[1]))
    #expect(try Self.faults(garden) == [])
    let background = try await garden.store.readInBackground { tx throws(Refusal) in try tx.searchFaults() }
    #expect(background == [])
    let beforeWriting = try await garden.store.write { tx throws(Refusal) in try tx.searchFaults() }
    let again = try await garden.store.write { tx throws(Refusal) in try tx.searchFaults() }
    #expect(beforeWriting == [] && again == [])
    await garden.store.close()
  }

  /// A change of the index that bypasses the store, and the affected message.
  @Test(arguments: [
    (
      "a word too many",
      "insert into search (search, rowid, words, scope) values ('delete', 4, 'red rose', 'c3 a1')",
      "insert into search (rowid, words, scope) values (4, 'red rose thorn', 'c3 a1')", [4]
    ),
    (
      "a word too few",
      "insert into search (search, rowid, words, scope) values ('delete', 4, 'red', '')", "select 1", [4]
    ),
    (
      "words in another order",
      "insert into search (search, rowid, words, scope) values ('delete', 4, 'red rose', 'c3 a1')",
      "insert into search (rowid, words, scope) values (4, 'rose red', 'c3 a1')", [4]
    ),
    (
      "another place",
      "insert into search (search, rowid, words, scope) values ('delete', 4, 'red rose', 'c3 a1')",
      "insert into search (rowid, words, scope) values (4, 'red rose', 'c9 a1')", [4]
    ),
    (
      "the words of one with another",
      "insert into search (search, rowid, words, scope) values ('delete', 4, 'red rose', 'c3 a1')",
      "insert into search (rowid, words, scope) values (8, 'red rose', 'c3 a1')", [4, 8]
    ),
    (
      "a word in the wrong column", "insert into search (search, rowid, words, scope) values ('delete', 4, 'rose', '')",
      "insert into search (rowid, words, scope) values (4, '', 'rose')", [4]
    ),
    (
      "a message that is not there", "insert into search (rowid, words, scope) values (70004, 'rose', 'c3 a1')",
      "insert into search (rowid, words, scope) values (-5, 'rose', 'c3 a1')", [-5, 70004]
    ),
    ("nothing at all", "insert into search (search) values ('delete-all')", "select 1", [4, 5, 6, 7, 8, 9]),
    (
      "a tombstone that is still found",
      "update message set text = null, deletion = 'author', deleted_at = 1 where id = 5", "select 1", [5]
    ),
    ("a text that was changed alone", "update message set text = 'red thorn' where id = 9", "select 1", [9]),
  ])
  func `a difference is found and reported with its message`(
    what: String, first: String, second: String, expected: [Int]
  ) async throws {
    let (garden, ids) = try await Self.plant()
    #expect(ids == [4, 5, 6, 7, 8, 9])
    try await garden.tamper { connection in
      try connection.execute(SQL(first))
      if second != "select 1" { try connection.execute(SQL(second)) }
    }
    #expect(try Self.faults(garden) == expected)
    #expect(try Self.faults(garden, limit: 1).count == 1)
    await garden.store.close()
  }

  @Test func `after a check a reader still can't write`() async throws {
    let (garden, _) = try await Self.plant()
    #expect(try Self.faults(garden) == [])
    let reader = garden.store.reader()
    _ = try reader.read { tx throws(Refusal) in try tx.searchFaults() }
    #expect(throws: Refusal.unavailable) {
      try reader.read { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("create temp table kept (id integer)") }
      }
    }
    await garden.store.close()
  }

  @Test func `a check that exceeds its time is refused and can be repeated`() async throws {
    let (garden, _) = try await Self.plant()
    let reader = garden.store.reader()
    #expect(throws: Refusal.unavailable) {
      try reader.read(within: .zero) { tx throws(Refusal) in try tx.searchFaults() }
    }
    #expect(try reader.read { tx throws(Refusal) in try tx.searchFaults() } == [])
    await garden.store.close()
  }
}
