internal import CParleySQLite

/// A running `sqlite3_backup`, finished by its deinit.
@safe struct BackupHandle: ~Copyable {
  private let pointer: OpaquePointer
  private let target: DatabaseHandle
  private let source: DatabaseHandle

  init(from source: DatabaseHandle, to target: DatabaseHandle) throws(SQLiteError) {
    guard let pointer = unsafe sqlite3_backup_init(target.pointer, "main", source.pointer, "main") else {
      throw target.failure(unsafe sqlite3_extended_errcode(target.pointer), sql: "")
    }
    unsafe self.pointer = pointer
    self.target = target
    self.source = source
  }

  deinit { unsafe sqlite3_backup_finish(pointer) }

  consuming func end() {}

  /// Copies at most `pages` pages, all if negative. Returns whether pages remain.
  borrowing func step(pages: Int) throws(SQLiteError) -> Bool {
    let code = unsafe sqlite3_backup_step(pointer, Int32(clamping: pages))
    switch code {
    case SQLITE_OK: return true
    case SQLITE_DONE: return false
    default:
      let reason = unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "unknown error"
      throw SQLiteError(
        code: SQLiteError.Code(rawValue: code & 0xff) ?? .error, extendedCode: code,
        message: "copying the database: \(reason)")
    }
  }

  var pages: Int { unsafe Int(sqlite3_backup_pagecount(pointer)) }

  var remaining: Int { unsafe Int(sqlite3_backup_remaining(pointer)) }
}
