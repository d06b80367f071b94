/// Why a migration was not possible. Each description names the problem and the remedy.
public enum MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
  case unreadable(String, reason: String)
  case missingFile(String, folder: String)
  case changedFile(String, folder: String)
  case unknownFile(String, folder: String)
  case newerDatabase(path: String, level: Int, known: Int)
  case otherHistory(path: String, Migration)
  case foreignDatabase(path: String)
  case noSnapshot(path: String, reason: String)
  case failed(String, reason: String, DatabaseState)

  /// State of the database after a failed migration.
  public enum DatabaseState: Hashable, Sendable {
    /// The preceding migrations are applied; the database was empty before.
    case partlyApplied
    /// The database is unchanged.
    case unchanged
    /// Restoring the snapshot failed.
    case notRestored(snapshot: String, reason: String)
  }

  public var description: String {
    switch self {
    case .unreadable(let what, let reason): "\(what) can't be read: \(reason)."
    case .missingFile(let file, let folder):
      "The migration \(file) is not in \(folder). Install the program again with all its files."
    case .changedFile(let file, let folder):
      "The migration \(file) in \(folder) is not the one this program was built with. Install the program again with all "
        + "its files."
    case .unknownFile(let file, let folder):
      "This program does not know the migration \(file) in \(folder): the folder belongs to another version. Install "
        + "program and migrations of one version."
    case .newerDatabase(let path, let level, let known):
      "The database \(path) is at migration \(level), and this program knows \(known): a newer version has used it. "
        + "Run that version, or restore a backup that was made before."
    case .otherHistory(let path, let migration):
      "The database \(path) has another migration \(migration.file) than this program. Run the version that "
        + "applied it, or restore a backup."
    case .foreignDatabase(let path):
      "The database \(path) holds tables of another program. Choose another file."
    case .noSnapshot(let path, let reason):
      "No snapshot of the database could be made at \(path), so nothing was migrated: \(reason). It needs as much room as "
        + "the database."
    case .failed(let file, let reason, let state): "The migration \(file) failed: \(reason). \(state.sentence)"
    }
  }
}

extension MigrationError.DatabaseState {
  fileprivate var sentence: String {
    switch self {
    case .partlyApplied: "The migrations before it are applied and nothing else. Fix the cause, then start again."
    case .unchanged:
      "The database is as it was before; run the version that used it, or fix the cause and start again."
    case .notRestored(let snapshot, let reason):
      "The state before is in \(snapshot) and could not be put back: \(reason). Fix the cause and start again, or "
        + "put that file in the place of the database."
    }
  }
}
