/// Connection to a database file. One thread at a time uses it: it is not `Sendable` and stays in the actor or queue
/// that created it. Only its `interrupter` may leave.
///
/// Debian 12's SQLite (3.40.1) can lose pages when several connections write or checkpoint (the WAL-reset bug, in
/// 3.7.0 to 3.51.2). So a process opens at most one `writer`, which writes and checkpoints. A `reader` does neither.
public final class Connection {
  public struct Options: Sendable {
    /// Maximum blocking time for a lock held by another connection.
    public var busyTimeout: Duration = .seconds(5)
    /// Page cache size.
    public var cacheKibibytes = 16_384
    /// Maximum number of cached prepared statements.
    public var statements = 256
    /// Number of WAL pages at which a commit of the writer checkpoints; 0 leaves that to `checkpoint`. A larger value
    /// copies frequently changed pages less often, but recovery after a crash takes longer.
    public var checkpointPages = 4_000
    /// Sorts in temporary files instead of memory, so that a result may exceed the memory.
    public var sortsOnDisk = false
    /// For a reader: may create temporary tables and write to them. The file itself is opened for reading only.
    public var writesTemporaryTables = false
    /// Name of an SQLite VFS. Nil uses the default.
    public var vfs: String?
    /// For a writer: holds the file exclusively from its first read until close, even against readers. Another
    /// connection retries opening it until `busyTimeout`.
    public var isExclusive = false

    public init() {}
  }

  public enum Role: Hashable, Sendable {
    case writer, reader
  }

  public let path: String
  public let role: Role
  private var database: DatabaseHandle?
  private var statements: StatementCache

  private init(_ path: String, _ role: Role, _ options: Options) throws(SQLiteError) {
    guard !path.isEmpty else { throw SQLiteError(code: .misuse, message: "a database needs a path") }
    self.path = path
    self.role = role
    statements = StatementCache(capacity: options.statements)
    // SQLite interprets "file:…" and ":memory:" as a URI and an in-memory database.
    let name = path.hasPrefix("/") ? path : "./" + path
    let database = try DatabaseHandle(name, role == .writer ? .create : .readOnly, vfs: options.vfs)
    self.database = database
    // Two connections that each hold a shared lock and wait for the exclusive one would deadlock.
    try database.waitWhenBusy(options.isExclusive ? .zero : options.busyTimeout)
    try configure(options)
  }

  /// Opens the one connection that writes and checkpoints. Creates a missing file.
  public static func writer(_ path: String, _ options: Options = Options()) throws(SQLiteError) -> Connection {
    guard options.isExclusive else { return try Connection(path, .writer, options) }
    let deadline = ContinuousClock.now + options.busyTimeout
    while true {
      do { return try Connection(path, .writer, options) } catch {
        guard [.busy, .locked].contains(error.code), .now < deadline else { throw error }
      }
      // The failed connection is closed by now. Retry with jitter, so that waiters do not retry in lockstep.
      DatabaseHandle.sleep(milliseconds: .random(in: 5...30))
    }
  }

  /// Opens a read-only connection to an existing database.
  public static func reader(_ path: String, _ options: Options = Options()) throws(SQLiteError) -> Connection {
    try Connection(path, .reader, options)
  }

  /// Sets every pragma of the connection.
  private func configure(_ options: Options) throws(SQLiteError) {
    // Before the first read of the file, which would create the shared memory of its log.
    if options.isExclusive { try run("pragma locking_mode = exclusive") }
    try run("pragma mmap_size = 0")
    try run(options.sortsOnDisk ? "pragma temp_store = file" : "pragma temp_store = memory")
    try run("pragma cell_size_check = on")
    try run("pragma foreign_keys = on")
    try run(SQL("pragma cache_size = -\(options.cacheKibibytes)"))
    switch role {
    case .writer:
      let mode = try first("pragma journal_mode = wal") { row in try row.text(0) }
      guard mode == "wal" else { throw SQLiteError(code: .cannotOpen, message: "\(path) does not support WAL mode") }
      // A commit returns after it is synced to the disk.
      try run("pragma synchronous = full")
      // Deleted content is overwritten.
      try run("pragma secure_delete = on")
      try run(SQL("pragma wal_autocheckpoint = \(options.checkpointPages)"))
    case .reader:
      try run("pragma wal_autocheckpoint = 0")
      try handle().neverCheckpointOnClose()
      if !options.writesTemporaryTables { try run("pragma query_only = on") }
      // SQLite opens the file at the first read.
      _ = try first("pragma schema_version") { row in try row.int(0) }
    }
  }

  private func run(_ sql: SQL) throws(SQLiteError) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  /// Closes the database once none of its statements is in use; every later call is an error. Deinitializing the
  /// connection does the same.
  public func close() {
    statements = StatementCache(capacity: 1)
    database = nil
  }

  func handle() throws(SQLiteError) -> DatabaseHandle {
    guard let database else { throw SQLiteError(code: .misuse, message: "the connection is closed") }
    return database
  }

  /// Interrupts the running statements of this connection, from any thread.
  public var interrupter: Interrupter {
    get throws(SQLiteError) { try handle().interrupter }
  }

  // MARK: Statements

  /// Returns a prepared statement, from the cache if possible.
  public func prepare(_ sql: SQL) throws(SQLiteError) -> Statement {
    let database = try handle()
    if database.shouldBeInTransaction { try checkTransaction(database) }
    if database.deadline?.isOver == true { throw Self.outOfTime(sql) }
    return Statement(try statements.borrow(sql) { text throws(SQLiteError) in try Self.make(text, in: database) })
  }

  /// Runs a transaction statement, at any time and outside the time limit. Returns its error or nil.
  func control(_ sql: SQL) -> SQLiteError? {
    do {
      let database = try handle()
      let statement = Statement(
        try statements.borrow(sql) { text throws(SQLiteError) in try Self.make(text, in: database) })
      _ = try statement.step()
      return nil
    } catch {
      return error
    }
  }

  /// SQL texts of the cached statements.
  public var cachedStatements: [String] { statements.texts }

  /// Number of runs of each cached statement, by SQL text.
  public var cachedStatementRuns: [String: Int] { statements.runs }

  /// Total virtual machine steps of the cached statements: a measure of query cost that is equal in every run.
  public var cachedStatementSteps: Int { statements.steps }

  func enableForeignKeys() { _ = control("pragma foreign_keys = on") }

  func leaveTransaction() { database?.shouldBeInTransaction = false }

  private static func make(_ sql: String, in database: DatabaseHandle) throws(SQLiteError) -> StatementHandle {
    let (statement, consumed) = try database.prepare(sql.utf8Span.span, isPersistent: true)
    guard let statement else { throw SQLiteError(code: .misuse, message: "there is no statement", sql: sql) }
    guard sql.utf8.dropFirst(consumed).allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) else {
      throw SQLiteError(code: .misuse, message: "there is more than one statement", sql: sql)
    }
    try statement.checkParameters()
    return statement
  }

  /// Executes all statements of a text in order, for migrations. Statements have no parameters and may not end an open
  /// transaction.
  public func executeScript(_ text: String) throws(SQLiteError) {
    let database = try handle()
    var rest = text.utf8Span.span
    while !rest.isEmpty {
      if database.shouldBeInTransaction { try checkTransaction(database) }
      let (statement, consumed) = try database.prepare(rest, isPersistent: false)
      if let statement {
        if database.shouldBeInTransaction, statement.isControl {
          throw statement.misuse("in a transaction, and this statement would end it or have no effect")
        }
        guard statement.parameterCount == 0 else { throw statement.misuse("nothing is bound here") }
        while try statement.step() {}
      }
      guard consumed > 0 else { return }
      rest = rest.extracting(droppingFirst: consumed)
    }
  }

  // MARK: Counters

  /// Rows changed by the last write statement.
  public var changes: Int { database?.changes ?? 0 }

  /// Rows changed since the connection was opened.
  public var totalChanges: Int { database?.totalChanges ?? 0 }

  public var lastInsertedRowID: Int { database?.lastInsertedRowID ?? 0 }

  /// SQLite's own state (`sqlite3_get_autocommit`), regardless of `begin`.
  public var isInTransaction: Bool { database?.isInTransaction ?? false }

  // MARK: Time

  /// Runs `body` with a time limit. If the thread was not scheduled, the limit is extended to the same amount of CPU
  /// time, up to `patience` times the limit by the clock. Over the limit a read statement is interrupted, a write
  /// statement finishes, and no further statement starts: each fails with `interrupted`, and the transaction stays
  /// open.
  public func limited<Value, Failure: Error>(
    to time: Duration, patience: Int = 20, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let database else { return try body() }
    let outer = database.deadline
    database.deadline = Deadline(after: time, patience: patience, within: outer)
    defer { database.deadline = outer }
    return try body()
  }

  /// Runs `body` and calls `observer` on its thread after each thousand instructions of its statements, so that they can wait.
  /// The check of the pages of a b-tree is one instruction up to SQLite 3.40.
  public func observed<Value, Failure: Error>(
    by observer: @escaping () -> Void, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let database else { return try body() }
    database.observer = observer
    defer { database.observer = nil }
    return try body()
  }

  /// Blocks the thread, for a millisecond at least.
  public static func sleep(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    DatabaseHandle.sleep(milliseconds: max(1, Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)))
  }

  private static func outOfTime(_ sql: SQL) -> SQLiteError {
    SQLiteError(code: .interrupted, message: "time limit exceeded", sql: sql.text)
  }
}
