// Backups of a running store at an interval, into a `BackupFolder`. After each one those that no retention covers are removed.

import ParleyJSON
import ParleyModel

public actor ScheduledBackups {
  public struct Plan: Sendable, Equatable {
    /// Nil for the folder `backups` in the data folder.
    public var folder: String?
    /// Milliseconds from one backup to the next.
    public var interval: Int64
    public var retention: BackupRetention

    public init(folder: String?, interval: Int64, retention: BackupRetention) {
      (self.folder, self.interval, self.retention) = (folder, interval, retention)
    }
  }

  /// Rotation and the search for old files wait for the disk.
  private nonisolated let queue = SerialQueue("parley.schedule")
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }
  private let store: Store
  private var plan: Plan?
  private let program: String
  /// The last restore test; nil until the first, or until it is read.
  private var lastTest: Statistics.RestoreTest?
  /// No attempt before this time, after a failure.
  private var pausedUntil: Int64 = 0
  private var isTesting = false

  /// Interval at which the daemon calls `makeIfDue`.
  public static let checkInterval: Duration = .seconds(60)
  private static let retryDelay: Int64 = 3_600_000

  /// - Parameters:
  ///   - plan: nil for no backups.
  ///   - program: the version of Parley.
  public init(_ store: Store, _ plan: Plan?, program: String) {
    self.store = store
    self.plan = plan
    self.program = program
  }

  /// Replaces the plan. A new one is tried at once, even after a failure.
  public func use(_ plan: Plan?) {
    guard plan != self.plan else { return }
    self.plan = plan
    pausedUntil = 0
  }

  /// Makes a backup if the last one is older than the interval. Its age is that of its name, so it counts across starts.
  public func makeIfDue() async {
    let now = store.clock()
    guard let plan, now >= pausedUntil, !store.isBackingUp else { return }
    let folder = folder(of: plan)
    do {
      try Disk.makeFolder(folder.path)
      if let obstacle = folder.obstacle(data: store.folder.path) { throw BackupFault.impossible("\(obstacle).") }
      try folder.claim(for: store.folder.path)
      // A backup of a clock that was ahead does not count.
      let last = try folder.backups().last { $0.time <= now }
      if let last, now < last.time + plan.interval {
        // The operator may have removed some.
        return await store.listScheduledBackups(in: folder)
      }
      try folder.removeParts()
      let comparesFiles = await readLastTest()?.result == .failed
      let report = try await store.backUp(into: folder, at: now, program: program, comparesFiles: comparesFiles)
      store.log(
        LogEvent.backup.line(
          ["result": report.missing > 0 ? "incomplete" : "ok"],
          "Scheduled backup \(folder.path)/\(BackupFolder.name(at: Int(now))): \(report.messages) messages, \(report.files) files, "
            + "\(report.newFiles) of them new."))
      if report.missing > 0 {
        // Older backups lack them, too: the backup has all files of the folder of backups that its database names.
        store.log(
          "The data folder lacks \(report.missing) files, and so do the backups. parley verify names the files.")
      }
      // The damage of the last backup may be that of the disk; older ones stay until a backup has passed its test.
      if !comparesFiles { removeOld(in: folder, plan.retention) }
      await store.listScheduledBackups(in: folder, missing: report.missing)
    } catch BackupFault.cancelled {
      return
    } catch {
      store.log(
        LogEvent.backup.line(
          ["result": "failed"], "The scheduled backup failed and is tried again in an hour: \(error)")
      )
      pausedUntil = now + Self.retryDelay
    }
  }

  // MARK: Restore test

  /// Tests the newest backup, unless it was tested. No-op while the previous call runs.
  public func testIfDue() async {
    guard !isTesting, let backup = newest(), await readLastTest()?.backup != backup.time else { return }
    isTesting = true
    defer { isTesting = false }
    let restores = RestoreTest.hasRoom(backup, store.folder)
    var test = Statistics.RestoreTest(at: 0, backup: backup.time, result: restores ? .passed : .compared, reason: "")
    do throws(BackupFault) {
      let report = try await store.testRestore(of: backup, restores: restores)
      if report.missing > 0 {
        test.reason = "it lacks \(report.missing) uploaded files that the data folder lacks, too"
      }
      let sentence =
        restores
        ? "it was restored, verified and deleted." : "all entries were compared; the disk has no room to restore it."
      store.log(
        LogEvent.restoreTest.line(
          ["result": test.result.rawValue],
          "Restore test of \(backup.path): \(report.messages) messages, \(report.files) files, \(sentence)"))
    } catch .cancelled {
      return
    } catch {
      (test.result, test.reason) = (.failed, error.reason)
      store.log(
        LogEvent.restoreTest.line(["result": "failed"], "Restore test of \(backup.path) failed: \(error.reason)"))
    }
    test.at = store.clock()
    lastTest = test
    // A full disk takes no note; the next start tests again.
    try? await store.noteRestoreTest(test)
  }

  private func readLastTest() async -> Statistics.RestoreTest? {
    if lastTest == nil { lastTest = try? await store.lastRestoreTest() }
    return lastTest
  }

  /// The newest backup if it passed its test; nil until then.
  public func newestTested() async -> FolderBackup? {
    guard let backup = newest(), let test = await readLastTest(), test.backup == backup.time, test.result != .failed
    else { return nil }
    return backup
  }

  /// The backup to restore after damage: the newest one that has not failed its test, and whether it has passed it.
  public func restorable() async -> (backup: FolderBackup, isTested: Bool)? {
    let now = store.clock()
    let test = await readLastTest()
    guard let folder = plan.map(folder), folder.foreignOwner(data: store.folder.path) == nil,
      let backups = try? folder.backups(),
      let backup = backups.last(where: { $0.time <= now && !(test?.result == .failed && test?.backup == $0.time) })
    else { return nil }
    return (backup, test?.backup == backup.time)
  }

  /// The newest backup; nil without one, or without a plan.
  func newest() -> FolderBackup? {
    let now = store.clock()
    guard let folder = plan.map(folder), folder.foreignOwner(data: store.folder.path) == nil else { return nil }
    return (try? folder.backups())?.last { $0.time <= now }
  }

  private func folder(of plan: Plan) -> BackupFolder { BackupFolder(plan.folder ?? store.folder.backups) }

  /// Removes the backups that no retention covers, and then the files that no remaining backup names.
  private func removeOld(in folder: BackupFolder, _ retention: BackupRetention) {
    do {
      let removed = try remove(from: folder, retention)
      guard removed.files > 0 || removed.backups > 0 else { return }
      store.log(
        LogEvent.backup.line(
          ["result": "ok"],
          "Removed \(removed.backups) old backups and \(removed.files) files that no other backup has."))
    } catch {
      store.log(
        LogEvent.backup.line(
          ["result": "failed"], "Old backups in \(folder.path) can't be removed, or not all of their files: \(error)"))
    }
  }

  private func remove(
    from folder: BackupFolder, _ retention: BackupRetention
  ) throws -> (backups: Int, files: Int) {
    let now = store.clock()
    // From the oldest to the newest. Backups of a clock that was ahead are the oldest.
    let all = try folder.backups()
    var ordered = all.filter { $0.time > now } + all.filter { $0.time <= now }
    // The period of a backup of a clock that was ahead is unknown.
    if case .periods = retention { ordered.removeAll { $0.time > now } }
    let kept = retention.kept(ordered.map(\.time))
    let old = ordered.indices.filter { !kept.contains($0) }.map { ordered[$0] }
    for backup in old { try folder.remove(backup) }
    // Also without an old backup: a killed process may have left files, and the operator may have removed backups.
    return (old.count, try folder.removeUnnamedFiles())
  }
}
