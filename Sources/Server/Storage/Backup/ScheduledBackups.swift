// Backups of a running store at an interval, into a folder. After each one those that no retention covers are removed. Their
// names begin with a prefix of their own, so that no other backup is removed.

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

  private let store: Store
  private var plan: Plan?
  private let program: String
  /// No attempt before this time, after a failure.
  private var pausedUntil: Int64 = 0

  /// Interval at which the daemon calls `makeIfDue`.
  public static let checkInterval: Duration = .seconds(60)
  private static let retryDelay: Int64 = 3_600_000
  private static let (prefix, suffix) = ("scheduled-", ".tar")

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

  /// Makes a backup if the last one is older than the interval. Its age is that of its file, so it counts across starts.
  public func makeIfDue() async {
    let now = store.clock()
    guard let plan, now >= pausedUntil, !store.isBackingUp else { return }
    let folder = plan.folder ?? store.folder.backups
    do {
      try Disk.makeFolder(folder)
      // A file of a clock that was ahead does not count.
      let last = try backups(in: folder).last { $0.time <= now }
      if let last, now < last.time + plan.interval { return }
      try removeParts(in: folder)
      let time = Timestamp.format(Int(now)).prefix(19).replacing(":", with: "-")
      let path = "\(folder)/\(Self.prefix)\(time)Z\(Self.suffix)"
      let report = try await store.backUp(to: path, program: program) { _ in }
      store.log(
        LogEvent.backup.line(
          ["result": report.missing > 0 ? "incomplete" : "ok"],
          "Scheduled backup \(path): \(report.messages) messages, \(report.files) files, verified."))
      if report.missing > 0 {
        store.log(
          "The data folder lacks \(report.missing) files, and so does the backup. Older backups stay. parley verify names the files."
        )
        return
      }
      try removeOld(in: folder, plan.retention)
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

  /// The path of the newest backup; nil without one, or without a plan.
  public func newest() -> String? {
    let now = store.clock()
    guard let plan else { return nil }
    let folder = plan.folder ?? store.folder.backups
    return (try? backups(in: folder))?.last { $0.time <= now }.map { "\(folder)/\($0.name)" }
  }

  private func removeOld(in folder: String, _ retention: BackupRetention) throws(DiskError) {
    // The new backup is younger than the time at which it began.
    let now = store.clock()
    var all = try backups(in: folder)
    // The period of a file of a clock that was ahead is unknown.
    if case .periods = retention { all.removeAll { $0.time > now } }
    let kept = retention.kept(all.map(\.time))
    for (index, backup) in all.enumerated() where !kept.contains(index) { try Disk.remove("\(folder)/\(backup.name)") }
  }

  /// From the oldest to the newest. Files of a clock that was ahead are the oldest.
  private func backups(in folder: String) throws(DiskError) -> [(name: String, time: Int64)] {
    let now = store.clock()
    let found = try Disk.names(in: folder).compactMap { name in
      Self.isBackup(name) ? Disk.changedAt("\(folder)/\(name)").map { (name: name, time: $0) } : nil
    }
    return found.sorted { ($0.time <= now ? $0.time : .min, $0.name) < ($1.time <= now ? $1.time : .min, $1.name) }
  }

  /// Removes the incomplete backup of a killed process.
  private func removeParts(in folder: String) throws(DiskError) {
    for name in try Disk.names(in: folder) {
      guard let end = name.firstRange(of: Self.suffix + ".part"),
        Self.isBackup(String(name[..<end.lowerBound]) + Self.suffix)
      else { continue }
      try Disk.remove("\(folder)/\(name)")
    }
  }

  /// Whether a name is exactly one of a scheduled backup.
  private static func isBackup(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let time = name.dropFirst(prefix.count).dropLast(suffix.count)
    let form = "0000-00-00T00-00-00Z"
    return time.utf8.count == form.utf8.count
      && zip(time.utf8, form.utf8).allSatisfy { byte, pattern in
        pattern == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == pattern
      }
  }
}
