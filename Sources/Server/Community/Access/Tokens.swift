public import ParleyModel
import Storage

/// The result of creating a token.
public struct CreatedToken: Sendable {
  public let session: Session
  /// Nil for a repeated request: the secret is returned only once.
  public let secret: String?
}

extension Community {
  /// Creates a token. Its scope and expiry are bounded by the caller's credential.
  public func createToken(_ draft: TokenDraft, by caller: Caller) async throws(Refusal) -> CreatedToken {
    let user = try caller.requireUser(.write)
    let draft = try draft.checked(bounds)
    guard draft.scope <= caller.scope else { throw .forbidden }
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      if let earlier = try tx.token(draft, of: user) { return CreatedToken(session: earlier, secret: nil) }
      guard let current = caller.session, let credential = try tx.session(current, of: user, current: nil) else {
        throw .unauthenticated
      }
      return try tx.addToken(draft, secret, for: user, until: credential.expiresAt, atMost: bounds.tokens)
    }
  }

  /// Revokes a token. No-op if already revoked.
  public func revokeToken(_ token: ID<Session>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser()
    guard token == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { tx throws(Refusal) in try tx.end(token, .token, of: user) }
  }
}

extension TokenDraft {
  func checked(_ bounds: Bounds) throws(Refusal) -> TokenDraft {
    var checked = self
    checked.name = try Texts.line(name, "name", scalars: bounds.labelScalars)
    if let clientID { try Texts.checkClientID(clientID, bounds) }
    return checked
  }
}

extension WriteTransaction {
  /// `end` is the expiry of the credential that requests the token.
  func addToken(
    _ draft: TokenDraft, _ secret: Secret, for user: ID<User>, until end: Int64? = nil, atMost limit: Int
  ) throws(Refusal) -> CreatedToken {
    if let expiresAt = draft.expiresAt, expiresAt <= now { throw .invalid("expires_at", .invalid) }
    guard try sessionCount(.token, of: user) < limit else { throw .tooMany(limit: limit) }
    let token = NewSession(
      user: user, kind: .token, digest: secret.digest, name: draft.name, scope: draft.scope,
      expiresAt: [draft.expiresAt, end].compactMap(\.self).min())
    let id = try add(token)
    if let clientID = draft.clientID { try remember(.token, by: user, clientID, subject: id.number) }
    guard let created = try session(id, of: user, current: nil) else { throw .unavailable }
    return CreatedToken(session: created, secret: secret.text)
  }
}

extension ReadTransaction {
  /// The token that an earlier request with the same `client_id` created.
  fileprivate func token(_ draft: TokenDraft, of user: ID<User>) throws(Refusal) -> Session? {
    guard let clientID = draft.clientID, let previous = try remembered(.token, by: user, clientID) else {
      return nil
    }
    guard let token = try session(ID(previous.subject), of: user, current: nil) else { throw .gone }
    guard token.name == draft.name, token.scope == draft.scope else { throw .clientIDReused }
    return token
  }
}
