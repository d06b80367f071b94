import API
import Community
import Mail
import ParleyModel
import ParleyNetworking
import Storage
import Web

/// The settings of mail, checked before the daemon creates files.
struct MailSettings {
  let server: MailServer
  let password: String?
  let trust: TLSConfiguration.Trust
  let sender: MailAddress
  /// Nil for the sender.
  let bounces: MailAddress?
  /// Nil without replies.
  let replies: MailAddress?
  /// The public URL of the site, which links begin with.
  let origin: String
  /// The host name in the greeting to the mail server.
  let host: String

  /// Nil without `--smtp-url`.
  init?(_ settings: Settings, _ addresses: Addresses) throws(Settings.UsageError) {
    guard let url = settings.text(.smtpURL) else {
      for setting in [Setting.smtpPasswordFile, .smtpCA, .mailFrom, .mailBounceTo, .mailReplyTo]
      where settings.text(setting) != nil {
        throw settings.mistake(setting, "needs \(Setting.smtpURL.flag), the mail server.")
      }
      return nil
    }
    do throws(MailServer.Fault) { server = try MailServer(url) } catch {
      throw settings.mistake(.smtpURL, "can't be used. \(error.explanation)")
    }
    guard let publicOrigin = addresses.publicOrigins.first else {
      throw settings.mistake(.smtpURL, "needs \(Setting.publicURL.flag): mails have links to the site.")
    }
    (origin, host) = (publicOrigin.origin, publicOrigin.host)
    password = try settings.secret(.smtpPasswordFile)
    if server.user != nil, password == nil {
      throw settings.mistake(
        .smtpURL, "names a user, so it needs \(Setting.smtpPasswordFile.flag) with the password.")
    }
    if server.user == nil, password != nil {
      throw settings.mistake(
        .smtpPasswordFile, "needs a user: \(Setting.smtpURL.flag) smtps://USER@HOST.")
    }
    trust =
      try settings.text(.smtpCA).map { path throws(Settings.UsageError) in .roots(try FileSystem.read(path)) }
      ?? .system
    let text = settings.text(.mailFrom) ?? "noreply@\(publicOrigin.host)"
    guard let sender = MailAddress(text) else {
      throw settings.mistake(
        .mailFrom, "takes an address such as forum@example.org, not \"\(Terminal.plain(text))\".")
    }
    self.sender = sender
    bounces = try Self.codedAddress(.mailBounceTo, settings)
    replies = try Self.codedAddress(.mailReplyTo, settings)
  }

  /// An address that has room for a code.
  private static func codedAddress(
    _ setting: Setting, _ settings: Settings
  ) throws(Settings.UsageError) -> MailAddress? {
    guard let text = settings.text(setting) else { return nil }
    guard let address = MailAddress(text), !address.local.contains("+"),
      MailAddress("\(address.local)+\(String(repeating: "0", count: MailCode.maxBytes))@\(address.domain)") != nil
    else {
      throw settings.mistake(
        setting,
        "takes an address such as reply@example.org, with at most 17 characters before the @ and no +, not "
          + "\"\(Terminal.plain(text))\".")
    }
    return address
  }
}

/// Sends the mail of the site over one mail server.
struct OutgoingMail {
  let deliverer: MailDeliverer
  private let client: SMTPClient

  var service: MailService { deliverer.service }

  /// Nil without settings of mail.
  static func make(
    _ settings: MailSettings?, _ community: Community, share: String, log: @escaping @Sendable (String) -> Void
  ) async throws -> OutgoingMail? {
    guard let settings else { return nil }
    return try await OutgoingMail(settings, community, share: share, log: log)
  }

  private init(
    _ settings: MailSettings, _ community: Community, share: String, log: @escaping @Sendable (String) -> Void
  ) async throws {
    let texts = try WebAppRoutes.readLanguages("\(share)/Public/lang").mailTexts
    let client = try SMTPClient(
      settings.server, password: settings.password, trust: settings.trust, helloName: settings.host)
    self.client = client
    let service = MailService(
      origin: settings.origin, sender: settings.sender, bounces: settings.bounces, replies: settings.replies,
      key: try await community.loadMailKey(), texts: texts, send: { message in await client.send(message) })
    deliverer = MailDeliverer(community, service, log: log)
  }

  func stop() { client.close() }
}
