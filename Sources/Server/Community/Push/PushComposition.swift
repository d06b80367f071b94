// The content of push messages. All is checked again before the request: the message may have been read, deleted, muted or
// lost since its notification.

import ParleyModel
import Storage
import WebPush

extension ReadTransaction {
  /// The payload of a message; nil if it is not to be sent any more, or not now.
  func payload(of push: DuePush, over service: PushService, in zones: TimeZones) throws(Refusal) -> PushPayload? {
    let subscription = push.subscription
    guard let session = try activeSubscriber(subscription.session),
      let notification = try inbox([push.notification]).first, notification.readAt == nil
    else { return nil }
    let settings = try notificationSettings(of: subscription.user)
    guard settings.allowPush(of: notification.kind, at: now, in: zones) else { return nil }
    let caller = Caller(user: session.user, role: session.role, scope: session.scope, session: session.id)
    guard let id = notification.message else {
      if notification.kind == .request, try !isWanted(notification, caller) { return nil }
      return try payload(push, notification, nil, settings.pushShows, for: caller, over: service)
    }
    guard let message = try messages([id]).first, try isWanted(notification, message, caller) else { return nil }
    return try payload(push, notification, message, settings.pushShows, for: caller, over: service)
  }

  /// Whether a request still waits, and the user has neither muted nor blocked its sender.
  func isWanted(_ request: Notification, _ caller: Caller) throws(Refusal) -> Bool {
    guard let user = caller.user, let conversation = request.conversation, let sender = request.actor,
      try historyStart(of: conversation, for: caller) != nil, try !has(.mute, user, to: sender)
    else { return false }
    return try !has(.block, user, to: sender)
  }

  /// Whether the user can read the message and is still notified of it.
  func isWanted(
    _ notification: Notification, _ message: Message, _ caller: Caller
  ) throws(Refusal) -> Bool {
    guard case .live = message.state, let user = caller.user,
      let start = try historyStart(of: message.conversation, for: caller), message.seq >= start,
      let candidate = try notificationCandidate(user, from: message.author, in: message.conversation)
    else { return false }
    switch candidate.level {
    case .everything: return true
    case .mentions: return notification.kind != .direct
    case .nothing: return false
    }
  }

  private func payload(
    _ push: DuePush, _ notification: Notification, _ message: Message?, _ chosen: PushContent, for caller: Caller,
    over service: PushService
  ) throws(Refusal) -> PushPayload {
    let language = push.subscription.language
    let settings = try settings()
    let (site, shows) = (settings.name, chosen.bounded(by: settings.pushShows))
    let actor = try notification.actor.flatMap { id throws(Refusal) in try user(id)?.summary }
    let name = shows == .nothing ? nil : actor.flatMap { $0.displayName ?? $0.name }
    var title: String
    var body: String
    if message != nil {
      title = name ?? site
      if case .live(let content)? = message?.state, shows == .text {
        body = Texts.excerpt(content.text, scalars: Self.excerptScalars)
      } else {
        body = ""
      }
      if body.isEmpty { body = service.texts.say(.message, language) }
      if let several = try several(with: notification, of: push.subscription.user, shows) {
        title = service.texts.say(several, language)
      }
    } else {
      title = site
      let headline = NotificationHeadline(notification, for: push.subscription.user, actor: name, site: site)
      body = service.texts.say(.notification(headline), language)
    }
    return PushPayload(
      title: title, body: body, navigate: service.origin + notification.path, tag: push.topic,
      badge: try badgeCount(for: caller),
      data: .init(
        notification: notification.id.description, kind: notification.kind.rawValue,
        conversation: notification.conversation?.description, message: notification.message?.description,
        revision: message?.revision, sender: name))
  }

  private static var excerptScalars: Int { 1_000 }
  /// Unread notifications of a conversation that are counted.
  private static var maxCounted: Int { 99 }

  /// The words for all unread messages of the conversation; nil for a single one, and if the user wants to show nothing.
  private func several(
    with notification: Notification, of user: ID<User>, _ shows: PushContent
  ) throws(Refusal) -> PushTexts.Text? {
    guard shows != .nothing, let id = notification.conversation else { return nil }
    let ids = try unreadNotifications(of: user, in: id, limit: Self.maxCounted)
    guard ids.count > 1 else { return nil }
    let senders = Set(try inbox(ids).map(\.actor))
    let sender = try (senders.count == 1 ? notification.actor : nil).flatMap { id throws(Refusal) in
      try self.user(id)?.summary
    }
    let conversation = try self.conversation(id)
    let forum = try conversation?.forum.flatMap { forum throws(Refusal) in try self.title(of: forum) }
    let title = conversation?.title ?? forum
    return .several(
      ids.count, name: sender.flatMap { $0.displayName ?? $0.name }, title: shows == .text ? title : nil)
  }
}

extension Notification {
  /// Its page in the web app.
  var path: String {
    if let message, kind != .report { return "/m/\(message)" }
    switch kind {
    case .report: return "/admin/reports"
    case .request: return conversation.map { "/c/\($0)" } ?? "/"
    case .token: return "/you/tokens"
    case .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated, .recoveryCodeUsed: return "/you/twostep"
    case .passkeyCreated, .passkeyDeleted, .passkeyCopied: return "/you/passkeys"
    case .identityLinked, .identityUnlinked: return "/you/accounts"
    case .endpointDisabled: return "/admin/endpoints"
    case .alert: return "/admin"
    case .signIn: return session.map { "/you/signins?session=\($0)" } ?? "/you/signins"
    case .mention, .reply, .direct, .room, .warning: return "/"
    }
  }
}
