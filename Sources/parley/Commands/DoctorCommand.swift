// `parley doctor`: finds mistakes of the machine, the proxy and the settings that the site works with.

import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage

extension Command {
  static let doctor = Command(
    "doctor", summary: "find mistakes of the machine, the proxy and the settings", settings: [.json, .data, .config],
    help: Help.doctor, run: DoctorCommand.run)
}

enum DoctorCommand {
  static let path = "/doctor"

  @Sendable static func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "doctor", [.json, .data, .config])
      let findings = try await findings(settings)
      if settings.isOn(.json) {
        for finding in findings {
          var json = JSONWriter()
          json.value(finding)
          Terminal.print(String(decoding: json.bytes, as: UTF8.self) + "\n")
        }
      } else {
        Terminal.print(text(of: findings, Terminal.style))
      }
      return findings.exitStatus.rawValue
    } catch {
      return Outcome(error).report()
    }
  }

  static func text(of findings: [Finding], _ style: TextStyle) -> String {
    guard !findings.isEmpty else { return "No problems.\n" }
    return findings.map { finding in
      "\(style.bold(finding.level == .error ? "Error" : "Warning")): \(Terminal.plain(finding.sentence))\n"
    }.joined()
  }

  private static func findings(_ settings: Settings) async throws -> [Finding] {
    let data = settings.dataFolder
    guard FileSystem.exists(data) else {
      throw Settings.UsageError(message: "The folder \(data) does not exist. Set it with --data.")
    }
    var findings: [Finding] = []
    if let mode = FileSystem.openPermissions(data) {
      findings.append(
        .error(
          .dataFolder,
          "Other users of this machine can open the data folder \(data) (mode \(mode)). Close it: chmod 700 \(data)"))
    }
    guard try StatusCommand.isRunning(data) else {
      let sentence =
        "No server runs in \(data). Start it with systemctl start parley.service, or see the log of its service."
      return findings + [.error(.notRunning, sentence)]
    }
    var object = try await ControlClient(data: data).response(.post, path, timeout: 60)
    let code = try object.string("code")
    var members = try object.object("facts")
    let facts = try DoctorFacts(&members)
    findings += facts.findings
    if facts.version != version {
      findings.append(
        .warning(
          .version,
          "The server runs version \(facts.version), and the program is \(version). Restart it: systemctl restart "
            + "parley.service."))
    }
    guard !facts.publicOrigins.isEmpty else {
      let sentence =
        "The site has no public address, so nothing from outside was checked. Set public-url = https://NAME."
      return findings + [.warning(.publicURL, sentence)]
    }
    for origin in facts.publicOrigins.compactMap({ WebAddress($0) }) {
      findings += try await PublicAddressCheck(origin, code: code, facts).findings()
    }
    return findings
  }
}
