public import ParleyModel
import Storage

/// The result of creating a token.
public struct CreatedToken: Sendable {
  public let session: Session
  /// Nil for a repeated request: the secret is returned only once.
  public let secret: String?
}

extension Community {
  /// Creates a token. Its scope and expiry are bounded by the caller's credential. Scope `admin` needs the password or a
  /// proof of the session: a stolen credential alone creates none. With a second factor the password is not enough.
  public func createToken(_ draft: TokenDraft, by caller: Caller) async throws(Refusal) -> CreatedToken {
    let user = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    guard draft.scope <= caller.scope else { throw .forbidden }
    // The tokens that a limited one would create have limits of their own. Staff set those of bots.
    guard caller.limits.areNone, draft.limits.rate == nil || caller.role != .bot else { throw .forbidden }
    if let password = draft.password { try await checkPassword(password, "password", of: user) }
    let secret = try Secret.makeToken()
    return try await store.write { [bounds] tx throws(Refusal) in
      if let earlier = try tx.token(draft, of: user) { return CreatedToken(session: earlier, secret: nil) }
      guard let current = caller.session, let credential = try tx.session(current, of: user, current: nil) else {
        throw .unauthenticated
      }
      try tx.checkForums(of: draft.limits, for: try tx.reloadCaller(caller))
      if draft.scope >= .admin, try !tx.isProved(caller) {
        guard draft.password != nil, try !tx.hasSecondFactor(user) else { throw try tx.stepUpRequired(of: user) }
      }
      return try tx.addToken(draft, secret, for: user, madeBy: credential, atMost: bounds.tokens, by: user)
    }
  }

  /// Revokes a token and the tokens that it created. No-op if already revoked.
  public func revokeToken(_ token: ID<Session>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser()
    guard token == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { tx throws(Refusal) in try tx.end(token, .token, of: user) }
  }
}

extension TokenDraft: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> TokenDraft {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.name = try Texts.line(name, "name", scalars: bounds.labelScalars) }
    limits.check(&check, bounds)
    check { () throws(Refusal) in
      guard limits.forums == nil || scope < .admin else { throw .invalid("scope", .notAllowed(Scope.ofBots)) }
    }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension TokenLimits {
  /// - Parameter prefix: the path of the limits in the body.
  func check(_ check: inout FieldChecks, in prefix: String = "", _ bounds: Bounds) {
    check { () throws(Refusal) in
      guard let forums else { return }
      guard !forums.isEmpty else { throw .invalid("\(prefix)forums", .missing) }
      guard forums.count <= bounds.tokenForums else {
        throw .invalid("\(prefix)forums", .tooMany(limit: bounds.tokenForums))
      }
    }
    check { () throws(Refusal) in
      if let rate, !Self.rates.contains(rate) { throw .invalid("\(prefix)rate_limit", .outOfRange(Self.rates)) }
    }
  }
}

extension WriteTransaction {
  /// Creates a token and notifies its user, or the owner of a bot. A token that was made by another ends with it, at the
  /// latest.
  func addToken(
    _ draft: TokenDraft, _ secret: Secret, for user: ID<User>, madeBy credential: Session? = nil, atMost limit: Int,
    by actor: ID<User>
  ) throws(Refusal) -> CreatedToken {
    if let expiresAt = draft.expiresAt, expiresAt <= now { throw .invalid("expires_at", .invalid) }
    guard try sessionCount(.token, of: user) < limit else { throw .tooMany(limit: limit) }
    // A session ends when it is idle; its tokens do not.
    let parent = credential?.kind == .token ? credential : nil
    // The grant of an app outlives its access tokens, and what the app has made ends with the grant.
    let parentEnd =
      try parent.map { parent throws(Refusal) in try isOfApp(parent.id) } == true ? nil : parent?.expiresAt
    let token = NewSession(
      user: user, kind: .token, digest: secret.digest, name: draft.name, scope: draft.scope,
      expiresAt: [draft.expiresAt, parentEnd].compactMap(\.self).min(), parent: parent?.id,
      limits: draft.limits)
    let id = try add(token)
    try addNotification(.token, of: try self.user(user)?.standing?.owner ?? user, by: actor)
    if let clientID = draft.clientID { try remember(.token, by: user, clientID, subject: id.number) }
    guard let created = try session(id, of: user, current: nil) else { throw .unavailable }
    return CreatedToken(session: created, secret: secret.text)
  }
}

extension ReadTransaction {
  /// Throws unless the caller sees the forums to which a token is limited.
  func checkForums(of limits: TokenLimits, _ field: String = "forums", for caller: Caller) throws(Refusal) {
    for forum in limits.forums ?? [] {
      do throws(Refusal) { try require(.see, caller, in: forum) } catch .notFound {
        throw .invalid(field, .unknown)
      }
    }
  }

  /// The token that an earlier request with the same `client_id` created.
  func token(_ draft: TokenDraft, of user: ID<User>) throws(Refusal) -> Session? {
    guard let clientID = draft.clientID, let previous = try remembered(.token, by: user, clientID) else {
      return nil
    }
    guard let token = try session(ID(previous.subject), of: user, current: nil) else { throw .gone }
    guard token.name == draft.name, token.scope == draft.scope, token.limits == draft.limits else {
      throw .clientIDReused
    }
    return token
  }
}
