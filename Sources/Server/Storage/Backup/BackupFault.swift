/// Why no backup was made, or none was restored.
public enum BackupFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is not a whole backup of ours. Nothing was touched.
  case refused(file: String, BackupDamage)
  /// What was found in the source, so that a copy of it would not be right either.
  case unsound([String])
  /// Something is in the way: said in a sentence.
  case impossible(String)
  /// Whoever wanted it wants it no more.
  case stopped

  public var description: String {
    switch self {
    case .refused(let file, let damage): "\(file) is refused, and nothing was touched: \(damage)."
    case .unsound(let faults):
      "The database is not sound, so no backup was kept: \(faults.prefix(5).joined(separator: "; "))."
    case .impossible(let sentence): sentence
    case .stopped: "The backup was stopped before its end; nothing is left of it."
    }
  }
}

/// What is wrong with a file that should be a backup.
public enum BackupDamage: Error, Hashable, Sendable, CustomStringConvertible {
  case foreign
  case cutOff
  case tooLong
  case badHeader(at: Int)
  case badPadding(at: Int)
  case noPlainFile(String)
  /// A name that has no place in a backup, or not in this place.
  case misplaced(String)
  case altered(String)
  case newerFormat(Int)
  case badManifest
  case badDatabase(String)

  public var description: String {
    switch self {
    case .foreign: "it is no backup that Parley made"
    case .cutOff: "it ends too early, so a part of it is missing"
    case .tooLong: "something follows behind its end"
    case .badHeader(let place): "what stands at byte \(place) is damaged, or not of Parley's making"
    case .badPadding(let place): "there should be zeros at byte \(place)"
    case .noPlainFile(let name): "\(name) in it is a link, a folder or something else that is no plain file"
    case .misplaced(let name): "\(name) has no place in a backup, or not there"
    case .altered(let name): "\(name) in it is not what was backed up"
    case .newerFormat(let format): "it has the format \(format), which a newer version of Parley reads"
    case .badManifest: "its \(BackupName.manifest) makes no sense"
    case .badDatabase(let reason): "its database is not sound: \(reason)"
    }
  }
}

/// The names in a backup, in their order; the uploaded files stand between the database and the sums.
enum BackupName {
  static let manifest = "parley-backup.json"
  static let database = "parley.db"
  static let files = "files"
  static let sums = "SHA256SUMS"
}
