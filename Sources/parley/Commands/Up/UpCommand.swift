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
  private static let file = Setting(
    name: "file", value: "FILE", summary: "settings file to write", fallback: SettingsFile.defaultPath, isFlagOnly: true
  )
  static let settings: [Setting] = [tls, .acmeEmail, .backupTo, yes, anyAddress, file, .data]

  private static let operand = "NAME"
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
    let proxy = ReverseProxy.running()
    let answers = try UpAnswers(settings, host: host, proxy: proxy)
    let units = ServiceUnits(servesTLS: answers.tls == .own, backupFolder: answers.backupFolder)
    let (hasUnits, isActive) = (await ServiceUnits.areInstalled(), await units.areActive())
    if answers.tls == .own, !isActive { try MachineChecks.requirePorts([443, 80]) }

    let path = settings.text(file) ?? SettingsFile.defaultPath
    let isChanged = try write(answers.edit(host: host), to: path, answers, data: settings.text(.data))
    if !hasUnits { return withoutUnits(answers, path) }
    let hasDropIn = try units.writeDropIn()
    if isChanged || hasDropIn || !isActive {
      Terminal.print("Starting the service\n")
      try await units.start()
    } else {
      Terminal.print("The settings and the service are as they should be.\n")
    }
    let data = try Settings(SettingsFile(path)).dataFolder
    let link = try await setupLink(data)
    show(link, host: host)
    if answers.tls == .proxy { printBlock(proxy, host: host) }
    return Outcome(.success, "")
  }

  /// Writes the settings file. Returns whether it has changed.
  private static func write(
    _ edit: SettingsEdit, to path: String, _ answers: UpAnswers, data: String?
  ) throws(Settings.UsageError) -> Bool {
    let old = FileSystem.exists(path) ? try FileSystem.read(path) : []
    let named = data.map { SettingsEdit(changes: [(Setting.data.name, $0)]) }
    let current = String(decoding: old, as: UTF8.self)
    let text = edit.apply(to: named?.apply(to: current) ?? current)
    if let folder = answers.backupFolder {
      try FileSystem.makeFolder(folder)
      try FileSystem.giveToService(folder)
    }
    guard Array(text.utf8) != old else { return false }
    let changed = SettingsFile(parsing: Array(text.utf8), path)
    if let fault = changed.faults.first { throw Settings.UsageError(message: fault) }
    _ = try DaemonSettings(Settings(changed))
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    try FileSystem.makeFolder((path.hasPrefix("/") ? "/" : "") + folder)
    try FileSystem.write(Array(text.utf8), to: path, mode: FileSystem.mode(path) ?? 0o644)
    Terminal.print("Wrote \(path)\n")
    return true
  }

  private static func withoutUnits(_ answers: UpAnswers, _ path: String) -> Outcome {
    let sockets = answers.tls == .own ? " --listen '[::]:443' --redirect-listen '[::]:80'" : ""
    return Outcome(
      .success,
      "This machine has no systemd with the units of Parley. Start the server as its user:\n"
        + "  parley serve --config \(path)\(sockets)\nThen make the link for the first owner: parley setup --config \(path)"
    )
  }

  /// Waits for the service. Nil if the site has an owner.
  private static func setupLink(_ data: String) async throws(Settings.UsageError) -> String? {
    let client = ControlClient(data: data)
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
    }
    throw Settings.UsageError(
      message: "The service has not answered for \(patience) s. See journalctl --unit parley.service -n 20.")
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

  private static func printBlock(_ proxy: ReverseProxy?, host: String) {
    guard let block = proxy?.block(host: host), let place = proxy?.place else {
      Terminal.print(
        "\nLet the web server pass all requests for \(host) to 127.0.0.1:8080, with the fields X-Forwarded-For, "
          + "X-Forwarded-Proto and X-Forwarded-Host. docker/README.md has the lines for nginx and Caddy.\n")
      return
    }
    let lines = block.split(separator: "\n").map { "  \($0)\n" }.joined()
    Terminal.print("\nAdd these lines to \(place):\n\n\(lines)")
  }
}
