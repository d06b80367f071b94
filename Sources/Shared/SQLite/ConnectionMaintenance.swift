// Checks, checkpoints and query plans.

public struct ForeignKeyViolation: Hashable, Sendable {
  public let table: String
  /// Nil for a table without row ids.
  public let rowID: Int?
  /// The referenced table.
  public let parent: String
}

/// Result of a checkpoint: the pages in the log, and the number of them that are in the database.
public struct CheckpointResult: Hashable, Sendable {
  /// A reader or a lock prevented a complete checkpoint. Retryable.
  public let isBusy: Bool
  public let pages: Int
  public let copied: Int
}

extension Connection {
  /// Results of `integrity_check`; empty for an intact database.
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
    /// Copies as many pages as possible without waiting.
    case passive
    /// Copies all pages and truncates the log, so that deleted content is gone from it.
    case truncate
  }

  /// Copies the log into the database. Writer only, see `Connection`. A truncating checkpoint waits for readers up to
  /// the busy timeout; with `isWaiting: false` it copies as much as it can without waiting.
  @discardableResult public func checkpoint(
    _ mode: CheckpointMode, isWaiting: Bool = true
  ) throws(SQLiteError) -> CheckpointResult {
    guard role == .writer else { throw SQLiteError(code: .misuse, message: "a reader may not checkpoint") }
    let done = try handle().checkpoint(mode == .passive ? .passive : .truncate, isWaiting: isWaiting)
    return CheckpointResult(isBusy: done.isBusy, pages: done.pages, copied: done.copied)
  }

  /// Frees the cached pages that are not in use.
  public func releaseMemory() throws(SQLiteError) {
    if let error = control("pragma shrink_memory") { throw error }
  }

  /// Allows a reader to create temporary tables, in memory. The database file stays read-only.
  public func allowingTemporaryTables<Value>(_ body: () throws -> Value) throws -> Value {
    guard role == .reader else { return try body() }
    if let error = control("pragma query_only = off") { throw error }
    defer { _ = control("pragma query_only = on") }
    return try body()
  }

  /// Query plan as lines, for tests of index use.
  public func plan(of sql: SQL) throws(SQLiteError) -> [String] {
    let statement = try prepare(SQL("explain query plan " + sql.text))
    var lines: [String] = []
    while try statement.step() { lines.append(try statement.row.text(3)) }
    return lines
  }
}
