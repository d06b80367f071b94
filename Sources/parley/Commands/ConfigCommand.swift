// `parley config`: prints the settings with their sources, or checks a settings file.

import ParleyJSON
import ParleyNetworking

extension Command {
  static let config = Command(
    "config", summary: "print the settings of the server with their sources, or check a settings file",
    settings: ConfigCommand.settings, help: Help.config, run: ConfigCommand.run)
}

enum ConfigCommand {
  private static let check = Setting(
    name: "check", value: "FILE", summary: "check this settings file alone", isFlagOnly: true)
  static let settings: [Setting] = [check, .json] + Setting.all

  /// Stands for a value that is not printed.
  private static let hidden = "(secret)"

  @Sendable static func run(_ arguments: [String]) async -> Int32 {
    do throws(Settings.UsageError) {
      // `--check` reads only the named file, so faults of the installed settings file are not reported.
      let isCheck = arguments.contains { $0 == check.flag || $0.hasPrefix("\(check.flag)=") }
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "config",
        isCheck ? [check] : ConfigCommand.settings)
      if let file = settings.text(check) { return try judge(file).report() }
      Terminal.print(settings.isOn(.json) ? json(settings) : table(settings))
      try Settings.checkVariables(Terminal.environment)
      _ = try DaemonSettings(settings)
      return Outcome.Status.success.rawValue
    } catch {
      return Outcome(.error, error.message).report()
    }
  }

  private static func judge(_ path: String) throws(Settings.UsageError) -> Outcome {
    let file = try SettingsFile(path)
    var faults = file.faults
    if faults.isEmpty {
      do throws(Settings.UsageError) { _ = try DaemonSettings(Settings(file)) } catch { faults = [error.message] }
    }
    guard faults.isEmpty else { return Outcome(.error, faults.joined(separator: "\nparley: ")) }
    let count = Set(file.entries.map(\.name)).count
    return Outcome(.success, "\(path): \(count) \(count == 1 ? "setting" : "settings"), no mistakes.")
  }

  /// A row for each value: setting, value, source.
  private struct Row {
    let setting: Setting
    let values: [String]
    let source: String
  }

  private static func rows(_ settings: Settings) -> [Row] {
    Setting.all.map { setting in
      let source =
        switch settings.source(setting) {
        case nil: "default"
        case .flag: setting.flag
        case .variable: setting.variable
        case .file(let line): line
        }
      let values = settings.all(setting).map { setting.isSecret($0) ? hidden : $0 }
      if setting.name == Setting.config.name, values.isEmpty, let file = settings.file {
        return Row(setting: setting, values: [file], source: source)
      }
      return Row(setting: setting, values: values.isEmpty ? [setting.fallback ?? "–"] : values, source: source)
    }
  }

  static func table(_ settings: Settings) -> String {
    let rows = rows(settings)
    let names = rows.map(\.setting.name.count).max() ?? 0
    let values = rows.flatMap(\.values).map(\.count).max() ?? 0
    let padded = { (text: String, width: Int) in text + String(repeating: " ", count: max(0, width - text.count)) }
    return rows.flatMap { row in
      row.values.map { value in
        "\(padded(row.setting.name, names))  \(padded(Terminal.plain(value), min(values, maxWidth)))  \(row.source)\n"
      }
    }.joined()
  }

  /// Longer values move their source to the right.
  private static let maxWidth = 40

  private static func json(_ settings: Settings) -> String {
    rows(settings).map { row in
      var json = JSONWriter()
      json.object { json in
        json.field("name", row.setting.name)
        json.array("values") { json in for value in row.values { json.value(value) } }
        json.field("source", row.source)
      }
      return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }.joined()
  }
}
