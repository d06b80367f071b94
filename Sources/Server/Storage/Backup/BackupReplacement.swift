// The copies of the site on this machine: backups of both kinds, and what restores replaced. After a destruction a new backup that has
// passed its test can replace all of them.

public import ParleyModel
import ParleySQLite

/// The new backup, and the copies that it replaced.
public struct BackupReplacement: Sendable {
  public let backup: String
  public let removed: [String]
}

extension Connection {
  private static let backupFoldersName = "backup_folders"
  private static let maxBackupFolders = 10

  /// The paths of the folders of scheduled backups, the last used first.
  func backupFolders() throws(SQLiteError) -> [String] {
    try setting(Self.backupFoldersName)?.split(separator: "\n").map(String.init) ?? []
  }

  /// Notes the folder of a scheduled backup. Writes nothing if it is the last used one.
  fileprivate func noteBackupFolder(_ path: String) throws(SQLiteError) {
    let known = try backupFolders()
    guard known.first != path else { return }
    let folders = [path] + known.filter { $0 != path }
    try keepSetting(Self.backupFoldersName, folders.prefix(Self.maxBackupFolders).joined(separator: "\n"))
  }
}

extension WriteTransaction {
  /// Remembers where scheduled backups are: a destruction lists them, also without the daemon and its settings.
  func noteBackupFolder(_ folder: BackupFolder) throws(Refusal) {
    try run { connection in try connection.noteBackupFolder(Disk.canonical(folder.path)) }
  }
}

extension Store {
  /// The folders of scheduled backups that are there and belong to this data folder, the last used first.
  private func backupFolders() async throws(Refusal) -> [BackupFolder] {
    let noted = try await readInBackground { tx throws(Refusal) in
      try tx.run { connection in try connection.backupFolders() }
    }
    let own = Disk.canonical(folder.backups)
    return (noted + (noted.contains(own) ? [] : [own])).map { BackupFolder($0) }.filter { candidate in
      Disk.isFolder(candidate.path) && candidate.foreignOwner(data: folder.path) == nil
    }
  }

  /// All copies of the site on this machine: names in the data folder, and paths elsewhere.
  public func copies() async throws(Refusal) -> [String] {
    let own = Disk.canonical(folder.backups)
    let elsewhere = try await backupFolders().filter { $0.path != own }.flatMap { folder in
      ((try? folder.backups()) ?? []).map(\.path) + (Disk.exists(folder.files) ? [folder.files] : [])
    }
    return folder.copies + elsewhere.sorted()
  }

  /// Makes a backup and tests it, then removes all other copies of the site on this machine. Without scheduled backups the new one is an
  /// archive in the data folder.
  public func replaceBackups(
    program: String, report: @escaping BackupProgress.Report
  ) async throws(BackupFault) -> BackupReplacement {
    let folders: [BackupFolder]
    do throws(Refusal) { folders = try await backupFolders() } catch {
      throw .impossible("The database can't be read, so no backup was made.")
    }
    let kept = try await newBackup(folders, program: program, report)
    do {
      let removed = try await folderQueue.run { [folder] () throws(DiskError) in
        try Self.removeCopies(besides: kept, folders, in: folder)
      }
      for target in folders { _ = try target.removeUnnamedFiles() }
      return BackupReplacement(backup: kept, removed: removed)
    } catch {
      throw .impossible("The new backup is \(kept), but other copies can't be removed: \(error)")
    }
  }

  /// The path of a new backup that has passed its test.
  private func newBackup(
    _ folders: [BackupFolder], program: String, _ report: @escaping BackupProgress.Report
  ) async throws(BackupFault) -> String {
    let now = clock()
    guard let target = folders.first(where: { !((try? $0.backups()) ?? []).isEmpty }) else {
      let name = BackupFolder.name(at: Int(now))
      let path = "\(folder.backups)/parley-\(name.dropLast()).tar"
      do throws(DiskError) { try Disk.makeFolder(folder.backups) } catch { throw .impossible("\(error).") }
      try Self.requireAll(try await backUp(to: path, program: program, report: report), in: path)
      return path
    }
    let made = try await backUp(into: target, at: now, program: program, comparesFiles: true, report: report)
    guard let backup = FolderBackup(BackupFolder.name(at: Int(now)), in: target) else {
      throw .impossible("The new backup in \(target.path) has no name.")
    }
    try Self.requireAll(made, in: backup.path)
    _ = try await testRestore(of: backup, restores: RestoreTest.hasRoom(backup, folder))
    return backup.path
  }

  private static func requireAll(_ report: BackupReport, in path: String) throws(BackupFault) {
    guard report.missing > 0 else { return }
    throw .impossible(
      "The new backup \(path) lacks \(report.missing) uploaded files that the data folder lacks, too, so the other copies stay."
    )
  }

  private static func removeCopies(
    besides kept: String, _ folders: [BackupFolder], in data: DataFolder
  ) throws(DiskError) -> [String] {
    var removed: [String] = []
    for folder in folders {
      for backup in try folder.backups() where backup.path != kept {
        try folder.remove(backup)
        removed.append(backup.path)
      }
    }
    let archives = Disk.exists(data.backups) ? try Disk.names(in: data.backups).map { "\(data.backups)/\($0)" } : []
    for archive in archives where archive != kept && Disk.size(archive) != nil {
      try Disk.remove(archive)
      removed.append(archive)
    }
    for name in try Disk.names(in: data.path) where name.hasPrefix(PendingRestore.replacedPrefix) {
      try Disk.removeTree("\(data.path)/\(name)")
      removed.append("\(data.path)/\(name)")
    }
    return removed
  }
}
