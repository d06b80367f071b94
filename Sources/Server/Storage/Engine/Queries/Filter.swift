import ParleySQLite

/// Optional conditions of a query. The SQL contains only the conditions in use, so that each combination gets its
/// index. Values are bound.
struct Filter {
  private var clauses: [String] = []
  private var values: [Value] = []

  private enum Value {
    case number(Int)
    case text(String)
  }

  /// - Parameter clause: one condition, given the name of its parameter.
  mutating func add(_ number: Int?, _ clause: (_ parameter: String) -> String) {
    if let number { add(.number(number), clause) }
  }

  mutating func add(_ text: String?, _ clause: (_ parameter: String) -> String) {
    if let text { add(.text(text), clause) }
  }

  private mutating func add(_ value: Value, _ clause: (_ parameter: String) -> String) {
    values.append(value)
    clauses.append(clause("$\(values.count)"))
  }

  /// Returns at most `limit` rows.
  ///
  /// - Parameter text: the statement, given the conditions and the name of the limit parameter.
  func all<Found>(
    limit: Int, _ connection: Connection, _ text: (_ conditions: String, _ limit: String) -> String,
    _ read: (borrowing Row) throws -> Found
  ) throws -> [Found] {
    let sql = SQL(text(clauses.joined(separator: " and "), "$\(values.count + 1)"))
    let statement = try connection.prepare(sql)
    for (index, value) in values.enumerated() {
      switch value {
      case .number(let number): try statement.bind(number, at: index + 1)
      case .text(let text): try statement.bind(text, at: index + 1)
      }
    }
    try statement.bind(limit, at: values.count + 1)
    var found: [Found] = []
    while try statement.step() { found.append(try read(statement.row)) }
    return found
  }
}
