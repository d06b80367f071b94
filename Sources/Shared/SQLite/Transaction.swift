// A transaction ends exactly once, by commit or rollback, on every path.
//
// SQLite rolls back by itself after some errors: disk full, I/O error, out of memory, an interrupted write. Only
// sqlite3_get_autocommit shows it, and the statements that follow would each commit alone. So the connection records
// that it has begun a transaction. Each error says whether the transaction survived, and if not, every further
// statement fails until the transaction ends here too.

extension Connection {
  public enum Mode: Hashable, Sendable {
    /// Reads a snapshot, fixed at its first statement.
    case deferred
    /// Acquires the write lock at once.
    case immediate
  }

  /// Begins a transaction. It ends with `commit()`, `rollBack()` or its deinit.
  public func begin(_ mode: Mode = .immediate) throws(SQLiteError) -> Transaction {
    let database = try handle()
    guard !database.shouldBeInTransaction else {
      throw SQLiteError(code: .misuse, message: "a transaction is already open")
    }
    if let error = control(mode == .deferred ? "begin" : "begin immediate") { throw error }
    database.shouldBeInTransaction = true
    return Transaction(self)
  }

  /// Runs `body` in a transaction: commits, or rolls back if `body` throws.
  @discardableResult public func transaction<Value>(_ mode: Mode = .immediate, _ body: () throws -> Value) throws
    -> Value
  {
    let transaction = try begin(mode)
    let value = try body()
    try transaction.commit()
    return value
  }

  /// Begins a savepoint in the open transaction. It ends with `release()`, `rollBack()` or its deinit.
  public func savepoint() throws(SQLiteError) -> Savepoint {
    let database = try handle()
    guard database.shouldBeInTransaction else {
      throw SQLiteError(code: .misuse, message: "a savepoint needs a transaction around it")
    }
    // Outside a transaction a savepoint would begin one.
    try checkTransaction(database)
    // Savepoint names may repeat: SQLite uses the innermost.
    if let error = control("savepoint part") { throw error }
    return Savepoint(self)
  }

  /// Runs `body` in a savepoint: releases it, or rolls back to it if `body` throws.
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

  /// A failing "rollback" is harmless: it has left the transaction anyway (OP_AutoCommit in SQLite's vdbe.c).
  fileprivate func rollBack() {
    if isInTransaction { _ = control("rollback") }
    leaveTransaction()
  }

  fileprivate func releaseSavepoint() throws(SQLiteError) {
    try checkTransaction(try handle())
    if let error = control("release part") { throw error }
  }

  /// If this fails too, the state of the transaction is unknown: roll all of it back, so that later statements fail.
  fileprivate func rollBackSavepoint() {
    guard isInTransaction else { return }
    if control("rollback to part") != nil || control("release part") != nil { _ = control("rollback") }
  }
}

/// An open transaction.
public struct Transaction: ~Copyable {
  private let connection: Connection
  private var isOpen = true

  fileprivate init(_ connection: Connection) { self.connection = connection }

  deinit { if isOpen { connection.rollBack() } }

  /// A failed commit has rolled back.
  public consuming func commit() throws(SQLiteError) {
    isOpen = false
    try connection.commit()
  }

  public consuming func rollBack() {}
}

/// An open savepoint.
public struct Savepoint: ~Copyable {
  private let connection: Connection
  private var isOpen = true

  fileprivate init(_ connection: Connection) { self.connection = connection }

  deinit { if isOpen { connection.rollBackSavepoint() } }

  /// Merges the savepoint into its transaction.
  public consuming func release() throws(SQLiteError) {
    try connection.releaseSavepoint()
    isOpen = false
  }

  public consuming func rollBack() {}
}
