// The switch from the previous contents of a data folder to restored ones.
//
// All new contents are ready in one folder, `restore.ready`: it gets this name when everything in it is synced, and
// from then on the restore is decided. A few renames remain. Each step examines the folder and does the next rename,
// so after a kill at any moment the next process that locks the folder continues; no database is opened before.
//
// An item in the data folder is the old one as long as the new one is in the ready folder.

import ParleySQLite

struct PendingRestore {
  /// The data folder.
  let folder: String

  static let unpacking = "restore.part"
  static let ready = "restore.ready"
  /// The scratch folder of a test of a backup.
  static let testing = "restore.test"
  /// The scratch folder of a test of migrations.
  static let migrating = "migration.test"
  /// Folder within the ready folder for the replaced contents. Its suffix is a time.
  static let replacedPrefix = "replaced-"

  /// The suffix of the folder for the replaced contents: the wanted one, with a number if it is taken.
  static func freeSuffix(_ suffix: String, in folder: String) -> String {
    let names = [suffix] + (2...99).map { "\(suffix)-\($0)" }
    return names.first { !Disk.exists("\(folder)/\(replacedPrefix)\($0)") } ?? suffix
  }

  private static let databaseNames =
    ["-wal", "-shm"].map { BackupName.database + $0 }
    + [
      Migrator.unfinishedSnapshotPath(of: BackupName.database), Migrator.snapshotPath(of: BackupName.database),
      BackupName.database,
    ]

  private var ready: String { "\(folder)/\(Self.ready)" }

  /// Completes a decided restore and returns whether there was one. Removes an undecided one.
  static func settle(_ folder: String) throws(DiskError) -> Bool {
    let pending = PendingRestore(folder: folder)
    let isPending = Disk.exists(pending.ready)
    if isPending { try pending.requireTypes() }
    while try pending.step() {}
    for name in [unpacking, testing, migrating] { try Disk.removeTree("\(folder)/\(name)") }
    return isPending
  }

  /// Refuses links and entries of another type in the ready folder, which no restore makes.
  private func requireTypes() throws(DiskError) {
    try Disk.requireFolder(ready)
    for name in try Disk.names(in: ready) {
      let path = "\(ready)/\(name)"
      if name == BackupName.files || name.hasPrefix(Self.replacedPrefix) {
        try Disk.requireFolder(path)
      } else {
        try Disk.requireFile(path)
      }
    }
  }

  /// Does the next step; returns false if none remains.
  func step() throws(DiskError) -> Bool {
    guard Disk.exists(ready) else { return false }
    guard let replaced = try Disk.names(in: ready).first(where: { $0.hasPrefix(Self.replacedPrefix) }) else {
      return try end()
    }
    guard Disk.exists("\(ready)/\(BackupName.database)") else { return try keep(replaced) }
    // The journal of the restore has the lines of the replaced one.
    if Disk.exists("\(ready)/\(ErasureJournal.name)") {
      return try move("\(ready)/\(ErasureJournal.name)", to: "\(folder)/\(ErasureJournal.name)")
    }
    // SQLite would apply an old log to the new database.
    for name in Self.databaseNames where Disk.exists("\(folder)/\(name)") {
      return try move("\(folder)/\(name)", to: "\(ready)/\(replaced)/\(name)")
    }
    if Disk.exists("\(ready)/\(BackupName.files)") {
      let target = "\(folder)/\(BackupName.files)"
      if Disk.exists(target) { return try move(target, to: "\(ready)/\(replaced)/\(BackupName.files)") }
      return try move("\(ready)/\(BackupName.files)", to: target)
    }
    return try move("\(ready)/\(BackupName.database)", to: "\(folder)/\(BackupName.database)")
  }

  /// Keeps the replaced contents, if there are any.
  private func keep(_ replaced: String) throws(DiskError) -> Bool {
    if !Disk.removeEmpty("\(ready)/\(replaced)") {
      try Disk.move("\(ready)/\(replaced)", to: "\(folder)/\(replaced)")
    }
    return true
  }

  private func end() throws(DiskError) -> Bool {
    try Disk.removeTree(ready)
    try Disk.sync(folder)
    return false
  }

  private func move(_ path: String, to other: String) throws(DiskError) -> Bool {
    try Disk.move(path, to: other)
    try Disk.sync(Disk.folder(of: other))
    try Disk.sync(Disk.folder(of: path))
    return true
  }
}
