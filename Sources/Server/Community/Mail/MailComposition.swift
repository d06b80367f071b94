// The content of mail. All is checked again before it is sent: the notification may have been read, muted or lost since it was
// queued.

import Mail
import ParleyModel
import Storage

/// A mail that is ready, and the last notification that it has.
struct ComposedMail: Sendable {
  let message: MailMessage
  var notification: ID<Notification>?
}

extension ReadTransaction {
  /// The mail of a notification; nil if it is not to be sent any more.
  func notificationMail(
    _ due: DueMail, over service: MailService, in zones: TimeZones
  ) throws(Refusal) -> ComposedMail? {
    guard let recipient = try mailRecipient(due.user),
      let address = (due.address ?? recipient.address).flatMap({ MailAddress($0) }),
      let user = try user(due.user), user.standing?.state == .active
    else { return nil }
    let caller = Caller(
      user: due.user, role: user.summary.role, scope: .read, session: nil,
      lacksSecondFactor: try lacksSecondFactor(due.user))
    let settings = try notificationSettings(of: due.user)
    let ids: [ID<Notification>]
    if let conversation = due.conversation {
      ids = try unreadNotifications(of: due.user, in: conversation, limit: Self.maxMailedNotifications)
    } else {
      ids = due.notification.map { [$0] } ?? []
    }
    let wanted = try wantedNotifications(ids, settings, caller)
    guard let first = wanted.first, let last = wanted.last else { return nil }
    var content = try content(of: first, others: wanted.count - 1, for: recipient, over: service)
    if let session = first.notification.session {
      content.facts = try facts(of: session, for: due.user, settings.digestZone, zones, content.words)
      content.note = content.words(.signIn)
    }
    let replyTo = last.message.flatMap { service.replyAddress(of: due.user, at: address, to: $0.id, at: now) }
    if replyTo != nil { content.footer.insert((text: content.words(.replyHint), url: nil), at: 0) }
    var message = content.message(
      to: address, id: "\(due.id).\(due.createdAt)", from: service, of: try self.settings(), at: now)
    message.replyTo = replyTo
    return ComposedMail(message: message, notification: last.notification.id)
  }

  /// The notifications that are unread and still concern the user, with their messages.
  private func wantedNotifications(
    _ ids: [ID<Notification>], _ settings: NotificationSettings, _ caller: Caller
  ) throws(Refusal) -> [(notification: Notification, message: Message?)] {
    var wanted: [(notification: Notification, message: Message?)] = []
    for notification in try inbox(ids).sorted(by: { $0.id < $1.id }) {
      // Reading a notice elsewhere must not hide it from the user's mailbox.
      guard notification.readAt == nil || notification.kind.isSecurity,
        settings.allowMail(of: notification.kind, at: now),
        notification.kind.isSecurity || !caller.lacksSecondFactor
      else { continue }
      if let id = notification.message {
        guard let message = try messages([id]).first, try isWanted(notification, message, caller) else { continue }
        wanted.append((notification, message))
      } else {
        if notification.kind == .request, try !isWanted(notification, caller) { continue }
        wanted.append((notification, nil))
      }
    }
    return wanted
  }

  private static var maxMailedNotifications: Int { 20 }
  private static var quoteScalars: Int { 2_000 }

  private func content(
    of entry: (notification: Notification, message: Message?), others: Int, for recipient: MailRecipient,
    over service: MailService
  ) throws(Refusal) -> MailContent {
    let (notification, words) = (entry.notification, service.texts.words(recipient.language))
    let site = try settings()
    let shows = notification.kind.isSecurity ? .text : site.pushShows
    let actor = try notification.actor.flatMap { id throws(Refusal) in try user(id)?.summary }
    let name = shows == .nothing ? nil : actor.flatMap { $0.displayName ?? $0.name }
    var headline =
      notification.kind == .direct
      ? words(.direct, ["name": name ?? site.name])
      : words.headline(NotificationHeadline(notification, for: recipient.user, actor: name, site: site.name))
    if shows == .text, let id = notification.conversation, notification.kind != .direct,
      let title = try conversation(id)?.title
    {
      headline = words(.in, ["text": headline, "title": title])
    }
    var content = MailContent(subject: headline, lead: headline, words: words)
    if shows == .text, case .live(let live)? = entry.message?.state {
      let text = Texts.excerpt(live.text, scalars: Self.quoteScalars)
      if !text.isEmpty { content.quote = (name: name ?? "", text: text) }
    }
    if others > 0 { content.note = words(.more, count: others) }
    content.action = (
      label: words(notification.kind.action, ["site": site.name]), url: service.origin + notification.path
    )
    if notification.kind.isSecurity {
      content.footer = [(text: words(.security), url: nil)]
      return content
    }
    // No setting holds a warning back.
    if notification.kind == .warning { return content }
    content.footer = [(text: words(.reason), url: nil)]
    content.addListFooter(for: recipient.user, over: service)
    return content
  }
}

extension ReadTransaction {
  /// The device, the time and the network of a sign-in, as far as they are known.
  private func facts(
    of session: ID<Session>, for user: ID<User>, _ zone: String?, _ zones: TimeZones, _ words: MailTexts.Words
  ) throws(Refusal) -> [String] {
    guard let signIn = try signIn(to: session, of: user) else { return [] }
    var facts: [String] = []
    if !signIn.device.isEmpty { facts.append(words(.signInDevice, ["device": signIn.device])) }
    let rules = zone.flatMap { zones.rules(of: $0) }
    let offset = Int64(rules?.offset(at: Int(signIn.createdAt / 1_000)) ?? 0) * 1_000
    let time = "\(words.minute(signIn.createdAt + offset)) (\(rules == nil ? "UTC" : zone ?? "UTC"))"
    facts.append(words(.signInTime, ["time": time]))
    if let network = signIn.address { facts.append(words(.signInNetwork, ["network": network])) }
    return facts
  }
}

extension Notification.Kind {
  /// The words of the button that opens the page of the notification.
  fileprivate var action: MailTexts.Text {
    switch self {
    case .mention, .reply, .direct, .room, .request: .open
    case .report: .openReports
    case .warning: .digestOpen
    case .token: .openTokens
    case .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated, .recoveryCodeUsed: .openTwoStep
    case .signIn: .notMe
    case .endpointDisabled: .openWebhooks
    case .passkeyCreated, .passkeyDeleted, .passkeyCopied: .openPasskeys
    case .identityLinked, .identityUnlinked: .openAccounts
    case .alert: .openAdmin
    }
  }
}

extension NotificationSettings {
  /// Whether a notification is mailed. Quiet hours do not matter: mail makes no noise.
  func allowMail(of kind: Notification.Kind, at time: Int64) -> Bool {
    if kind.isSecurity { return true }
    return mail.contains(kind) && !isPaused && (snoozedUntil ?? 0) <= time
  }
}

extension WriteTransaction {
  /// A mail about the account. Links are made here: the database has their digests alone.
  func accountMail(_ due: DueMail, over service: MailService) throws(Refusal) -> ComposedMail? {
    guard let recipient = try mailRecipient(due.user), let text = due.address ?? recipient.address,
      let address = MailAddress(text), let user = try user(due.user), let name = user.summary.name
    else { return nil }
    let (words, site) = (service.texts.words(recipient.language), try settings())
    let parameters = ["name": user.summary.displayName ?? name, "site": site.name, "address": text]
    var content: MailContent
    switch due.kind {
    case .notification, .weeklyDigest: return nil
    case .replyNotice:
      guard let fault = due.detail.flatMap({ ReplyFault(rawValue: $0) }) else { return nil }
      let subject: MailTexts.Text = fault == .attachments ? .replyAttachmentsSubject : .replySubject
      content = MailContent(subject: words(subject, parameters), lead: words(fault.text, parameters), words: words)
      content.action = (label: words(.digestOpen, parameters), url: service.origin + "/")
    case .reset where user.standing?.isImported == true:
      guard let code = try mailedClaim(of: user, at: text) else { return nil }
      content = MailContent(
        subject: words(.claimSubject, parameters), lead: words(.claim, parameters), words: words)
      content.action = (label: words(.claimAction), url: "\(service.origin)/i/\(code)")
      content.footer = [(text: words(.claimHint), url: nil)]
    case .reset:
      guard user.mayResetByMail, let link = try mailedReset(of: due.user) else { return nil }
      content = MailContent(
        subject: words(.resetSubject, parameters), lead: words(.reset, parameters), words: words)
      content.action = (label: words(.resetAction), url: "\(service.origin)/reset/\(link)")
      content.footer = [(text: words(.resetHint), url: nil)]
    case .confirmation:
      guard recipient.pending == text else { return nil }
      let secret = try Secret.make()
      try setEmailCode(digest: secret.digest, of: due.user, expiresAt: now + Community.confirmationTime)
      content = MailContent(
        subject: words(.confirmationSubject, parameters), lead: words(.confirmation, parameters), words: words)
      content.action = (label: words(.confirmationAction), url: "\(service.origin)/email/\(secret.text)")
      content.footer = [(text: words(.confirmationHint), url: nil)]
    case .passwordChanged:
      content = MailContent(
        subject: words(.passwordChangedSubject, parameters), lead: words(.passwordChanged, parameters), words: words)
      content.action = (label: words(.resetAction), url: "\(service.origin)/forgot")
      content.footer = [(text: words(.security), url: nil)]
    case .addressChanged:
      content = MailContent(
        subject: words(.addressChangedSubject, parameters), lead: words(.addressChanged, parameters), words: words)
      content.footer = [(text: words(.security), url: nil)]
    case .roleChanged:
      content = MailContent(
        subject: words(.roleChangedSubject, parameters), lead: words(.roleChanged, parameters), words: words)
      content.footer = [(text: words(.security), url: nil)]
    }
    // A repeated link is another one, so a mailbox must not take it for a copy.
    let hasLink = due.kind == .reset || due.kind == .confirmation
    let id = hasLink ? try Secret.make(byteCount: Secret.codeByteCount).text : "\(due.id).\(due.createdAt)"
    var message = content.message(to: address, id: id, from: service, of: site, at: now)
    // RFC 3834 §3.3: an answer to a mail has no envelope sender, so it can't come back.
    if due.kind == .replyNotice { message.returnPath = .none }
    return ComposedMail(message: message)
  }

  /// The code of a new reset link.
  private func mailedReset(of user: ID<User>) throws(Refusal) -> String? {
    let secret = try Secret.make()
    try addLink(.reset, for: user, digest: secret.digest, expiresAt: now + Community.mailedResetTime, isMailed: true)
    return secret.text
  }
}

extension ReplyFault {
  fileprivate var text: MailTexts.Text {
    switch self {
    case .address: .replyAddress
    case .expired: .replyExpired
    case .notAllowed: .replyNotAllowed
    case .tooLong: .replyTooLong
    case .unreadable: .replyUnreadable
    case .attachments: .replyAttachments
    }
  }
}

extension User {
  /// Whether a link by mail may set the password: not for imported users, who have none, and bots.
  var mayResetByMail: Bool {
    guard let standing, !standing.isImported, summary.role != .bot else { return false }
    switch standing.state {
    case .active, .deactivated: return true
    case .pending, .disabled, .left, .erased: return false
    }
  }
}
