// Makes a backup: one tar archive that anyone can look into.
//
//   parley-backup.json   what it is, from when, and how many rows each table has
//   parley.db            one state of the database, in one file
//   files/ab/cd/…        every file that this state names, in the order of their names
//   SHA256SUMS           of all that stands before: `tar xf FILE && sha256sum -c SHA256SUMS`
//
// 1. The database is copied beside the archive, by a reader that stays in one transaction; the rows of the source are
//    counted in the same transaction.
// 2. The copy is opened and checked, and its rows are counted.
// 3. Copy and files are packed into FILE.part, which is brought to the disk.
// 4. FILE.part is read again as for a restore, and the database in it must be the one that was checked.
// 5. FILE.part becomes FILE.

import ParleyCrypto
import ParleySQLite

struct BackupMaker {
  let folder: DataFolder
  let path: String
  /// The version of Parley.
  let program: String
  /// Milliseconds since 1970.
  let now: Int
  let cancellation: Cancellation
  let report: BackupProgress.Report

  /// Its own name, since `FILE.db` might be somebody's.
  private var part: String { path + ".part" }
  private var copy: String { part + ".db" }

  /// Pages that are copied at once, a mebibyte.
  private static let pages = 256

  func make() throws(BackupFault) -> BackupReport {
    do {
      guard !Disk.exists(path) else {
        throw BackupFault.impossible("\(path) is there already; nothing is overwritten.")
      }
      guard Disk.exists(folder.database) else {
        throw BackupFault.impossible("There is no database in \(folder.path), so there is nothing to back up.")
      }
      try removeParts()
      // Whether it can be written is found before the long work.
      _ = try DiskFile.make(part)
      try Disk.remove(part)
      let report = try makeParts()
      try Disk.move(part, to: path)
      try Disk.sync(Disk.folder(of: path))
      return report
    } catch {
      // What can't be removed now goes with the next attempt.
      try? removeParts()
      throw fault(error)
    }
  }

  private func fault(_ error: any Error) -> BackupFault {
    switch error {
    case let fault as BackupFault: fault
    case let error as SQLiteError where error.code == .interrupted: .stopped
    case let damage as BackupDamage: .unsound(["\(path), read again: \(damage)"])
    case let error as SQLiteError: .impossible("The backup failed: \(error.message).")
    case let error as MigrationError: .impossible(error.description)
    default: .impossible("The backup failed: \(error).")
    }
  }

  private func removeParts() throws {
    for leftover in [part, copy, copy + ".part", copy + ".part-journal"] { try Disk.remove(leftover) }
  }

  private func makeParts() throws -> BackupReport {
    let manifest = try copyDatabase()
    let files = try check(manifest)
    let (database, missing) = try pack(manifest, files)
    let contents = try BackupReader.read(part, .comparing, step)
    guard contents.manifest == manifest, contents.database == database, contents.files == files.count - missing.count
    else { throw BackupFault.unsound(["\(path), read again, is not what was written"]) }
    try Disk.remove(copy)
    return BackupReport(
      size: contents.size, messages: manifest.counts["message"] ?? 0, files: contents.files, missing: missing.count,
      firstMissing: Array(missing.prefix(BackupReport.mostNamed)))
  }

  /// Every step of the work passes here.
  private func step(_ progress: BackupProgress) throws {
    try cancellation.check()
    try report(progress)
  }

  // MARK: The database

  /// One state of it, and what that state says of itself.
  private func copyDatabase() throws -> BackupManifest {
    let source = try Connection.reader(folder.database)
    try cancellation.watch(source)
    return try source.transaction(.deferred) {
      let schema = try Migrator.level(of: source, known: MigrationHashes.all)
      guard schema > 0 else { throw BackupFault.impossible("The database \(source.path) is empty.") }
      let counts = try source.counts()
      try source.backUp(to: copy, pages: Self.pages) { copied in
        try step(BackupProgress(.copying, done: copied.copied, of: copied.pages))
      }
      return BackupManifest(
        program: program, schema: schema, epoch: try Epoch.read(source), createdAt: now, counts: counts)
    }
  }

  /// Whether the copy is whole, and what its state names.
  private func check(_ manifest: BackupManifest) throws -> [StoredFile] {
    let connection = try Connection.reader(copy)
    try cancellation.watch(connection)
    var faults = try Verification.faults(inCopy: connection) { check in try step(BackupProgress(checking: check)) }
    if faults.isEmpty, try connection.counts() != manifest.counts {
      faults.append("the copy has not as many rows as the source")
    }
    guard faults.isEmpty else { throw BackupFault.unsound(faults) }
    return try StoredFile.all(in: connection)
  }

  // MARK: The archive

  private func pack(
    _ manifest: BackupManifest, _ files: [StoredFile]
  ) throws -> (database: [UInt8], missing: [String]) {
    let database = try DiskFile.open(copy)
    let databaseSize = try database.size
    let total = files.reduce(databaseSize) { $0 + $1.size }
    var done = 0
    func wrote(_ count: Int) throws {
      done += count
      try step(BackupProgress(.packing, done: min(done, total), of: total))
    }
    var writer = try BackupWriter(part, createdAt: now)
    try writer.add(BackupName.manifest, manifest.bytes)
    guard
      let digest = try writer.add(
        BackupName.database, from: database, size: databaseSize, digest: nil, wrote: wrote)
    else { throw BackupFault.impossible("\(copy) has changed while it was read.") }
    var missing: [String] = []
    for file in files {
      guard let source = try? DiskFile.open("\(folder.path)/\(file.path)"),
        try writer.add(file.path, from: source, size: file.size, digest: file.digest, wrote: wrote) != nil
      else {
        missing.append(file.path)
        continue
      }
    }
    try writer.finish()
    return (digest, missing)
  }
}
