// The copy of the database before its last migration, for the way back to the previous version. It has content that users
// delete later, so it is removed after a week, by an erasure, by a purge, and when the disk gets full.

import ParleySQLite

struct PreviousDatabase: Sendable {
  let folder: DataFolder

  private static let maxAge: Int64 = 7 * 86_400_000
  /// Use of the disk from which the file is removed.
  private static let maxPercentUsed = 90

  var path: String { Migrator.snapshotPath(of: folder.database) }

  /// A sentence for the log after a migration; nil without a copy.
  var notice: String? {
    guard Disk.exists(path) else { return nil }
    return "The database before the migration is kept for 7 days as \(path), for a return to the previous version."
  }

  /// Removes the copy if it is due.
  /// - Returns: the reason.
  func removeIfDue(at now: Int64) throws(DiskError) -> String? {
    guard let reason = reason(at: now) else { return nil }
    try remove()
    return reason
  }

  func remove() throws(DiskError) { try Self.remove(path) }

  /// Removes a copy, and the files that SQLite has made beside it for a comparison.
  static func remove(_ path: String) throws(DiskError) {
    for ending in ["", "-wal", "-shm"] { try Disk.remove(path + ending) }
  }

  private func reason(at now: Int64) -> String? {
    guard let madeAt = Disk.changedAt(path) else { return nil }
    if now - madeAt >= Self.maxAge { return "it is 7 days old" }
    if let erasedAt = Disk.changedAt("\(folder.path)/\(ErasureJournal.name)"), erasedAt > madeAt {
      return "a user was erased"
    }
    if let space = Disk.space(folder.path), space.percentUsed >= Self.maxPercentUsed {
      return "the disk is \(space.percentUsed) % full"
    }
    return nil
  }
}

extension Store {
  /// Removes the copy of the database before its last migration if it is due.
  func removePreviousDatabase() {
    let previous = PreviousDatabase(folder: folder)
    do throws(DiskError) {
      guard let reason = try previous.removeIfDue(at: clock()) else { return }
      log("Removed \(previous.path), the database before the last migration: \(reason).")
    } catch {
      log("The database before the last migration can't be removed: \(error)")
    }
  }
}
