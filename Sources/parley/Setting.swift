import API
import Glibc
import ParleyWire
import Web

/// One thing that can be set: by a flag, or by an environment variable of the same name. `--help` and the README print
/// this table, so that it is the whole truth.
struct Setting: Sendable {
  /// `public-url` is `--public-url` and `PARLEY_PUBLIC_URL`.
  let name: String
  /// What stands for the value in the help; nil for a switch.
  let value: String?
  let meaning: String
  var fallback: String?
  /// May be given more than once, or in the variable separated by commas.
  var isRepeatable = false
  /// Meant for one run, so that no variable sets it.
  var isFlagOnly = false

  var flag: String { "--\(name)" }
  var variable: String { "PARLEY_" + name.uppercased().replacing("-", with: "_") }
}

extension Setting {
  static let listen = Setting(
    name: "listen", value: "ADDRESS:PORT", meaning: "where to listen; port 0 takes a free one; unix:PATH for a socket",
    fallback: "127.0.0.1:8080", isRepeatable: true)
  static let data = Setting(name: "data", value: "FOLDER", meaning: "where everything is kept", fallback: "./data")
  static let replace = Setting(
    name: "replace", value: nil, meaning: "put aside what the folder holds", isFlagOnly: true)
  static let share = Setting(
    name: "share", value: "FOLDER", meaning: "where Public and Migrations are, if not beside the program")
  static let publicURL = Setting(
    name: "public-url", value: "URL",
    meaning: "the address that people use; links, redirects, cookies and Origin checks follow it", isRepeatable: true)
  static let corsOrigin = Setting(
    name: "cors-origin", value: "URL", meaning: "another site whose pages may use the API, with tokens",
    isRepeatable: true)
  static let trustedProxy = Setting(
    name: "trusted-proxy", value: "CIDR",
    meaning: "a proxy that is believed about the client's address; a Unix socket always is", isRepeatable: true)
  static let proxyFields = Setting(
    name: "proxy-fields", value: "HOW",
    meaning: "what that proxy writes, and overwrites: x-forwarded for X-Forwarded-…, or forwarded for RFC 7239",
    fallback: "x-forwarded")
  static let certificate = Setting(
    name: "tls-certificate", value: "FILE", meaning: "certificate chain, PEM: speak TLS; read again on SIGHUP")
  static let key = Setting(name: "tls-key", value: "FILE", meaning: "the certificate's private key, PEM")
  static let selfSigned = Setting(
    name: "self-signed", value: nil, meaning: "speak TLS with a certificate made and kept in the data folder")
  static let redirect = Setting(
    name: "redirect-listen", value: "ADDRESS:PORT", meaning: "plain HTTP here sends people to the TLS address",
    isRepeatable: true)
  static let loops = Setting(
    name: "loops", value: "N", meaning: "event loops", fallback: "one per core")
  static let polling = Setting(
    name: "polling", value: "HOW", meaning: "epoll, or sources where there is none", fallback: "epoll")
  static let log = Setting(
    name: "log-format", value: "HOW", meaning: "text or json on standard error, or none", fallback: "text")

  static let development = Setting(
    name: "dev", value: nil, meaning: "for work on the web app: its files as they lie there, and /dev/parts")
  static let keepEvents = Setting(
    name: "keep-events", value: "DAYS",
    meaning: "how long the log of what happened is kept; who was away longer fetches all anew", fallback: "for ever")
  static let outgoing = Setting(
    name: "outgoing", value: "HOW",
    meaning: "on, or off: whether the server asks other sites what stands behind links", fallback: "on")

  static let usual: [Setting] = [
    listen, data, share, publicURL, corsOrigin, trustedProxy, proxyFields, certificate, key, selfSigned, redirect,
    loops, polling, keepEvents, outgoing, log, development,
  ]

  static let limits: [Setting] = Limits.all.map { entry in
    Setting(
      name: "limit-\(entry.name)", value: entry.unit == .count ? "N" : entry.unit.rawValue.uppercased(),
      meaning: entry.meaning, fallback: String(entry.value))
  }

  static let rates: [Setting] = RateLimits.all.map { entry in
    Setting(name: "rate-\(entry.name)", value: "N", meaning: entry.meaning, fallback: String(entry.value))
  }

  static let all = usual + limits + rates
}

/// What was set. A flag wins over a variable.
struct Settings: Sendable {
  private var values: [String: [String]] = [:]
  /// What is no setting, such as the FILE of a command.
  private(set) var operands: [String] = []

  /// Something that the host has to correct; said in one sentence.
  struct Mistake: Error {
    let sentence: String
  }

  /// `known` are the settings of the command; others may stand in the environment, but not in its arguments.
  init(
    arguments: [String], environment: [String: String], of command: String = "serve", _ known: [Setting] = Setting.all,
    operands wanted: [String] = []
  ) throws(Mistake) {
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
        throw Mistake(sentence: "\(argument) is not known here. parley \(command) --help lists what is.")
      }
      let value: String
      if setting.value == nil {
        guard parts.count == 1 else { throw Mistake(sentence: "\(setting.flag) takes no value.") }
        value = "yes"
      } else if parts.count == 2 {
        value = parts[1]
      } else {
        guard let next = rest.popFirst() else { throw Mistake(sentence: "\(setting.flag) needs a value.") }
        value = next
      }
      if given.insert(setting.name).inserted {
        values[setting.name] = [value]
      } else if setting.isRepeatable {
        values[setting.name, default: []].append(value)
      } else {
        throw Mistake(sentence: "\(setting.flag) is given twice.")
      }
    }
    guard operands.count == wanted.count else {
      let missing = wanted[operands.count]
      throw Mistake(sentence: "parley \(command) needs a \(missing). parley \(command) --help says more.")
    }
  }

  func all(_ setting: Setting) -> [String] { values[setting.name] ?? [] }
  func text(_ setting: Setting) -> String? { values[setting.name]?.first }

  /// A switch: any value but no, off, false or 0 turns it on.
  func isOn(_ setting: Setting) -> Bool {
    guard let value = text(setting) else { return false }
    return !["no", "off", "false", "0"].contains(value.lowercased())
  }

  func number(_ setting: Setting, in range: ClosedRange<Int>) throws(Mistake) -> Int? {
    guard let text = text(setting) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Mistake(
        sentence: "\(setting.flag) takes a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\".")
    }
    return number
  }

  func rates() throws(Mistake) -> RateLimits {
    var rates = RateLimits()
    for (entry, setting) in zip(RateLimits.all, Setting.rates) {
      if let number = try number(setting, in: entry.range) { rates[keyPath: entry.path] = number }
    }
    return rates
  }

  /// What stands in a setting that takes addresses without a path.
  func origins(_ setting: Setting) throws(Mistake) -> [WebAddress] {
    var origins: [WebAddress] = []
    for text in all(setting) {
      guard let address = WebAddress(text), ["http", "https"].contains(address.scheme.rawValue), address.path == "/",
        address.query == nil
      else {
        throw Mistake(
          sentence:
            "\(setting.flag) takes an address such as https://chat.example.org, without a path, not \"\(text)\".")
      }
      origins.append(address)
    }
    return origins
  }

  func limits() throws(Mistake) -> Limits {
    var limits = Limits()
    for (entry, setting) in zip(Limits.all, Setting.limits) {
      if let number = try number(setting, in: entry.range) { limits[keyPath: entry.path] = number }
    }
    return limits
  }
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
