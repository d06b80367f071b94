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
  }

  /// Restores a backup into this folder, which must be empty; or, when `replacing`, moves its contents to the folder
  /// `replaced-<aside>` first. A file that is not a complete backup is rejected without any change.
  public func restore(
    _ path: String, replacing: Bool, aside: String, report: @escaping BackupProgress.Report
  ) throws(BackupFault) -> Restored {
    do {
      let (outcome, replaced) = try Restoration(
        path: path, folder: self, isReplacing: replacing, aside: aside, report: report
      ).run()
      return Restored(report: outcome, replaced: replaced.map { "\(self.path)/\($0)" })
    } catch let fault as BackupFault {
      throw fault
    } catch let damage as BackupDamage {
      throw .refused(file: path, damage)
    } catch {
      throw .impossible("The restore failed, and the folder is unchanged: \(error).")
    }
  }
}
