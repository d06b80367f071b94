internal import CParleySQLite

/// A prepared statement, finalized with its owner. Every `sqlite3_bind_…`, `sqlite3_step`, `sqlite3_column_…` and
/// `sqlite3_value_…` of this module is here.
///
/// It holds its database, so that no database closes under a statement.
@safe final class StatementHandle {
  let sql: String
  let isReadOnly: Bool
  /// Whether it begins or ends a transaction, or sets something: that changes nothing, as SQLite sees it, and has no rows.
  let isControl: Bool
  let parameterCount: Int
  /// For the cache: lent out, so not to be lent again, and when it was last.
  var isLent = false
  var lastUse = 0

  private let pointer: OpaquePointer
  private let database: DatabaseHandle
  private var isFinished = false

  init(_ pointer: OpaquePointer, sql: String, of database: DatabaseHandle) {
    unsafe self.pointer = pointer
    self.sql = sql
    self.database = database
    isReadOnly = unsafe sqlite3_stmt_readonly(pointer) != 0
    isControl = unsafe isReadOnly && sqlite3_column_count(pointer) == 0
    parameterCount = unsafe Int(sqlite3_bind_parameter_count(pointer))
  }

  deinit { unsafe sqlite3_finalize(pointer) }

  /// SQLite numbers `$1` like any name, by where it stands first. The numbers that PostgreSQL gives are the same only when
  /// parameter i is called `$i`.
  func checkParameters() throws(SQLiteError) {
    for index in 0..<parameterCount {
      let name = unsafe sqlite3_bind_parameter_name(pointer, Int32(index + 1)).map { unsafe String(cString: $0) }
      guard name == "$\(index + 1)" else {
        throw misuse("parameter \(index + 1) is called \(name ?? "?") and must be called $\(index + 1)")
      }
    }
  }

  /// How many steps of SQLite's machine it took so far.
  var steps: Int { unsafe Int(sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_VM_STEP, 0)) }

  func misuse(_ message: String) -> SQLiteError { SQLiteError(code: .misuse, message: message, sql: sql) }

  // MARK: Binding

  func bindNull(at index: Int) throws(SQLiteError) { try check(unsafe sqlite3_bind_null(pointer, place(index))) }

  func bind(_ value: Int, at index: Int) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(pointer, place(index), Int64(value)))
  }

  func bind(_ value: Double, at index: Int) throws(SQLiteError) {
    // SQLite would store NULL in its place.
    guard !value.isNaN else { throw misuse("parameter $\(index) is not a number") }
    try check(unsafe sqlite3_bind_double(pointer, place(index), value))
  }

  func bind(text: Span<UInt8>, at index: Int) throws(SQLiteError) {
    try check(
      unsafe text.withUnsafeBufferPointer {
        unsafe parley_sqlite3_bind_text(pointer, place(index), $0.baseAddress, UInt64($0.count))
      })
  }

  func bind(blob: Span<UInt8>, at index: Int) throws(SQLiteError) {
    try check(
      unsafe blob.withUnsafeBufferPointer {
        unsafe parley_sqlite3_bind_blob(pointer, place(index), $0.baseAddress, UInt64($0.count))
      })
  }

  private func place(_ index: Int) -> Int32 { Int32(clamping: index) }

  private func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw database.failure(code, sql: sql) }
  }

  // MARK: Running

  /// Whether there is a row. After the last one it stays with no, where SQLite would start again.
  func step() throws(SQLiteError) -> Bool {
    if isFinished { return false }
    database.willStep(mayInterrupt: isReadOnly && !isControl)
    let code = unsafe sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    isFinished = true
    if code == SQLITE_DONE { return false }
    throw database.failure(code, sql: sql)
  }

  /// As good as new. What `sqlite3_reset` returns is the error that `step` has thrown already; what is cut short here
  /// only reads, since `Statement.finish` lets a writing one come to its end first.
  func reset() {
    unsafe sqlite3_reset(pointer)
    if parameterCount > 0 { unsafe sqlite3_clear_bindings(pointer) }
    isFinished = false
  }

  // MARK: Reading

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
    let name = unsafe sqlite3_column_name(pointer, place(column)).map { unsafe String(cString: $0) } ?? "no such"
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

  /// Asked for once: each `sqlite3_column_…` finds it anew, and looks for errors after.
  private func value(_ column: Int) -> OpaquePointer? { unsafe sqlite3_column_value(pointer, place(column)) }

  private func type(_ column: Int) -> Int32 { unsafe sqlite3_value_type(value(column)) }

  /// Of a text or a blob: for these two `sqlite3_value_blob` converts nothing, so the place stays the same until the next
  /// step. The count is asked for second, as sqlite.org/c3ref/column_blob.html wants it.
  private func buffer(
    _ column: Int, _ wanted: Int32, or other: Int32? = nil
  ) throws(SQLiteError) -> UnsafeBufferPointer<UInt8> {
    let value = unsafe value(column)
    let type = unsafe sqlite3_value_type(value)
    guard type == wanted || type == other else { throw unexpected(column) }
    let start = unsafe sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
    let count = unsafe Int(sqlite3_value_bytes(value))
    return unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
  }
}

extension Row {
  /// The bytes of a text (UTF-8) or a blob where SQLite holds them, without a copy.
  @inlinable public func withBytes<Value>(
    _ column: Int, _ body: (Span<UInt8>) throws -> Value
  ) throws(SQLiteError) -> Value {
    let bytes = unsafe try bytesInPlace(column)
    do { return try unsafe body(bytes.span) } catch { throw failure(error) }
  }

  @usableFromInline func bytesInPlace(_ column: Int) throws(SQLiteError) -> UnsafeBufferPointer<UInt8> {
    try unsafe statement.textOrBlob(column)
  }
}

extension StaticString {
  /// Where a literal stands: the same for as long as the program runs. Nil for a literal of one character, which need not
  /// stand anywhere.
  var address: UInt? { hasPointerRepresentation ? unsafe UInt(bitPattern: utf8Start) : nil }
}
