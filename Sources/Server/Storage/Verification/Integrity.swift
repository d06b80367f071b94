import ParleySQLite

extension Check {
  static let integrity = Check("integrity", "all pages, indexes and types are valid") { examination in
    examination.count(try examination.number("pragma page_count"), "pages")
    for fault in try examination.connection.integrityFaults(limit: Verification.maxListed) { examination.fault(fault) }
  }

  static let foreignKeys = Check("foreign keys", "each foreign key names an existing row") { examination in
    let connection = examination.connection
    examination.count(
      try examination.number(
        """
        select count(*)
        from pragma_table_list t
        join pragma_foreign_key_list(t.name) k
        where t.schema = 'main'
        """), "foreign keys")
    let broken = try connection.all(
      """
      select "table", fkid, count(*)
      from pragma_foreign_key_check
      group by "table", fkid
      order by "table", fkid
      """
    ) { row in (table: try row.text(0), key: try row.int(1), count: try row.int(2)) }
    for (table, key, count) in broken {
      examination.faults(try rows(of: table, breaking: key, connection), of: count)
    }
  }

  /// SQLite's check reports a rowid, which many tables lack; so the rows are found by the violated reference.
  private static func rows(of name: String, breaking key: Int, _ connection: Connection) throws -> [String] {
    let key = try connection.first(
      """
      select "table", "from", "to"
      from pragma_foreign_key_list($1)
      where id = $2
      """, name, key
    ) { row in (parent: try row.text(0), from: try row.text(1), to: try row.text(2)) }
    guard let key else { return [] }
    let (table, from) = (Connection.quoted(name), Connection.quoted(key.from))
    return try connection.all(
      SQL(
        """
        select \(try connection.rowName(in: name)), quote(\(from))
        from \(table)
        where \(from) is not null
        and \(from) not in (select \(Connection.quoted(key.to)) from \(Connection.quoted(key.parent)))
        limit \(Verification.maxListed)
        """)
    ) { row in "\(try row.text(0)) names missing \(key.parent) \(try row.text(1))" }
  }
}

extension Connection {
  /// SQL expression that identifies a row by its primary key: "read_position with user_id 2, conversation_id 3".
  func rowName(in table: String) throws -> String {
    let columns = try all(
      """
      select name
      from pragma_table_info($1)
      where pk > 0
      order by pk
      """, table
    ) { row in try row.text(0) }
    let names = columns.map { "\(Self.literal("\($0) ")) || quote(\(Self.quoted($0)))" }
    return "\(Self.literal("\(table) with ")) || \(names.joined(separator: " || ', ' || "))"
  }
}
