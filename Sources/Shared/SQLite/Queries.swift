// One-line queries. A row closure only reads the row, so its errors are SQLite's. (Swift does not infer typed throws
// for a closure; another error is converted to an `SQLiteError`.)

extension Connection {
  /// Executes a statement and returns the number of changed rows.
  @inlinable @discardableResult public func execute<each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value
  ) throws(SQLiteError) -> Int {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    while try statement.step() {}
    return changes
  }

  /// Returns the first row, or nil. Runs a write statement to its end.
  @inlinable public func first<Result, each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value, read: (borrowing Row) throws -> Result
  ) throws(SQLiteError) -> Result? {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    guard try statement.step() else { return nil }
    let result = try statement.read(read)
    try statement.finish()
    return result
  }

  /// Returns all rows.
  @inlinable public func all<Result, each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value, read: (borrowing Row) throws -> Result
  ) throws(SQLiteError) -> [Result] {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    var results: [Result] = []
    while try statement.step() { results.append(try statement.read(read)) }
    return results
  }

  /// Reads rows one by one. Other statements may run meanwhile, even the same one.
  @inlinable public func each<each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value, read: (borrowing Row) throws -> Void
  ) throws(SQLiteError) {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    while try statement.step() { try statement.read(read) }
  }
}
