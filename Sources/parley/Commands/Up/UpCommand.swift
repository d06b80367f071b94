// `parley up NAME`: sets up a machine as a site, from the settings to the setup link.

import Glibc
import ParleyJSON
import ParleyNetworking
import Storage

extension Command {
  static let up = Command(
    "up", operands: ["NAME"], summary: "set up this machine as a site: settings, service, certificate",
    settings: UpCommand.settings, help: Help.up, run: UpCommand.run)
}

enum UpCommand {
  static let tls = Setting(
    name: "tls", value: "HOW", summary: "own certificates, or those of a web server in front: own or proxy",
    fallback: "proxy if one runs here, else own", isFlagOnly: true)
  static let yes = Setting(
    name: "yes", value: nil, summary: "accept the defaults of questions that no flag answers", isFlagOnly: true)
  static let anyAddress = Setting(
    name: "any-address", value: nil, summary: "accept a name that leads to a router in front of this machine",
    isFlagOnly: true)
  static let settings: [Setting] = [tls, .acmeEmail, .backupTo, yes, anyAddress]

  private static let operand = "NAME"
  private static let path = SettingsFile.defaultPath
  /// Seconds until the service has to answer.
  private static let patience = 60

  @Sendable static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      return try await up(arguments).report()
    } catch {
      return Outcome(.error, error.message).report()
    }
  }

  private static func up(_ arguments: [String]) async throws(Settings.UsageError) -> Outcome {
    let settings = try Settings(
      arguments: arguments, environment: [:], of: "up", self.settings, operands: [operand])
    guard geteuid() == 0 else {
      throw Settings.UsageError(
        message: "parley up writes settings and starts services, so it needs root: sudo parley up …")
    }
    let host = try MachineChecks.siteName(settings.operands[0])
    try MachineChecks.requireName(host, allowsForeign: settings.isOn(anyAddress))
    let old = FileSystem.exists(path) ? try FileSystem.read(path) : []
    let proxy = ReverseProxy.running()
    let answers = try UpAnswers(settings, current: try current(old), proxy: proxy)
    let units = ServiceUnits(servesTLS: answers.tls == .own, backupFolder: answers.backupFolder)
    let hasUnits = await ServiceUnits.areInstalled()
    if answers.tls == .own { try MachineChecks.requirePorts(hasUnits ? await ServiceUnits.foreignPorts() : [443, 80]) }
    if hasUnits { try await units.requireNoVariables(UpAnswers.written) }

    let text = answers.edit(host: host).apply(to: String(decoding: old, as: UTF8.self))
    try units.requireFolder()
    let isChanged = try write(Array(text.utf8), old, answers)
    if !hasUnits { return withoutUnits(answers) }
    let hasDropIn = try units.writeDropIn()
    if isChanged || hasDropIn {
      try await start(units)
    } else if await units.areActive(), await runsTheSettings() {
      Terminal.print("The settings and the service are as they should be.\n")
    } else {
      try await start(units)
    }
    show(try await setupLink(), host: host)
    if answers.tls == .own { await showCertificate() } else { printBlock(proxy, host: host) }
    Terminal.print(
      "\nKeep copies of secrets.key and site.key of \(ServiceUnits.data) apart from the backups, which have neither: one opens "
        + "the secrets in them, the other signs the history.\n")
    return Outcome(.success, "")
  }

  private static func current(_ text: [UInt8]) throws(Settings.UsageError) -> Settings {
    let file = SettingsFile(parsing: text, path)
    if let fault = file.faults.first { throw Settings.UsageError(message: fault) }
    return Settings(file)
  }

  /// Writes the settings file. Returns whether it has changed.
  private static func write(_ text: [UInt8], _ old: [UInt8], _ answers: UpAnswers) throws(Settings.UsageError) -> Bool {
    let changed = try current(text)
    if let folder = answers.backupFolder, !FileSystem.exists(folder) { try FileSystem.makeServiceFolder(folder) }
    _ = try DaemonSettings(changed)
    guard text != old else { return false }
    try FileSystem.makeFolder(FileSystem.parent(of: path), mode: 0o755)
    let file = FileSystem.resolved(path)
    try FileSystem.write(text, to: file, as: FileSystem.access(file) ?? FileSystem.Access(mode: 0o644))
    Terminal.print("Wrote \(path)\n")
    return true
  }

  private static func start(_ units: ServiceUnits) async throws(Settings.UsageError) {
    Terminal.print("Starting the service\n")
    try await units.start()
  }

  private static func withoutUnits(_ answers: UpAnswers) -> Outcome {
    let sockets = answers.tls == .own ? " --listen '[::]:443' --redirect-listen '[::]:80'" : ""
    let rights = answers.tls == .own ? "by its own user with the capability CAP_NET_BIND_SERVICE" : "by its own user"
    return Outcome(
      .success,
      "This machine has no systemd with the units of Parley. Start the server \(rights):\n"
        + "  parley serve\(sockets)\nThen make the link for the first owner: parley setup")
  }

  /// Whether the running server has read the settings file of now.
  private static func runsTheSettings() async -> Bool {
    do {
      var response = try await ControlClient(data: ServiceUnits.data).response(.post, DoctorCommand.path)
      var members = try response.object("facts")
      let facts = try DoctorFacts(&members)
      return !facts.findings.contains { $0.code == .settingsChanged || $0.code == .settingsMistake }
    } catch {
      return false
    }
  }

  /// Waits for the service. Nil if the site has an owner.
  private static func setupLink() async throws(Settings.UsageError) -> String? {
    let client = ControlClient(data: ServiceUnits.data)
    for _ in 0..<patience {
      do {
        var response = try await client.response(.post, "/setup")
        return try response.string("url")
      } catch is RefusedRequest {
        return nil
      } catch {
        // The control socket is not there yet.
        do { try await Task.sleep(for: .seconds(1)) } catch { break }
      }
      if await ServiceUnits.hasFailed() { break }
    }
    throw Settings.UsageError(
      message: "The service does not answer. See journalctl --unit \(ServiceUnits.service) -n 20.")
  }

  private static func show(_ link: String?, host: String) {
    guard let link else {
      Terminal.print("The site is at https://\(host)\n")
      return
    }
    if Terminal.isOutputTerminal, let code = QRCode(link) {
      Terminal.print("\n" + code.lines.map { "  \($0)\n" }.joined())
    }
    Terminal.print("\nOpen this link in a browser to become the owner of the site:\n\n  \(link)\n")
  }

  /// Waits for the first certificate, and says why it does not come.
  private static func showCertificate() async {
    for _ in 0..<patience {
      if let fault = Certificates.orderFault(data: ServiceUnits.data) {
        Terminal.log(
          "The certificate is not there yet, so browsers warn of a self-signed one. \(Terminal.plain(fault)) The server tries "
            + "again by itself; systemctl reload \(ServiceUnits.service) tries at once.")
        return
      }
      if Certificates.isIssued(data: ServiceUnits.data) { return }
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
    }
    Terminal.log("The certificate is still on its way: journalctl --unit \(ServiceUnits.service) --grep certificate")
  }

  private static func printBlock(_ proxy: ReverseProxy?, host: String) {
    guard let block = proxy?.block(host: host), let file = proxy?.file else {
      Terminal.print(
        "\nLet the web server pass all requests for \(host) to 127.0.0.1:8080, with the fields X-Forwarded-For, "
          + "X-Forwarded-Proto and X-Forwarded-Host. docker/README.md has the lines for nginx and Caddy.\n")
      return
    }
    let lines = block.split(separator: "\n").map { "  \($0)\n" }.joined()
    Terminal.print("\nAdd these lines to \(file):\n\n\(lines)")
  }
}
