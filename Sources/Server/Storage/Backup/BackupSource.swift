import ParleyJSON

/// A backup to restore.
public enum BackupSource: Sendable, Equatable {
  /// A tar archive.
  case archive(String)
  /// A tar archive on standard input.
  case standardInput
  case folder(FolderBackup)
  /// The copy of the database before its last migration, at a path.
  case previousDatabase(String)

  private static let stream = "-"

  /// Finds the backup that an operand names: a file, `-` for standard input, a folder of backups, which means its newest one, such a
  /// folder with the beginning of a time (`DIR@2026-11-20`), or one backup in it. `now` is in milliseconds since 1970.
  public init(_ text: String, at now: Int64) throws(BackupFault) {
    if text == Self.stream {
      self = .standardInput
    } else if !Disk.exists(text), let at = text.lastIndex(of: "@") {
      let time = String(text[text.index(after: at)...])
      self = .folder(try Self.newest(in: String(text[..<at]), of: time, now))
    } else if Disk.isFolder(text) {
      let path = Disk.canonical(text)
      let name = String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
      if let backup = FolderBackup(name, in: BackupFolder(Disk.folder(of: path))) {
        self = .folder(backup)
      } else {
        self = .folder(try Self.newest(in: text, of: "", now))
      }
    } else {
      guard Disk.exists(text) else { throw .impossible("The file \(text) does not exist.") }
      self = .archive(text)
    }
  }

  /// The newest backup whose time begins with `time`. Without a time, backups of a clock that was ahead are the oldest.
  private static func newest(
    in path: String, of time: String, _ now: Int64
  ) throws(BackupFault) -> FolderBackup {
    let backups: [FolderBackup]
    do throws(DiskError) { backups = try BackupFolder(path).backups() } catch { throw .impossible("\(error).") }
    guard let newest = backups.last(where: { $0.time <= now }) ?? backups.last else {
      throw .impossible("\(path) is no folder of backups.")
    }
    // A time may have colons, as other programs write it.
    let time = time.replacing(":", with: "-").replacing(" ", with: "T")
    guard !time.isEmpty else { return newest }
    guard let found = backups.last(where: { $0.name.hasPrefix(time) }) else {
      let names = backups.suffix(maxListed).map(\.name).joined(separator: ", ")
      throw .impossible(
        "\(path) has no backup of that time. It has: \(backups.count > maxListed ? "…, " : "")\(names).")
    }
    return found
  }

  /// Maximum number of backups that an error lists.
  private static let maxListed = 20

  public var title: String {
    switch self {
    case .archive(let path): path
    case .standardInput: "standard input"
    case .folder(let backup): backup.path
    case .previousDatabase(let path): path
    }
  }

  /// Verifies an archive without unpacking it, so that a damaged one is rejected before the disk is filled. Standard input can't be
  /// read twice, and a folder whose entries are all there is mostly sound.
  func verify(_ report: @escaping (BackupProgress) throws -> Void) throws {
    switch self {
    case .archive(let path): _ = try BackupReader.read(path, .verifying, report)
    case .standardInput, .folder, .previousDatabase: break
    }
  }

  /// Verifies and unpacks the backup.
  func unpack(
    to folder: String, files unpacksFiles: Bool, _ report: @escaping (BackupProgress) throws -> Void
  ) throws -> BackupReader.Contents {
    switch self {
    case .archive(let path): try BackupReader.read(path, unpackingTo: folder, .unpacking, report)
    case .standardInput: try BackupReader.read(nil, unpackingTo: folder, .unpacking, report)
    case .folder(let backup):
      try FolderBackupReader(
        backup: backup, unpacked: folder, unpacksFiles: unpacksFiles, phase: .unpacking, report: report
      ).read()
    case .previousDatabase(let path): try WayBack.unpack(path, to: folder, report)
    }
  }
}
