/// Copies a database in use in steps, so that its owner can do other work in between.
///
///     let backup = try Backup(of: reader, to: "copy.db")
///     while try backup.step(pages: 256) { show(backup.progress) }
///     try backup.finish()
///
/// From a reader it copies a snapshot: the reader stays in a transaction until the end, and the writer's log cannot be
/// truncated meanwhile. (Without it SQLite would restart the copy after each commit of the writer.) From the writer it
/// copies the latest state: SQLite copies pages again that the same connection writes meanwhile.
///
/// The copy is one file without a log. `finish` syncs it and gives it its name; until then, and after a failure, it is
/// `….part`, which the next attempt replaces.
public struct Backup: ~Copyable {
  public struct Progress: Hashable, Sendable {
    public let pages: Int
    public let copied: Int
  }

  private let path: String
  private let part: String
  private let target: DatabaseHandle
  private let copying: BackupHandle
  private let transaction: Transaction?

  public init(of source: Connection, to path: String) throws(SQLiteError) {
    guard !Files.exists(path) else { throw SQLiteError(code: .cannotOpen, message: "\(path) already exists") }
    let part = path + ".part"
    for leftover in [part, part + "-journal", part + "-wal", part + "-shm"] { try Files.remove(leftover) }
    let transaction = try Self.beginSnapshot(source)
    let target = try DatabaseHandle(part, .create, vfs: nil)
    let copying = try BackupHandle(from: try source.handle(), to: target)
    self.path = path
    self.part = part
    self.target = target
    self.copying = copying
    self.transaction = transaction
  }

  private static func beginSnapshot(_ source: Connection) throws(SQLiteError) -> Transaction? {
    guard source.role == .reader, !source.isInTransaction else { return nil }
    let transaction = try source.begin(.deferred)
    // The snapshot of a transaction is fixed at its first statement.
    _ = try source.first("select count(*) from sqlite_schema") { row in try row.int(0) }
    return transaction
  }

  public var progress: Progress { Progress(pages: copying.pages, copied: copying.pages - copying.remaining) }

  /// Copies up to `pages` pages. Returns whether pages remain.
  public func step(pages: Int) throws(SQLiteError) -> Bool { try copying.step(pages: pages) }

  /// Copies the remaining pages, syncs the copy and renames it.
  public consuming func finish() throws(SQLiteError) {
    while try step(pages: -1) {}
    let (path, part, target) = (path, part, target)
    copying.end()
    try Self.disableLog(target)
    try Files.publish(part, as: path)
  }

  /// The copy inherits WAL mode from its source and would create a log when opened.
  private static func disableLog(_ target: DatabaseHandle) throws(SQLiteError) {
    let (statement, _) = try target.prepare("pragma journal_mode = delete".utf8Span.span, isPersistent: false)
    while try statement?.step() == true {}
  }
}

extension Connection {
  /// Copies the database to a new file, `pages` at a time. `progress` cancels the copy by throwing.
  public func backUp(
    to path: String, pages: Int = 256, progress: (Backup.Progress) throws -> Void = { _ in }
  ) throws {
    let backup = try Backup(of: self, to: path)
    while try backup.step(pages: pages) { try progress(backup.progress) }
    try progress(backup.progress)
    try backup.finish()
  }

  /// Replaces the contents of this database by those of another, atomically in one transaction.
  public func replaceContents(with path: String) throws(SQLiteError) {
    guard role == .writer, !isInTransaction else {
      throw SQLiteError(code: .misuse, message: "only a writer that is in no transaction can be replaced")
    }
    let source = try DatabaseHandle(path.hasPrefix("/") ? path : "./" + path, .readOnly, vfs: nil)
    let copying = try BackupHandle(from: source, to: try handle())
    while try copying.step(pages: -1) {}
  }
}
