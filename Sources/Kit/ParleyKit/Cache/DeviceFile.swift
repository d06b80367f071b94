import ParleySQLite

extension Connection {
  /// Opens or creates a database file. It is locked by one process; another waits for `patience` and then fails.
  ///
  /// - Parameters:
  ///   - version: the schema version. An older version of the app refuses a newer file.
  ///   - isExclusive: false for a file that other processes may read. It has a lock of its own.
  static func device(
    _ path: String, version: Int, schema: String, cacheKibibytes: Int,
    patience: Duration = .seconds(5), isExclusive: Bool = true
  ) throws(CacheFault) -> Connection {
    var options = Options()
    options.busyTimeout = patience
    options.cacheKibibytes = cacheKibibytes
    options.isExclusive = isExclusive
    let connection: Connection
    let found: Int
    do {
      connection = try .writer(path, options)
      found = try connection.first("pragma user_version") { row in try row.int(0) } ?? 0
    } catch { throw CacheFault(error) }
    guard found <= version else { throw .newer(version: found) }
    guard found < version else { return connection }
    do {
      try connection.transaction {
        try connection.executeScript(schema)
        try connection.execute(SQL("pragma user_version = \(version)"))
      }
    } catch { throw CacheFault(error) }
    return connection
  }
}
