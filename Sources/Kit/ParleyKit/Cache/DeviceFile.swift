import ParleySQLite

extension Connection {
  /// Opens a file of this device, or makes it. One process has it at a time: another waits so long and then is refused.
  ///
  /// - Parameter version: another number makes an older version of an app leave the file alone.
  static func device(
    _ path: String, version: Int, schema: String, cacheKibibytes: Int, patience: Duration = .seconds(5)
  ) throws(CacheFault) -> Connection {
    var options = Options()
    options.busyTimeout = patience
    options.cacheKibibytes = cacheKibibytes
    options.isAlone = true
    let connection: Connection
    let found: Int
    do {
      connection = try .writer(path, options)
      found = try connection.first("pragma user_version") { row in try row.int(0) } ?? 0
    } catch { throw CacheFault(error) }
    guard found <= version else { throw .newer(version: found) }
    guard found == 0 else { return connection }
    do {
      try connection.transaction {
        try connection.executeScript(schema)
        try connection.execute(SQL("pragma user_version = \(version)"))
      }
    } catch { throw CacheFault(error) }
    return connection
  }
}
