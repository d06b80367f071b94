import Synchronization

/// The settings of the running daemon, and those that wait for a restart.
final class RunningSettings: Sendable {
  let start: DaemonSettings
  private let arguments: [String]
  private let applied: Mutex<DaemonSettings>

  init(_ start: DaemonSettings, arguments: [String]) {
    self.start = start
    self.arguments = arguments
    applied = Mutex(start)
  }

  var current: DaemonSettings { applied.withLock { $0 } }

  func use(_ settings: DaemonSettings) { applied.withLock { $0 = settings } }

  /// Reads the settings as a start would now.
  func read() throws(Settings.UsageError) -> DaemonSettings {
    try DaemonSettings(Settings(arguments: arguments, environment: Terminal.environment))
  }

  /// The settings that have other values than at the start and need a restart.
  func waiting(_ settings: DaemonSettings) -> [Setting] {
    settings.settings.differences(from: start.settings).filter { !$0.isReloadable }
  }

  /// A settings file that would stop the next start, or that the daemon has not read.
  func findings() -> [Finding] {
    let now: DaemonSettings
    do throws(Settings.UsageError) { now = try read() } catch {
      return [.error(.settingsMistake, "The next start of the server would fail. \(error.message)")]
    }
    let list = { (settings: [Setting]) in settings.map(\.name).joined(separator: ", ") }
    let unread = now.settings.differences(from: current.settings).filter(\.isReloadable)
    let waiting = waiting(now)
    if !waiting.isEmpty {
      return [
        .warning(
          .settingsChanged,
          "Changed settings wait for a restart: \(list(waiting + unread)). Run systemctl restart parley.service.")
      ]
    }
    guard !unread.isEmpty else { return [] }
    return [
      .warning(
        .settingsChanged,
        "The server has not read changed settings: \(list(unread)). Run systemctl reload parley.service, or send SIGHUP."
      )
    ]
  }
}
