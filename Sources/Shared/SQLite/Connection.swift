/// A connection to a database file. It is used by one thread at a time: not `Sendable`, it stays in the actor or the
/// queue that made it, and only its `interrupter` may leave.
///
/// Debian 12's SQLite (3.40.1) can lose pages when several connections write or checkpoint (the WAL-reset fault, in
/// 3.7.0 to 3.51.2). So there are two kinds of connection, and of the first there may be one: `writer` writes and
/// checkpoints, a `reader` can do neither.
public final class Connection {
  public struct Options: Sendable {
    /// How long to wait, blocking, for a lock that another connection holds.
    public var busyTimeout: Duration = .seconds(5)
    /// Memory for pages.
    public var cacheKibibytes = 16_384
    /// How many prepared statements are kept.
    public var statements = 256
    /// At how many pages in the log a commit of the writer copies them into the database; 0 leaves it to `checkpoint`. Pages
    /// that change often are copied once for many changes, so the more the better, until opening takes long after a crash.
    public var checkpointPages = 4_000
    /// What a query has to sort goes to files in the system's temporary folder, so that it may be larger than the memory.
    public var sortsOnDisk = false
    /// Another way to the disk, by its name in SQLite. Nil is the system's.
    public var vfs: String?
    /// For a writer: from the first look at the file until it closes nobody else has it, not even to read. Who comes
    /// meanwhile waits for `busyTimeout` to open it.
    public var isAlone = false

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
    // "file:…" and ":memory:" mean something else to SQLite.
    let name = path.hasPrefix("/") ? path : "./" + path
    let database = try DatabaseHandle(name, role == .writer ? .create : .readOnly, vfs: options.vfs)
    self.database = database
    // Two that each have looked and each want the file alone would wait for the other.
    try database.waitWhenBusy(options.isAlone ? .zero : options.busyTimeout)
    try configure(options)
  }

  /// The one connection that writes and checkpoints. Makes the file where there is none.
  public static func writer(_ path: String, _ options: Options = Options()) throws(SQLiteError) -> Connection {
    guard options.isAlone else { return try Connection(path, .writer, options) }
    let deadline = ContinuousClock.now + options.busyTimeout
    while true {
      do { return try Connection(path, .writer, options) } catch {
        guard [.busy, .locked].contains(error.code), .now < deadline else { throw error }
      }
      // What it had of the file is let go of before the next try, and not in step with the others who wait.
      DatabaseHandle.sleep(milliseconds: .random(in: 5...30))
    }
  }

  /// A connection that reads a database that is there.
  public static func reader(_ path: String, _ options: Options = Options()) throws(SQLiteError) -> Connection {
    try Connection(path, .reader, options)
  }

  /// All settings of a connection are here.
  private func configure(_ options: Options) throws(SQLiteError) {
    // Before anything that looks at the file: whoever has looked shares its log.
    if options.isAlone { try run("pragma locking_mode = exclusive") }
    try run("pragma mmap_size = 0")
    try run(options.sortsOnDisk ? "pragma temp_store = file" : "pragma temp_store = memory")
    try run("pragma cell_size_check = on")
    try run("pragma foreign_keys = on")
    try run(SQL("pragma cache_size = -\(options.cacheKibibytes)"))
    switch role {
    case .writer:
      let mode = try first("pragma journal_mode = wal") { row in try row.text(0) }
      guard mode == "wal" else { throw SQLiteError(code: .cannotOpen, message: "\(path) takes no write-ahead log") }
      // A commit returns when it is on the disk.
      try run("pragma synchronous = full")
      // What is deleted is overwritten.
      try run("pragma secure_delete = on")
      try run(SQL("pragma wal_autocheckpoint = \(options.checkpointPages)"))
    case .reader:
      try run("pragma wal_autocheckpoint = 0")
      try handle().neverCheckpointOnClose()
      try run("pragma query_only = on")
      // SQLite opens a file when it is first read.
      _ = try first("pragma schema_version") { row in try row.int(0) }
    }
  }

  private func run(_ sql: SQL) throws(SQLiteError) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  /// Closes the database as soon as no statement of it is in use; what is asked of the connection afterwards is an error.
  /// Letting go of a connection does the same.
  public func close() {
    statements = StatementCache(capacity: 1)
    database = nil
  }

  func handle() throws(SQLiteError) -> DatabaseHandle {
    guard let database else { throw SQLiteError(code: .misuse, message: "the connection is closed") }
    return database
  }

  /// Ends what this connection is doing, from any thread.
  public var interrupter: Interrupter {
    get throws(SQLiteError) { try handle().interrupter }
  }

  // MARK: Statements

  /// A statement from the cache, or a new one.
  public func prepare(_ sql: SQL) throws(SQLiteError) -> Statement {
    let database = try handle()
    if database.shouldBeInTransaction { try checkTransaction(database) }
    if database.deadline?.isOver == true { throw Self.outOfTime(sql) }
    return Statement(try statements.borrow(sql) { text throws(SQLiteError) in try Self.make(text, in: database) })
  }

  /// Begins and ends transactions: at any time, whatever the limits. What went wrong, or nil.
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

  /// The texts of the statements that are kept prepared.
  public var keptStatements: [String] { statements.texts }

  /// How many steps SQLite's machine has taken for them so far: what a query costs, the same on every run.
  public var keptStatementSteps: Int { statements.steps }

  func turnForeignKeysOn() { _ = control("pragma foreign_keys = on") }

  func leaveTransaction() { database?.shouldBeInTransaction = false }

  private static func make(_ sql: String, in database: DatabaseHandle) throws(SQLiteError) -> StatementHandle {
    let (statement, eaten) = try database.prepare(sql.utf8Span.span, isKept: true)
    guard let statement else { throw SQLiteError(code: .misuse, message: "there is no statement", sql: sql) }
    guard sql.utf8.dropFirst(eaten).allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) else {
      throw SQLiteError(code: .misuse, message: "there is more than one statement", sql: sql)
    }
    try statement.checkParameters()
    return statement
  }

  /// All statements of a text, one after the other: for migrations. Nothing is bound. Inside of a transaction none of them
  /// may end it.
  public func executeScript(_ text: String) throws(SQLiteError) {
    let database = try handle()
    var rest = text.utf8Span.span
    while !rest.isEmpty {
      if database.shouldBeInTransaction { try checkTransaction(database) }
      let (statement, eaten) = try database.prepare(rest, isKept: false)
      if let statement {
        if database.shouldBeInTransaction, statement.isControl {
          throw statement.misuse("in a transaction, and this statement would end it or have no effect")
        }
        guard statement.parameterCount == 0 else { throw statement.misuse("nothing is bound here") }
        while try statement.step() {}
      }
      guard eaten > 0 else { return }
      rest = rest.extracting(droppingFirst: eaten)
    }
  }

  // MARK: Counters

  /// How many rows the last statement that wrote has changed.
  public var changes: Int { database?.changes ?? 0 }

  /// How many rows were changed since the connection was opened.
  public var totalChanges: Int { database?.totalChanges ?? 0 }

  public var lastInsertedRowID: Int { database?.lastInsertedRowID ?? 0 }

  /// What SQLite itself says, whatever was begun.
  public var isInTransaction: Bool { database?.isInTransaction ?? false }

  // MARK: Time

  /// Runs `body` for at most that long; where the thread was held up, for as long of the processor's time, and at most for
  /// `patience` times as long by the clock. A statement that reads is cut short, a statement that writes comes to its end,
  /// and none starts when the time is over: they fail with `interrupted`, and the transaction stays as it is.
  public func limited<Value, Failure: Error>(
    to time: Duration, patience: Int = 20, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let database else { return try body() }
    let outer = database.deadline
    database.deadline = Deadline(after: time, patience: patience, within: outer)
    defer { database.deadline = outer }
    return try body()
  }

  private static func outOfTime(_ sql: SQL) -> SQLiteError {
    SQLiteError(code: .interrupted, message: "out of time", sql: sql.text)
  }
}
