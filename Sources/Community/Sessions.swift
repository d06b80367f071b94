public import Model
import Storage

/// A way in that has just been made: the only time that its secret is known.
public struct OpenedSession: Sendable {
  public let id: ID<Session>
  public let account: ID<Account>
  public let token: String
}

extension CommunityView {
  /// Who shows this token; nil if it lets nobody in, or no longer.
  public func caller(showing token: String) throws(Refusal) -> Caller? {
    guard let secret = Secret(shown: token) else { return nil }
    let (known, now) = try read { tx throws(Refusal) in (try tx.session(withDigest: secret.digest), tx.now) }
    guard let known else { return nil }
    if known.lastUsedAt.map({ now - $0 > Community.touchInterval }) ?? true { community.touch(known.id) }
    return Caller(account: known.account, role: known.role, scope: known.scope, session: known.id)
  }
}

extension Community {
  /// By name and password. Whether the name or the password was wrong is not told.
  public func signIn(name: String, password: String, on device: String) async throws(Refusal) -> OpenedSession {
    guard password.utf8.count <= bounds.passwordBytes, name.utf8.count <= bounds.nameBytes else {
      throw .unauthenticated
    }
    let known = try await store.readInBackground { tx throws(Refusal) in try tx.credentials(named: name) }
    let isRight = try await passwords.isRight(password, for: known?.password)
    guard isRight, let known else { throw .unauthenticated }
    guard known.state == .active || known.state == .deactivated else { throw .forbidden }
    let secret = try Secret.make()
    let session = NewSession(
      account: known.account, kind: .session, digest: secret.digest, name: device, scope: .admin)
    let id = try await store.write { tx throws(Refusal) in try tx.add(session) }
    return OpenedSession(id: id, account: known.account, token: secret.text)
  }

  /// Ends the session that asks, or another of the same person.
  public func end(_ session: ID<Session>?, by caller: Caller) async throws(Refusal) {
    let account = try caller.person()
    guard let session = session ?? caller.session else { throw .notFound }
    let isEnded = try await store.write { tx throws(Refusal) in try tx.end(session, of: account) }
    guard isEnded else { throw .notFound }
  }

  /// How exactly a person sees when a way in was last used, in milliseconds.
  static let touchInterval: Int64 = 5 * 60 * 1_000

  /// Nobody waits for it, and when it is lost the next use says it again.
  fileprivate func touch(_ session: ID<Session>) {
    Task { _ = try? await store.write { tx throws(Refusal) in try tx.touch(session) } }
  }
}
