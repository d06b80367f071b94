import ACME
import ParleyModel
import ParleyNetworking
import ParleyWire
import Web

/// The certificate authority of `--acme`, and the names that its certificates are for.
struct AuthoritySettings: Sendable {
  let authority: CertificateAuthority
  /// The names of `--public-url`.
  let names: [String]
  /// The names of `--former-url`. A certificate without one of them is better than none.
  let formerNames: [String]

  /// Nil without `--acme`.
  init?(_ settings: Settings, _ addresses: Addresses) throws(Settings.UsageError) {
    guard settings.isOn(.acme) else {
      for setting in [Setting.acmeDirectory, .acmeCA, .acmeEmail] where settings.text(setting) != nil {
        throw settings.mistake(setting, "needs \(Setting.acme.flag).")
      }
      return nil
    }
    var seen: Set<String> = []
    let hosts = { (origins: [WebAddress]) in
      origins.filter(\.scheme.isSecure).map(\.host).filter { seen.insert($0).inserted }
    }
    names = hosts(addresses.publicOrigins)
    formerNames = hosts(addresses.formerOrigins)
    guard !names.isEmpty else {
      throw settings.mistake(
        .acme, "needs \(Setting.publicURL.flag) with the name of the site, such as https://chat.example.org.")
    }
    for name in names + formerNames where !Self.isPublicName(name) {
      throw settings.mistake(.acme, "can't get a certificate for \(name): authorities check public names of the DNS.")
    }
    let text = settings.text(.acmeDirectory) ?? Setting.acmeDirectory.fallback ?? ""
    guard let directory = WebAddress(text), directory.scheme == .https else {
      throw settings.mistake(.acmeDirectory, "takes an https URL, not \"\(Terminal.plain(text))\".")
    }
    var trust = TLSConfiguration.Trust.system
    if let path = settings.text(.acmeCA) {
      let roots = try FileSystem.read(path)
      guard !Certificate.list(fromPEM: roots).isEmpty else {
        throw settings.mistake(.acmeCA, "names a file without a certificate (PEM): \(path)")
      }
      trust = .roots(roots)
    }
    let email = settings.text(.acmeEmail)
    if let email, MailAddress(email) == nil {
      throw settings.mistake(
        .acmeEmail, "takes an address such as owner@example.org, not \"\(Terminal.plain(email))\".")
    }
    authority = CertificateAuthority(directory, trust: trust, email: email)
  }

  /// A name with a dot that is no address. Wildcards need another challenge.
  private static func isPublicName(_ name: String) -> Bool {
    name.contains(".") && !name.contains("*") && SocketAddress(host: name, port: 0) == nil && !name.hasPrefix("[")
  }
}
