/// A prepared statement in use. Its deinit resets it, clears its bindings and returns it to the cache, exactly once on
/// every path.
///
///     var statement = try connection.prepare("select id, text from message where conversation = $1")
///     try statement.bind(conversation, at: 1)
///     while try statement.step() { use(try statement.row.int(0), try statement.row.text(1)) }
///
/// `Connection.all`, `first`, `each` and `execute` do the same in one line.
public struct Statement: ~Copyable {
  public let row: Row

  init(_ handle: StatementHandle) { row = Row(statement: handle) }

  deinit {
    row.statement.reset()
    row.statement.isInUse = false
  }

  /// Advances to the next row. Returns false at the end.
  public func step() throws(SQLiteError) -> Bool { try row.statement.step() }

  /// Runs a write statement to its end. It has done all its changes before the first row, but outside a transaction it
  /// commits, and checks deferred constraints, only at the end.
  public func finish() throws(SQLiteError) {
    if row.statement.isReadOnly { return }
    while try step() {}
  }

  @inlinable func read<Result>(_ body: (borrowing Row) throws -> Result) throws(SQLiteError) -> Result {
    do { return try body(row) } catch { throw row.failure(error) }
  }

  // Parameters count from 1, as in the statement.

  public func bind(_ value: Int, at index: Int) throws(SQLiteError) { try row.statement.bind(value, at: index) }

  public func bind(_ value: Double, at index: Int) throws(SQLiteError) { try row.statement.bind(value, at: index) }

  public func bind(_ value: String, at index: Int) throws(SQLiteError) {
    try row.statement.bind(text: value.utf8Span.span, at: index)
  }

  public func bind(_ value: Span<UInt8>, at index: Int) throws(SQLiteError) {
    try row.statement.bind(blob: value, at: index)
  }

  public func bindNull(at index: Int) throws(SQLiteError) { try row.statement.bindNull(at: index) }

  /// Binds all parameters, `$1` first.
  @inlinable public func bind<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
    var index = 0
    for value in repeat each values {
      index += 1
      try value.bind(to: self, at: index)
    }
    try checkCount(index)
  }

  @usableFromInline func checkCount(_ count: Int) throws(SQLiteError) {
    guard count == row.statement.parameterCount else {
      throw row.statement.misuse("\(count) values for \(row.statement.parameterCount) parameters")
    }
  }
}
