import ParleySQLite

extension Check {
  /// SQLite's own check of the database leaves the check clauses out when it may not write: a connection that reads does
  /// not even remember them (sqlite3AddCheckConstraint in its build.c). So they are asked for one table after the other.
  static let constraints = Check("constraints", "each row keeps to the check clauses of its table") { examination in
    let tables = try examination.connection.all(
      """
      select s.name, s.sql
      from sqlite_schema s
      join pragma_table_list t on t.name = s.name
      where t.schema = 'main' and t.type = 'table' and s.type = 'table' and s.sql is not null
      order by s.name
      """
    ) { row in (name: try row.text(0), definition: try row.text(1)) }
    var count = 0
    for table in tables {
      let clauses = CheckClauses.all(of: table.definition)
      guard !clauses.isEmpty else { continue }
      count += clauses.count
      let broken = clauses.map { "not (\($0))" }.joined(separator: " or ")
      let name = try examination.connection.rowName(in: table.name)
      try examination.expectNone(SQL("select \(name) from \"\(table.name)\" where \(broken)")) { row in
        "\(try row.text(0)) breaks a check clause of its table"
      }
    }
    examination.count(count, "check clauses")
  }
}

enum CheckClauses {
  /// The expressions behind `check` in a definition as our migrations write it: comments to the end of the line, no
  /// parentheses in texts.
  static func all(of definition: String) -> [String] {
    let lines = definition.split(separator: "\n").map { line in
      String(line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line)
    }
    return lines.joined(separator: " ").split(separator: "check (").dropFirst().map { rest in
      var depth = 1
      return String(
        rest.prefix { character in
          depth += character == "(" ? 1 : character == ")" ? -1 : 0
          return depth > 0
        })
    }
  }
}
