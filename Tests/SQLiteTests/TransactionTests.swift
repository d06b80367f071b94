import ParleySQLite
import Testing

@Suite struct TransactionTests {
  let folder: TemporaryFolder
  let connection: Connection

  struct Refusal: Error {}

  init() throws {
    folder = try TemporaryFolder()
    connection = try folder.writer()
    try connection.execute("create table forum (id integer primary key) strict")
  }

  private var ids: [Int] {
    get throws { try connection.all("select id from forum order by id") { row in try row.int(0) } }
  }

  private func add(_ id: Int) throws(SQLiteError) { try connection.execute("insert into forum values ($1)", id) }

  @Test func `committed rows persist`() throws {
    let count = try connection.transaction {
      try add(1)
      try add(2)
      return connection.totalChanges
    }
    #expect(count == 2)
    #expect(try ids == [1, 2])
    #expect(!connection.isInTransaction)
  }

  @Test func `a throwing closure rolls back`() throws {
    #expect(throws: Refusal.self) {
      try connection.transaction {
        try add(1)
        throw Refusal()
      }
    }
    #expect(try ids == [])
    #expect(!connection.isInTransaction)
  }

  @Test func `an abandoned transaction is rolled back`() throws {
    func begin() throws {
      let transaction = try connection.begin()
      try add(1)
      #expect(connection.isInTransaction)
      _ = consume transaction
    }
    try begin()
    #expect(!connection.isInTransaction)
    #expect(try ids == [])
  }

  @Test func `a nested transaction is refused, and the outer one continues`() throws {
    try connection.transaction {
      try add(1)
      #expect(failure { _ = try connection.begin() }?.code == .misuse)
      try add(2)
    }
    #expect(try ids == [1, 2])
  }

  @Test func `a savepoint is rolled back alone, at any depth`() throws {
    try connection.transaction {
      try add(1)
      do {
        try connection.savepoint {
          try add(2)
          try connection.savepoint { try add(3) }
          throw Refusal()
        }
      } catch is Refusal {}
      try connection.savepoint {
        try add(4)
        #expect(failure { try connection.savepoint { try add(4) } }?.constraint == .primaryKey)
        let part = try connection.savepoint()
        try add(5)
        part.rollBack()
      }
    }
    #expect(try ids == [1, 4])
  }

  @Test func `a savepoint outside of a transaction is refused`() throws {
    #expect(failure { _ = try connection.savepoint() }?.code == .misuse)
    #expect(!connection.isInTransaction)
  }

  @Test func `a failed constraint undoes only its statement`() throws {
    try connection.transaction {
      try add(1)
      #expect(failure { try connection.execute("insert into forum values (2), (1)") }?.endedTransaction == false)
    }
    #expect(try ids == [1])
  }

  /// `raise(rollback)` ends the transaction like a full disk.
  private func forceRollback() throws {
    try connection.execute(
      "create trigger no_13 before insert on forum when new.id = 13 begin select raise(rollback, 'unlucky'); end")
  }

  @Test func `after an automatic rollback the error says so, and no statement writes`() throws {
    try forceRollback()
    let error = failure {
      try connection.transaction {
        try add(1)
        let first = failure { try add(13) }
        #expect(first?.endedTransaction == true)
        // Here each statement would commit on its own.
        let second = failure { try add(2) }
        #expect(second?.code == .aborted)
        #expect(failure { try connection.executeScript("insert into forum values (3)") } != nil)
      }
    }
    #expect(error?.endedTransaction == true)
    #expect(try ids == [])
    try connection.transaction { try add(4) }
    #expect(try ids == [4])
  }

  @Test func `a savepoint of an ended transaction ends without error`() throws {
    try forceRollback()
    _ = failure {
      try connection.transaction {
        #expect(failure { try connection.savepoint { try add(13) } }?.endedTransaction == true)
        #expect(failure { try connection.savepoint { try add(5) } }?.code == .aborted)
      }
    }
    #expect(try ids == [])
  }

  @Test func `a commit that fails rolls back`() throws {
    try connection.executeScript(
      "create table message (forum integer references forum (id) deferrable initially deferred) strict")
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction {
        try add(1)
        try connection.execute("insert into message values (99)")
      }
    }
    #expect(error?.constraint == .foreignKey)
    #expect(error?.endedTransaction == true)
    #expect(!connection.isInTransaction)
    #expect(try ids == [])
  }

  @Test func `a transaction can end after its time limit`() throws {
    // A busy machine may use up the time before the insert.
    let isAdded = try connection.limited(to: .milliseconds(1)) {
      let transaction = try connection.begin()
      let added: Void? = try? add(1)
      while true {
        do { _ = try connection.int("select 1") } catch { break }
      }
      try transaction.commit()
      return added != nil
    }
    #expect(try ids == (isAdded ? [1] : []))
  }

  @Test func `a script in a transaction may not end it`() throws {
    for text in ["insert into forum values (1); commit; insert into forum values (2)", "rollback", "savepoint x"] {
      #expect(throws: SQLiteError.self) { try connection.transaction { try connection.executeScript(text) } }
    }
    #expect(try ids == [])
  }

  @Test func `a swallowed error still rolls back its savepoint`() throws {
    try forceRollback()
    let error = failure { try connection.transaction { try connection.savepoint { _ = failure { try add(13) } } } }
    #expect(error?.code == .aborted)
    #expect(try ids == [])
  }
}
