// Tokens of bots, which the staff lists, creates and revokes. A bot is renewed by a new token and the end of the old one.

public import ParleyModel
import Storage

extension Community {
  /// Creates another token of a bot. The same rules hold as for the token of a new bot.
  public func createBotToken(
    _ draft: TokenDraft, of bot: UserReference, by caller: Caller
  ) async throws(Refusal) -> CreatedToken {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    guard draft.scope < .admin else { throw .invalid("scope", .notAllowed(Scope.ofBots)) }
    guard draft.password == nil else { throw .invalid("password", .invalid) }
    let secret = try Secret.makeToken()
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      guard caller.limits.areNone else { throw .forbidden }
      let bot = try tx.bot(bot, for: caller)
      guard bot.standing?.state == .active else { throw .conflict }
      let id = bot.summary.id
      if let earlier = try tx.token(draft, of: id) { return CreatedToken(session: earlier, secret: nil) }
      try tx.checkForums(of: draft.limits, for: caller)
      // A token outlives the session.
      try tx.requireProof(of: caller)
      let credential = try caller.session.flatMap { session throws(Refusal) in
        try tx.session(session, of: actor, current: nil)
      }
      let created = try tx.addToken(draft, secret, for: id, madeBy: credential, atMost: bounds.tokens, by: actor)
      try tx.audit(.botTokenCreated, by: actor, subject: id.number, reason: draft.name)
      return created
    }
  }

  /// Revokes a token of a bot and the tokens that it created. No-op if already revoked.
  public func revokeBotToken(_ token: ID<Session>, of bot: UserReference, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.revalidateStaff(caller)
      let id = try tx.bot(bot, for: caller).summary.id
      guard let known = try tx.session(token, of: id, current: nil), known.kind == .token else { return }
      try tx.end(token, .token, of: id)
      try tx.audit(.botTokenRevoked, by: actor, subject: id.number, reason: known.name)
    }
  }
}

extension CommunityView {
  /// The tokens of a bot, for staff, newest first.
  public func listBotTokens(
    of bot: UserReference, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<Session> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let caller = try tx.reloadStaff(caller)
      let id = try tx.bot(bot, for: caller).summary.id
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.sessions(.token, of: id, slice, current: caller.session)
      }
    }
  }
}

extension ReadTransaction {
  fileprivate func bot(_ reference: UserReference, for caller: Caller) throws(Refusal) -> User {
    let user = try user(reference, for: caller).user
    guard user.summary.role == .bot else { throw .notFound }
    return user
  }
}

extension Scope {
  /// The scopes that a token of a bot may have, by name.
  static var ofBots: [String] { allCases.filter { $0 < .admin }.map(\.rawValue) }
}
