extension DataFolder {
  /// Backs up the folder of a stopped server. `program` is the version of Parley, `now` is in milliseconds since 1970.
  public func backUp(
    to path: String, isStream: Bool = false, program: String, at now: Int64, report: @escaping BackupProgress.Report
  ) throws(BackupFault) -> BackupReport {
    try BackupMaker(
      folder: self, path: path, isStream: isStream, program: program, now: Int(now), cancellation: Cancellation(),
      report: report
    ).make()
  }

  /// Result of a restore.
  public struct Restored: Sendable {
    public let report: BackupReport
    /// Folder with the previous contents; nil if there were none.
    public let replaced: String?
    /// The sentence about the undone changes, also in the audit log.
    public let undone: String
    /// Whether sessions that were revoked after the backup were known.
    public let isCompared: Bool
    /// Number of users that the next start erases again.
    public let erasedAgain: Int
    /// Sentences about a damaged journal of erasures and a damaged replaced database.
    public let warning: String?
  }

  /// Restores a backup into this folder, which must be empty; or, when `replacing`, moves its contents to the folder
  /// `replaced-<aside>` first. A file that is not a complete backup is rejected without any change.
  ///
  /// - Parameters:
  ///   - source: the backup.
  ///   - keepsSessions: whether sessions and tokens stay valid, except those that have ended since the backup.
  ///   - now: milliseconds since 1970.
  public func restore(
    _ source: BackupSource, replacing: Bool, aside: String, keepsSessions: Bool = false, at now: Int64,
    report: @escaping BackupProgress.Report
  ) throws(BackupFault) -> Restored {
    do {
      return try Restoration(
        source: source, folder: self, isReplacing: replacing,
        aside: PendingRestore.freeSuffix(aside, in: path), keepsSessions: keepsSessions, now: now, report: report
      ).run()
    } catch let fault as BackupFault {
      throw fault
    } catch let damage as BackupDamage {
      throw .refused(file: source.title, damage)
    } catch {
      throw .impossible("The restore failed, and the folder is unchanged: \(error).")
    }
  }
}
