public import Model
import Storage

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
  /// How exactly a person sees when a way in was last used, in milliseconds.
  static let touchInterval: Int64 = 5 * 60 * 1_000

  /// Nobody waits for it, and when it is lost the next use says it again.
  fileprivate func touch(_ session: ID<Session>) {
    Task { _ = try? await store.write { tx throws(Refusal) in try tx.touch(session) } }
  }
}
