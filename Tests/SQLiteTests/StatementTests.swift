import ParleySQLite
import Testing

@Suite struct StatementTests {
  let folder: TemporaryFolder
  let connection: Connection

  init() throws {
    folder = try TemporaryFolder()
    connection = try folder.writer()
    try connection.executeScript(
      """
      create table message (id integer primary key, text text, size real, bytes blob) strict; -- the end
      insert into message values (1, 'one', 1.5, x'00ff'), (2, 'two', null, null), (3, '', 0, x'');

      """)
  }

  @Test func `every type is read as it was bound`() throws {
    let text = "grüße \u{0} 🎈 and more than fifteen bytes"
    let bytes = (0...255).map { UInt8($0) }
    try connection.execute("insert into message values ($1, $2, $3, $4)", Int.max, text, -0.125, bytes)
    let row = try connection.first("select id, text, size, bytes from message where id = $1", Int.max) { row in
      (try row.int(0), try row.text(1), try row.double(2), try row.bytes(3))
    }
    let read = try #require(row)
    #expect(read.0 == .max && read.1 == text && read.2 == -0.125 && read.3 == bytes)
  }

  @Test func `empty texts and blobs are not null`() throws {
    try connection.execute("insert into message values ($1, $2, $3, $4)", 9, "", 0.0, [UInt8]())
    for id in [3, 9] {
      let row = try connection.first("select text, bytes from message where id = $1", id) { row in
        (try row.text(0), try row.bytes(1), row.isNull(0), row.isNull(1))
      }
      #expect(try #require(row) == ("", [], false, false))
    }
  }

  @Test func `optionals are null or their value`() throws {
    try connection.execute("insert into message values ($1, $2, $3, $4)", 4, String?.none, Double?.none, [UInt8]?.none)
    try connection.execute("insert into message values ($1, $2, $3, $4)", 5, String?("x"), Double?(2), [UInt8]?([7]))
    let sql: SQL = "select text, size is null, bytes, null, 6 from message where id in (4, 5) order by id"
    let rows = try connection.all(sql) { row in
      let (text, hasNoSize, bytes) = try (row.optionalText(0), row.bool(1), row.optionalBytes(2))
      let (none, six) = try (row.optionalInt(3), row.optionalInt(4))
      return "\(text ?? "-") \(hasNoSize) \(bytes ?? []) \(none ?? -1) \(six ?? -1)"
    }
    #expect(rows == ["- true [] -1 6", "x false [7] -1 6"])
  }

  @Test func `columns are read by name in any order`() throws {
    let sql: SQL = "select 1 as one, 'b' as b, 3 as three, null as none"
    for _ in 1...2 {
      let row = try connection.first(sql) { row in
        let (three, b) = (try row.int("three"), try row.text("b"))
        return (three, b, try row.int("one"), try row.int("three"), try row.isNull("none"))
      }
      #expect(try #require(row) == (3, "b", 1, 3, true))
    }
  }

  @Test func `a missing or ambiguous name is an error`() throws {
    for sql: SQL in ["select 1 as id, 2 as id", "select 1 as other"] {
      #expect(throws: SQLiteError.self) { try connection.first(sql) { row in try row.optionalInt("id") } }
    }
  }

  @Test func `booleans are 0 or 1`() throws {
    let flags = try connection.first("select $1, $2", true, false) { row in try [row.bool(0), row.bool(1)] }
    #expect(flags == [true, false])
    #expect(throws: SQLiteError.self) { try connection.first("select 2") { row in try row.bool(0) } }
  }

  @Test func `bytes are borrowed from SQLite repeatedly without a copy`() throws {
    let sum = try connection.first("select text, bytes from message where id = 1") { row in
      let first = try row.withBytes(0) { $0.count }
      let again = try row.withBytes(0) { $0[2] }
      return (first, again, try row.text(0), try row.withBytes(1) { $0[1] })
    }
    #expect(try #require(sum) == (3, UInt8(ascii: "e"), "one", 0xff))
  }

  @Test func `a column of another type is an error with the column's name`() throws {
    let wrong: [(borrowing Row) throws -> Void] = [
      { row in _ = try row.int(1) }, { row in _ = try row.text(0) }, { row in _ = try row.text(3) },
      { row in _ = try row.bytes(1) }, { row in _ = try row.double(1) },
      { row in _ = try row.withBytes(0) { $0.count } },
      { row in _ = try row.int(4) }, { row in _ = try row.int(-1) }, { row in _ = try row.optionalInt(1) },
    ]
    for read in wrong {
      let error = #expect(throws: SQLiteError.self) {
        try connection.each("select id, text, size, bytes from message where id = 1", read: read)
      }
      #expect(error?.code == .mismatch)
    }
    let error = #expect(throws: SQLiteError.self) {
      try connection.first("select text from message where id = 1") { row in try row.int(0) }
    }
    #expect(error?.message == "column 0 (text) holds a text")
  }

  @Test func `a value that is not a number is refused, not stored as null`() throws {
    #expect(throws: SQLiteError.self) { try connection.execute("update message set size = $1", Double.nan) }
    #expect(try connection.first("select $1", Double.infinity) { row in try row.double(0) } == .infinity)
  }

  @Test(arguments: [
    "select $2, $1", "select $1, $3", "select ?", "select ?1", "select :a", "select $a", "select @1", "select $1, ?",
  ])
  func `parameter i must be named $i`(sql: String) throws {
    let error = failure { _ = try connection.prepare(SQL(sql)) }
    #expect(error?.code == .misuse)
    #expect(error?.sql == sql)
  }

  @Test func `a parameter may be used twice, and anywhere after its first use`() throws {
    #expect(try connection.first("select $1 + $2 * $1", 3, 4) { row in try row.int(0) } == 15)
  }

  @Test func `too few or too many values are an error`() throws {
    #expect(throws: SQLiteError.self) { try connection.execute("delete from message where id = $1 or id = $2", 1) }
    #expect(throws: SQLiteError.self) { try connection.execute("delete from message where id = $1", 1, 2) }
    #expect(throws: SQLiteError.self) { try connection.execute("delete from message where id = $1") }
    #expect(try connection.int("select count(*) from message") == 3)
  }

  @Test(arguments: ["select 1; select 2", "", "-- nothing", "select 1; x"])
  func `a statement is one statement`(sql: String) {
    #expect(failure { _ = try connection.prepare(SQL(sql)) } != nil)
  }

  @Test func `a syntax error is reported with its position`() throws {
    let error = #expect(throws: SQLiteError.self) { try connection.execute("select missing from message") }
    #expect(error?.code == .error)
    #expect(error?.description == "no such column: missing (SQLite 1) in: select missing from message")
  }

  @Test func `a statement is reset when its row closure throws`() throws {
    let sql: SQL = "select id from message where id >= $1 order by id"
    for _ in 1...3 {
      #expect(throws: SQLiteError.self) {
        try connection.each(sql, 1) { row in throw row.unexpected(0) }
      }
    }
    #expect(try connection.all(sql, 2) { row in try row.int(0) } == [2, 3])
    // A running statement would block the truncation of the log.
    let checkpoint = try connection.checkpoint(.truncate)
    #expect(!checkpoint.isBusy)
    #expect(try folder.bytes(of: "test.db-wal").isEmpty)
  }

  @Test func `a statement clears its bindings`() throws {
    do {
      let statement = try connection.prepare("select $1")
      try statement.bind("secret", at: 1)
      #expect(try statement.step())
    }
    let statement = try connection.prepare("select $1")
    #expect(try statement.step())
    let isNull = statement.row.isNull(0)
    #expect(isNull)
  }

  @Test func `a statement stays at the end after its last row`() throws {
    let statement = try connection.prepare("select 1")
    #expect(try statement.step())
    for _ in 1...3 { #expect(try !statement.step()) }
  }

  @Test func `the same statement can run recursively`() throws {
    var seen: [Int] = []
    let sql: SQL = "select id from message where id < $1 order by id desc"
    func descend(_ below: Int) throws {
      try connection.each(sql, below) { row in
        let id = try row.int(0)
        seen.append(id)
        try descend(id)
      }
    }
    try descend(4)
    #expect(seen == [3, 2, 1, 1, 2, 1, 1])
  }

  @Test func `the cache evicts the least recently used statement, never a running one`() throws {
    var options = Connection.Options()
    options.statements = 4
    let small = try Connection.reader(folder.database, options)
    let held = try small.prepare("select 1")
    #expect(try held.step())
    for number in 0..<50 {
      #expect(try small.first(SQL("select \(number)")) { row in try row.int(0) } == number)
    }
    #expect(try held.row.int(0) == 1)
  }

  @Test func `returning yields the row, and the statement runs to its end`() throws {
    let ids = try connection.all("insert into message (text) values ($1), ($2) returning id", "a", "b") { row in
      try row.int(0)
    }
    #expect(ids == [4, 5])
    #expect(connection.lastInsertedRowID == 5)
    #expect(try connection.first("delete from message returning id") { row in try row.int(0) } == 1)
    #expect(try connection.int("select count(*) from message") == 0)
  }

  @Test func `changes count the rows of the last statement`() throws {
    #expect(try connection.execute("update message set text = $1 where id <= $2", "x", 2) == 2)
    #expect(try connection.execute("delete from message where id = 77") == 0)
    #expect(connection.totalChanges >= 5)
  }

  @Test func `after closing every call fails, and a running statement finishes`() throws {
    let statement = try connection.prepare("select id from message")
    #expect(try statement.step())
    connection.close()
    #expect(try statement.row.int(0) == 1)
    #expect(try statement.step())
    let error = #expect(throws: SQLiteError.self) { try connection.execute("select 1") }
    #expect(error?.message == "the connection is closed")
    #expect(connection.changes == 0)
  }

  @Test func `violated constraints have distinct codes`() throws {
    try connection.executeScript(
      """
      create table person (id integer primary key, name text not null unique, age integer check (age >= 0)) strict;
      create table membership (forum integer, person integer references person (id), unique (forum, person)) strict;
      insert into person values (1, 'ada', 36);
      insert into membership values (7, 1);
      """)
    let rows: [(SQL, SQLiteError.Constraint)] = [
      ("insert into person values (2, 'ada', 1)", .unique), ("insert into person values (1, 'grace', 1)", .primaryKey),
      ("insert into person values (3, null, 1)", .notNull), ("insert into person values (3, 'grace', -1)", .check),
      ("insert into person values (3, 'grace', 'old')", .dataType),
      ("insert into membership values (7, 2)", .foreignKey), ("insert into membership values (7, 1)", .unique),
    ]
    for (sql, constraint) in rows {
      let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
      #expect(error?.code == .constraint)
      #expect(error?.constraint == constraint)
    }
  }

  @Test func `the plan of a statement names its index`() throws {
    let byID = try connection.plan(of: "select text from message where id = $1")
    #expect(byID == ["SEARCH message USING INTEGER PRIMARY KEY (rowid=?)"])
    #expect(try connection.plan(of: "select text from message where text = $1") == ["SCAN message"])
  }
}
