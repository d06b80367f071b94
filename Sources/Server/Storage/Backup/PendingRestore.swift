// How a restored place takes the place of the one before.
//
// All that is new lies ready in one folder, `restore.ready`: it got this name when everything in it was on the disk, and
// from then on the restore is decided. What remains is a handful of renames. Each step looks at what is there and does
// the next one, so after a kill at any moment whoever has the folder next goes on where it ended; nobody opens a database
// before.
//
// A thing in the data folder is the old one for as long as the new one still lies ready.

import ParleySQLite

struct PendingRestore {
  /// The data folder.
  let folder: String

  static let unpacking = "restore.part"
  static let ready = "restore.ready"
  /// In the ready folder: what is replaced goes in here. The rest of the name says when.
  static let replacedPrefix = "replaced-"

  private static let databaseNames =
    ["-wal", "-shm"].map { BackupName.database + $0 }
    + [Migrator.snapshotPath(of: BackupName.database), BackupName.database]

  private var ready: String { "\(folder)/\(Self.ready)" }

  /// Ends what was begun; whether there was something. What had not been decided is removed.
  static func settle(_ folder: String) throws(DiskError) -> Bool {
    let pending = PendingRestore(folder: folder)
    let isPending = Disk.exists(pending.ready)
    while try pending.step() {}
    try Disk.removeTree("\(folder)/\(unpacking)")
    return isPending
  }

  /// Does the next step; false when there is none.
  func step() throws(DiskError) -> Bool {
    guard Disk.exists(ready) else { return false }
    guard let replaced = try Disk.names(in: ready).first(where: { $0.hasPrefix(Self.replacedPrefix) }) else {
      return try end()
    }
    guard Disk.exists("\(ready)/\(BackupName.database)") else { return try keep(replaced) }
    // What stands beside the old database would be taken for the new one's.
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

  /// What was replaced is kept, if there was anything.
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
