import ParleyModel
import Storage

/// The answers to the questions of `parley up`: each is a flag, a line on the terminal, or the default.
struct UpAnswers {
  enum TLS: String {
    case own, proxy
  }

  let tls: TLS
  /// For the certificate authority.
  let email: String?
  /// Nil: a folder in the data folder.
  let backupFolder: String?

  init(_ settings: Settings, host: String, proxy: ReverseProxy?) throws(Settings.UsageError) {
    let console = try Console(settings)
    let known = proxy.map { " (\($0.rawValue) runs here)" } ?? ""
    tls = try console.ask(
      UpCommand.tls, "Certificates: own = Parley gets and renews them, proxy = a web server in front has them\(known)",
      fallback: proxy == nil ? "own" : "proxy"
    ) { TLS(rawValue: $0) }
    email =
      tls == .own
      ? try console.ask(
        .acmeEmail, "Mail address for the certificate authority, or none", fallback: "none"
      ) { $0 == "none" ? .some(nil) : MailAddress($0).map { .some($0.description) } }
      : nil
    let inside = "none"
    backupFolder = try console.ask(
      .backupTo, "Folder for nightly backups, best on another disk, or none for one in the data folder",
      fallback: inside
    ) { text in
      if text == inside { return .some(nil) }
      return text.hasPrefix("/") && !text.contains(where: \.isNewline) ? .some(text) : nil
    }
  }

  /// The lines of the settings file.
  func edit(host: String) -> SettingsEdit {
    SettingsEdit(changes: [
      (Setting.publicURL.name, "https://\(host)"),
      (Setting.trustedProxy.name, tls == .proxy ? "127.0.0.1/32" : nil),
      (Setting.acme.name, tls == .own ? "yes" : nil),
      (Setting.acmeEmail.name, tls == .own ? email : nil),
      (Setting.backupEvery.name, "24"),
      (Setting.backupTo.name, backupFolder),
    ])
  }
}

/// Asks on the terminal.
private struct Console {
  private let settings: Settings
  private let takesDefaults: Bool

  init(_ settings: Settings) throws(Settings.UsageError) {
    self.settings = settings
    takesDefaults = settings.isOn(UpCommand.yes)
    guard takesDefaults || Terminal.isInputTerminal else {
      throw Settings.UsageError(
        message: "Standard input is not a terminal. Add \(UpCommand.yes.flag) to accept the defaults of all questions "
          + "that no flag answers.")
    }
  }

  /// - Parameter read: nil for a wrong answer.
  func ask<Value>(
    _ setting: Setting, _ question: String, fallback: String, _ read: (String) -> Value?
  ) throws(Settings.UsageError) -> Value {
    if let text = settings.text(setting) {
      guard let value = read(text) else {
        throw settings.mistake(setting, "can't be \"\(Terminal.plain(text))\". \(question).")
      }
      return value
    }
    if takesDefaults, let value = read(fallback) { return value }
    while true {
      Terminal.prompt("\(question) [\(fallback)]: ")
      guard let line = readLine() else {
        throw Settings.UsageError(message: "Nothing was changed: a question has no answer.")
      }
      let text = line.trimmingSpaces
      if let value = read(text.isEmpty ? fallback : text) { return value }
      Terminal.prompt("\"\(Terminal.plain(text))\" is no answer. ")
    }
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
