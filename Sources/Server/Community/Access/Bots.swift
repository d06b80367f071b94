// Bots that the staff creates: users without a password, with a token and an owner.

public import ParleyModel
import Storage

/// The result of creating a bot.
public struct CreatedBot: Sendable {
  public let user: User
  /// The token. Nil for a repeated request: the secret is returned only once.
  public let token: String?
}

extension Community {
  /// Creates a bot with a token, and makes it a member of the named forums or else of the default forums.
  ///
  /// The token ends at the latest with the token of the caller, like every token that a token created.
  public func createBot(_ draft: BotDraft, by caller: Caller) async throws(Refusal) -> CreatedBot {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    let fingerprint = try draft.fingerprint()
    let secret = try Secret.makeToken()
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidate(caller)
      _ = try caller.requireUser(.admin)
      guard caller.role?.isStaff == true, caller.limits.areNone else { throw .forbidden }
      if let earlier = try tx.bot(draft, fingerprint, by: caller, actor) {
        return CreatedBot(user: earlier, token: nil)
      }
      // Its token outlives the session.
      try tx.requireProof(of: caller)
      try tx.checkForums(of: draft.limits, "limits.forums", for: caller)
      guard try tx.botCount() < bounds.bots else { throw .tooMany(limit: bounds.bots) }
      try tx.checkIsFree(draft.name)
      let bot = try tx.add(NewUser(name: draft.name, role: .bot, displayName: draft.displayName, owner: actor))
      let forums = if let named = draft.forums { named } else { try tx.defaultForums() }
      for forum in Set(forums).sorted() { try tx.addBot(bot, to: forum, caller, actor) }
      let credential = try caller.session.flatMap { id throws(Refusal) in
        try tx.session(id, of: actor, current: nil)
      }
      var token = TokenDraft(name: draft.name, scope: draft.scope)
      token.limits = draft.limits
      let created = try tx.addToken(token, secret, for: bot, madeBy: credential, atMost: bounds.tokens, by: actor)
      if let clientID = draft.clientID {
        try tx.remember(.bot, by: actor, clientID, subject: bot.number, fingerprint: fingerprint)
      }
      try tx.audit(.botCreated, by: actor, subject: bot.number)
      let (user, rights) = try tx.user(.id(bot), for: caller)
      return CreatedBot(user: user.redacted(for: rights), token: created.secret)
    }
  }
}

extension CommunityView {
  /// The bots of the site, for staff.
  public func listBots(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<Bot> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      guard let role = try tx.reloadCaller(caller).role, role.isStaff else { throw .forbidden }
      let found = try ListPage(page, by: { ListKey($0.user.summary.id) }) { slice throws(Refusal) in
        try tx.bots(slice)
      }
      return try found.map { bots in
        bots.map { Bot($0.user.redacted(for: caller, role), tokenCount: $0.tokenCount, lastUsedAt: $0.lastUsedAt) }
      }
    }
  }
}

extension BotDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> BotDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in try Texts.checkName(name) }
    check { () throws(Refusal) in
      if let displayName { checked.displayName = try Texts.displayName(displayName, bounds) }
    }
    check { () throws(Refusal) in
      if let forums, forums.count > bounds.botForums { throw .invalid("forums", .tooMany(limit: bounds.botForums)) }
    }
    check { () throws(Refusal) in
      guard scope < .admin else {
        throw .invalid("scope", .notAllowed(Scope.ofBots))
      }
    }
    limits.check(&check, in: "limits.", bounds)
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension ReadTransaction {
  /// The bot that an earlier request with the same `client_id` created.
  fileprivate func bot(
    _ draft: BotDraft, _ fingerprint: [UInt8], by caller: Caller, _ actor: ID<User>
  ) throws(Refusal) -> User? {
    guard let clientID = draft.clientID, let earlier = try remembered(.bot, by: actor, clientID) else { return nil }
    guard earlier.fingerprint == fingerprint else { throw .clientIDReused }
    let found = try user(.id(ID(earlier.subject)), for: caller)
    guard found.user.standing?.state.hasGone == false else { throw .gone }
    return found.user.redacted(for: found.rights)
  }
}

extension WriteTransaction {
  /// Makes a new bot a member of a forum. Its token is returned to the caller: if they may not read the forum, the audit
  /// log records it as if they had joined.
  func addBot(
    _ bot: ID<User>, to forum: ID<Forum>, _ caller: Caller, _ actor: ID<User>
  ) throws(Refusal) {
    let standing: ForumStanding
    do throws(Refusal) { standing = try require(.manage, caller, in: forum) } catch .notFound {
      throw .invalid("forums", .unknown)
    }
    try joinForum(bot, in: forum, by: actor)
    guard !Permissions.rights(of: caller.role, in: standing).contains(.read) else { return }
    try audit(.forumEntered, by: actor, subject: forum.number, in: forum)
  }
}
