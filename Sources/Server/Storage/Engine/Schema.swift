import ParleySQLite

/// The steps by which the database got its tables, and those that it still needs.
public enum Schema {
  public struct Step: Hashable, Sendable {
    /// The migration's file.
    public let file: String
    /// Milliseconds since 1970; nil for a pending migration.
    public let appliedAt: Int?
  }

  private static func migrator(_ folder: String) -> Migrator { Migrator(folder: folder, known: MigrationHashes.all) }

  /// Returns all migrations. Read-only; works beside a running server.
  public static func status(ofDatabaseIn data: String, migrations: String) throws(StoreFault) -> [Step] {
    let path = DataFolder.database(in: data)
    let connection: Connection?
    do { connection = Disk.exists(path) ? try Connection.reader(path) : nil } catch {
      throw StoreFault(error, opening: path)
    }
    do {
      return try migrator(migrations).status(of: connection).map { status in
        Step(file: status.migration.file, appliedAt: status.appliedAt)
      }
    } catch {
      throw StoreFault(error)
    }
  }

  /// Applies pending migrations. Returns the applied files.
  public static func migrate(_ folder: DataFolder, migrations: String, at now: Int64) throws(StoreFault) -> [String] {
    let (connection, applied) = try open(folder, migrations: migrations, vfs: nil, at: now)
    connection.close()
    return applied
  }

  /// A sentence on the copy of the database before its last migration; nil without one.
  public static func previousDatabaseNotice(_ folder: DataFolder) -> String? { PreviousDatabase(folder: folder).notice }

  /// The connection of the writer to a database that has every step.
  static func open(
    _ folder: DataFolder, migrations: String, vfs: String?, at now: Int64
  ) throws(StoreFault) -> (connection: Connection, applied: [String]) {
    var options = Connection.Options()
    options.vfs = vfs
    let connection: Connection
    do { connection = try Connection.writer(folder.database, options) } catch {
      throw StoreFault(error, opening: folder.database)
    }
    do {
      return (connection, try migrator(migrations).migrate(connection, at: Int(now)).map(\.file))
    } catch {
      throw StoreFault(error)
    }
  }
}
