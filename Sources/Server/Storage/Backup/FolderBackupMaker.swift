// Creates a backup in a `BackupFolder`:
//
// 1. The database is copied into TIME.part, in one read transaction that also counts the rows of the source.
// 2. The copy is written to the disk, read again and checked, and its rows are counted.
// 3. Files that the folder does not have are copied into TIME.part; all of it is synced.
// 4. The new files move to their names below `files`; that is synced.
// 5. TIME.part becomes TIME.

import ParleyCrypto

struct FolderBackupMaker {
  let folder: DataFolder
  let target: BackupFolder
  /// Version of Parley.
  let program: String
  /// In milliseconds since 1970.
  let now: Int
  /// Whether the files that the backup folder has are compared. A damaged one is then written again.
  let comparesFiles: Bool
  let cancellation: Cancellation
  let report: BackupProgress.Report

  private var name: String { BackupFolder.name(at: now) }
  private var path: String { "\(target.path)/\(name)" }
  private var part: String { target.part(name) }
  private var database: String { "\(part)/\(BackupName.database)" }

  func make() throws(BackupFault) -> BackupReport {
    do {
      guard !Disk.exists(path) else { throw BackupFault.impossible("\(path) already exists.") }
      guard Disk.exists(folder.database) else {
        throw BackupFault.impossible("There is no database in \(folder.path).")
      }
      try Disk.removeTree(part)
      try Disk.makeFolder(part)
      let copier = DatabaseCopier(
        folder: folder, path: database, program: program, now: now, cancellation: cancellation, step: step)
      let manifest = try copier.copy()
      try DiskFile.open(database, isWritten: true).sync()
      let stored = try copier.check(manifest)
      let files = try copy(stored)
      try write(manifest, files.held)
      try Disk.syncFileSystem(of: part)
      for file in files.new { try publish(file) }
      try Disk.removeTree("\(part)/\(BackupName.files)")
      try Disk.syncFileSystem(of: target.path)
      try Disk.move(part, to: path)
      try Disk.sync(target.path)
      let size = files.held.reduce(Disk.size("\(path)/\(BackupName.database)") ?? 0) { $0 + $1.size }
      return BackupReport(
        size: size, messages: manifest.counts["message"] ?? 0, files: files.held.count, newFiles: files.new.count,
        missing: files.missing.count, firstMissing: Array(files.missing.prefix(BackupReport.maxListed)))
    } catch {
      // The next attempt removes any leftovers.
      try? Disk.removeTree(part)
      throw BackupFault(error, writing: path)
    }
  }

  /// Called at every step of the work.
  private func step(_ progress: BackupProgress) throws {
    try cancellation.check()
    try report(progress)
  }

  private func write(_ manifest: BackupManifest, _ files: [StoredFile]) throws {
    var sums: [UInt8] = []
    func write(_ name: String, _ bytes: [UInt8]) throws {
      try DiskFile.make("\(part)/\(name)").write(bytes)
      sums += BackupReader.sumLine(try Digest.sha256(of: bytes), name)
    }
    try write(BackupName.manifest, manifest.bytes)
    let database = try digest(of: DiskFile.open(database), .packing)
    sums += BackupReader.sumLine(database, BackupName.database)
    // Each start reports a journal that can't be read. The erased users are in the database, too.
    if let erasures = try? ErasureJournal.read(in: folder.path).erasures, !erasures.isEmpty {
      try write(BackupName.erasures, ErasureJournal.bytes(of: erasures))
    }
    for file in files { sums += BackupReader.sumLine(file.digest, BackupFolder.above + file.path) }
    try DiskFile.make("\(part)/\(BackupName.sums)").write(sums)
  }

  // MARK: Files

  /// Copies the files that the backup folder does not have.
  private func copy(_ files: [StoredFile]) throws -> (held: [StoredFile], new: [StoredFile], missing: [String]) {
    var (held, new, missing): ([StoredFile], [StoredFile], [String]) = ([], [], [])
    let total = files.reduce(0) { $0 + $1.size }
    var done = 0
    for file in files {
      if try has(file) {
        held.append(file)
      } else if try copy(file) {
        held.append(file)
        new.append(file)
      } else {
        missing.append(file.path)
      }
      done += file.size
      try step(BackupProgress(.packing, done: done, of: total))
    }
    return (held, new, missing)
  }

  private func has(_ file: StoredFile) throws -> Bool {
    let path = "\(target.path)/\(file.path)"
    guard Disk.size(path) == file.size else { return false }
    guard comparesFiles else { return true }
    guard let content = try? digest(of: DiskFile.open(path), .comparing) else {
      try cancellation.check()
      return false
    }
    return content == file.digest
  }

  /// Copies a file into the incomplete backup. Returns whether the data folder has its content.
  private func copy(_ file: StoredFile) throws -> Bool {
    guard let source = try? DiskFile.open("\(folder.path)/\(file.path)"), try source.size == file.size else {
      return false
    }
    let copy = "\(part)/\(file.path)"
    try Disk.makeFolders(to: copy, below: part)
    let target = try DiskFile.make(copy)
    guard try digest(of: source, .packing, chunk: target.write) == file.digest else {
      try Disk.remove(copy)
      return false
    }
    return true
  }

  private func digest(
    of file: DiskFile, _ phase: BackupProgress.Phase, chunk write: ([UInt8]) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    var digest = try Digest(.sha256)
    while true {
      let chunk = try file.read(DiskFile.pieceSize)
      guard !chunk.isEmpty else { return try digest.finish() }
      try digest.update(chunk)
      try write(chunk)
      try step(BackupProgress(phase))
    }
  }

  /// Gives a copied file its name in the backup folder.
  private func publish(_ file: StoredFile) throws {
    let path = "\(target.path)/\(file.path)"
    try Disk.makeFolders(to: path, below: target.path)
    try Disk.move("\(part)/\(file.path)", to: path)
  }
}
