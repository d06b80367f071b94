internal import CParleySQLite

/// A prepared statement, finalized with its owner. Contains every call of `sqlite3_bind_…`, `sqlite3_step`,
/// `sqlite3_column_…` and `sqlite3_value_…` of this module.
///
/// The handle retains its database, so that no database closes before its statements.
@safe final class StatementHandle {
  let sql: String
  let isReadOnly: Bool
  /// Whether it begins or ends a transaction or sets a pragma: read-only to SQLite, and without columns.
  let isControl: Bool
  let parameterCount: Int
  let columnCount: Int
  /// For the cache: in use now, and the cache's clock at the last use.
  var isInUse = false
  var lastUse = 0

  private let pointer: OpaquePointer
  private let database: DatabaseHandle
  private var isFinished = false
  /// The columns that were read by name, in the order of their first use. Only `position` uses them, and it calls
  /// nothing that uses them, so the checks of exclusive access at run time, a third of a read, find nothing.
  @exclusivity(unchecked) private var named: [(name: StaticString, column: Int)] = []
  @exclusivity(unchecked) private var nextNamed = 0

  init(_ pointer: OpaquePointer, sql: String, of database: DatabaseHandle) {
    unsafe self.pointer = pointer
    self.sql = sql
    self.database = database
    isReadOnly = unsafe sqlite3_stmt_readonly(pointer) != 0
    columnCount = unsafe Int(sqlite3_column_count(pointer))
    isControl = isReadOnly && columnCount == 0
    parameterCount = unsafe Int(sqlite3_bind_parameter_count(pointer))
  }

  deinit { unsafe sqlite3_finalize(pointer) }

  /// SQLite numbers `$1` like any name, by first appearance. That agrees with PostgreSQL's numbering only if parameter
  /// i is named `$i`.
  func checkParameters() throws(SQLiteError) {
    for index in 0..<parameterCount {
      let name = unsafe sqlite3_bind_parameter_name(pointer, Int32(index + 1)).map { unsafe String(cString: $0) }
      guard name == "$\(index + 1)" else {
        throw misuse("parameter \(index + 1) is named \(name ?? "?") and must be named $\(index + 1)")
      }
    }
  }

  /// Virtual machine steps so far.
  var steps: Int { unsafe Int(sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_VM_STEP, 0)) }

  /// Number of runs so far.
  var runs: Int { unsafe Int(sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_RUN, 0)) }

  func misuse(_ message: String) -> SQLiteError { SQLiteError(code: .misuse, message: message, sql: sql) }

  // MARK: Binding

  func bindNull(at index: Int) throws(SQLiteError) { try check(unsafe sqlite3_bind_null(pointer, clamped(index))) }

  func bind(_ value: Int, at index: Int) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(pointer, clamped(index), Int64(value)))
  }

  func bind(_ value: Double, at index: Int) throws(SQLiteError) {
    // SQLite would store NULL.
    guard !value.isNaN else { throw misuse("parameter $\(index) is not a number") }
    try check(unsafe sqlite3_bind_double(pointer, clamped(index), value))
  }

  func bind(text: Span<UInt8>, at index: Int) throws(SQLiteError) {
    try check(
      unsafe text.withUnsafeBufferPointer {
        unsafe parley_sqlite3_bind_text(pointer, clamped(index), $0.baseAddress, UInt64($0.count))
      })
  }

  func bind(blob: Span<UInt8>, at index: Int) throws(SQLiteError) {
    try check(
      unsafe blob.withUnsafeBufferPointer {
        unsafe parley_sqlite3_bind_blob(pointer, clamped(index), $0.baseAddress, UInt64($0.count))
      })
  }

  private func clamped(_ index: Int) -> Int32 { Int32(clamping: index) }

  private func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw database.failure(code, sql: sql) }
  }

  // MARK: Running

  /// Advances to the next row. Returns false after the last row again and again, where SQLite would restart the
  /// statement.
  func step() throws(SQLiteError) -> Bool {
    if isFinished { return false }
    database.willStep(mayInterrupt: isReadOnly && !isControl)
    let code = unsafe sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    isFinished = true
    if code == SQLITE_DONE { return false }
    throw database.failure(code, sql: sql)
  }

  /// Resets the statement and its parameters. `sqlite3_reset` returns the error that `step` has thrown. Only read
  /// statements are cut short here, because `Statement.finish` runs a write statement to its end.
  func reset() {
    unsafe sqlite3_reset(pointer)
    if parameterCount > 0 { unsafe sqlite3_clear_bindings(pointer) }
    isFinished = false
  }

  // MARK: Reading

  /// Rows are read in the same order each time, so the search usually ends at its first comparison.
  func position(_ name: StaticString) throws(SQLiteError) -> Int {
    let next = unsafe nextNamed < named.count ? nextNamed : 0
    let isNext = unsafe next < named.count && named[next].name.isSameLiteral(as: name)
    if let index = unsafe isNext ? next : named.firstIndex(where: { $0.name.isSameLiteral(as: name) }) {
      unsafe nextNamed = index + 1
      return unsafe named[index].column
    }
    let text = name.description
    let columns = (0..<columnCount).filter { column in
      unsafe sqlite3_column_name(pointer, clamped(column)).map { unsafe String(cString: $0) } == text
    }
    guard columns.count == 1 else { throw misuse("\(columns.count) columns are named \(text)") }
    unsafe named.append((name, columns[0]))
    unsafe nextNamed = named.count
    return columns[0]
  }

  func intOrText(_ column: Int) throws(SQLiteError) -> IntOrText? {
    let value = unsafe value(column)
    switch unsafe sqlite3_value_type(value) {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: return .int(unsafe Int(sqlite3_value_int64(value)))
    case SQLITE_TEXT: return unsafe .text(String(decoding: buffer(of: value), as: UTF8.self))
    default: throw unexpected(column)
    }
  }

  func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

  func int(_ column: Int) throws(SQLiteError) -> Int {
    let value = unsafe value(column)
    guard unsafe sqlite3_value_type(value) == SQLITE_INTEGER else { throw unexpected(column) }
    return unsafe Int(sqlite3_value_int64(value))
  }

  func double(_ column: Int) throws(SQLiteError) -> Double {
    let value = unsafe value(column)
    let type = unsafe sqlite3_value_type(value)
    guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { throw unexpected(column) }
    return unsafe sqlite3_value_double(value)
  }

  func text(_ column: Int) throws(SQLiteError) -> String {
    unsafe String(decoding: try buffer(column, SQLITE_TEXT), as: UTF8.self)
  }

  func bytes(_ column: Int) throws(SQLiteError) -> [UInt8] {
    unsafe Array(try buffer(column, SQLITE_BLOB))
  }

  fileprivate func textOrBlob(_ column: Int) throws(SQLiteError) -> UnsafeBufferPointer<UInt8> {
    try unsafe buffer(column, SQLITE_TEXT, or: SQLITE_BLOB)
  }

  func unexpected(_ column: Int) -> SQLiteError {
    let name = unsafe sqlite3_column_name(pointer, clamped(column)).map { unsafe String(cString: $0) } ?? "no such"
    let found: String =
      switch type(column) {
      case SQLITE_INTEGER: "an integer"
      case SQLITE_FLOAT: "a float"
      case SQLITE_TEXT: "a text"
      case SQLITE_BLOB: "a blob"
      default: "null"
      }
    return SQLiteError(code: .mismatch, message: "column \(column) (\(name)) holds \(found)", sql: sql)
  }

  /// Fetched once per access: each `sqlite3_column_…` call looks the value up and checks for errors again.
  private func value(_ column: Int) -> OpaquePointer? { unsafe sqlite3_column_value(pointer, clamped(column)) }

  private func type(_ column: Int) -> Int32 { unsafe sqlite3_value_type(value(column)) }

  /// Buffer of a text or a blob. For these two `sqlite3_value_blob` converts nothing, so the address is valid until
  /// the next step. The length is read second, as sqlite.org/c3ref/column_blob.html requires.
  private func buffer(
    _ column: Int, _ expected: Int32, or other: Int32? = nil
  ) throws(SQLiteError) -> UnsafeBufferPointer<UInt8> {
    let value = unsafe value(column)
    let type = unsafe sqlite3_value_type(value)
    guard type == expected || type == other else { throw unexpected(column) }
    return unsafe buffer(of: value)
  }

  private func buffer(of value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
    let start = unsafe sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
    let count = unsafe Int(sqlite3_value_bytes(value))
    return unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
  }
}

extension Row {
  /// Lends the bytes of a text (UTF-8) or a blob in SQLite's memory, without a copy.
  @inlinable public func withBytes<Value>(
    _ column: Int, _ body: (Span<UInt8>) throws -> Value
  ) throws(SQLiteError) -> Value {
    let bytes = unsafe try bytesInPlace(column)
    do { return try unsafe body(bytes.span) } catch { throw failure(error) }
  }

  /// Compares a text in SQLite's memory.
  public func isText(_ text: StaticString, _ column: Int) throws(SQLiteError) -> Bool {
    let bytes = unsafe try bytesInPlace(column)
    return text.withUTF8Buffer { expected in
      bytes.count == expected.count && bytes.indices.allSatisfy { unsafe bytes[$0] == expected[$0] }
    }
  }

  @usableFromInline func bytesInPlace(_ column: Int) throws(SQLiteError) -> UnsafeBufferPointer<UInt8> {
    try unsafe statement.textOrBlob(column)
  }
}

extension StaticString {
  /// Address of a literal, constant for the process. Nil for a literal of one character, which needs no storage.
  var address: UInt? { hasPointerRepresentation ? unsafe UInt(bitPattern: utf8Start) : nil }

  func isSameLiteral(as other: StaticString) -> Bool {
    guard let address else { return description == other.description }
    return address == other.address && utf8CodeUnitCount == other.utf8CodeUnitCount
  }
}
