import ParleySQLite

/// A query for many ids at once: one statement for up to 200 ids, in three sizes, so that few
/// texts are prepared. A list that is shorter than its statement names its last id more than once, which `in` does not
/// mind.
struct ListQuery: Sendable {
  private let texts: [(size: Int, sql: SQL)]

  /// - Parameter text: the statement around a list of parameters.
  init(_ text: (_ list: String) -> String) {
    self.init { list, _ in text(list) }
  }

  /// - Parameter text: the statement, given the list and the name of one more parameter after it.
  init(_ text: (_ list: String, _ one: String) -> String) {
    texts = [1, 50, 200].map { size in
      (size, SQL(text((1...size).map { "$\($0)" }.joined(separator: ", "), "$\(size + 1)")))
    }
  }

  func each(
    _ ids: [Int], and one: Int? = nil, _ connection: Connection, _ read: (borrowing Row) throws -> Void
  ) throws {
    var rest = ids[...]
    while let last = rest.last, let (size, sql) = texts.first(where: { $0.size >= rest.count }) ?? texts.last {
      let statement = try connection.prepare(sql)
      for index in 1...size {
        let position = rest.startIndex + index - 1
        try statement.bind(position < rest.endIndex ? rest[position] : last, at: index)
      }
      if let one { try statement.bind(one, at: size + 1) }
      while try statement.step() { try read(statement.row) }
      rest = rest.dropFirst(size)
    }
  }
}

/// A query for many pairs of ids, as `ListQuery` is for single ids. The pairs form a constant table `wanted (a, b)`
/// that the query joins by index.
struct PairQuery: Sendable {
  private let texts: [(size: Int, sql: SQL)]

  /// - Parameter text: the statement after the table of pairs.
  init(_ text: String) {
    texts = [1, 50, 200].map { size in
      let pairs = (1...size).map { "($\(2 * $0 - 1), $\(2 * $0))" }.joined(separator: ", ")
      return (size, SQL("with wanted (a, b) as (values \(pairs))\n" + text))
    }
  }

  func each(
    _ pairs: [(Int, Int)], _ connection: Connection, _ read: (borrowing Row) throws -> Void
  ) throws {
    var rest = pairs[...]
    while let last = rest.last, let (size, sql) = texts.first(where: { $0.size >= rest.count }) ?? texts.last {
      let statement = try connection.prepare(sql)
      for index in 1...size {
        let position = rest.startIndex + index - 1
        let pair = position < rest.endIndex ? rest[position] : last
        try statement.bind(pair.0, at: 2 * index - 1)
        try statement.bind(pair.1, at: 2 * index)
      }
      while try statement.step() { try read(statement.row) }
      rest = rest.dropFirst(size)
    }
  }
}
