import ParleySQLite

/// Failure of a backup or a restore.
public enum BackupFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is not a complete backup. The data folder is unchanged.
  case refused(file: String, BackupDamage)
  /// Faults in the source database, which a copy would have too.
  case damaged([String])
  /// A precondition is not met; the text says which.
  case impossible(String)
  /// Cancelled by the caller.
  case cancelled

  public var description: String {
    switch self {
    case .refused(let file, let damage): "\(file) is rejected, and nothing was changed: \(damage)."
    case .damaged(let faults):
      "The database is damaged, so no backup was created: \(faults.prefix(5).joined(separator: "; "))."
    case .impossible(let sentence): sentence
    case .cancelled: "The backup was cancelled and removed."
    }
  }
}

extension BackupFault {
  /// The cause without the consequence.
  var reason: String {
    switch self {
    case .refused(_, let damage): damage.description
    case .damaged(let faults): faults.prefix(5).joined(separator: "; ")
    case .impossible(let sentence): sentence
    case .cancelled: description
    }
  }

  /// The failure of a backup to `path`.
  init(_ error: any Error, writing path: String) {
    self =
      switch error {
      case let fault as BackupFault: fault
      case let error as SQLiteError where error.code == .interrupted: .cancelled
      case let damage as BackupDamage: .damaged(["reading \(path) back: \(damage)"])
      case let error as SQLiteError: .impossible("The backup failed: \(error.message).")
      case let error as MigrationError: .impossible(error.description)
      default: .impossible("The backup failed: \(error).")
      }
  }
}

/// Damage found in a backup.
public enum BackupDamage: Error, Hashable, Sendable, CustomStringConvertible {
  case foreign
  case truncated
  case trailingBytes
  case badHeader(at: Int)
  case badPadding(at: Int)
  case notRegularFile(String)
  /// A name that is not allowed in a backup, or not at this position.
  case unexpectedEntry(String)
  case missingEntry(String)
  case altered(String)
  case newerFormat(Int)
  case badManifest
  case badDatabase(String)

  public var description: String {
    switch self {
    case .foreign: "it is not a Parley backup"
    case .truncated: "it is truncated"
    case .trailingBytes: "it has extra bytes after its end"
    case .badHeader(let offset): "the header at byte \(offset) is damaged, or was not written by Parley"
    case .badPadding(let offset): "the padding at byte \(offset) is not zero"
    case .notRegularFile(let name): "its entry \(name) is not a regular file"
    case .unexpectedEntry(let name): "its entry \(name) is unexpected"
    case .missingEntry(let name): "its entry \(name) is missing"
    case .altered(let name): "its entry \(name) has been altered"
    case .newerFormat(let format): "it has format \(format) of a newer version of Parley"
    case .badManifest: "its \(BackupName.manifest) is invalid"
    case .badDatabase(let reason): "its database is damaged: \(reason)"
    }
  }
}

/// Entry names in a backup, in order; the uploaded files are before the sums.
enum BackupName {
  static let manifest = "parley-backup.json"
  static let database = "parley.db"
  /// The journal of erasures, unless it is empty.
  static let erasures = ErasureJournal.name
  static let files = "files"
  static let sums = "SHA256SUMS"
}
