internal import CParleySQLite
import Synchronization

/// An open database, closed with its last owner. Contains the SQLite calls that concern a whole database.
@safe final class DatabaseHandle {
  let pointer: OpaquePointer
  let interrupter: Interrupter
  /// At a fixed address while the database is open: SQLite stores the pointer.
  private let limit: UnsafeMutablePointer<TimeLimit>
  /// Busy timeout for locks of other connections.
  private var busyMilliseconds: Int32 = 0

  struct OpenFlags: OptionSet {
    let rawValue: Int32

    static let readOnly = OpenFlags(rawValue: SQLITE_OPEN_READONLY)
    static let create = OpenFlags(rawValue: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    /// No mutex: a connection stays in one isolation domain, enforced by the compiler. Extended result codes from the
    /// start.
    static let always = OpenFlags(rawValue: SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE)
  }

  /// Runs once, before the process opens its first database.
  private static let isConfigured = parley_sqlite3_configure() == SQLITE_OK

  init(_ path: String, _ flags: OpenFlags, vfs: String?) throws(SQLiteError) {
    _ = Self.isConfigured
    var opened: OpaquePointer?
    let flags = flags.union(.always).rawValue
    let code =
      if let vfs {
        unsafe sqlite3_open_v2(path, &opened, flags, vfs)
      } else {
        unsafe sqlite3_open_v2(path, &opened, flags, nil)
      }
    guard let pointer = unsafe opened else { throw SQLiteError(code: .outOfMemory, message: "out of memory") }
    unsafe self.pointer = pointer
    interrupter = Interrupter(address: UInt(bitPattern: pointer))
    unsafe limit = .allocate(capacity: 1)
    unsafe limit.initialize(to: TimeLimit())
    guard code == SQLITE_OK else { throw failure(code, sql: "") }
    let hardened = unsafe parley_sqlite3_harden(pointer)
    guard hardened == SQLITE_OK else { throw failure(hardened, sql: "") }
  }

  deinit {
    interrupter.invalidate()
    unsafe sqlite3_close_v2(pointer)
    unsafe limit.deinitialize(count: 1)
    unsafe limit.deallocate()
  }

  // MARK: Statements

  /// Prepares the first statement of a text, nil if there is none, and returns the bytes consumed.
  func prepare(_ sql: Span<UInt8>, isPersistent: Bool) throws(SQLiteError) -> (StatementHandle?, consumed: Int) {
    guard let count = Int32(exactly: sql.count) else { throw SQLiteError(code: .tooBig, message: "statement too long") }
    var prepared: OpaquePointer?
    var consumed = 0
    let code = unsafe sql.withUnsafeBufferPointer { text in
      unsafe text.withMemoryRebound(to: CChar.self) { text in
        guard let start = text.baseAddress else { return SQLITE_OK }
        var tail: UnsafePointer<CChar>?
        let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(pointer, start, count, flags, &prepared, &tail)
        if let tail = unsafe tail { consumed = unsafe tail - start }
        return code
      }
    }
    guard code == SQLITE_OK else { throw failure(code, sql: String(copying: sql)) }
    guard let statement = unsafe prepared else { return (nil, consumed) }
    let text = String(copying: sql.extracting(0..<consumed))
    return unsafe (StatementHandle(statement, sql: text, of: self), consumed)
  }

  // MARK: State

  /// In SQLite's terms: autocommit is off.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(pointer) == 0 }

  var changes: Int { unsafe Int(sqlite3_changes64(pointer)) }

  var totalChanges: Int { unsafe Int(sqlite3_total_changes64(pointer)) }

  var lastInsertedRowID: Int { unsafe Int(sqlite3_last_insert_rowid(pointer)) }

  /// Whether the connection has begun a transaction and not ended it.
  var shouldBeInTransaction = false

  func failure(_ code: Int32, sql: String) -> SQLiteError {
    SQLiteError(
      code: SQLiteError.Code(rawValue: code & 0xff) ?? .error, extendedCode: code,
      message: unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) } ?? "unknown error", sql: sql,
      endedTransaction: shouldBeInTransaction && !isInTransaction)
  }

  func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw failure(code, sql: "") }
  }

  // MARK: Settings

  func waitWhenBusy(_ timeout: Duration) throws(SQLiteError) {
    let (seconds, attoseconds) = timeout.components
    busyMilliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    try check(unsafe sqlite3_busy_timeout(pointer, busyMilliseconds))
  }

  /// Blocks the thread.
  static func sleep(milliseconds: Int32) { sqlite3_sleep(milliseconds) }

  func neverCheckpointOnClose() throws(SQLiteError) {
    try check(unsafe parley_sqlite3_never_checkpoint_on_close(pointer))
  }

  enum CheckpointMode {
    case passive, truncate
  }

  func checkpoint(
    _ mode: CheckpointMode, isWaiting: Bool
  ) throws(SQLiteError) -> (isBusy: Bool, pages: Int, copied: Int) {
    if !isWaiting { unsafe sqlite3_busy_timeout(pointer, 0) }
    defer { if !isWaiting { unsafe sqlite3_busy_timeout(pointer, busyMilliseconds) } }
    var pages: Int32 = 0
    var copied: Int32 = 0
    let number = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    let code = unsafe sqlite3_wal_checkpoint_v2(pointer, "main", number, &pages, &copied)
    if code & 0xff != SQLITE_BUSY { try check(code) }
    return (code != SQLITE_OK, Int(max(pages, 0)), Int(max(copied, 0)))
  }

  // MARK: Progress

  /// Virtual machine instructions between two calls of the progress handler, about 20 µs.
  private static let instructionsPerCheck: Int32 = 1_000

  var deadline: Deadline? {
    get { unsafe limit.pointee.deadline }
    set {
      unsafe limit.pointee.deadline = newValue
      setProgressHandler()
    }
  }

  /// Called while statements run.
  var observer: (() -> Void)? {
    get { unsafe limit.pointee.observer }
    set {
      unsafe limit.pointee.observer = newValue
      setProgressHandler()
    }
  }

  private func setProgressHandler() {
    guard deadline != nil || observer != nil else { return unsafe sqlite3_progress_handler(pointer, 0, nil, nil) }
    unsafe sqlite3_progress_handler(
      pointer, Self.instructionsPerCheck,
      { limit in
        guard let limit = unsafe limit?.assumingMemoryBound(to: TimeLimit.self) else { return 0 }
        unsafe limit.pointee.observer?()
        return unsafe limit.pointee.isOver ? 1 : 0
      }, limit)
  }

  /// Interrupting a write statement would roll back the whole transaction (sqlite.org/c3ref/interrupt.html) and with
  /// it the work of other closures in it. So only read statements are interrupted.
  func willStep(mayInterrupt: Bool) { unsafe limit.pointee.mayInterrupt = mayInterrupt }
}

private struct TimeLimit {
  var deadline: Deadline?
  var observer: (() -> Void)?
  var mayInterrupt = false

  var isOver: Bool { mayInterrupt && deadline?.isOver == true }
}

/// Interrupts the statements of a connection from any thread. `sqlite3_interrupt` is the one call that another thread
/// may make, while the database is open; therefore a lock guards the address, and closing clears it first. (A pointer
/// is not `Sendable`, its address is.)
public final class Interrupter: Sendable {
  private let address: Mutex<UInt>

  init(address: UInt) { self.address = Mutex(address) }

  /// Ends the running statements with `interrupted`; no-op if none runs. Interrupting a write statement rolls its
  /// transaction back.
  public func interrupt() {
    address.withLock { address in
      if let database = unsafe OpaquePointer(bitPattern: address) { unsafe sqlite3_interrupt(database) }
    }
  }

  func invalidate() { address.withLock { $0 = 0 } }
}

extension String {
  init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
