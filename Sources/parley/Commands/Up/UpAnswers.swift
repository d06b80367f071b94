import ParleyModel
import Storage

/// The answers to the questions of `parley up`: each is a flag, a line on the terminal, or the default, which is the value of
/// the settings file if it has one.
struct UpAnswers {
  enum TLS: String {
    case own, proxy
  }

  let tls: TLS
  /// For the certificate authority.
  let email: String?
  /// Nil: a folder in the data folder.
  let backupFolder: String?
  /// The settings of now.
  private let current: Settings

  private static let none = "none"

  init(
    _ settings: Settings, current: Settings, proxy: ReverseProxy?
  ) throws(Settings.UsageError) {
    self.current = current
    let console = try Console(settings)
    let known = proxy.map { " (\($0.rawValue) runs here)" } ?? ""
    let isOwn = current.isOn(.acme) || current.text(.trustedProxy) == nil && proxy == nil
    tls = try console.ask(
      UpCommand.tls, "Certificates: own = Parley gets and renews them, proxy = a web server in front has them\(known)",
      fallback: (isOwn ? TLS.own : .proxy).rawValue
    ) { TLS(rawValue: $0) }
    email =
      tls == .own
      ? try console.ask(
        .acmeEmail, "Mail address for the certificate authority, or none",
        fallback: current.text(.acmeEmail) ?? Self.none
      ) { $0 == Self.none ? .some(nil) : MailAddress($0).map { .some($0.description) } }
      : nil
    backupFolder = try console.ask(
      .backupTo, "Folder for nightly backups, best on another disk, or none for one in the data folder",
      fallback: current.text(.backupTo) ?? Self.none
    ) { text in
      if text == Self.none { return .some(nil) }
      return text.hasPrefix("/") && !text.contains(where: \.isNewline) ? .some(text) : nil
    }
  }

  /// The settings that this command writes.
  static let written: [Setting] = [
    .publicURL, .trustedProxy, .acme, .acmeEmail, .certificate, .backupEvery, .backupTo,
  ]

  /// The lines of the settings file. Values that suit the answers stay.
  func edit(host: String) -> SettingsEdit {
    let url = "https://\(host)"
    let urls = current.all(.publicURL)
    return SettingsEdit(changes: [
      (Setting.publicURL.name, urls.contains(url) ? urls.joined(separator: ", ") : url),
      (
        Setting.trustedProxy.name,
        tls == .proxy ? nonempty(current.all(.trustedProxy))?.joined(separator: ", ") ?? "127.0.0.1/32" : nil
      ),
      (Setting.acme.name, tls == .own ? "yes" : nil),
      (Setting.acmeEmail.name, email),
      (Setting.backupEvery.name, current.text(.backupEvery) ?? "24"),
      (Setting.backupTo.name, backupFolder),
    ])
  }

  private func nonempty(_ list: [String]) -> [String]? { list.isEmpty ? nil : list }
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
      let text = line.trimmingBlanks
      if let value = read(text.isEmpty ? fallback : text) { return value }
      Terminal.prompt("\"\(Terminal.plain(text))\" is no answer. ")
    }
  }
}
