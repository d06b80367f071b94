// Creates a backup: one tar archive, readable by standard tools.
//
//     parley-backup.json   format, time, and number of rows per table
//     parley.db            a snapshot of the database in one file
//     erasures             the journal of erasures, unless it is empty
//     files/ab/cd/…        the files that this snapshot names, sorted by name
//     SHA256SUMS           of all preceding entries: `tar xf FILE && sha256sum -c SHA256SUMS`
//
// 1. The database is copied beside the archive, in one read transaction that also counts the rows of the source.
// 2. The copy is opened and checked, and its rows are counted.
// 3. Copy and files are packed into FILE.part, which is synced.
// 4. FILE.part is read as for a restore, and the database in it must be the checked one.
// 5. FILE.part becomes FILE.
//
// A stream goes to a pipe instead: the copy of the database is in the data folder, and steps 4 and 5 are omitted.

import ParleyCrypto
import ParleySQLite

struct BackupMaker {
  let folder: DataFolder
  let path: String
  /// Whether `path` is a named pipe with a reader, or "-" for standard output.
  let isStream: Bool
  /// Version of Parley.
  let program: String
  /// In milliseconds since 1970.
  let now: Int
  let cancellation: Cancellation
  let report: BackupProgress.Report

  /// A name of its own, since `FILE.db` may belong to another program.
  private var part: String { isStream ? "\(folder.path)/backup-stream.part" : path + ".part" }
  private var copy: String { part + ".db" }

  func make() throws(BackupFault) -> BackupReport {
    do {
      guard isStream || !Disk.exists(path) else {
        throw BackupFault.impossible("\(path) already exists.")
      }
      guard Disk.exists(folder.database) else {
        throw BackupFault.impossible("There is no database in \(folder.path).")
      }
      try removeParts()
      // Fails early if the folder is not writable.
      _ = try DiskFile.make(part)
      try Disk.remove(part)
      let report = try makeParts()
      if !isStream {
        try Disk.move(part, to: path)
        try Disk.sync(Disk.folder(of: path))
      }
      return report
    } catch {
      // The next attempt removes any leftovers.
      try? removeParts()
      throw BackupFault(error, writing: path)
    }
  }

  private func removeParts() throws {
    for leftover in [part, copy, copy + ".part", copy + ".part-journal"] { try Disk.remove(leftover) }
  }

  private func makeParts() throws -> BackupReport {
    let copier = DatabaseCopier(
      folder: folder, path: copy, program: program, now: now, cancellation: cancellation, step: step)
    let manifest = try copier.copy()
    let files = try copier.check(manifest)
    let (database, missing, size) = try pack(manifest, files)
    if isStream {
      try Disk.remove(copy)
      return report(manifest, size, files.count - missing.count, missing)
    }
    let contents = try BackupReader.read(part, .comparing, step)
    guard contents.manifest == manifest, contents.database == database, contents.files == files.count - missing.count
    else { throw BackupFault.damaged(["\(path) differs from what was written"]) }
    try Disk.remove(copy)
    return report(manifest, contents.size, contents.files, missing)
  }

  private func report(_ manifest: BackupManifest, _ size: Int, _ files: Int, _ missing: [String]) -> BackupReport {
    BackupReport(
      size: size, messages: manifest.counts["message"] ?? 0, files: files, missing: missing.count,
      firstMissing: Array(missing.prefix(BackupReport.maxListed)))
  }

  /// Called at every step of the work.
  private func step(_ progress: BackupProgress) throws {
    try cancellation.check()
    try report(progress)
  }

  // MARK: The archive

  private func pack(
    _ manifest: BackupManifest, _ files: [StoredFile]
  ) throws -> (database: [UInt8], missing: [String], size: Int) {
    let database = try DiskFile.open(copy)
    let databaseSize = try database.size
    let total = files.reduce(databaseSize) { $0 + $1.size }
    var done = 0
    func wrote(_ count: Int) throws {
      done += count
      try step(BackupProgress(.packing, done: min(done, total), of: total))
    }
    var writer = try BackupWriter(isStream ? path : part, isStream: isStream, createdAt: now)
    try writer.add(BackupName.manifest, manifest.bytes)
    guard
      let digest = try writer.add(
        BackupName.database, from: database, size: databaseSize, digest: nil, wrote: wrote)
    else { throw BackupFault.impossible("\(copy) changed while it was read.") }
    // Each start reports a journal that can't be read. The erased users are in the database, too.
    if let erasures = try? ErasureJournal.read(in: folder.path).erasures, !erasures.isEmpty {
      try writer.add(BackupName.erasures, ErasureJournal.bytes(of: erasures))
    }
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
    return (digest, missing, writer.size)
  }
}
