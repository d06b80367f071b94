import API
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Web

/// The parsed arguments and environment of a command. A flag overrides its variable.
struct Settings: Sendable {
  private var values: [String: [String]] = [:]
  /// Positional arguments, such as FILE.
  private(set) var operands: [String] = []

  /// A mistake for the user to correct. The message says how.
  struct UsageError: Error {
    let message: String
  }

  /// - Parameter known: settings of the command. Other variables are ignored; other flags are errors.
  init(
    arguments: [String], environment: [String: String], of command: String = "serve", _ known: [Setting] = Setting.all,
    operands wanted: [String] = []
  ) throws(UsageError) {
    for setting in known where !setting.isFlagOnly {
      guard let text = environment[setting.variable], !text.isEmpty else { continue }
      values[setting.name] =
        setting.isRepeatable
        ? text.split(separator: ",").map { $0.trimmingSpaces }.filter { !$0.isEmpty } : [text]
    }
    var given: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "-" || !argument.hasPrefix("-"), operands.count < wanted.count {
        operands.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let setting = known.first(where: { $0.flag == parts[0] }) else {
        let nearest = Self.nearest(parts[0], of: known.map(\.flag)).map { " Did you mean \($0)?" } ?? ""
        throw UsageError(message: "Unknown argument \(argument).\(nearest) See parley \(command) --help.")
      }
      let value: String
      if setting.value == nil {
        guard parts.count == 1 else { throw UsageError(message: "\(setting.flag) takes no value.") }
        value = "yes"
      } else if parts.count == 2 {
        value = parts[1]
      } else {
        guard let next = rest.popFirst() else { throw UsageError(message: "\(setting.flag) needs a value.") }
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

  /// Sentences about variables that look like settings and are none.
  func warnings(environment: [String: String]) -> [String] {
    let variables = (Setting.all + [CLISession.profile]).filter { !$0.isFlagOnly }.map(\.variable)
    let unknown = environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) && !variables.contains($0) }
    return unknown.sorted().map { name in
      let nearest = Self.nearest(name, of: variables).map { "Did you mean \($0)?" }
      return
        "The variable \(name) is no setting and has no effect. \(nearest ?? "parley serve --help lists all settings.")"
    }
  }

  /// The most changed letters of a mistyped name.
  private static let maxDistance = 3

  /// The name with the fewest changed letters; nil if every name is too different.
  private static func nearest(_ text: String, of names: [String]) -> String? {
    let distances = names.map { (name: $0, distance: editDistance(Array(text.utf8), Array($0.utf8))) }
    guard let found = distances.min(by: { $0.distance < $1.distance }), found.distance <= maxDistance else {
      return nil
    }
    return found.name
  }

  /// Levenshtein distance.
  private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    guard abs(left.count - right.count) <= maxDistance else { return .max }
    var row = Array(0...right.count)
    for (line, byte) in left.enumerated() {
      var corner = row[0]
      row[0] = line + 1
      for column in right.indices {
        let substituted = corner + (byte == right[column] ? 0 : 1)
        corner = row[column + 1]
        row[column + 1] = min(substituted, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[right.count]
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
    guard let value = text(setting) else { return false }
    return !["no", "off", "false", "0"].contains(value.lowercased())
  }

  func number(_ setting: Setting, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = text(setting) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        message: "\(setting.flag) takes a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\".")
    }
    return number
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
        throw UsageError(
          message:
            "\(setting.flag) takes an address such as https://chat.example.org, without a path, not \"\(text)\".")
      }
      origins.append(address)
    }
    return origins
  }

  /// - Parameter diskSize: the size of the disk of the data folder in bytes; nil if it is unknown.
  func limits(diskSize: Int? = nil) throws(UsageError) -> Limits {
    var limits = Limits()
    for (entry, setting) in zip(Limits.all, Setting.limits) {
      if let number = try number(setting, in: entry.range) {
        limits[keyPath: entry.path] = number
      } else if let diskSize {
        limits.adapt(entry, toDiskOf: diskSize)
      }
    }
    return limits
  }
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
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
