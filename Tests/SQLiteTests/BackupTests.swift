import ParleySQLite
import Testing

@Suite struct BackupTests {
  let folder: TemporaryFolder
  let writer: Connection

  init() throws {
    folder = try TemporaryFolder()
    writer = try folder.writer()
    try writer.execute("create table message (id integer primary key, text text not null) strict")
    try add(1...2_000)
  }

  private var copy: String { folder.path + "/copy.db" }

  private func add(_ ids: ClosedRange<Int>) throws {
    try writer.transaction {
      for id in ids {
        try writer.execute("insert into message values ($1, $2)", id, String(repeating: "a", count: 300))
      }
    }
  }

  private func count(_ path: String) throws -> Int? {
    let connection = try Connection.reader(path)
    #expect(try connection.integrityFaults() == [])
    return try connection.int("select count(*) from message")
  }

  @Test func `a copy holds one state under a concurrent writer`() throws {
    let reader = try Connection.reader(folder.database)
    var seen: [Backup.Progress] = []
    try reader.backUp(to: copy, pages: 10) { progress in
      seen.append(progress)
      if seen.count < 5 { try add(seen.count * 10_000...seen.count * 10_000 + 99) }
    }
    #expect(try count(copy) == 2_000)
    #expect(try count(folder.database) == 2_400)
    #expect(seen.count > 10)
    #expect(seen.first?.copied == 10)
    let last = try #require(seen.last)
    #expect(last.copied == last.pages)
    #expect(!reader.isInTransaction)
  }

  @Test func `a copy made by the writer has the writes of its duration`() throws {
    let backup = try Backup(of: writer, to: copy)
    #expect(try backup.step(pages: 10))
    try add(5_000...5_099)
    while try backup.step(pages: 10) {}
    try backup.finish()
    #expect(try count(copy) == 2_100)
  }

  @Test func `a copy is a single file`() throws {
    try writer.backUp(to: copy)
    #expect(try folder.names == ["copy.db", "test.db", "test.db-shm", "test.db-wal"])
    let header = try folder.bytes(of: "copy.db")
    // Offset 18 of the header: 2 would be a write-ahead log.
    #expect(header[18] == 1 && header[19] == 1)
  }

  struct Enough: Error {}

  @Test func `a cancelled copy is never renamed, and the next attempt starts over`() throws {
    let reader = try Connection.reader(folder.database)
    #expect(throws: Enough.self) { try reader.backUp(to: copy, pages: 10) { _ in throw Enough() } }
    #expect(try folder.names.contains("copy.db") == false)
    #expect(!reader.isInTransaction)
    try reader.backUp(to: copy)
    #expect(try count(copy) == 2_000)
  }

  @Test func `a copy overwrites nothing`() throws {
    try folder.write("precious", to: "copy.db")
    #expect(throws: SQLiteError.self) { try writer.backUp(to: copy) }
    #expect(try folder.bytes(of: "copy.db") == Array("precious".utf8))
  }

  @Test func `contents are replaced as a whole, also under a reader`() throws {
    try writer.backUp(to: copy)
    let reader = try Connection.reader(folder.database)
    try add(5_000...5_099)
    try writer.execute("create table later (id integer primary key) strict")
    let held = try reader.begin(.deferred)
    #expect(try reader.int("select count(*) from message") == 2_100)
    try writer.replaceContents(with: copy)
    #expect(try reader.int("select count(*) from message") == 2_100)
    try held.commit()
    for connection in [writer, reader] {
      #expect(try connection.int("select count(*) from message") == 2_000)
      #expect(try connection.int("select count(*) from sqlite_schema") == 1)
    }
    #expect(try writer.first("pragma journal_mode") { row in try row.text(0) } == "wal")
    try add(7_000...7_001)
    writer.close()
    reader.close()
    #expect(try count(folder.database) == 2_002)
  }

  @Test func `a file that is not a database replaces nothing`() throws {
    try folder.write(String(repeating: "no ", count: 5_000), to: "copy.db")
    #expect(throws: SQLiteError.self) { try writer.replaceContents(with: copy) }
    #expect(throws: SQLiteError.self) { try writer.replaceContents(with: copy + "?") }
    #expect(try writer.int("select count(*) from message") == 2_000)
  }
}
