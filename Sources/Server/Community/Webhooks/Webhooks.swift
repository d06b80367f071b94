// Incoming webhooks: the staff creates URLs with a secret, and their bots post to one conversation.

public import ParleyModel
import Storage

/// The result of creating a webhook or its new secret.
public struct CreatedWebhook: Sendable {
  public let webhook: Webhook
  /// Nil for a repeated request: the secret is returned only once.
  public let secret: String?
}

extension Community {
  /// Creates a webhook with its bot, which becomes a member of the forum or a participant of the conversation.
  public func createWebhook(_ draft: WebhookDraft, by caller: Caller) async throws(Refusal) -> CreatedWebhook {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    let fingerprint = try draft.fingerprint()
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.webhook, by: actor, clientID) {
        guard earlier.fingerprint == fingerprint else { throw .clientIDReused }
        guard let webhook = try tx.webhook(ID(earlier.subject)) else { throw .gone }
        return CreatedWebhook(webhook: webhook, secret: nil)
      }
      // Its secret outlives the session.
      try tx.requireProof(of: caller)
      let conversation = try tx.requireManaged(draft.conversation, by: caller)
      guard try tx.webhookCount() < bounds.webhooks else { throw .tooMany(limit: bounds.webhooks) }
      guard try tx.webhookCount(in: conversation.id) < bounds.conversationWebhooks else {
        throw .tooMany(limit: bounds.conversationWebhooks)
      }
      let bot = try tx.add(
        NewUser(name: try tx.freeName(like: draft.name), role: .bot, displayName: draft.name, owner: actor))
      if let avatar = draft.avatar {
        try tx.checkPicture(avatar, "avatar", by: caller, bounds)
        if let user = try tx.user(bot) { try tx.setAvatar(avatar, of: user, by: actor) }
      }
      try tx.admit(bot, to: conversation, caller, actor, bounds)
      let new = NewStoredWebhook(
        conversation.id, bot: bot, digest: secret.digest, token: try tx.token(of: caller, actor))
      let id = try tx.add(new)
      if let clientID = draft.clientID {
        try tx.remember(.webhook, by: actor, clientID, subject: id.number, fingerprint: fingerprint)
      }
      try tx.audit(
        .webhookCreated, by: actor, subject: id.number, in: conversation.forum, reason: draft.name)
      guard let webhook = try tx.webhook(id) else { throw .unavailable }
      return CreatedWebhook(webhook: webhook, secret: secret.text)
    }
  }

  public func updateWebhook(
    _ id: ID<Webhook>, _ change: WebhookChange, by caller: Caller
  ) async throws(Refusal) -> Webhook {
    let actor = try caller.requireUser(.admin)
    let change = try change.checked(bounds)
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let before = try tx.knownWebhook(id)
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      if change.isEnabled == true, before.isRevoked { throw .secretRevoked }
      if change.needsManagement(of: before) { try tx.requireManagement(of: before, by: caller) }
      guard var bot = try tx.user(before.bot) else { throw .notFound }
      let picture = try tx.avatar(of: before.bot)
      switch change.avatar {
      case .unchanged: break
      case .cleared: try tx.setAvatar(nil, of: bot, by: actor)
      case .set(let file):
        if file != picture { try tx.checkPicture(file, "avatar", by: caller, bounds) }
        try tx.setAvatar(file, of: bot, by: actor)
      }
      if let name = change.name, name != before.name {
        bot = try tx.user(before.bot) ?? bot
        var renamed = bot
        renamed.summary.displayName = name
        _ = try tx.change(bot, to: renamed, by: actor)
      }
      if let isEnabled = change.isEnabled { try tx.setEnabled(isEnabled, id) }
      guard let after = try tx.webhook(id) else { throw .notFound }
      let isSamePicture = try picture == tx.avatar(of: before.bot)
      guard after != before || !isSamePicture else { return before }
      try tx.raiseRevision(of: id)
      try tx.audit(
        .webhookChanged, by: actor, subject: id.number, in: try tx.forum(of: before.conversation), reason: after.name)
      return try tx.knownWebhook(id)
    }
  }

  /// Replaces the secret. The earlier URL stops working; a revoked or disabled webhook works again.
  public func rotateWebhookSecret(_ id: ID<Webhook>, by caller: Caller) async throws(Refusal) -> CreatedWebhook {
    let actor = try caller.requireUser(.admin)
    let secret = try Secret.make()
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let webhook = try tx.knownWebhook(id)
      try tx.requireProof(of: caller)
      // The secret lets its owner post there.
      try tx.requireManagement(of: webhook, by: caller)
      try tx.renewSecret(
        of: webhook, digest: secret.digest, token: try tx.token(of: caller, actor), by: actor)
      try tx.audit(
        .webhookRenewed, by: actor, subject: id.number, in: try tx.forum(of: webhook.conversation),
        reason: webhook.name)
      return CreatedWebhook(webhook: try tx.knownWebhook(id), secret: secret.text)
    }
  }

  /// Idempotent. Its messages stay, and so does their author, as a disabled bot.
  public func deleteWebhook(_ id: ID<Webhook>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      _ = try tx.revalidateStaff(caller)
      guard let webhook = try tx.webhook(id) else { return }
      try tx.deleteWebhook(ofBot: webhook.bot)
      if let bot = try tx.user(webhook.bot), bot.standing?.state == .active {
        var disabled = bot
        disabled.standing?.state = .disabled
        _ = try tx.change(bot, to: disabled, by: actor)
      }
      try tx.audit(
        .webhookDeleted, by: actor, subject: id.number, in: try tx.forum(of: webhook.conversation),
        reason: webhook.name)
    }
  }

  /// Posts as the bot of the webhook. Throws `gone` if the bot can no longer read the conversation, or was
  /// removed from its forum.
  ///
  /// - Parameter found: the webhook before the body of the request was read.
  public func postToWebhook(
    _ found: Webhook, _ secret: String, _ draft: MessageDraft
  ) async throws(Refusal) -> PostedMessage {
    guard let digest = Secret(parsing: secret)?.digest else { throw .notFound }
    return try await post(draft, in: found.conversation, by: found.caller) { tx throws(Refusal) in
      // The body may have come slowly: the secret may be revoked since.
      guard let webhook = try tx.webhook(withDigest: digest), webhook.id == found.id else { throw .notFound }
      let standing: Standing
      do throws(Refusal) { standing = try tx.rights(of: webhook.caller, in: webhook.conversation).1 } catch .notFound {
        throw .gone
      }
      // Bots could write in an open forum without being members, also after their removal.
      if let forum = standing.forum, forum.role == nil { throw .gone }
      if webhook.lastUsedAt.map({ tx.now - $0 > Community.touchInterval }) ?? true { try tx.touch(webhook.id) }
    }
  }
}

extension CommunityView {
  /// All webhooks, for staff.
  public func listWebhooks(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<Webhook> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.webhooks(slice) }
    }
  }

  public func getWebhook(_ id: ID<Webhook>, for caller: Caller) throws(Refusal) -> Webhook {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      _ = try tx.reloadStaff(caller)
      return try tx.knownWebhook(id)
    }
  }

  /// The webhook with this secret; nil if the secret is unknown or revoked, or the webhook disabled.
  public func webhook(withSecret text: String) throws(Refusal) -> Webhook? {
    guard let secret = Secret(parsing: text) else { return nil }
    return try read { tx throws(Refusal) in try tx.webhook(withDigest: secret.digest) }
  }
}

extension Webhook {
  /// The bot, as the caller of a request with the secret.
  public var caller: Caller { Caller(user: bot, role: .bot, scope: .write, session: nil) }
}

extension ReadTransaction {
  func reloadStaff(_ caller: Caller) throws(Refusal) -> Caller {
    let caller = try reloadCaller(caller)
    guard caller.role?.isStaff == true else { throw .forbidden }
    return caller
  }

  func revalidateStaff(_ caller: Caller) throws(Refusal) -> Caller {
    let caller = try revalidate(caller)
    _ = try caller.requireUser(.admin)
    guard caller.role?.isStaff == true else { throw .forbidden }
    return caller
  }

  fileprivate func knownWebhook(_ id: ID<Webhook>) throws(Refusal) -> Webhook {
    guard let webhook = try webhook(id) else { throw .notFound }
    return webhook
  }

  /// The token that makes the request.
  func token(of caller: Caller, _ user: ID<User>) throws(Refusal) -> ID<Session>? {
    guard let id = caller.session else { return nil }
    return try session(id, of: user, current: nil)?.kind == .token ? id : nil
  }

  /// A room, topic, group or channel in which the caller may add users.
  fileprivate func requireManaged(
    _ id: ID<Conversation>, by caller: Caller
  ) throws(Refusal) -> Conversation {
    guard let conversation = try conversation(id) else { throw .invalid("conversation_id", .unknown) }
    do throws(Refusal) {
      if let forum = conversation.forum {
        try require(ForumRights.manage, caller, in: forum)
        return conversation
      }
      let rights = try rights(of: caller, in: id).0
      guard conversation.kind.isJoined else { throw .invalid("conversation_id", .invalid) }
      guard rights.contains(.manage) else { throw .forbidden }
      return conversation
    } catch .notFound {
      throw .invalid("conversation_id", .unknown)
    }
  }

  /// Throws unless the caller may create a webhook where this one is.
  fileprivate func requireManagement(of webhook: Webhook, by caller: Caller) throws(Refusal) {
    do throws(Refusal) {
      _ = try requireManaged(webhook.conversation, by: caller)
    } catch .invalid {
      throw .forbidden
    }
  }

  /// A free name for the bot, made of the ASCII letters and digits of the webhook's name.
  fileprivate func freeName(like name: String) throws(Refusal) -> String {
    let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    let joined = words.joined(separator: "-").prefix(40)
    let base = joined.isEmpty ? "webhook" : String(joined.hasSuffix("-") ? joined.dropLast() : joined)
    for number in 1...100 {
      let candidate = number == 1 ? base : "\(base)-\(number)"
      do throws(Refusal) {
        try Texts.checkName(candidate)
        try checkIsFree(candidate)
        return candidate
      } catch .invalid {
        continue
      }
    }
    throw .invalid("name", .taken)
  }
}

extension WriteTransaction {
  /// Lets the bot of a new webhook write. Throws if its members may not write there.
  fileprivate func admit(
    _ bot: ID<User>, to conversation: Conversation, _ caller: Caller, _ actor: ID<User>, _ bounds: Bounds
  ) throws(Refusal) {
    if let forum = conversation.forum {
      try addBot(bot, to: forum, caller, actor)
    } else if Permissions.allowsListChange(from: nil, to: .member, in: conversation) {
      guard try participantCount(of: conversation.id, upTo: bounds.participants) < bounds.participants else {
        throw .tooMany(limit: bounds.participants)
      }
      try add(NewParticipant(bot), to: conversation, fromSeq: nil, by: actor)
    }
    guard let standing = try standing(of: bot, in: conversation.id),
      Permissions.rights(of: .bot, in: standing).isSuperset(of: [.read, .write])
    else { throw .invalid("conversation_id", .invalid) }
  }
}

extension WebhookDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> WebhookDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.name = try Texts.webhookName(name, bounds) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension WebhookChange {
  /// Whether members of the conversation see the change, or messages come again. All staff may stop a webhook.
  fileprivate func needsManagement(of webhook: Webhook) -> Bool {
    let keepsPicture =
      switch avatar {
      case .unchanged: true
      case .cleared, .set: false
      }
    let renames = name.map { $0 != webhook.name } ?? false
    return !keepsPicture || renames || isEnabled == true && !webhook.isEnabled
  }
}

extension WebhookChange: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> WebhookChange {
    var checked = self
    checked.name = try name.map { name throws(Refusal) in try Texts.webhookName(name, bounds) }
    return checked
  }
}

extension Texts {
  static func webhookName(_ name: String, _ bounds: Bounds) throws(Refusal) -> String {
    try label(name, "name", scalars: bounds.displayNameScalars)
  }
}
