import ParleyJSON
import ParleyModel
import ParleyNetworking
import Storage

/// Runs the program of `--backup-hook` for each scheduled backup, to copy it to another machine. A failed run is repeated
/// after an hour, with the newest backup. A file in the data folder has the last success, so that a restart repeats none.
actor BackupHook {
  /// The last success.
  private struct Copy {
    /// The name of the backup; nil before the first success.
    var backup: String?
    /// Milliseconds since 1970; before the first success that of the first start with the hook.
    var at: Int64
  }

  private let backups: ScheduledBackups
  private let path: String
  private let log: @Sendable (String) -> Void
  private var program: ChildProgram?
  private var copy: Copy
  private var isRunning = false
  /// The reason of the last failure since then, and the monotonic time of the next attempt in nanoseconds.
  private var failure: (reason: String, retryAt: Int64)?

  /// Interval at which the daemon calls `runIfDue`.
  static let interval: Duration = .seconds(10)
  private static let retryDelay: Int64 = 3_600_000_000_000
  /// Seconds for a run.
  private static let timeout = 3_600
  /// Milliseconds without a success that are a problem; of rarer backups twice their interval.
  private static let maxAge: Int64 = 3 * 86_400_000

  init(
    _ program: ChildProgram?, _ backups: ScheduledBackups, data: String, log: @escaping @Sendable (String) -> Void
  ) {
    self.program = program
    self.backups = backups
    self.log = log
    path = "\(data)/off-site"
    copy = (program == nil ? nil : Self.read(path)) ?? Copy(backup: nil, at: Clock.wall() / 1_000_000)
    Self.write(program == nil ? nil : copy, to: path, log)
  }

  /// Replaces the program. A new one is tried at once, even after a failure.
  func use(_ program: ChildProgram?) {
    guard program != self.program else { return }
    if self.program == nil || program == nil { copy = Copy(backup: nil, at: Clock.wall() / 1_000_000) }
    self.program = program
    failure = nil
    Self.write(program == nil ? nil : copy, to: path, log)
  }

  /// The time of the last success; nil without one.
  var lastSuccess: Int64? { copy.backup == nil ? nil : copy.at }

  /// Copies that are late. `interval` is that of the backups in milliseconds.
  func problem(at now: Int64, interval: Int64?) -> Finding? {
    guard program != nil, now - copy.at > max(Self.maxAge, 2 * (interval ?? 0)) else { return nil }
    let age = Amount.duration(now - copy.at)
    let reason = failure.map { ": \($0.reason)" } ?? ""
    let state =
      copy.backup == nil
      ? "No backup was copied to another machine for \(age)"
      : "The last copy of a backup on another machine is \(age) old"
    return .error(
      .offSiteLate,
      "\(state)\(reason). See \(Setting.backupHook.flag) and the log: journalctl --unit parley --grep event=hook.")
  }

  /// Runs the program if there is a backup without a copy. No-op while the previous call runs.
  func runIfDue() async {
    guard !isRunning else { return }
    isRunning = true
    defer { isRunning = false }
    guard let program, let newest = await backups.newest(), let backup = try? FileSystem.absolute(newest) else {
      return
    }
    let name = String(backup[(backup.lastIndex(of: "/").map(backup.index(after:)) ?? backup.startIndex)...])
    guard name != copy.backup else { return }
    if let failure, Clock.monotonic() < failure.retryAt { return }
    let result = await program.replacing(with: backup).run(
      input: "", environment: ["PARLEY_BACKUP": backup], within: Self.timeout)
    // Another program does not take over the result.
    guard result.end != .cancelled, program == self.program else { return }
    guard result.isSuccess else {
      failure = (result.reason, Clock.monotonic() + Self.retryDelay)
      log(
        LogEvent.hook.line(
          ["result": "failed"], "The copy of \(backup) failed and is tried again in an hour: \(result.reason)"))
      return
    }
    copy = Copy(backup: name, at: Clock.wall() / 1_000_000)
    failure = nil
    Self.write(copy, to: path, log)
    log(LogEvent.hook.line(["result": "ok"], "The backup \(backup) was copied."))
  }

  private static func read(_ path: String) -> Copy? {
    guard FileSystem.exists(path) else { return nil }
    // A damaged file costs a second copy.
    guard let bytes = try? FileSystem.read(path), let value = try? JSONValue(parsing: bytes),
      var object = try? value.object(), let at: Timestamp = try? object.read("at")
    else { return nil }
    return Copy(backup: try? object.optional("backup"), at: Int64(at.milliseconds))
  }

  /// Writes the file, or removes it without a hook.
  private static func write(_ copy: Copy?, to path: String, _ log: (String) -> Void) {
    guard let copy else {
      try? FileSystem.remove(path)
      return
    }
    var json = JSONWriter()
    json.object { json in
      json.field("backup", copy.backup)
      json.field("at", Timestamp(copy.at))
    }
    do throws(Settings.UsageError) { try FileSystem.write(json.bytes, to: path) } catch {
      log("The time of the last off-site backup can't be written: \(error.message)")
    }
  }
}
