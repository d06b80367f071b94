import API
import Community
import ParleyModel
import ParleyNetworking
import Serving
import Storage
import Web

/// Reads the settings again at SIGHUP and applies those that can change while the daemon runs. A mistake in the file
/// prevents all changes.
struct SettingsReload {
  private let running: RunningSettings
  private let api: API
  private let server: Server
  private let accessLog: AccessLog
  private let housekeeper: Housekeeping
  private let backups: ScheduledBackups
  private let hook: BackupHook
  private let status: StatusReporter
  private let alerts: AlertMonitor
  private let log: @Sendable (String) -> Void

  init(
    _ running: RunningSettings, api: API, server: Server, accessLog: AccessLog,
    housekeeper: Housekeeping, backups: ScheduledBackups, hook: BackupHook,
    status: StatusReporter, alerts: AlertMonitor, log: @escaping @Sendable (String) -> Void
  ) {
    self.running = running
    self.api = api
    self.server = server
    self.accessLog = accessLog
    self.housekeeper = housekeeper
    self.backups = backups
    self.hook = hook
    self.status = status
    self.alerts = alerts
    self.log = log
  }

  func run() async {
    let room = await api.community.store.roomForFiles()
    let changed: DaemonSettings
    let limits: Limits
    do throws(Settings.UsageError) {
      changed = try running.read()
      limits = try changed.settings.limits(room: room)
    } catch {
      return log(LogEvent.reload.line(["result": "failed"], "Keeping the current settings. \(error.message)"))
    }
    let reloadable = changed.settings.differences(from: running.current.settings).filter(\.isReloadable)
    for line in Self.sentences(reloadable, running.waiting(changed)) {
      log(LogEvent.reload.line(["result": "ok"], line))
    }
    running.use(changed)
    guard !reloadable.isEmpty else { return }
    api.use(changed.rates)
    api.community.use(Bounds(of: limits))
    await server.use(limits)
    accessLog.use(changed.accessLog)
    await housekeeper.use(eventAge: changed.eventAge)
    await backups.use(changed.backups)
    await hook.use(changed.backupHook)
    status.use(backupInterval: changed.backups?.interval)
    await alerts.use(changed.alerts)
  }

  static func sentences(_ reloadable: [Setting], _ others: [Setting]) -> [String] {
    let list = { (settings: [Setting]) in settings.map(\.name).joined(separator: ", ") }
    var sentences: [String] = []
    if !reloadable.isEmpty { sentences.append("Applied changed settings: \(list(reloadable)).") }
    if !others.isEmpty { sentences.append("Changed settings that wait for a restart: \(list(others)).") }
    return sentences
  }
}

extension Settings {
  /// The settings of `parley serve` with other values.
  func differences(from other: Settings) -> [Setting] { Setting.all.filter { all($0) != other.all($0) } }
}

extension Bounds {
  /// The default bounds with the limits of files.
  init(of limits: Limits) {
    self.init()
    (fileBytes, guestFileBytes) = (limits.file, limits.guestFiles)
    (userFileBytes, siteFileBytes) = (limits.userFiles, limits.siteFiles)
  }
}
