import API
import Dialects
import Glibc
import ParleyNetworking
import ParleyWire
import Serving
import Storage
import Web

/// The settings of `parley serve`, checked before it creates files. SIGHUP makes another value, of which the daemon
/// applies the reloadable part.
struct DaemonSettings: Sendable {
  let settings: Settings
  let data: String
  let addresses: Addresses
  let crossOrigins: [WebAddress]
  let rates: RateLimits
  /// The retention of the event log, in milliseconds; nil keeps all events.
  let eventAge: Int64?
  let backups: ScheduledBackups.Plan?
  let backupHook: ChildProgram?
  let loops: Int
  let polling: EventLoop.Polling
  let accessLog: AccessLog.Options
  let allowsOutgoing: Bool
  let mail: MailSettings?
  let issuers: IssuerSettings?
  let allowsPasswordSignIn: Bool
  let certificates: Certificates?
  let alerts: AlertReceiver?
  let dialects: Set<Dialect>

  init(_ settings: Settings) throws(Settings.UsageError) {
    self.settings = settings
    data = settings.text(.data) ?? "./data"
    rates = try settings.rates()
    _ = try settings.limits()
    addresses = try Self.addresses(settings)
    crossOrigins = try settings.origins(.corsOrigin)
    eventAge = try settings.number(.keepEvents, in: 1...36_500).map { Int64($0) * 86_400_000 }
    backups = try Self.backups(settings)
    backupHook = try settings.text(.backupHook).map { text throws(Settings.UsageError) in
      try settings.program(.backupHook, text, kinds: "a program")
    }
    loops = try settings.number(.loops, in: 1...256) ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    polling = try settings.choice(.polling, [("epoll", .nestedEpoll), ("sources", .dispatchSources)]) ?? .nestedEpoll
    accessLog = AccessLog.Options(
      format: try settings.choice(.log, [("text", .text), ("json", .json), ("none", nil)]) ?? .text,
      addresses: try settings.choice(.logAddresses, [("short", .short), ("full", .full)]) ?? .short)
    allowsOutgoing = try settings.choice(.outgoing, [("on", true), ("off", false)]) ?? true
    mail = try MailSettings(settings, addresses)
    issuers = try IssuerSettings(settings, addresses)
    allowsPasswordSignIn = try settings.choice(.passwordSignIn, [("on", true), ("off", false)]) ?? true
    if !allowsPasswordSignIn, issuers == nil {
      throw settings.mistake(.passwordSignIn, "off needs \(Setting.oidc.flag): nobody could sign in.")
    }
    certificates = try Certificates(settings, addresses, data: data)
    alerts = try AlertReceiver(settings)
    dialects = try Self.dialects(settings)
    for text in settings.all(.listen) where SocketAddress(text) == nil { throw settings.noAddress(.listen, text) }
    for text in settings.all(.redirect) where SocketAddress(text) == nil { throw settings.noAddress(.redirect, text) }
    if backupHook != nil, backups == nil {
      throw settings.mistake(.backupHook, "needs \(Setting.backupEvery.flag), the interval of the backups.")
    }
    if let text = settings.text(.metricsListen), SocketAddress(text) == nil {
      throw settings.noAddress(.metricsListen, text)
    }
    if !settings.all(.redirect).isEmpty, certificates == nil {
      throw settings.mistake(.redirect, "needs TLS: --tls-certificate and --tls-key, --acme, or --self-signed.")
    }
  }

  static func dialects(_ settings: Settings) throws(Settings.UsageError) -> Set<Dialect> {
    var dialects: Set<Dialect> = []
    for name in settings.all(.dialects).flatMap(Setting.dialects.list) {
      guard let dialect = Dialect(rawValue: name) else {
        let known = Dialect.allCases.map(\.rawValue).joined(separator: ", ")
        throw settings.mistake(.dialects, "takes names of \(known), not \"\(Terminal.plain(name))\".")
      }
      dialects.insert(dialect)
    }
    return dialects
  }

  static func addresses(_ settings: Settings) throws(Settings.UsageError) -> Addresses {
    var trusted: [AddressBlock] = []
    for text in settings.all(.trustedProxy) {
      guard let block = AddressBlock(text) else {
        throw settings.mistake(.trustedProxy, "takes an address or a block such as 10.0.0.0/8, not \"\(text)\".")
      }
      trusted.append(block)
    }
    let proxyFields: Addresses.ProxyFields? = try settings.choice(
      .proxyFields, [("x-forwarded", .xForwarded), ("forwarded", .forwarded)])
    let (origins, former) = (try settings.origins(.publicURL), try settings.origins(.formerURL))
    if !former.isEmpty, origins.isEmpty {
      throw settings.mistake(.formerURL, "needs \(Setting.publicURL.flag), the new address.")
    }
    if let both = former.first(where: { old in origins.contains { $0.authority == old.authority } }) {
      throw settings.mistake(
        .formerURL, "takes an earlier address, but \(both.origin) is one of \(Setting.publicURL.flag).")
    }
    return Addresses(
      publicOrigins: origins, formerOrigins: former, trusted: trusted, proxyFields: proxyFields ?? .xForwarded)
  }

  private static func backups(_ settings: Settings) throws(Settings.UsageError) -> ScheduledBackups.Plan? {
    let text = settings.text(.backupKeep) ?? Setting.backupKeep.fallback ?? ""
    guard let retention = BackupRetention(text) else {
      throw settings.mistake(
        .backupKeep,
        "takes a number of backups, or numbers of days, weeks and months such as 7d,4w,6m, not \"\(Terminal.plain(text))\"."
      )
    }
    guard let hours = try settings.number(.backupEvery, in: 1...8_760) else { return nil }
    if let folder = settings.text(.backupTo), let obstacle = BackupFolder(folder).obstacle(data: settings.dataFolder) {
      throw settings.mistake(.backupTo, "can't be used: \(obstacle).")
    }
    return ScheduledBackups.Plan(
      folder: settings.text(.backupTo), interval: Int64(hours) * 3_600_000, retention: retention)
  }
}

extension Settings {
  /// The value of one of a few words; nil without the setting.
  func choice<Value>(_ setting: Setting, _ words: [(String, Value)]) throws(UsageError) -> Value? {
    guard let text = text(setting) else { return nil }
    guard let (_, value) = words.first(where: { $0.0 == text }) else {
      let names = words.map(\.0)
      let list = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
      throw mistake(setting, "takes \(list), not \"\(Terminal.plain(text))\".")
    }
    return value
  }

  func noAddress(_ setting: Setting, _ text: String) -> UsageError {
    mistake(
      setting,
      "takes an address with a port such as 127.0.0.1:8080 or [::1]:8080, or unix:PATH, "
        + "not \"\(Terminal.plain(text))\".")
  }
}
