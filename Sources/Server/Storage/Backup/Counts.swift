import ParleySQLite

extension Connection {
  /// How many rows each table has.
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

  /// A name as SQL has it, whatever it is: a database that others made names its tables as it likes.
  static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
