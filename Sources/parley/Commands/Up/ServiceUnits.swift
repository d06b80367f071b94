import Storage

/// The units of systemd for a site.
struct ServiceUnits {
  /// Whether Parley itself serves the ports 443 and 80.
  let servesTLS: Bool
  /// A folder outside of the data folder that the service may write to.
  let backupFolder: String?

  private static let path = "/usr/bin/systemctl"
  private static let service = "parley.service"
  private static let dropIn = "/etc/systemd/system/parley.service.d/backups.conf"
  private static let timeout = 120

  private var sockets: [String] { servesTLS ? ["parley-https.socket", "parley-redirect.socket"] : ["parley.socket"] }
  private var others: [String] { servesTLS ? ["parley.socket"] : ["parley-https.socket", "parley-redirect.socket"] }

  /// Whether this machine runs systemd and has the units.
  static func areInstalled() async -> Bool {
    guard FileSystem.exists("/run/systemd/system") else { return false }
    return await isDone(["cat", "--", service])
  }

  func areActive() async -> Bool {
    for unit in sockets + [Self.service] {
      guard await Self.isDone(["is-active", "--quiet", unit]) else { return false }
    }
    return true
  }

  /// Permits the service to write to the folder of backups. Returns whether the drop-in has changed.
  func writeDropIn() throws(Settings.UsageError) -> Bool {
    let old = FileSystem.exists(Self.dropIn) ? try FileSystem.read(Self.dropIn) : nil
    guard let backupFolder else {
      try FileSystem.remove(Self.dropIn)
      return old != nil
    }
    let text = Array("[Service]\nReadWritePaths=\(backupFolder)\n".utf8)
    guard old != text else { return false }
    try FileSystem.makeFolder("/etc/systemd/system/parley.service.d")
    try FileSystem.write(text, to: Self.dropIn, mode: 0o644)
    return true
  }

  /// Enables the units and starts the service with its settings of now.
  func start() async throws(Settings.UsageError) {
    try await Self.run(["daemon-reload"])
    try await Self.run(["disable", "--now"] + others)
    try await Self.run(["enable"] + sockets + [Self.service])
    try await Self.run(["stop", Self.service])
    try await Self.run(["start"] + sockets + [Self.service])
  }

  private static func isDone(_ arguments: [String]) async -> Bool {
    await ChildProgram([path] + arguments).run(input: "", environment: [:], within: timeout).isSuccess
  }

  private static func run(_ arguments: [String]) async throws(Settings.UsageError) {
    let result = await ChildProgram([path] + arguments).run(input: "", environment: [:], within: timeout)
    guard result.isSuccess else {
      throw Settings.UsageError(
        message:
          "systemctl \(arguments.joined(separator: " ")): \(result.reason)\nSee journalctl --unit \(service) -n 20.")
    }
  }
}
