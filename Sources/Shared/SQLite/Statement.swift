/// A prepared statement while it is used. Its end gives it back to the cache, reset and without values, exactly once,
/// whatever path leads there.
///
///     var statement = try connection.prepare("select id, text from message where conversation = $1")
///     try statement.bind(conversation, at: 1)
///     while try statement.step() { use(try statement.row.int(0), try statement.row.text(1)) }
///
/// `Connection.all`, `first`, `each` and `execute` say the same in one line.
public struct Statement: ~Copyable {
  public let row: Row

  init(_ handle: StatementHandle) { row = Row(statement: handle) }

  deinit {
    row.statement.reset()
    row.statement.isLent = false
  }

  /// On to the next row: whether there is one.
  public func step() throws(SQLiteError) -> Bool { try row.statement.step() }

  /// To the end. A statement that writes has done all of it before its first row, but commits, where no transaction is
  /// open, and checks deferred constraints only at the end.
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

  /// All parameters at once, `$1` first.
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
      throw row.statement.misuse("\(count) values were given for \(row.statement.parameterCount) parameters")
    }
  }
}
