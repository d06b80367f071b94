import API
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Web

/// The parsed arguments, environment and settings file of a command. A flag overrides its variable, and a variable
/// overrides the file.
struct Settings: Sendable {
  /// The source of a value.
  enum Source: Equatable {
    case flag
    case variable
    /// The path and the line, such as `parley.conf:7`.
    case file(String)
  }

  private var values: [String: [String]] = [:]
  private var sources: [String: Source] = [:]
  /// The path of the settings file; nil without one.
  private(set) var file: String?
  /// Positional arguments, such as FILE.
  private(set) var operands: [String] = []

  /// A mistake for the user to correct. The message says how.
  struct UsageError: Error {
    let message: String
  }

  /// - Parameter known: settings of the command. Other variables and other lines of the settings file are ignored; other
  ///   flags are errors. With `config` among them the settings file is read.
  init(
    arguments: [String], environment: [String: String], of command: String = "serve", _ known: [Setting] = Setting.all,
    operands wanted: [String] = []
  ) throws(UsageError) {
    try parse(arguments, of: command, known, operands: wanted)
    let flags = values
    sources = flags.mapValues { _ in .flag }
    if known.contains(where: { $0.name == Setting.config.name }),
      let path = SettingsFile.path(flags[Setting.config.name]?.first, environment)
    {
      let file = try SettingsFile(path)
      if let fault = file.faults.first { throw UsageError(message: fault) }
      use(file, known)
    }
    for setting in known where !setting.isFlagOnly && flags[setting.name] == nil {
      guard let text = environment[setting.variable], !text.isEmpty else { continue }
      values[setting.name] = setting.isRepeatable ? setting.list(text) : [text]
      sources[setting.name] = .variable
    }
  }

  /// The settings of a file alone.
  init(_ file: SettingsFile) { use(file, SettingsFile.settings) }

  /// Adds the lines of a file that no flag overrides.
  private mutating func use(_ file: SettingsFile, _ known: [Setting]) {
    self.file = file.path
    for entry in file.entries where sources[entry.name] != .flag && known.contains(where: { $0.name == entry.name }) {
      values[entry.name, default: []].append(entry.value)
      if sources[entry.name] == nil { sources[entry.name] = .file("\(file.path):\(entry.line)") }
    }
  }

  /// Parses the command line.
  private mutating func parse(
    _ arguments: [String], of command: String, _ known: [Setting], operands wanted: [String]
  ) throws(UsageError) {
    var given: Set<String> = []
    var rest = arguments[...]
    var allowsOptions = true
    while let argument = rest.popFirst() {
      if allowsOptions, argument == "--" {
        allowsOptions = false
        continue
      }
      let isOperand = !allowsOptions || argument == "-" || !argument.hasPrefix("-")
      if isOperand, operands.count < wanted.count {
        operands.append(argument)
        continue
      }
      guard !isOperand, let (setting, attached) = Self.setting(argument, in: known) else {
        throw UsageError(message: Self.unknown(argument, isOperand: isOperand, of: command, known, wanted))
      }
      let value: String
      if setting.value == nil {
        guard attached == nil else { throw UsageError(message: "\(setting.flag) takes no value.") }
        value = "yes"
      } else if let attached {
        value = attached
      } else {
        guard let next = rest.popFirst() else {
          throw UsageError(message: "\(setting.flag) needs a value: \(setting.flag) \(setting.value ?? "").")
        }
        value = next
      }
      if given.insert(setting.name).inserted {
        values[setting.name] = [value]
      } else if setting.isRepeatable {
        values[setting.name, default: []].append(value)
      } else {
        throw UsageError(message: "\(setting.flag) is repeated.")
      }
    }
    guard operands.count == wanted.count else {
      let missing = wanted[operands.count]
      throw UsageError(message: "parley \(command) needs a \(missing). See parley \(command) --help.")
    }
  }

  /// The setting of `--name`, `--name=VALUE`, `-n` or `-nVALUE`, and the value.
  private static func setting(_ argument: String, in known: [Setting]) -> (Setting, value: String?)? {
    if argument.hasPrefix("--") {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return known.first { $0.flag == parts[0] }.map { ($0, parts.count == 2 ? parts[1] : nil) }
    }
    let letter = argument.dropFirst().first
    let value = argument.dropFirst(2)
    return known.first { $0.letter == letter }.map { ($0, value.isEmpty ? nil : String(value)) }
  }

  private static func unknown(
    _ argument: String, isOperand: Bool, of command: String, _ known: [Setting], _ wanted: [String]
  ) -> String {
    var message = "Unknown argument \(Terminal.plain(argument))."
    if isOperand {
      let longer = Command.names(below: command)
      if let nearest = Spelling.nearest(to: argument, in: longer) {
        message += " Did you mean parley \(command) \(nearest)?"
      } else if !wanted.isEmpty {
        message += " parley \(command) takes \(wanted.joined(separator: " ")). Quote a text of several words."
      }
    } else {
      let name = argument.prefix { $0 != "=" }
      if let nearest = Spelling.nearest(to: String(name), in: known.map(\.flag)) {
        message += " Did you mean \(nearest)?"
      } else if operandsMayBegin(with: argument, wanted) {
        message += " An argument after -- may begin with a hyphen."
      }
    }
    return message + " See parley \(command) --help."
  }

  /// Whether an unknown option may be a text, such as `-5 degrees`.
  private static func operandsMayBegin(with argument: String, _ wanted: [String]) -> Bool {
    !wanted.isEmpty && (argument.contains(" ") || !argument.hasPrefix("--"))
  }

  /// Refuses variables that look like settings and are none.
  static func checkVariables(_ environment: [String: String]) throws(UsageError) {
    let variables = (Setting.all + [CLISession.profile]).filter { !$0.isFlagOnly }.map(\.variable)
    let unknown = environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) && !variables.contains($0) }
    guard let name = unknown.min() else { return }
    let nearest = Spelling.nearest(to: name, in: variables).map { "Did you mean \($0)?" }
    throw UsageError(
      message:
        "The variable \(Terminal.plain(name)) is not a setting. \(nearest ?? "parley serve --help lists all settings.")"
    )
  }

  /// The source of a value; nil for a default.
  func source(_ setting: Setting) -> Source? { sources[setting.name] }

  /// An error about a value, such as `--loops takes …` or `parley.conf:7: loops takes …`.
  func mistake(_ setting: Setting, _ words: String) -> UsageError {
    if case .file(let line) = sources[setting.name] {
      return UsageError(message: "\(line): \(setting.name) \(words)")
    }
    return UsageError(message: "\(setting.flag) \(words)")
  }

  func all(_ setting: Setting) -> [String] { values[setting.name] ?? [] }
  func text(_ setting: Setting) -> String? { values[setting.name]?.first }

  /// The data folder of the systemd unit.
  private static let unitData = "/var/lib/parley"

  /// The data folder of a command: the setting, else ./data, else the folder of the systemd unit.
  var dataFolder: String {
    if let text = text(.data) { return text }
    let fallback = Setting.data.fallback ?? ""
    return !FileSystem.exists(fallback) && FileSystem.exists(Self.unitData) ? Self.unitData : fallback
  }

  /// The value of a switch. `no`, `off`, `false` and `0` are false, any other value is true.
  func isOn(_ setting: Setting) -> Bool {
    text(setting).map { Setting.switchValue($0) ?? true } ?? false
  }

  func number(_ setting: Setting, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = text(setting) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw mistake(
        setting,
        "takes a number from \(range.lowerBound) to \(range.upperBound), not \"\(Terminal.plain(text))\".")
    }
    return number
  }

  /// The first line of the file that a setting names.
  func secret(_ setting: Setting) throws(UsageError) -> String? {
    try text(setting).map { path throws(UsageError) in try secret(setting, in: path) }
  }

  func secret(_ setting: Setting, in path: String) throws(UsageError) -> String {
    let line = String(decoding: try FileSystem.read(path), as: UTF8.self).prefix { !$0.isNewline }
    guard !line.isEmpty else { throw mistake(setting, "names an empty file: \(path)") }
    guard !FileSystem.isReadableByOthers(path) else {
      throw mistake(setting, "names a file that all users of this machine can read. Close it: chmod o= \(path)")
    }
    return String(line)
  }

  func rates() throws(UsageError) -> RateLimits {
    var rates = RateLimits()
    for (entry, setting) in zip(RateLimits.all, Setting.rates) {
      if let number = try number(setting, in: entry.range) { rates[keyPath: entry.path] = number }
    }
    return rates
  }

  func origins(_ setting: Setting) throws(UsageError) -> [WebAddress] {
    var origins: [WebAddress] = []
    for text in all(setting) {
      guard let address = WebAddress(text), ["http", "https"].contains(address.scheme.rawValue), address.path == "/",
        address.query == nil
      else {
        throw mistake(
          setting, "takes an address such as https://chat.example.org, without a path, not \"\(Terminal.plain(text))\"."
        )
      }
      origins.append(address)
    }
    return origins
  }

  /// - Parameter room: the space for uploaded files in bytes, with that of present ones; nil if it is unknown.
  func limits(room: Int? = nil) throws(UsageError) -> Limits {
    var limits = Limits()
    for (entry, setting) in zip(Limits.all, Setting.limits) {
      if let number = try number(setting, in: entry.range) {
        limits[keyPath: entry.path] = number
      } else if let room {
        limits.adapt(entry, toRoomOf: room)
      }
    }
    return limits
  }
}

extension Settings {
  /// A lifetime from `now` (milliseconds), or a date, as the API's timestamp.
  func timestamp(_ setting: Setting, now: Int64 = Clock.wall() / 1_000_000) throws(UsageError) -> String? {
    guard let text = text(setting) else { return nil }
    if let last = text.last, let hours = Self.hours[last], let count = Int(text.dropLast()), (1...9_999).contains(count)
    {
      return Timestamp.format(Int(now) + count * hours * 3_600_000)
    }
    guard Timestamp.parse(text) != nil else {
      throw UsageError(message: "\(setting.flag) takes a lifetime such as 12h, 7d or 4w, or a date, not \"\(text)\".")
    }
    return text
  }

  private static let hours: [Character: Int] = ["h": 1, "d": 24, "w": 168]
}
