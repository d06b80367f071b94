import ParleyCrypto

/// Migrates a database to the schema of the program: forward only, one transaction per migration.
///
/// 1. The migration files must be exactly those that the program was built with, byte for byte.
/// 2. The migrations recorded in the database must be a prefix of them.
/// 3. A non-empty database is copied to a snapshot beside it, complete and synced.
/// 4. Each missing migration runs in one transaction with the row that records it. Foreign keys are off meanwhile,
/// because SQLite makes many changes only by rebuilding a table (sqlite.org/lang_altertable.html §7), and are checked
/// before the commit.
/// 5. After a failure the snapshot is restored, so that the previous version can run again. After success it replaces
/// that of the migrations before, and the caller decides how long it stays: it retains content that users delete later.
///
/// After a power cut in between, the next start finds the snapshot, keeps it and continues with the next migration.
public struct Migrator: Sendable {
  private let folder: String
  private let known: [Migration]

  /// `known` is the compiled-in list, ascending by number.
  public init(folder: String, known: [Migration]) {
    self.folder = folder
    self.known = known
  }

  /// The snapshot before the last successful migration.
  public static func snapshotPath(of database: String) -> String { database + ".before-migration" }

  /// The snapshot before a migration that has not succeeded yet.
  public static func unfinishedSnapshotPath(of database: String) -> String { database + ".migrating" }

  /// All migrations with their state, without changes. A reader suffices; nil stands for a missing database.
  public func status(of connection: Connection?) throws(MigrationError) -> [MigrationStatus] {
    _ = try readFiles()
    var applied: [MigrationStatus] = []
    if let connection { applied = try appliedMigrations(in: connection) }
    return known.enumerated().map { index, migration in
      MigrationStatus(migration: migration, appliedAt: index < applied.count ? applied[index].appliedAt : nil)
    }
  }

  /// Number of known migrations applied to a database. Throws for a foreign or newer one. Needs no files.
  public static func level(of connection: Connection, known: [Migration]) throws(MigrationError) -> Int {
    try Migrator(folder: "", known: known).appliedMigrations(in: connection).count
  }

  /// Applies the missing migrations and returns them. `now` is in milliseconds since 1970.
  @discardableResult public func migrate(_ connection: Connection, at now: Int) throws(MigrationError) -> [Migration] {
    let texts = try readFiles()
    let level = try appliedMigrations(in: connection).count
    let snapshot = Self.unfinishedSnapshotPath(of: connection.path)
    guard level < known.count else {
      // Left by a power cut after the last migration.
      try keep(snapshot, of: connection)
      return []
    }
    // Left by a power cut during an earlier attempt: older than the database, and the state to restore.
    var isChanged = Files.exists(snapshot)
    let hasSnapshot = level > 0 || isChanged
    if level > 0, !isChanged { try makeSnapshot(of: connection, at: snapshot) }
    for (migration, text) in zip(known, texts).dropFirst(level) {
      do {
        try apply(migration, text, to: connection, at: now)
      } catch {
        let after = restore(connection, to: hasSnapshot ? snapshot : nil, isChanged: isChanged)
        throw MigrationError.failed(migration.file, reason: "\(error)", after)
      }
      isChanged = true
    }
    if hasSnapshot { try keep(snapshot, of: connection) }
    return Array(known.dropFirst(level))
  }

  // MARK: The files

  private func readFiles() throws(MigrationError) -> [String] {
    let names: [String]
    do { names = try Files.names(in: folder) } catch {
      throw .unreadable("The folder of the migrations", reason: error.message)
    }
    let expected = Set(known.map(\.file))
    if let unknown = names.first(where: { !expected.contains($0) }) { throw .unknownFile(unknown, folder: folder) }
    var texts: [String] = []
    for migration in known {
      guard names.contains(migration.file) else { throw .missingFile(migration.file, folder: folder) }
      texts.append(try read(migration))
    }
    return texts
  }

  private func read(_ migration: Migration) throws(MigrationError) -> String {
    let bytes: [UInt8]
    do { bytes = try Files.read("\(folder)/\(migration.file)") } catch {
      throw .unreadable("The migration \(migration.file)", reason: error.message)
    }
    let hash: String
    do { hash = Hex.text(try Digest.sha256(of: bytes)) } catch {
      throw .unreadable("The migration \(migration.file)", reason: "\(error)")
    }
    guard hash == migration.hash else { throw .changedFile(migration.file, folder: folder) }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: The database

  private func appliedMigrations(in connection: Connection) throws(MigrationError) -> [MigrationStatus] {
    let applied: [MigrationStatus]?
    do { applied = try readApplied(in: connection) } catch {
      throw .unreadable("The database \(connection.path)", reason: "\(error)")
    }
    guard let applied else { throw .foreignDatabase(path: connection.path) }
    guard applied.count <= known.count else {
      throw .newerDatabase(path: connection.path, level: applied.count, known: known.count)
    }
    for (ours, theirs) in zip(known, applied) where ours != theirs.migration {
      throw .otherHistory(path: connection.path, theirs.migration)
    }
    return applied
  }

  /// Nil if the database has tables, but no `migration` table.
  private func readApplied(in connection: Connection) throws(SQLiteError) -> [MigrationStatus]? {
    let tables = try connection.all("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    { row in try row.text(0)
    }
    guard tables.contains("migration") else { return tables.isEmpty ? [] : nil }
    return try connection.all("select number, name, hash, applied_at from migration order by number") { row in
      MigrationStatus(
        migration: Migration(number: try row.int(0), name: try row.text(1), hash: try row.text(2)),
        appliedAt: try row.int(3))
    }
  }

  private func apply(_ migration: Migration, _ text: String, to connection: Connection, at now: Int) throws {
    try connection.execute("pragma foreign_keys = off")
    defer { connection.enableForeignKeys() }
    try connection.transaction {
      try connection.execute(
        """
        create table if not exists migration (
          number integer primary key,
          name text not null,
          hash text not null,
          applied_at integer not null
        ) strict
        """)
      try connection.executeScript(text)
      let violations = try connection.foreignKeyViolations()
      if let first = violations.first {
        throw SQLiteError(
          code: .constraint, extendedCode: SQLiteError.Constraint.foreignKey.rawValue,
          message: "\(violations.count) rows violate a foreign key, the first in table \(first.table)")
      }
      try connection.execute(
        "insert into migration (number, name, hash, applied_at) values ($1, $2, $3, $4)",
        migration.number, migration.name, migration.hash, now)
    }
  }

  // MARK: The snapshot

  private func makeSnapshot(of connection: Connection, at path: String) throws(MigrationError) {
    do {
      do { try connection.backUp(to: path) } catch let error as SQLiteError where error.code == .full {
        // Make room.
        try Files.remove(Self.snapshotPath(of: connection.path))
        try connection.backUp(to: path)
      }
      try Files.restrict(path)
    } catch {
      throw .noSnapshot(path: path, reason: (error as? SQLiteError)?.message ?? "\(error)")
    }
  }

  /// Replaces the snapshot of the migrations before.
  private func keep(_ snapshot: String, of connection: Connection) throws(MigrationError) {
    let kept = Self.snapshotPath(of: connection.path)
    do {
      guard Files.exists(snapshot) else { return }
      for file in [snapshot + "-wal", snapshot + "-shm", kept + "-wal", kept + "-shm"] { try Files.remove(file) }
      try Files.publish(snapshot, as: kept)
    } catch {
      throw .unreadable("The snapshot \(snapshot)", reason: error.message)
    }
  }

  private func restore(_ connection: Connection, to snapshot: String?, isChanged: Bool) -> MigrationError.DatabaseState
  {
    guard let snapshot else { return isChanged ? .partlyApplied : .unchanged }
    do {
      if isChanged { try connection.replaceContents(with: snapshot) }
      try discard(snapshot)
      return .unchanged
    } catch {
      return .notRestored(snapshot: snapshot, reason: (error as? SQLiteError)?.message ?? "\(error)")
    }
  }

  private func discard(_ snapshot: String) throws(MigrationError) {
    do {
      guard Files.exists(snapshot) else { return }
      for file in [snapshot, snapshot + "-wal", snapshot + "-shm"] { try Files.remove(file) }
      try Files.sync(Files.folder(of: snapshot))
    } catch {
      throw .unreadable("The snapshot \(snapshot)", reason: error.message)
    }
  }
}
