public import ParleyModel
import Storage

/// A token that a person made for a program.
public struct MadeToken: Sendable {
  public let session: Session
  /// Nil for a repeated request: it was told once.
  public let secret: String?
}

extension Community {
  /// Good for no more, and for no longer, than the way in by which it was asked for.
  public func makeToken(_ draft: TokenDraft, by caller: Caller) async throws(Refusal) -> MadeToken {
    let account = try caller.person(for: .write)
    let draft = try draft.checked(bounds)
    guard draft.scope <= caller.scope else { throw .forbidden }
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      if let earlier = try tx.token(draft, of: account) { return MadeToken(session: earlier, secret: nil) }
      guard let current = caller.session, let way = try tx.session(current, of: account, current: nil) else {
        throw .unauthenticated
      }
      return try tx.addToken(draft, secret, for: account, until: way.expiresAt, atMost: bounds.tokens)
    }
  }

  /// One that was ended before stays so.
  public func endToken(_ token: ID<Session>, by caller: Caller) async throws(Refusal) {
    let account = try caller.person()
    guard token == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { tx throws(Refusal) in try tx.end(token, .token, of: account) }
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
  /// `end` is when the way in ends by which it was asked for.
  func addToken(
    _ draft: TokenDraft, _ secret: Secret, for account: ID<Account>, until end: Int64? = nil, atMost limit: Int
  ) throws(Refusal) -> MadeToken {
    if let expiresAt = draft.expiresAt, expiresAt <= now { throw .invalid("expires_at", .invalid) }
    guard try sessionCount(.token, of: account) < limit else { throw .tooMany(limit: limit) }
    let token = NewSession(
      account: account, kind: .token, digest: secret.digest, name: draft.name, scope: draft.scope,
      expiresAt: [draft.expiresAt, end].compactMap(\.self).min())
    let id = try add(token)
    if let clientID = draft.clientID { try remember(.token, by: account, clientID, subject: id.number) }
    guard let made = try session(id, of: account, current: nil) else { throw .unavailable }
    return MadeToken(session: made, secret: secret.text)
  }
}

extension ReadTransaction {
  /// What the same request made before.
  fileprivate func token(_ draft: TokenDraft, of account: ID<Account>) throws(Refusal) -> Session? {
    guard let clientID = draft.clientID, let made = try remembered(.token, by: account, clientID) else { return nil }
    guard let token = try session(ID(made.subject), of: account, current: nil) else { throw .gone }
    guard token.name == draft.name, token.scope == draft.scope else { throw .clientIDReused }
    return token
  }
}
