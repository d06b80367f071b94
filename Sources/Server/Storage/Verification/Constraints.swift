import ParleyJSON
import ParleySQLite

extension Check {
  /// SQLite's `integrity_check` skips check clauses on a read-only connection, which does not even parse them
  /// (sqlite3AddCheckConstraint in its build.c). So this check queries them table by table.
  static let constraints = Check("constraints", "each row satisfies the check clauses of its table") { examination in
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
        "\(try row.text(0)) violates a check clause"
      }
    }
    examination.count(count, "check clauses")
  }
}

private enum CheckClauses {
  /// Expressions after `check` in a definition, in the style of our migrations: comments to the end of the line, no
  /// parentheses in strings.
  static func all(of definition: String) -> [String] {
    let lines = definition.split(separator: "\n").map { line in
      String(line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line)
    }
    return lines.joined(separator: " ").split(by: "check (").dropFirst().map { rest in
      var depth = 1
      return String(
        rest.prefix { character in
          depth += character == "(" ? 1 : character == ")" ? -1 : 0
          return depth > 0
        })
    }
  }
}
