import ParleyModel
import ParleySQLite

// Columns of records: their list, reading and updating, all in the order of `visitFields`.

extension Record {
  /// The columns of the fields, as in a `select`.
  ///
  /// - Parameters:
  ///   - alias: the name of the table in the query.
  ///   - expressions: what is selected instead of a column.
  static func columns(of alias: String? = nil, replacing expressions: [String: String] = [:]) -> String {
    var lister = ColumnLister<Self>()
    var blank = blank
    blank.visitFields(&lister)
    let prefix = alias.map { "\($0)." } ?? ""
    return lister.columns.map { expressions[$0] ?? prefix + $0 }.joined(separator: ", ")
  }

  /// Reads the fields from a row of `columns`.
  ///
  /// - Parameter first: the position of the first field.
  mutating func readFields(_ row: borrowing Row, from first: Int) throws {
    let count = Self.fieldCount
    var reader = RowReader<Self>(capacity: count)
    for column in first..<first + count { reader.values.append(try row.stored(column)) }
    do {
      try visitFields(&reader)
    } catch {
      throw row.unexpected(first + error.index)
    }
  }

  private static var fieldCount: Int {
    var counter = FieldCounter<Self>()
    var blank = blank
    blank.visitFields(&counter)
    return counter.count
  }

  /// The columns that differ from those of an earlier state, with their values; all without one.
  func columns(since before: Self?) -> [StoredColumn] {
    var comparer = ColumnComparer(before: before)
    var record = self
    record.visitFields(&comparer)
    return comparer.changed
  }
}

typealias StoredColumn = (name: String, value: StoredValue)

extension WriteTransaction {
  func insert(into table: String, _ columns: [StoredColumn]) throws(Refusal) {
    let parameters = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
    try run { connection in
      let statement = try connection.prepare(
        SQL(
          """
          insert into \(table) (\(columns.map(\.name).joined(separator: ", ")))
          values (\(parameters))
          """))
      for (index, column) in columns.enumerated() { try statement.bind(column.value, at: index + 1) }
      try statement.finish()
    }
  }

  func update(_ table: String, _ id: Int, set columns: [StoredColumn]) throws(Refusal) {
    let list = columns.enumerated().map { "\($1.name) = $\($0 + 1)" }.joined(separator: ", ")
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
    switch try intOrText(column) {
    case nil: .null
    case .int(let number): .int(number)
    case .text(let text): .text(text)
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

private struct FieldCounter<Visited: Record>: FieldVisitor {
  var count = 0

  @inline(__always)
  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    count += 1
  }
}

private struct RowReader<Visited: Record>: FieldVisitor {
  struct Mismatch: Error {
    let index: Int
  }

  var values: [StoredValue] = []
  private var next = 0

  init(capacity: Int) { values.reserveCapacity(capacity) }

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
  let before: Visited?
  var changed: [StoredColumn] = []

  init(before: Visited?) { self.before = before }

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    if let before, value == before[keyPath: path] { return }
    changed.append((column ?? name, value.stored))
  }
}

// Words out of a closed list, as a table's check has them.

extension Row {
  func word<Word: RawRepresentable>(_ column: Int) throws -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: try text(column)) else { throw unexpected(column) }
    return word
  }

  func optionalWord<Word: RawRepresentable>(_ column: Int) throws -> Word? where Word.RawValue == String {
    isNull(column) ? nil : try word(column)
  }

  func word<Word: RawRepresentable>(_ column: StaticString) throws -> Word where Word.RawValue == String {
    try word(try position(column))
  }

  func optionalWord<Word: RawRepresentable>(_ column: StaticString) throws -> Word? where Word.RawValue == String {
    try optionalWord(try position(column))
  }
}
