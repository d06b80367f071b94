import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct ReaderTests {
  private static func count(_ tx: ReadTransaction) throws(Refusal) -> Int? {
    try tx.run { connection in try connection.first("select count(*) from message") { row in try row.int(0) } }
  }

  @Test func `a reader sees acknowledged writes`() async throws {
    let garden = try await Garden()
    for number in 1...3 {
      _ = try await garden.post("rose \(number)")
      #expect(try garden.store.reader().read { tx throws(Refusal) in try Self.count(tx) } == number)
      let inBackground = try await garden.store.readInBackground { tx throws(Refusal) in try Self.count(tx) }
      #expect(inBackground == number)
    }
    await garden.store.close()
  }

  @Test func `a slow query is interrupted, and its thread continues`() async throws {
    let garden = try await Garden()
    await #expect(throws: Refusal.unavailable) {
      try await garden.store.readInBackground(within: .milliseconds(20)) { tx throws(Refusal) in
        try tx.run { connection in
          try connection.first(
            "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
          ) { row in try row.int(0) }
        }
      }
    }
    let after = try await garden.store.readInBackground { tx throws(Refusal) in try Self.count(tx) }
    #expect(after == 0)
    await garden.store.close()
  }

  @Test func `a reader can't write`() async throws {
    let garden = try await Garden()
    #expect(throws: Refusal.unavailable) {
      try garden.store.reader().read { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("delete from counter") }
      }
    }
    await garden.store.close()
  }
}
