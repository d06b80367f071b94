import ParleyCrypto

/// Brings a database to the schema that the program knows, forward only, one transaction a migration.
///
/// 1. The files must be those that the program was built with, no more and no fewer, byte for byte.
/// 2. The migrations that the database says it has must be the first of them.
/// 3. If the database holds something, a snapshot of it is made beside it, whole and on the disk.
/// 4. Each missing migration runs in one transaction with the row that says so; foreign keys rest meanwhile, since SQLite
///    alters many things only by making a table anew (sqlite.org/lang_altertable.html §7), and are checked before the
///    commit.
/// 5. If one fails, the snapshot is put back, so that the version from before can run again. If all is well, it is
///    removed: it would keep what people delete later.
///
/// After a power cut in the middle, the next start finds the snapshot, keeps it, and goes on with the next migration.
public struct Migrator: Sendable {
  private let folder: String
  private let known: [Migration]

  /// `known` is what was compiled in, in the order of the numbers.
  public init(folder: String, known: [Migration]) {
    self.folder = folder
    self.known = known
  }

  public static func snapshotPath(of database: String) -> String { database + ".before-migration" }

  /// All migrations and whether they were applied; changes nothing. A reader is enough, and no connection stands for a
  /// database that is not there yet.
  public func status(of connection: Connection?) throws(MigrationError) -> [MigrationStatus] {
    _ = try readFiles()
    var applied: [MigrationStatus] = []
    if let connection { applied = try appliedMigrations(in: connection) }
    return known.enumerated().map { index, migration in
      MigrationStatus(migration: migration, appliedAt: index < applied.count ? applied[index].appliedAt : nil)
    }
  }

  /// How many of the known migrations a database has; refuses one that is not ours, or newer. Needs no files.
  public static func level(of connection: Connection, known: [Migration]) throws(MigrationError) -> Int {
    try Migrator(folder: "", known: known).appliedMigrations(in: connection).count
  }

  /// Applies what is missing; returns what it applied. `now` is in milliseconds since 1970.
  @discardableResult public func migrate(_ connection: Connection, at now: Int) throws(MigrationError) -> [Migration] {
    let texts = try readFiles()
    let level = try appliedMigrations(in: connection).count
    let snapshot = Self.snapshotPath(of: connection.path)
    guard level < known.count else {
      // One that a power cut left behind after the last migration.
      try discard(snapshot)
      return []
    }
    // Of an attempt that a power cut ended: older than the database, and what to go back to.
    var isChanged = Files.exists(snapshot)
    let hasSnapshot = level > 0 || isChanged
    if level > 0, !isChanged { try makeSnapshot(of: connection, at: snapshot) }
    for (migration, text) in zip(known, texts).dropFirst(level) {
      do {
        try apply(migration, text, to: connection, at: now)
      } catch {
        let after = goBack(connection, to: hasSnapshot ? snapshot : nil, isChanged: isChanged)
        throw MigrationError.failed(migration.file, reason: "\(error)", after)
      }
      isChanged = true
    }
    if hasSnapshot { try discard(snapshot) }
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

  /// Nil where there are tables, but not ours.
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
    defer { connection.turnForeignKeysOn() }
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
          message: "\(violations.count) rows name others that are not there, the first in the table \(first.table)")
      }
      try connection.execute(
        "insert into migration (number, name, hash, applied_at) values ($1, $2, $3, $4)",
        migration.number, migration.name, migration.hash, now)
    }
  }

  // MARK: The snapshot

  private func makeSnapshot(of connection: Connection, at path: String) throws(MigrationError) {
    do { try connection.backUp(to: path) } catch {
      throw .noSnapshot(path: path, reason: (error as? SQLiteError)?.message ?? "\(error)")
    }
  }

  private func goBack(_ connection: Connection, to snapshot: String?, isChanged: Bool) -> MigrationError.After {
    guard let snapshot else { return isChanged ? .halfWay : .unchanged }
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
