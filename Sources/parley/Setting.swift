import API
import Dialects
import ParleyJSON
import Web

/// A setting: a command-line flag, and an environment variable of the same name. `--help` and the README print this
/// table.
struct Setting: Sendable {
  /// `public-url` is `--public-url` and `PARLEY_PUBLIC_URL`.
  let name: String
  /// The placeholder of the value in the help; nil for a switch.
  let value: String?
  let summary: String
  var fallback: String?
  /// May be repeated; the variable takes a comma-separated list.
  var isRepeatable = false
  /// Has no environment variable.
  var isFlagOnly = false
  /// The short form: `f` is `-f`.
  var letter: Character?
  /// Changes while the server runs, at SIGHUP.
  var isReloadable = false

  var flag: String { "--\(name)" }
  static let variablePrefix = "PARLEY_"
  var variable: String { Self.variablePrefix + name.uppercased().replacing("-", with: "_") }

  /// Whether a value may contain a password: an address with one before its host. The path of an alert's URL is one, too.
  func isSecret(_ text: String) -> Bool {
    guard let scheme = text.firstRange(of: "://") else { return false }
    if name == Setting.alert.name { return true }
    let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
    return authority.lastIndex(of: "@").map { authority[..<$0].contains(":") } ?? false
  }

  /// The values of a repeatable setting in one text.
  func list(_ text: String) -> [String] {
    text.split(separator: ",").map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
      .filter { !$0.isEmpty }
  }

  /// The meaning of the text of a switch; nil for another text.
  static func switchValue(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "on", "true", "1": true
    case "no", "off", "false", "0": false
    default: nil
    }
  }
}

extension Setting {
  static let config = Setting(
    name: "config", value: "FILE", summary: "file with settings; none reads no file",
    fallback: "\(SettingsFile.defaultPath) if it exists")
  static let listen = Setting(
    name: "listen", value: "ADDRESS:PORT",
    summary: "address to listen on; port 0 selects a free port; unix:PATH is a Unix socket",
    fallback: "127.0.0.1:8080", isRepeatable: true)
  static let data = Setting(name: "data", value: "FOLDER", summary: "data folder", fallback: "./data")
  static let replace = Setting(
    name: "replace", value: nil, summary: "move existing data aside first", isFlagOnly: true)
  static let keepSessions = Setting(
    name: "keep-sessions", value: nil,
    summary: "keep sessions and tokens, except those that were revoked since the backup", isFlagOnly: true)
  static let keepUserSessions = Setting(
    name: "keep-sessions", value: nil, summary: "keep the sessions and tokens of the user", isFlagOnly: true)
  static let share = Setting(
    name: "share", value: "FOLDER", summary: "folder with Public and Migrations, if not beside the program")
  static let publicURL = Setting(
    name: "public-url", value: "URL",
    summary: "public address of the site, for links, redirects, cookies, passkeys and Origin checks", isRepeatable: true
  )
  static let formerURL = Setting(
    name: "former-url", value: "URL", summary: "earlier public address of the site; its requests are redirected (308)",
    isRepeatable: true)
  static let corsOrigin = Setting(
    name: "cors-origin", value: "URL", summary: "origin of another web site whose pages may call the API with tokens",
    isRepeatable: true)
  static let trustedProxy = Setting(
    name: "trusted-proxy", value: "CIDR",
    summary: "proxy trusted for the client's address; a Unix socket is always trusted", isRepeatable: true)
  static let proxyFields = Setting(
    name: "proxy-fields", value: "HOW",
    summary: "fields that the proxy sets: x-forwarded for X-Forwarded-…, or forwarded for RFC 7239",
    fallback: "x-forwarded")
  static let certificate = Setting(
    name: "tls-certificate", value: "FILE", summary: "certificate chain, PEM; enables TLS; reloaded on SIGHUP")
  static let key = Setting(name: "tls-key", value: "FILE", summary: "private key of the certificate, PEM")
  static let selfSigned = Setting(
    name: "self-signed", value: nil, summary: "enable TLS with a self-signed certificate, stored in the data folder")
  static let redirect = Setting(
    name: "redirect-listen", value: "ADDRESS:PORT", summary: "address that redirects plain HTTP to the TLS address",
    isRepeatable: true)
  static let metricsListen = Setting(
    name: "metrics-listen", value: "ADDRESS:PORT", summary: "address of /metrics for Prometheus, without a token",
    fallback: "none")
  static let loops = Setting(
    name: "loops", value: "N", summary: "event loops", fallback: "one per core")
  static let polling = Setting(
    name: "polling", value: "HOW", summary: "epoll, or sources for Dispatch sources", fallback: "epoll")
  static let log = Setting(
    name: "log-format", value: "HOW", summary: "access log on standard error: text, json or none", fallback: "text",
    isReloadable: true)

  static let logAddresses = Setting(
    name: "log-addresses", value: "HOW",
    summary: "addresses in the access log: short for their networks, /24 and /48, or full", fallback: "short",
    isReloadable: true)
  static let acme = Setting(
    name: "acme", value: nil,
    summary:
      "enable TLS with certificates of a certificate authority (ACME), ordered for the names of --public-url and "
      + "--former-url and renewed by the daemon; accepts its terms of service; needs --redirect-listen on port 80")
  static let acmeDirectory = Setting(
    name: "acme-directory", value: "URL", summary: "directory of the certificate authority",
    fallback: "https://acme-v02.api.letsencrypt.org/directory")
  static let acmeCA = Setting(
    name: "acme-ca", value: "FILE",
    summary: "root certificates, PEM, that the certificate of the authority's server has to chain to",
    fallback: "those of the system")
  static let acmeEmail = Setting(
    name: "acme-email", value: "ADDRESS", summary: "address that the certificate authority may write to")
  static let development = Setting(
    name: "dev", value: nil, summary: "development mode of the web app: serve its source files and /dev/parts")
  static let keepEvents = Setting(
    name: "keep-events", value: "DAYS",
    summary: "retention of the event log; clients offline for longer resynchronize", fallback: "unlimited",
    isReloadable: true)
  static let backupEvery = Setting(
    name: "backup-every", value: "HOURS", summary: "interval of scheduled backups", fallback: "none", isReloadable: true
  )
  static let backupKeep = Setting(
    name: "backup-keep", value: "N",
    summary: "scheduled backups that stay: a number, or the last ones of days, weeks and months such as 7d,4w,6m",
    fallback: "7d,4w,6m", isReloadable: true)
  static let backupTo = Setting(
    name: "backup-to", value: "FOLDER", summary: "folder of scheduled backups, best on another disk",
    fallback: "backups in the data folder",
    isReloadable: true)
  static let backupHook = Setting(
    name: "backup-hook", value: "PROGRAM",
    summary: "program with its arguments that copies the folder of scheduled backups, {}, to another machine",
    fallback: "none",
    isReloadable: true)
  static let alert = Setting(
    name: "alert", value: "RECEIVER",
    summary: "receiver of alerts: a URL that takes JSON, for Slack or ntfy, or a program with its arguments",
    fallback: "none", isReloadable: true)
  static let alertSecretFile = Setting(
    name: "alert-secret-file", value: "FILE",
    summary: "file with the secret that signs alerts to a URL: whsec_ and 24 to 64 bytes in Base64", isReloadable: true)
  static let outgoing = Setting(
    name: "outgoing", value: "HOW",
    summary: "on or off: link previews, push messages, outgoing webhooks and slash commands", fallback: "on")

  static let smtpURL = Setting(
    name: "smtp-url", value: "URL",
    summary: "mail server: smtps://USER@HOST, or smtp://USER@HOST with STARTTLS; without it no mail is sent")
  static let smtpPasswordFile = Setting(
    name: "smtp-password-file", value: "FILE", summary: "file with the password for the mail server")
  static let smtpCA = Setting(
    name: "smtp-ca", value: "FILE",
    summary: "root certificates, PEM, that the certificate of the mail server has to chain to",
    fallback: "those of the system")
  static let mailFrom = Setting(
    name: "mail-from", value: "ADDRESS", summary: "sender address of mail", fallback: "noreply@ and the public host")

  static let mailBounceTo = Setting(
    name: "mail-bounce-to", value: "ADDRESS",
    summary: "envelope sender of mail; reports arrive at it with +CODE, for parley mail-in",
    fallback: "that of --mail-from")
  static let mailReplyTo = Setting(
    name: "mail-reply-to", value: "ADDRESS",
    summary: "address for replies to notifications; they arrive at it with +CODE, for parley mail-in",
    fallback: "no replies")
  static let oidc = Setting(
    name: "oidc", value: "ID=ISSUER",
    summary: "OpenID provider that signs users in, with an id for addresses: work=https://id.example.org/realms/work",
    isRepeatable: true)
  static let oidcClient = Setting(
    name: "oidc-client", value: "ID=CLIENT", summary: "client id of this site at the provider", isRepeatable: true)
  static let oidcSecretFile = Setting(
    name: "oidc-secret-file", value: "ID=FILE", summary: "file with the client secret; without it the client is public",
    isRepeatable: true)
  static let oidcName = Setting(
    name: "oidc-name", value: "ID=TEXT", summary: "name of the provider on buttons", fallback: "the id",
    isRepeatable: true)
  static let oidcRoles = Setting(
    name: "oidc-roles", value: "GROUP=ROLE",
    summary: "role of a group of the provider, up to admin; * is every user; ID:GROUP=ROLE with several providers",
    isRepeatable: true)
  static let oidcGroups = Setting(
    name: "oidc-groups", value: "ID=CLAIM", summary: "claim with the groups of a user", fallback: "groups",
    isRepeatable: true)
  static let oidcACR = Setting(
    name: "oidc-acr", value: "ID=VALUE",
    summary: "authentication context that sign-ins need, such as one with a second factor", isRepeatable: true)
  static let oidcClaimImports = Setting(
    name: "oidc-claim-imports", value: "ID",
    summary: "provider whose verified addresses claim the users of an import who had them", isRepeatable: true)
  static let oidcCA = Setting(
    name: "oidc-ca", value: "FILE",
    summary: "root certificates, PEM, that the certificates of providers have to chain to",
    fallback: "those of the system")
  static let dialects = Setting(
    name: "dialects", value: "NAMES",
    summary:
      "interfaces of other systems for their clients: \(Dialect.allCases.map(\.rawValue).joined(separator: ", "))",
    fallback: "none", isRepeatable: true)
  static let passwordSignIn = Setting(
    name: "password-sign-in", value: "HOW",
    summary: "on or off: sign-up, sign-in and resets by password; off needs a provider", fallback: "on")

  static let general: [Setting] = [
    config, listen, data, share, publicURL, formerURL, corsOrigin, trustedProxy, proxyFields, certificate, key,
    selfSigned, acme, acmeDirectory, acmeCA, acmeEmail, redirect, metricsListen, loops, polling, keepEvents,
    backupEvery, backupKeep, backupTo, backupHook, alert, alertSecretFile,
    outgoing, smtpURL,
    smtpPasswordFile, smtpCA, mailFrom, mailBounceTo, mailReplyTo, oidc, oidcClient, oidcSecretFile, oidcName,
    oidcRoles, oidcGroups, oidcACR, oidcClaimImports, oidcCA, passwordSignIn, dialects, log, logAddresses, development,
  ]

  static let limits: [Setting] = Limits.all.map { entry in
    Setting(
      name: "limit-\(entry.name)", value: entry.unit == .count ? "N" : entry.unit.rawValue.uppercased(),
      summary: entry.meaning, fallback: entry.freeParts.map { "1/\($0) of the free space" } ?? String(entry.value),
      isReloadable: true)
  }

  /// The setting of a limit of the table.
  static func limit(_ name: String) -> Setting {
    limits.first { $0.name == "limit-\(name)" } ?? Setting(name: "limit-\(name)", value: "N", summary: "")
  }

  static let rates: [Setting] = RateLimits.all.map { entry in
    Setting(
      name: "rate-\(entry.name)", value: "N", summary: entry.meaning, fallback: String(entry.value),
      isReloadable: true)
  }

  static let all = general + limits + rates
}

// Settings of the operator's commands.
extension Setting {
  static let role = Setting(
    name: "role", value: "ROLE", summary: "owner, admin, moderator, member, bot or guest",
    fallback: "member", isFlagOnly: true)
  static let passwordStdin = Setting(
    name: "password-stdin", value: nil, summary: "read the password from standard input, its first line",
    isFlagOnly: true)
  static let secondFactor = Setting(
    name: "second-factor", value: nil, summary: "remove the two-step sign-in and the passkeys of a user who lost them",
    isFlagOnly: true)
  static let keepIdentity = Setting(
    name: "keep-identity", value: "ID", summary: "linked account that stays, as parley user identities prints it",
    isFlagOnly: true)
  static let reason = Setting(
    name: "reason", value: "TEXT", summary: "reason for the audit log", isFlagOnly: true)
  static let remote = Setting(
    name: "remote", value: nil, summary: "act on the server of parley login, as its user", isFlagOnly: true)
  static let ofRemote: [Setting] = [.remote, CLISession.profile]
  static let json = Setting(name: "json", value: nil, summary: "print one JSON object per line", isFlagOnly: true)
  static let uses = Setting(
    name: "uses", value: "N", summary: "maximum number of uses", fallback: "unlimited", isFlagOnly: true)
  static let claims = Setting(
    name: "claims", value: "NAME", summary: "imported user that the invite is for", isFlagOnly: true)
  static let expires = Setting(
    name: "expires", value: "WHEN", summary: "lifetime such as 12h, 7d or 4w, or a date",
    fallback: "never", isFlagOnly: true)
  static let recipient = Setting(
    name: "recipient", value: "ADDRESS", summary: "recipient of the mail, as the mail server knows it", isFlagOnly: true
  )
  static let forum = Setting(
    name: "forum", value: "ID", summary: "forum to join", isFlagOnly: true)
  static let events = Setting(
    name: "events", value: "KINDS", summary: "kinds of events, such as message.created,message.edited", fallback: "all",
    isFlagOnly: true)
  static let description = Setting(
    name: "description", value: "TEXT", summary: "line that the completion shows", isFlagOnly: true)
  static let usage = Setting(
    name: "usage", value: "TEXT", summary: "text after the name, such as \"<city> [days]\"", isFlagOnly: true)
  static let commandForums = Setting(
    name: "forum", value: "ID", summary: "forum with the command; without it all conversations of the bot",
    isRepeatable: true, isFlagOnly: true)
  static let website = Setting(
    name: "website", value: "URL", summary: "website of the app, which users see", isFlagOnly: true)
  static let appScope = Setting(
    name: "scope", value: "SCOPE", summary: "the most that the app may ask for: profile, read, write or admin",
    fallback: "write", isFlagOnly: true)
  static let confidential = Setting(
    name: "confidential", value: nil, summary: "give the app a secret, for a program on a server of its own",
    isFlagOnly: true)
  static let scope = Setting(
    name: "scope", value: "SCOPE", summary: "read, write or admin", fallback: "read",
    isFlagOnly: true)
  static let displayName = Setting(
    name: "display-name", value: "TEXT", summary: "name that users see", isFlagOnly: true)
  static let botForums = Setting(
    name: "forum", value: "ID", summary: "forum to join; without it the default forums", isRepeatable: true,
    isFlagOnly: true)
  static let onlyForum = Setting(
    name: "only-forum", value: "ID", summary: "forum to which the token is limited", isRepeatable: true,
    isFlagOnly: true)
  static let tokenRate = Setting(
    name: "rate", value: "COUNT", summary: "messages, and other changes, per minute", fallback: "the user's limit",
    isFlagOnly: true)
  static let botScope = Setting(
    name: "scope", value: "SCOPE", summary: "read or write", fallback: "write", isFlagOnly: true)
  static let allFaults = Setting(
    name: "all", value: nil, summary: "continue after the first check that finds a fault", isFlagOnly: true)
  static let status = Setting(
    name: "status", value: nil, summary: "list the migrations, without changes", isFlagOnly: true)
  static let url = Setting(name: "url", value: "ADDRESS", summary: "the server to check", isFlagOnly: true)
  static let name = Setting(
    name: "name", value: "TEXT", summary: "description of the token for its owner", fallback: "parley token",
    isFlagOnly: true)
}
