// A transaction ends exactly once: committed, or rolled back, whatever path leads out of it.
//
// SQLite rolls back by itself after some errors: disk full, I/O error, out of memory, an interrupted write. It says so
// only through sqlite3_get_autocommit, and runs what follows statement by statement, each with a commit of its own. So
// the connection remembers that it has begun: each error says whether the transaction survived it, and when it did not,
// every further statement fails until the transaction has ended here too.

extension Connection {
  public enum Mode: Hashable, Sendable {
    /// Reads the state of its first statement for as long as it lasts.
    case deferred
    /// Takes the right to write at once.
    case immediate
  }

  /// Begins a transaction that ends with `commit()`, `rollBack()`, or when nobody holds it any longer.
  public func begin(_ mode: Mode = .immediate) throws(SQLiteError) -> Transaction {
    let database = try handle()
    guard !database.shouldBeInTransaction else {
      throw SQLiteError(code: .misuse, message: "a transaction is open already")
    }
    if let error = control(mode == .deferred ? "begin" : "begin immediate") { throw error }
    database.shouldBeInTransaction = true
    return Transaction(self)
  }

  /// Commits what `body` did, or nothing of it when it throws.
  @discardableResult public func transaction<Value>(_ mode: Mode = .immediate, _ body: () throws -> Value) throws
    -> Value
  {
    let transaction = try begin(mode)
    let value = try body()
    try transaction.commit()
    return value
  }

  /// A part of a transaction that can be undone alone. Ends with `release()`, `rollBack()`, or when nobody holds it.
  public func savepoint() throws(SQLiteError) -> Savepoint {
    let database = try handle()
    guard database.shouldBeInTransaction else {
      throw SQLiteError(code: .misuse, message: "a savepoint needs a transaction around it")
    }
    // Outside of a transaction a savepoint would begin one of its own.
    try checkTransaction(database)
    // Names of savepoints may repeat: the innermost is meant.
    if let error = control("savepoint part") { throw error }
    return Savepoint(self)
  }

  /// Keeps what `body` did, or undoes it when it throws; what was before in the transaction stays.
  @discardableResult public func savepoint<Value>(_ body: () throws -> Value) throws -> Value {
    let savepoint = try savepoint()
    let value = try body()
    try savepoint.release()
    return value
  }

  func checkTransaction(_ database: DatabaseHandle) throws(SQLiteError) {
    guard database.isInTransaction else {
      throw SQLiteError(
        code: .aborted, message: "SQLite has rolled the transaction back after an error", endedTransaction: true)
    }
  }

  fileprivate func commit() throws(SQLiteError) {
    let database = try handle()
    defer { database.shouldBeInTransaction = false }
    try checkTransaction(database)
    guard let error = control("commit") else { return }
    rollBack()
    throw SQLiteError(
      code: error.code, extendedCode: error.extendedCode, message: error.message, sql: error.sql, endedTransaction: true
    )
  }

  /// That "rollback" fails is no matter: it has left the transaction all the same (OP_AutoCommit in SQLite's vdbe.c).
  fileprivate func rollBack() {
    if isInTransaction { _ = control("rollback") }
    leaveTransaction()
  }

  fileprivate func releaseSavepoint() throws(SQLiteError) {
    try checkTransaction(try handle())
    if let error = control("release part") { throw error }
  }

  /// When even this fails, nobody knows what the transaction holds, so all of it goes, and what follows in it fails.
  fileprivate func rollBackSavepoint() {
    guard isInTransaction else { return }
    if control("rollback to part") != nil || control("release part") != nil { _ = control("rollback") }
  }
}

/// A transaction under way.
public struct Transaction: ~Copyable {
  private let connection: Connection
  private var isOpen = true

  fileprivate init(_ connection: Connection) { self.connection = connection }

  deinit { if isOpen { connection.rollBack() } }

  /// When it fails nothing of the transaction is kept.
  public consuming func commit() throws(SQLiteError) {
    isOpen = false
    try connection.commit()
  }

  public consuming func rollBack() {}
}

/// A part of a transaction under way.
public struct Savepoint: ~Copyable {
  private let connection: Connection
  private var isOpen = true

  fileprivate init(_ connection: Connection) { self.connection = connection }

  deinit { if isOpen { connection.rollBackSavepoint() } }

  /// Keeps the part, if the transaction is.
  public consuming func release() throws(SQLiteError) {
    try connection.releaseSavepoint()
    isOpen = false
  }

  public consuming func rollBack() {}
}
