import ParleyJSON
import Storage

/// The units of systemd for a site.
struct ServiceUnits {
  /// Whether Parley itself serves the ports 443 and 80.
  let servesTLS: Bool
  /// A folder outside of the data folder that the service may write to.
  let backupFolder: String?

  static let service = "parley.service"
  /// The folder of the unit's data, which no setting changes.
  static let data = "/var/lib/parley"
  private static let path = "/usr/bin/systemctl"
  private static let dropIn = "/etc/systemd/system/parley.service.d/backups.conf"
  private static let dropInTitle = "# Written by parley up.\n"
  /// Variables of the unit, which override the settings file.
  private static let variables = "/etc/parley.env"
  private static let timeout = 120
  /// Seconds for a start with a migration, which extends the limit of the unit, and the stop before.
  private static let startTime = 4 * 3_600
  /// Folders that the unit hides from the service.
  private static let hidden = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"]
  private static let ports: [(port: UInt16, unit: String)] = [
    (443, "parley-https.socket"), (80, "parley-redirect.socket"),
  ]

  private var sockets: [String] { servesTLS ? Self.ports.map(\.unit) : ["parley.socket"] }
  private var others: [String] { servesTLS ? ["parley.socket"] : Self.ports.map(\.unit) }
  private var units: [String] { sockets + [Self.service] }

  /// Whether this machine runs systemd and has the units.
  static func areInstalled() async -> Bool {
    guard FileSystem.exists("/run/systemd/system") else { return false }
    return await isDone(["cat", "--", service])
  }

  /// The program and the data folder of the service, as systemd runs it; nil if they are unknown.
  static func served() async throws(Settings.UsageError) -> (program: String, data: String)? {
    let start = await output(["show", "--property=ExecStart", "--value", service])
    // { path=/opt/parley/bin/parley ; argv[]=/opt/parley/bin/parley serve ; ignore_errors=no ; …
    let words = start.split(separator: " ")
    guard let path = words.first(where: { $0.hasPrefix("path=") }) else { return nil }
    let variable = "\(Setting.data.variable)="
    let environment = await output(["show", "--property=Environment", "--value", service])
    let file = FileSystem.exists(variables) ? String(decoding: try FileSystem.read(variables), as: UTF8.self) : ""
    let lines =
      environment.split(separator: " ")
      + file.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
    // A flag overrides the file, and the file the unit.
    var data = lines.last { $0.hasPrefix(variable) }.map { $0.dropFirst(variable.count) } ?? Self.data[...]
    if let flag = words.firstIndex(of: Setting.data.flag[...]), flag + 1 < words.count { data = words[flag + 1] }
    return (String(path.dropFirst("path=".count)), data.filter { $0 != "\"" && $0 != "'" })
  }

  /// Lets systemd read changed units.
  static func reload() async throws(Settings.UsageError) { try await run(["daemon-reload"]) }

  /// The ports 443 and 80 without those that the units of Parley hold.
  static func foreignPorts() async -> [UInt16] {
    var foreign: [UInt16] = []
    for (port, unit) in ports {
      if await !isDone(["is-active", "--quiet", unit]) { foreign.append(port) }
    }
    return foreign
  }

  /// Whether the units run now and at the next boot, as their files say.
  func areActive() async -> Bool {
    for unit in units {
      guard await Self.isDone(["is-active", "--quiet", unit]), await Self.isDone(["is-enabled", "--quiet", unit]) else {
        return false
      }
    }
    return await Self.output(["show", "--property=NeedDaemonReload", "--value", Self.service]) != "yes"
  }

  /// Whether the service has ended with an error and is not started again.
  static func hasFailed() async -> Bool { await isDone(["is-failed", "--quiet", service]) }

  /// Refuses variables of the unit that override lines of the settings file.
  func requireNoVariables(_ settings: [Setting]) async throws(Settings.UsageError) {
    let file =
      FileSystem.exists(Self.variables) ? String(decoding: try FileSystem.read(Self.variables), as: UTF8.self) : ""
    let unit = await Self.output(["show", "--property=Environment", "--value", Self.service])
    for setting in settings {
      let assignment = "\(setting.variable)="
      let lines = file.split(whereSeparator: \.isNewline)
      if lines.contains(where: { $0.drop { $0.isWhitespace }.hasPrefix(assignment) }) {
        throw Settings.UsageError(
          message:
            "\(Self.variables) sets \(setting.variable), which overrides the settings file. Remove the line, then run "
            + "parley up again.")
      }
      if unit.split(separator: " ").contains(where: { $0.hasPrefix(assignment) }) {
        throw Settings.UsageError(
          message:
            "A drop-in of \(Self.service) sets \(setting.variable), which overrides the settings file. Remove it: "
            + "systemctl cat \(Self.service) names its file.")
      }
    }
  }

  /// Refuses a folder of backups that the service can't use.
  func requireFolder() throws(Settings.UsageError) {
    guard let backupFolder else { return }
    let real = FileSystem.resolved(backupFolder)
    if let folder = Self.hidden.first(where: { real == $0 || real.hasPrefix($0 + "/") }) {
      throw Settings.UsageError(
        message: "The service can't see \(folder). Choose another folder with \(Setting.backupTo.flag).")
    }
    guard let access = FileSystem.access(backupFolder), let user = FileSystem.serviceUser,
      access.owner?.user != user.user
    else { return }
    throw Settings.UsageError(
      message:
        "\(backupFolder) belongs to another user than parley. Choose a folder that does not exist, or, if it has "
        + "nothing else: chown parley:parley '\(backupFolder)'")
  }

  /// Permits the service to write to the folder of backups. Returns whether the drop-in has changed.
  func writeDropIn() throws(Settings.UsageError) -> Bool {
    let old = FileSystem.exists(Self.dropIn) ? String(decoding: try FileSystem.read(Self.dropIn), as: UTF8.self) : nil
    guard let backupFolder else {
      guard let old, old.hasPrefix(Self.dropInTitle) else { return false }
      try FileSystem.remove(Self.dropIn)
      return true
    }
    let escaped = backupFolder.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
    // An absent disk does not keep the site from starting.
    let text = Self.dropInTitle + "[Service]\nReadWritePaths=\"-\(escaped)\"\n"
    guard old != text else { return false }
    try FileSystem.makeFolder(FileSystem.parent(of: Self.dropIn), mode: 0o755)
    try FileSystem.write(Array(text.utf8), to: Self.dropIn, as: FileSystem.Access(mode: 0o644))
    return true
  }

  /// Enables the units and starts the service with its settings of now.
  func start() async throws(Settings.UsageError) {
    try await Self.run(["daemon-reload"])
    try await Self.run(["disable", "--now"] + others)
    try await Self.run(["enable"] + units)
    try await Self.run(["stop", Self.service])
    try await Self.run(["start"] + units)
  }

  /// Restarts the service in one call: systemd completes it also without this process. A command that was cut off may have left the
  /// enabled sockets stopped.
  static func restart() async throws(Settings.UsageError) {
    if await !isActive() {
      let sockets = await enabledSockets()
      if !sockets.isEmpty { try await run(["start"] + sockets) }
    }
    try await run(["restart", service], within: startTime)
  }

  private static let allSockets = ["parley.socket"] + ports.map(\.unit)

  /// The sockets that start the service at a connection.
  static func activeSockets() async -> [String] {
    var active: [String] = []
    for socket in allSockets {
      if await isDone(["is-active", "--quiet", socket]) { active.append(socket) }
    }
    return active
  }

  private static func enabledSockets() async -> [String] {
    var enabled: [String] = []
    for socket in allSockets {
      if await isDone(["is-enabled", "--quiet", socket]) { enabled.append(socket) }
    }
    return enabled
  }

  /// Stops the service with its sockets: a connection would start it again.
  static func stop(_ sockets: [String]) async throws(Settings.UsageError) {
    try await run(["stop"] + sockets + [service])
  }

  /// Starts the service with the given sockets and the enabled ones. The failed starts of another version do not count.
  static func startAgain(_ sockets: [String]) async throws(Settings.UsageError) {
    let enabled = await enabledSockets()
    _ = await isDone(["reset-failed", service])
    try await run(["start"] + sockets + enabled.filter { !sockets.contains($0) } + [service], within: startTime)
  }

  static func isActive() async -> Bool { await isDone(["is-active", "--quiet", service]) }

  private static func result(_ arguments: [String], within seconds: Int = timeout) async -> ChildProgram.Result {
    await ChildProgram([path] + arguments).run(input: "", environment: [:], within: seconds)
  }

  private static func isDone(_ arguments: [String]) async -> Bool { await result(arguments).isSuccess }

  private static func output(_ arguments: [String]) async -> String {
    await result(arguments).output.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private static func run(
    _ arguments: [String], within seconds: Int = timeout
  ) async throws(Settings.UsageError) {
    let result = await result(arguments, within: seconds)
    guard result.isSuccess else {
      throw Settings.UsageError(
        message:
          "systemctl \(arguments.joined(separator: " ")): \(result.reason)\nSee journalctl --unit \(service) -n 20.")
    }
  }
}
