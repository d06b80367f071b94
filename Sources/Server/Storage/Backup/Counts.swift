import ParleySQLite

extension Connection {
  /// Number of rows per table.
  func counts() throws -> [String: Int] {
    let tables = try all(
      """
      select name
      from pragma_table_list
      where schema = 'main' and type = 'table' and name not like 'sqlite!_%' escape '!'
      order by name
      """
    ) { row in try row.text(0) }
    var counts: [String: Int] = [:]
    for table in tables {
      counts[table] = try first(SQL("select count(*) from \(Self.quoted(table))")) { row in try row.int(0) } ?? 0
    }
    return counts
  }

  /// A quoted SQL identifier. A foreign database may use any table name.
  static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
