import Dispatch
import Foundation
import ParleySQLite
import Synchronization
import Testing

@Suite struct ConnectionTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a writer is configured for durable commits`() throws {
    let writer = try folder.writer()
    let settings: [(SQL, Int)] = [
      ("pragma synchronous", 2), ("pragma foreign_keys", 1), ("pragma secure_delete", 1), ("pragma mmap_size", 0),
      ("pragma wal_autocheckpoint", 4_000), ("pragma trusted_schema", 0),
    ]
    for (sql, value) in settings { #expect(try writer.int(sql) == value) }
    #expect(try writer.first("pragma journal_mode") { row in try row.text(0) } == "wal")
  }

  @Test func `a reader can't write and never checkpoints`() throws {
    let writer = try folder.writer()
    try writer.execute("create table forum (id integer primary key) strict")
    let reader = try Connection.reader(folder.database)
    #expect(throws: SQLiteError.self) { try reader.execute("insert into forum values (1)") }
    #expect(throws: SQLiteError.self) { try reader.checkpoint(.passive) }
    #expect(try reader.int("pragma wal_autocheckpoint") == 0)
    #expect(try reader.int("pragma mmap_size") == 0)
    writer.close()
    reader.close()
    #expect(try folder.bytes(of: "test.db-wal").isEmpty == false)
  }

  @Test(arguments: [(false, 2), (true, 1)])
  func `sorting uses memory, or the disk if configured`(isOnDisk: Bool, store: Int) throws {
    try folder.writer().close()
    var options = Connection.Options()
    options.sortsOnDisk = isOnDisk
    #expect(try Connection.reader(folder.database, options).int("pragma temp_store") == store)
  }

  @Test func `a reader sees committed writes, and a deferred transaction keeps its snapshot`() throws {
    let writer = try folder.writer()
    try writer.execute("create table forum (id integer primary key) strict")
    let reader = try Connection.reader(folder.database)
    let snapshot = try reader.begin(.deferred)
    #expect(try reader.int("select count(*) from forum") == 0)
    try writer.execute("insert into forum values (1)")
    #expect(try reader.int("select count(*) from forum") == 0)
    try snapshot.commit()
    #expect(try reader.int("select count(*) from forum") == 1)
  }

  @Test func `a reader needs an existing database`() throws {
    let error = #expect(throws: SQLiteError.self) { try Connection.reader(folder.database) }
    #expect(error?.code == .cannotOpen)
    #expect(try folder.names.isEmpty)
  }

  @Test func `a file that is not a database is refused and unchanged`() throws {
    try folder.write(String(repeating: "not a database. ", count: 1_000), to: "test.db")
    let before = try folder.bytes(of: "test.db")
    for open in [{ try Connection.writer($0) }, { try Connection.reader($0) }] {
      let error = #expect(throws: SQLiteError.self) { try open(folder.database) }
      #expect(error?.code == .notADatabase)
    }
    #expect(try folder.bytes(of: "test.db") == before)
    #expect(try folder.names == ["test.db"])
  }

  @Test(arguments: ["", "/nowhere/at/all.db"])
  func `an invalid path is an error`(path: String) {
    #expect(throws: SQLiteError.self) { try Connection.writer(path) }
  }

  @Test func `file names with a special meaning in SQLite are plain names`() throws {
    for name in ["file:x.db?mode=memory", ":memory:"] {
      let connection = try Connection.writer(folder.path + "/" + name)
      try connection.execute("create table forum (id integer primary key) strict")
    }
    #expect(try folder.names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.count == 2)
  }

  @Test func `a second writer waits, then fails with busy`() throws {
    let first = try folder.writer()
    try first.execute("create table forum (id integer primary key) strict")
    var options = Connection.Options()
    options.busyTimeout = .milliseconds(30)
    let second = try Connection.writer(folder.database, options)
    let transaction = try first.begin()
    let start = ContinuousClock.now
    let error = failure { _ = try second.begin() }
    #expect(error?.code == .busy)
    #expect(ContinuousClock.now - start >= .milliseconds(25))
    transaction.rollBack()
    try second.begin().rollBack()
  }

  @Test func `exclusive connections wait for each other from the first open on`() throws {
    var options = Connection.Options()
    options.isExclusive = true
    options.busyTimeout = .seconds(60)
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 24) { [options, database = folder.database] number in
      do {
        let connection = try Connection.writer(database, options)
        try connection.transaction {
          try connection.execute("create table if not exists visit (number integer primary key) strict")
          try connection.execute("insert into visit values ($1)", number)
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try folder.writer().int("select count(*) from visit") == 24)
    #expect(try folder.names.contains("test.db-shm") == false)
  }

  @Test func `an exclusively locked file is busy, also for a reader`() throws {
    var options = Connection.Options()
    options.isExclusive = true
    options.busyTimeout = .milliseconds(30)
    let first = try Connection.writer(folder.database, options)
    #expect(failure { _ = try Connection.writer(folder.database, options) }?.code == .busy)
    #expect(failure { _ = try Connection.reader(folder.database, options) }?.code == .busy)
    first.close()
    _ = try Connection.writer(folder.database, options)
  }

  /// Runs for about 10 s.
  private static let long: SQL =
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000000) select count(*) from n"

  @Test func `a long query is interrupted from another thread`() throws {
    let writer = try folder.writer()
    let interrupter = try writer.interrupter
    let isOver = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      // An interrupt without a running query is lost.
      while isOver.wait(timeout: .now() + 0.01) == .timedOut { interrupter.interrupt() }
    }
    let error = #expect(throws: SQLiteError.self) { try writer.int(Self.long) }
    isOver.signal()
    #expect(error?.code == .interrupted)
    #expect(try writer.int("select 1") == 1)
  }

  @Test func `interrupting a closed connection does nothing`() throws {
    let writer = try folder.writer()
    let interrupter = try writer.interrupter
    writer.close()
    interrupter.interrupt()
  }

  @Test func `a query stops at its time limit, and the next one has a new limit`() throws {
    let writer = try folder.writer()
    let error = failure { try writer.limited(to: .milliseconds(20)) { _ = try writer.int(Self.long) } }
    #expect(error?.code == .interrupted)
    #expect(try writer.int("select 1") == 1)
  }

  @Test func `a delay of the thread does not shorten the limit of a query`() throws {
    let writer = try folder.writer()
    let (short, long) = try writer.limited(to: .milliseconds(300)) {
      // The delay under test: the limit counts the time of the thread, not of the clock.
      usleep(500_000)
      return (try writer.int("select 1"), failure { _ = try writer.int(Self.long) })
    }
    #expect(short == 1)
    #expect(long?.code == .interrupted)
  }

  @Test func `a deadline ends a delayed query`() throws {
    let writer = try folder.writer()
    let error = #expect(throws: SQLiteError.self) {
      try writer.limited(to: .milliseconds(20), patience: 1) {
        // The delay under test.
        usleep(30_000)
        _ = try writer.int("select 1")
      }
    }
    #expect(error?.code == .interrupted)
  }

  @Test func `many short queries stop at their common time limit`() throws {
    let writer = try folder.writer()
    let error = #expect(throws: SQLiteError.self) {
      try writer.limited(to: .milliseconds(20)) { while true { _ = try writer.int("select 1") } }
    }
    #expect(error?.code == .interrupted)
  }

  @Test func `an inner limit never extends the outer one`() throws {
    let writer = try folder.writer()
    #expect(throws: SQLiteError.self) {
      try writer.limited(to: .milliseconds(20)) { try writer.limited(to: .seconds(60)) { try writer.int(Self.long) } }
    }
  }

  @Test(arguments: [(outer: 1, inner: 2), (outer: 2, inner: 1)])
  func `the earlier of two limits ends both`(patient: (outer: Int, inner: Int)) throws {
    let writer = try folder.writer()
    // The limit that ends first tolerates a delay of the thread, the other one does not.
    func patience(_ length: Int) -> Int { length == 1 ? 1_000_000 : 1 }
    let error = #expect(throws: SQLiteError.self) {
      try writer.limited(to: .milliseconds(patient.outer), patience: patience(patient.outer)) {
        try writer.limited(to: .milliseconds(patient.inner), patience: patience(patient.inner)) {
          usleep(10_000)
          _ = try writer.int("select 1")
        }
      }
    }
    #expect(error?.code == .interrupted)
    #expect(try writer.int("select 1") == 1)
  }

  @Test func `the time limit of a writer keeps its transaction open`() throws {
    let writer = try folder.writer()
    try writer.execute("create table number (i integer) strict")
    let transaction = try writer.begin()
    try writer.execute("insert into number values (7)")
    let kept = try writer.savepoint()
    // A writing statement is not interrupted. The next one does not start.
    var whole = 0
    let error = #expect(throws: SQLiteError.self) {
      try writer.limited(to: .milliseconds(5)) {
        while true {
          try writer.execute(
            """
            insert into number
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
            select i from n
            """)
          whole += 1
        }
      }
    }
    #expect(error?.code == .interrupted)
    #expect(error?.endedTransaction == false)
    #expect(try writer.int("select count(*) from number") == whole * 100_000 + 1)
    kept.rollBack()
    // An interrupted read keeps the transaction open, too.
    #expect(throws: SQLiteError.self) { try writer.limited(to: .milliseconds(5)) { try writer.int(Self.long) } }
    try transaction.commit()
    #expect(try writer.int("select sum(i) from number") == 7)
  }

  @Test func `faults of a corrupt file are found`() throws {
    let writer = try folder.writer()
    try writer.executeScript(
      "create table message (id integer primary key, text text) strict; create index message_text on message (text)")
    try writer.transaction {
      for number in 1...500 { try writer.execute("insert into message (text) values ($1)", "message \(number)") }
    }
    #expect(try writer.integrityFaults().isEmpty)
    writer.close()
    // One letter in the index, which is stored after the table.
    var bytes = try folder.bytes(of: "test.db")
    let range = try #require(Data(bytes).range(of: Data("message 250".utf8), options: .backwards))
    bytes[range.lowerBound] = UInt8(ascii: "n")
    try Data(bytes).write(to: URL(filePath: folder.database))
    let reader = try Connection.reader(folder.database)
    #expect(try reader.integrityFaults().isEmpty == false)
  }

  @Test func `rows with a dangling reference are found`() throws {
    let writer = try folder.writer()
    try writer.executeScript(
      """
      create table forum (id integer primary key) strict;
      create table message (id integer primary key, forum integer references forum (id)) strict;
      pragma foreign_keys = off;
      insert into message values (5, 9);
      """)
    let found = try writer.foreignKeyViolations()
    #expect(found.map { "\($0.table) \($0.rowID ?? 0) \($0.parent)" } == ["message 5 forum"])
  }

  @Test func `a truncating checkpoint reports a blocking reader`() throws {
    var options = Connection.Options()
    options.busyTimeout = .milliseconds(1)
    let writer = try Connection.writer(folder.database, options)
    try writer.execute("create table forum (id integer primary key) strict")
    let reader = try Connection.reader(folder.database)
    let snapshot = try reader.begin(.deferred)
    #expect(try reader.int("select count(*) from forum") == 0)
    try writer.execute("insert into forum values (1)")
    #expect(try writer.checkpoint(.truncate).isBusy)
    #expect(try writer.checkpoint(.truncate, isWaiting: false).isBusy)
    #expect(try writer.int("pragma busy_timeout") == 1)
    #expect(try !writer.checkpoint(.passive).isBusy)
    snapshot.rollBack()
    #expect(try !writer.checkpoint(.truncate).isBusy)
    #expect(try folder.bytes(of: "test.db-wal").isEmpty)
  }
}
