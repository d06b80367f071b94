import ParleySQLite

/// The reason for a failure to open the store. The description names the fault and a remedy. The database was not
/// changed.
public enum StoreFault: Error, Sendable, CustomStringConvertible {
  case damaged(String, reason: String)
  case unusable(String, reason: String)
  /// The file of the key can't be read or created.
  case unusableKey(String, reason: String)
  /// The content of the file is not a key.
  case secretsKey(String)
  case siteKey(String)
  /// In the migrator's words.
  case schema(String)
  /// The database is of a newer version, in the migrator's words.
  case newer(String)

  init(_ error: any Error, opening path: String) {
    guard let error = error as? SQLiteError else {
      self = .unusable(path, reason: "\(error)")
      return
    }
    self =
      error.refusal == .damaged
      ? .damaged(path, reason: error.message) : .unusable(path, reason: error.message)
  }

  init(_ error: MigrationError) {
    if case .newerDatabase = error { self = .newer(error.description) } else { self = .schema(error.description) }
  }

  public var description: String {
    switch self {
    case .damaged(let path, let reason):
      "The database \(path) is damaged: \(reason). Nothing was written to it. Move it elsewhere with its -wal, and restore "
        + "a backup."
    case .unusable(let path, let reason): "The database \(path) can't be opened: \(reason)."
    case .unusableKey(let path, let reason): "The key \(path) can't be used: \(reason)."
    case .secretsKey(let path):
      "\(path) is not a key of 64 hexadecimal digits. Restore the file. Without it, users with two-step sign-in need a "
        + "recovery code: to go on so, move it elsewhere, and the next start makes a new key."
    case .siteKey(let path):
      "\(path) is not a key of 64 hexadecimal digits. Restore the file. Without it, the next start makes a new key, and earlier "
        + "checkpoints are those of another key."
    case .schema(let sentences), .newer(let sentences): sentences
    }
  }
}
