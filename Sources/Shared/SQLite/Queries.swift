// One line for one statement. A row's closure reads the row and does nothing else, so what it throws is SQLite's. (Swift
// does not infer that of a closure: it takes any error, and another than SQLite's is told in SQLite's words.)

extension Connection {
  /// Runs a statement that has no rows worth reading; how many rows it changed.
  @inlinable @discardableResult public func execute<each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value
  ) throws(SQLiteError) -> Int {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    while try statement.step() {}
    return changes
  }

  /// The first row, or nil. A statement that writes is run to its end all the same.
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

  /// Every row.
  @inlinable public func all<Result, each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value, read: (borrowing Row) throws -> Result
  ) throws(SQLiteError) -> [Result] {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    var results: [Result] = []
    while try statement.step() { results.append(try statement.read(read)) }
    return results
  }

  /// Every row, one after the other. Other statements may run meanwhile, the same one too.
  @inlinable public func each<each Value: Bindable>(
    _ sql: SQL, _ values: repeat each Value, read: (borrowing Row) throws -> Void
  ) throws(SQLiteError) {
    let statement = try prepare(sql)
    try statement.bind(repeat each values)
    while try statement.step() { try statement.read(read) }
  }
}
