import Community
import Issuers
import OIDC
import ParleyModel
import ParleyNetworking
import Web

/// The settings of sign-in at OpenID providers, checked before the daemon creates files.
struct IssuerSettings {
  let issuers: [Issuer]
  let trust: TLSConfiguration.Trust

  /// Nil without `--oidc`.
  init?(_ settings: Settings, _ addresses: Addresses) throws(Settings.UsageError) {
    let urls = try Pairs(.oidc, settings)
    let others: [Setting] = [
      .oidcClient, .oidcSecretFile, .oidcName, .oidcRoles, .oidcGroups, .oidcACR, .oidcClaimImports, .oidcCA,
    ]
    guard !urls.ids.isEmpty else {
      for setting in others where settings.text(setting) != nil {
        throw settings.mistake(setting, "needs \(Setting.oidc.flag), the provider.")
      }
      return nil
    }
    guard !addresses.publicOrigins.isEmpty else {
      throw settings.mistake(.oidc, "needs \(Setting.publicURL.flag): providers lead users back to it.")
    }
    let (clients, names) = (try Pairs(.oidcClient, settings, urls), try Pairs(.oidcName, settings, urls))
    let (groups, contexts) = (try Pairs(.oidcGroups, settings, urls), try Pairs(.oidcACR, settings, urls))
    let files = try Pairs(.oidcSecretFile, settings, urls)
    let roles = try Self.roles(settings, urls.ids)
    let claiming = settings.all(.oidcClaimImports)
    for id in claiming where urls[id] == nil {
      throw settings.mistake(
        .oidcClaimImports, "names \(Terminal.plain(id)), but no \(Setting.oidc.flag) does.")
    }
    let issuers = try urls.ids.map { id throws(Settings.UsageError) in
      let url = urls[id] ?? ""
      guard Issuer.isURL(url) else {
        throw settings.mistake(
          .oidc,
          "takes an https address without a query, such as work=https://id.example.org, not \"\(Terminal.plain(url))\". "
            + "http is for a provider on this machine alone.")
      }
      guard let client = clients[id] else {
        throw settings.mistake(.oidc, "needs \(Setting.oidcClient.flag) \(id)=…, the client id at the provider.")
      }
      return Issuer(
        id: id, name: names[id] ?? id, url: url, clientID: client,
        clientSecret: try files[id].map { path throws(Settings.UsageError) in
          try settings.secret(.oidcSecretFile, in: path)
        },
        groupsClaim: groups[id] ?? Issuer.defaultGroupsClaim, acr: contexts[id], roles: roles[id],
        claimsImports: claiming.contains(id))
    }
    if let twice = issuers.first(where: { one in issuers.contains { $0.id != one.id && $0.url == one.url } }) {
      throw settings.mistake(.oidc, "names \(twice.url) twice.")
    }
    self.issuers = issuers
    trust =
      try settings.text(.oidcCA).map { path throws(Settings.UsageError) in .roots(try FileSystem.read(path)) }
      ?? .system
  }

  /// Values by the id of their provider.
  private struct Pairs {
    private(set) var ids: [String] = []
    private var values: [String: String] = [:]

    subscript(_ id: String) -> String? { values[id] }

    /// - Parameter known: the providers; nil for the setting that names them.
    init(_ setting: Setting, _ settings: Settings, _ known: Pairs? = nil) throws(Settings.UsageError) {
      for text in settings.all(setting) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Issuer.isID(parts[0]), !parts[1].isEmpty else {
          throw settings.mistake(
            setting,
            "takes \(setting.value ?? ""), with an id of small letters, digits and hyphens, not \"\(Terminal.plain(text))\"."
          )
        }
        if let known, known[parts[0]] == nil {
          throw settings.mistake(setting, "names \(parts[0]), but no \(Setting.oidc.flag) does.")
        }
        guard values.updateValue(parts[1], forKey: parts[0]) == nil else {
          throw settings.mistake(setting, "names \(parts[0]) twice.")
        }
        ids.append(parts[0])
      }
    }
  }

  /// The roles by provider. `GROUP=ROLE` is for a single one.
  private static func roles(
    _ settings: Settings, _ ids: [String]
  ) throws(Settings.UsageError) -> [String: GroupRoles] {
    var all: [String: GroupRoles] = [:]
    for text in settings.all(.oidcRoles) {
      let named = ids.first { text.hasPrefix("\($0):") }
      guard let id = named ?? (ids.count == 1 ? ids[0] : nil) else {
        throw settings.mistake(
          .oidcRoles, "takes ID:GROUP=ROLE with several providers, not \"\(Terminal.plain(text))\".")
      }
      let rest = named.map { text.dropFirst($0.count + 1) } ?? text[...]
      // A group may have an equals sign, as names of directories have.
      guard let equals = rest.lastIndex(of: "="), equals > rest.startIndex,
        let role = Role(rawValue: String(rest[rest.index(after: equals)...])), GroupRoles.ranks.contains(role)
      else {
        throw settings.mistake(
          .oidcRoles, "takes GROUP=ROLE with admin, moderator, member or guest, not \"\(Terminal.plain(text))\".")
      }
      let group = String(rest[..<equals])
      guard all[id]?[group] == nil else { throw settings.mistake(.oidcRoles, "names \(group) twice.") }
      all[id, default: GroupRoles()][group] = role
    }
    return all
  }
}

/// Signs users in at the providers of the settings.
struct OutgoingIssuers {
  let service: IssuerService
  private let client: IssuerClient

  init(_ settings: IssuerSettings) throws(SystemError) {
    let client = try IssuerClient(
      settings.issuers, trust: settings.trust, policy: Invocation.outgoingPolicy,
      clock: { Clock.monotonic() / 1_000_000 })
    self.client = client
    service = IssuerService(
      settings.issuers,
      metadata: { issuer async throws(OIDCFault) in try await client.metadata(of: issuer) },
      keys: { issuer, token async throws(OIDCFault) in try await client.keys(of: issuer, for: token) },
      exchange: { code, request, issuer async throws(OIDCFault) in
        try await client.idToken(of: code, for: request, of: issuer)
      })
  }

  func stop() { client.close() }
}
