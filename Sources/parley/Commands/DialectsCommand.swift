// `parley dialects`: lists the interfaces of other systems, with their addresses and the settings of their clients.

import Dialects
import ParleyJSON

extension Command {
  static let dialects = Command(
    "dialects", summary: "list the interfaces of other systems, with their addresses",
    settings: DialectsCommand.settings, help: Help.dialects, run: DialectsCommand.run)
}

enum DialectsCommand {
  static let settings: [Setting] = [
    .json, .config, .dialects, .publicURL, .listen, .certificate, .selfSigned,
  ]

  static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "dialects", DialectsCommand.settings)
      let (enabled, origin) = (try DaemonSettings.dialects(settings), try PublicOrigin.text(settings))
      for dialect in Dialect.allCases {
        let isOn = enabled.contains(dialect)
        Terminal.print(settings.isOn(.json) ? json(dialect, isOn, origin) : text(dialect, isOn, origin))
      }
      return Outcome.Status.success.rawValue
    } catch {
      return Outcome(.error, error.message).report()
    }
  }

  static func text(_ dialect: Dialect, _ isOn: Bool, _ origin: String) -> String {
    let state = isOn ? "on" : "off, \(Setting.dialects.flag) \(dialect.rawValue) enables it"
    let rows = dialect.addresses(at: origin) + [("Documentation", origin + dialect.page)]
    let width = rows.map(\.name.count).max() ?? 0
    let lines = rows.map { row in
      "  \(row.name)\(String(repeating: " ", count: width - row.name.count))  \(row.address)"
    }
    return (["\(dialect.rawValue): \(state)"] + lines + dialect.clients.map { "  \($0)" }).joined(separator: "\n")
      + "\n"
  }

  static func json(_ dialect: Dialect, _ isOn: Bool, _ origin: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("name", dialect.rawValue)
      json.field("enabled", isOn)
      json.object("addresses") { json in
        for (name, address) in dialect.addresses(at: origin) { json.field(name.lowercased(), address) }
      }
      json.field("documentation", origin + dialect.page)
      json.field("clients", dialect.clients)
    }
    return String(decoding: json.bytes, as: UTF8.self) + "\n"
  }
}
