/// A copy of a database that is in use, made in steps, so that its owner can do other things between two.
///
///     let backup = try Backup(of: reader, to: "copy.db")
///     while try backup.step(pages: 256) { show(backup.progress) }
///     try backup.finish()
///
/// Of a reader it copies one state: the reader stays in a transaction until the end, which the writer's log has to
/// outlast. (Without, SQLite would start again after each commit of the writer.) Of the writer it copies the last state:
/// SQLite copies again what is written meanwhile through the same connection.
///
/// The copy is one file that needs no log beside it. It has its name only when `finish` has brought it to the disk; until
/// then, and after a failure, there is a `….part`, which the next attempt replaces.
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
    guard !Files.exists(path) else { throw SQLiteError(code: .cannotOpen, message: "\(path) is there already") }
    let part = path + ".part"
    for leftover in [part, part + "-journal", part + "-wal", part + "-shm"] { try Files.remove(leftover) }
    let transaction = try Self.hold(source)
    let target = try DatabaseHandle(part, .create, vfs: nil)
    let copying = try BackupHandle(from: try source.handle(), to: target)
    self.path = path
    self.part = part
    self.target = target
    self.copying = copying
    self.transaction = transaction
  }

  private static func hold(_ source: Connection) throws(SQLiteError) -> Transaction? {
    guard source.role == .reader, !source.isInTransaction else { return nil }
    let transaction = try source.begin(.deferred)
    // The state that a transaction sees is that of its first statement.
    _ = try source.first("select count(*) from sqlite_schema") { row in try row.int(0) }
    return transaction
  }

  public var progress: Progress { Progress(pages: copying.pages, copied: copying.pages - copying.remaining) }

  /// Whether pages are left.
  public func step(pages: Int) throws(SQLiteError) -> Bool { try copying.step(pages: pages) }

  /// Copies what is left and puts the copy in its place.
  public consuming func finish() throws(SQLiteError) {
    while try step(pages: -1) {}
    let (path, part, target) = (path, part, target)
    copying.end()
    try Self.leaveLog(target)
    try Files.publish(part, as: path)
  }

  /// The copy is marked as one with a write-ahead log, like its source, and would get one when it is opened.
  private static func leaveLog(_ target: DatabaseHandle) throws(SQLiteError) {
    let (statement, _) = try target.prepare("pragma journal_mode = delete".utf8Span.span, isKept: false)
    while try statement?.step() == true {}
  }
}

extension Connection {
  /// Copies the database to a new file, `pages` at a time; `progress` may end it by throwing.
  public func backUp(
    to path: String, pages: Int = 256, progress: (Backup.Progress) throws -> Void = { _ in }
  ) throws {
    let backup = try Backup(of: self, to: path)
    while try backup.step(pages: pages) { try progress(backup.progress) }
    try progress(backup.progress)
    try backup.finish()
  }

  /// Puts another database in the place of this one's contents, in one transaction: after a failure or a power cut it is
  /// the old one or the new one.
  public func replaceContents(with path: String) throws(SQLiteError) {
    guard role == .writer, !isInTransaction else {
      throw SQLiteError(code: .misuse, message: "only a writer that is in no transaction can be replaced")
    }
    let source = try DatabaseHandle(path.hasPrefix("/") ? path : "./" + path, .readOnly, vfs: nil)
    let copying = try BackupHandle(from: source, to: try handle())
    while try copying.step(pages: -1) {}
  }
}
