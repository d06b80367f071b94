// What is asked of a database as a whole.

public struct ForeignKeyViolation: Hashable, Sendable {
  public let table: String
  /// Nil where the table has none.
  public let rowID: Int?
  /// The table that should hold what the row names.
  public let parent: String
}

/// What a checkpoint did: pages of the log, and how many of them are in the database now.
public struct Checkpoint: Hashable, Sendable {
  /// A reader or a lock kept it from doing all; it can be tried again.
  public let isBusy: Bool
  public let pages: Int
  public let copied: Int
}

extension Connection {
  /// What `integrity_check` finds wrong: nothing, in a database that is whole.
  public func integrityFaults(limit: Int = 100) throws(SQLiteError) -> [String] {
    let lines = try all(SQL("pragma integrity_check(\(limit))")) { row in try row.text(0) }
    return lines == ["ok"] ? [] : lines
  }

  public func foreignKeyViolations() throws(SQLiteError) -> [ForeignKeyViolation] {
    try all("pragma foreign_key_check") { row in
      ForeignKeyViolation(table: try row.text(0), rowID: try row.optionalInt(1), parent: try row.text(2))
    }
  }

  public enum CheckpointMode: Hashable, Sendable {
    /// As much as goes without waiting for anyone.
    case passive
    /// All, and the log is empty afterwards: what was deleted is gone from it.
    case truncate
  }

  /// Copies the log into the database. For the writer alone: see `Connection`. One that truncates waits for readers, as
  /// long as the busy time-out allows, or copies what it can without waiting.
  @discardableResult public func checkpoint(
    _ mode: CheckpointMode, isWaiting: Bool = true
  ) throws(SQLiteError) -> Checkpoint {
    guard role == .writer else { throw SQLiteError(code: .misuse, message: "a reader may not checkpoint") }
    let done = try handle().checkpoint(mode == .passive ? .passive : .truncate, isWaiting: isWaiting)
    return Checkpoint(isBusy: done.isBusy, pages: done.pages, copied: done.copied)
  }

  /// Lets a reader make temporary tables, which are in memory. Its file stays closed to it: that was opened read-only.
  public func allowingTemporaryTables<Value>(_ body: () throws -> Value) throws -> Value {
    guard role == .reader else { return try body() }
    if let error = control("pragma query_only = off") { throw error }
    defer { _ = control("pragma query_only = on") }
    return try body()
  }

  /// How SQLite means to run a statement, line by line: for tests that say which index a query uses.
  public func plan(of sql: SQL) throws(SQLiteError) -> [String] {
    let statement = try prepare(SQL("explain query plan " + sql.text))
    var lines: [String] = []
    while try statement.step() { lines.append(try statement.row.text(3)) }
    return lines
  }
}
