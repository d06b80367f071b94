import ParleyModel
import ParleySQLite

// Columns of records: their list, reading and updating, all in the order of `visitFields`.

extension Record {
  /// The columns of the fields, as in a `select`.
  ///
  /// - Parameter expressions: what is selected instead of a column.
  static func columns(replacing expressions: [String: String] = [:]) -> String {
    var lister = ColumnLister<Self>()
    var blank = blank
    blank.visitFields(&lister)
    return lister.columns.map { expressions[$0] ?? $0 }.joined(separator: ", ")
  }

  /// Reads the fields from a row of `columns`.
  ///
  /// - Parameter first: the position of the first field.
  mutating func readFields(_ row: borrowing Row, from first: Int) throws {
    var reader = RowReader<Self>(values: [])
    for column in first..<row.count { reader.values.append(try row.stored(column)) }
    do {
      try visitFields(&reader)
    } catch {
      throw row.unexpected(first + error.index)
    }
  }

  /// The columns that differ from those of an earlier state, with their values.
  func changedColumns(since before: Self) -> [(column: String, value: StoredValue)] {
    var comparer = ColumnComparer(before: before)
    var record = self
    record.visitFields(&comparer)
    return comparer.changed
  }
}

extension WriteTransaction {
  func update(
    _ table: String, _ id: Int, set columns: [(column: String, value: StoredValue)]
  ) throws(Refusal) {
    let list = columns.enumerated().map { "\($1.column) = $\($0 + 1)" }.joined(separator: ", ")
    try run { connection in
      let statement = try connection.prepare(
        SQL(
          """
          update \(table)
          set \(list)
          where id = $\(columns.count + 1)
          """))
      for (index, column) in columns.enumerated() { try statement.bind(column.value, at: index + 1) }
      try statement.bind(id, at: columns.count + 1)
      try statement.finish()
    }
  }
}

extension Statement {
  fileprivate func bind(_ value: StoredValue, at index: Int) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: index)
    case .int(let number): try bind(number, at: index)
    case .text(let text): try bind(text, at: index)
    }
  }
}

extension Row {
  fileprivate func stored(_ column: Int) throws(SQLiteError) -> StoredValue {
    switch type(column) {
    case .null: .null
    case .int: .int(try int(column))
    case .text: .text(try text(column))
    case .double, .blob: throw unexpected(column)
    }
  }
}

private struct ColumnLister<Visited: Record>: FieldVisitor {
  var columns: [String] = []

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    columns.append(column ?? name)
  }
}

private struct RowReader<Visited: Record>: FieldVisitor {
  struct Mismatch: Error {
    let index: Int
  }

  var values: [StoredValue]
  private var next = 0

  init(values: [StoredValue]) { self.values = values }

  @inline(__always)
  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) throws(Mismatch) {
    guard next < values.count, let stored = Value(values[next]) else { throw Mismatch(index: next) }
    value = stored
    next += 1
  }
}

private struct ColumnComparer<Visited: Record>: FieldVisitor {
  let before: Visited
  var changed: [(column: String, value: StoredValue)] = []

  init(before: Visited) { self.before = before }

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    if value != before[keyPath: path] { changed.append((column ?? name, value.stored)) }
  }
}
