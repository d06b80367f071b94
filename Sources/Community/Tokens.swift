public import Model
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
    var draft = draft
    draft.name = try Texts.line(draft.name, "name", scalars: bounds.labelScalars)
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    guard draft.scope <= caller.scope else { throw .forbidden }
    let secret = try Secret.make()
    return try await store.write { [bounds, draft] tx throws(Refusal) in
      if let earlier = try tx.token(draft, of: account) { return MadeToken(session: earlier, secret: nil) }
      guard let current = caller.session, let way = try tx.session(current, of: account, current: nil) else {
        throw .unauthenticated
      }
      if let expiresAt = draft.expiresAt, expiresAt <= tx.now { throw .invalid("expires_at", .invalid) }
      guard try tx.sessionCount(.token, of: account) < bounds.tokens else { throw .tooMany(limit: bounds.tokens) }
      let token = NewSession(
        account: account, kind: .token, digest: secret.digest, name: draft.name, scope: draft.scope,
        expiresAt: [draft.expiresAt, way.expiresAt].compactMap(\.self).min())
      let id = try tx.add(token)
      if let clientID = draft.clientID { try tx.remember(.token, by: account, clientID, subject: id.number) }
      guard let made = try tx.session(id, of: account, current: nil) else { throw .unavailable }
      return MadeToken(session: made, secret: secret.text)
    }
  }

  /// One that was ended before stays so.
  public func endToken(_ token: ID<Session>, by caller: Caller) async throws(Refusal) {
    let account = try caller.person()
    guard token == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { tx throws(Refusal) in try tx.end(token, .token, of: account) }
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
