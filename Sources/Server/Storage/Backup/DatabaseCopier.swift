import ParleyCrypto
import ParleySQLite

/// Copies the database of a data folder for a backup, and checks the copy.
struct DatabaseCopier {
  let folder: DataFolder
  /// The path of the copy.
  let path: String
  /// Version of Parley.
  let program: String
  /// In milliseconds since 1970.
  let now: Int
  let cancellation: Cancellation
  /// Called at every step of the work.
  let step: (BackupProgress) throws -> Void

  /// Pages copied per step, 1 MiB.
  private static let pages = 256

  /// Copies a snapshot in one read transaction that also counts the rows of the source, and describes it.
  func copy() throws -> BackupManifest {
    let source = try Connection.reader(folder.database)
    try cancellation.watch(source)
    return try source.transaction(.deferred) {
      let schema = try Migrator.level(of: source, known: MigrationHashes.all)
      guard schema > 0 else { throw BackupFault.impossible("The database \(source.path) is empty.") }
      let counts = try source.counts()
      try source.backUp(to: path, pages: Self.pages) { copied in
        try step(BackupProgress(.copying, done: copied.copied, of: copied.pages))
      }
      return BackupManifest(
        program: program, schema: schema, epoch: try Epoch.read(source), createdAt: now, counts: counts)
    }
  }

  /// Checks the copy and lists the files that it names.
  func check(_ manifest: BackupManifest) throws -> [StoredFile] {
    let connection = try Connection.reader(path)
    defer { connection.close() }
    try cancellation.watch(connection)
    var faults = try Verification.faults(inCopy: connection) { check in try step(BackupProgress(checking: check)) }
    if faults.isEmpty, try connection.counts() != manifest.counts {
      faults.append("the copy has a different number of rows than the source")
    }
    guard faults.isEmpty else { throw BackupFault.damaged(faults) }
    return try StoredFile.all(in: connection)
  }
}
