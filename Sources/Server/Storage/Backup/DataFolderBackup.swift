extension DataFolder {
  /// Copies a folder at rest to one file. `program` is the version of Parley, `now` in milliseconds since 1970.
  public func backUp(
    to path: String, program: String, at now: Int64, report: @escaping BackupProgress.Report
  ) throws(BackupFault) -> BackupReport {
    try BackupMaker(
      folder: self, path: path, program: program, now: Int(now), cancellation: Cancellation(), report: report
    ).make()
  }

  /// What a restore has done.
  public struct Restored: Sendable {
    public let report: BackupReport
    /// Where what was there before is now; nil where nothing was.
    public let replaced: String?
  }

  /// Puts what a backup holds into this folder, which is empty; or, when `replacing`, moves what it holds into a folder
  /// `replaced-…` first, which ends in `aside`. A file that is not a whole backup is refused before anything is touched.
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
      throw .impossible("The restore failed, and the folder is as it was: \(error).")
    }
  }
}
