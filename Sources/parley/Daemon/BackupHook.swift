import ParleyJSON
import ParleyModel
import ParleyNetworking
import Storage

/// Runs the program of `--backup-hook` after each scheduled backup that passed its restore test, to copy the folder of backups to another machine. A failed run
/// is repeated after an hour. A file in the data folder has the last success, so that a restart repeats none.
actor BackupHook {
  /// The last success.
  fileprivate struct Copy: Equatable {
    /// The name of the backup; nil before the first success.
    var backup: String?
    /// Milliseconds since 1970; before the first success that of the first start with the hook.
    var at = Clock.wall() / 1_000_000
  }

  private let backups: ScheduledBackups
  private let store: Store
  private let file: StateFile<Copy>
  private let log: @Sendable (String) -> Void
  /// Seconds for a run.
  private let timeout: Int
  private var program: ChildProgram?
  /// Nil without a program.
  private var copy: Copy?
  private var isRunning = false
  /// Whether the program runs.
  private(set) var isCopying = false
  /// The reason of the last failure since then, and the monotonic time of the next attempt in nanoseconds.
  private var failure: (reason: String, retryAt: Int64)?

  /// Interval at which the daemon calls `runIfDue`.
  static let interval: Duration = .seconds(10)
  private static let retryDelay: Int64 = 3_600_000_000_000
  /// Milliseconds without a success that are a problem; of rarer backups twice their interval.
  private static let maxAge: Int64 = 3 * 86_400_000

  init(
    _ program: ChildProgram?, _ backups: ScheduledBackups, _ store: Store, timeout: Int = 3_600,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.program = program
    self.backups = backups
    self.store = store
    self.timeout = timeout
    self.log = log
    file = StateFile("off-site", data: store.folder.path, title: "The time of the last off-site backup", log: log)
    // A damaged file costs a second copy.
    copy = program == nil ? nil : file.read() ?? Copy()
    file.write(copy)
  }

  /// Replaces the program. A new one is tried at once, even after a failure.
  func use(_ program: ChildProgram?) {
    guard program != self.program else { return }
    copy = program == nil ? nil : copy ?? Copy()
    self.program = program
    failure = nil
    file.write(copy)
  }

  /// The time of the last success; nil without one.
  var lastSuccess: Int64? { copy?.backup == nil ? nil : copy?.at }

  /// Copies that are late. `interval` is that of the backups in milliseconds.
  func problem(at now: Int64, interval: Int64?) -> Finding? {
    guard let copy, now - copy.at > max(Self.maxAge, 2 * (interval ?? 0)) else { return nil }
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
    // For the page of the owners. A full disk takes no note.
    try? await store.noteOffSite(lastSuccess)
    guard let program, let newest = await backups.newestTested(),
      let folder = try? FileSystem.absolute(newest.folder.path)
    else { return }
    guard newest.name != copy?.backup else { return }
    if let failure, Clock.monotonic() < failure.retryAt { return }
    isCopying = true
    defer { isCopying = false }
    let result = await program.replacing(with: folder).run(
      input: "", environment: ["PARLEY_BACKUPS": folder, "PARLEY_BACKUP": "\(folder)/\(newest.name)"],
      within: timeout)
    // Another program does not take over the result.
    guard result.end != .cancelled, program == self.program else { return }
    guard result.isSuccess else {
      failure = (result.reason, Clock.monotonic() + Self.retryDelay)
      log(
        LogEvent.hook.line(
          ["result": "failed"], "The copy of \(newest.path) failed and is tried again in an hour: \(result.reason)"))
      return
    }
    copy = Copy(backup: newest.name)
    failure = nil
    file.write(copy)
    try? await store.noteOffSite(lastSuccess)
    log(LogEvent.hook.line(["result": "ok"], "The backup \(newest.path) was copied."))
  }
}

extension BackupHook.Copy: JSONReadable, JSONWritable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let time: Timestamp = try object.read("at")
    backup = try object.optional("backup")
    at = Int64(time.milliseconds)
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("backup", backup)
      json.field("at", Timestamp(at))
    }
  }
}
