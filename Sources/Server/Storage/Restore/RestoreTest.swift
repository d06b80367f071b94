// Restores a backup of a `BackupFolder` into a scratch folder in the data folder, verifies it and deletes it: the digests of all
// entries, then everything that a restore does, then the checks of `parley verify`. Uploaded files are read and compared, but
// not copied: their name is their digest, and a site of 50 GB would write as much each night. Files that the data folder lacks as well are
// no fault of the backup.

import ParleyCrypto
import ParleySQLite

struct RestoreTest {
  let backup: FolderBackup
  /// The data folder of the running server.
  let folder: DataFolder
  /// Whether the database is restored. Without room for that the digests are compared alone.
  let restores: Bool
  /// In milliseconds since 1970.
  let now: Int64
  let cancellation: Cancellation

  private var scratch: String { "\(folder.path)/\(PendingRestore.testing)" }

  /// Copies of the database at a time: the restored one, and its write-ahead log or sorted rows.
  private static let copies = 2
  /// The part of the disk that stays free, so that a test does not stop uploads.
  private static let reservedPart = 10

  /// Whether the disk of the data folder has room for the restored database.
  static func hasRoom(_ backup: FolderBackup, _ folder: DataFolder) -> Bool {
    guard let space = Disk.space(folder.path), let size = Disk.size("\(backup.path)/\(BackupName.database)") else {
      return true
    }
    return space.free - copies * size > space.total / reservedPart
  }

  func run() throws(BackupFault) -> BackupReport {
    do {
      let report = restores ? try restore() : try compare()
      try? Disk.removeTree(scratch)
      let lost = try report.firstMissing.filter(isSound)
      guard lost.isEmpty else { throw BackupFault.impossible("it lacks \(lost[0]), which the data folder has") }
      return report
    } catch {
      // The next start removes any leftovers.
      try? Disk.removeTree(scratch)
      throw fault(error)
    }
  }

  /// Whether the data folder has an uploaded file with its content.
  private func isSound(_ path: String) throws -> Bool {
    guard let file = try? DiskFile.open("\(folder.path)/\(path)") else { return false }
    var digest = try Digest(.sha256)
    while true {
      try cancellation.check()
      guard let chunk = try? file.read(DiskFile.pieceSize) else { return false }
      guard !chunk.isEmpty else { return Hex.text(try digest.finish()) == StoredFile.digest(inPath: path) }
      try digest.update(chunk)
    }
  }

  private func fault(_ error: any Error) -> BackupFault {
    switch error {
    case let fault as BackupFault: fault
    case let damage as BackupDamage: .refused(file: backup.path, damage)
    case let error as SQLiteError where error.code == .interrupted: .cancelled
    case let error as SQLiteError: .impossible(error.message)
    default: .impossible("\(error)")
    }
  }

  private func step(_ progress: BackupProgress) throws(BackupFault) { try cancellation.check() }

  private func restore() throws -> BackupReport {
    try Disk.removeTree(scratch)
    try Disk.makeFolder(scratch)
    let restored = try Restoration(
      source: .folder(backup), folder: DataFolder(scratch), isReplacing: false, aside: PendingRestore.testing,
      keepsSessions: false, restoresFiles: false, now: now, report: step
    ).run()
    let findings = try Verification(scratch).run(Check.ofSnapshot, all: false, includesFiles: false) { _ in
      try cancellation.check()
    }
    let faults = findings.flatMap(\.faults)
    guard faults.isEmpty else { throw BackupDamage.badDatabase(faults.prefix(5).joined(separator: "; ")) }
    return restored.report
  }

  private func compare() throws -> BackupReport {
    let contents = try FolderBackupReader(
      backup: backup, unpacked: nil, unpacksFiles: false, phase: .verifying, report: step
    ).read()
    return BackupReport(
      size: contents.size, messages: contents.manifest.counts["message"] ?? 0, files: contents.files, missing: 0,
      firstMissing: [])
  }
}
