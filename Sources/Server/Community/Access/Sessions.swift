public import ParleyModel
import Storage

/// A new session. Its secret is returned only once.
public struct OpenedSession: Sendable {
  public let id: ID<Session>
  public let token: String
  /// The signed-in user, with their own fields.
  public let user: User
}

extension CommunityView {
  /// Authenticates a token. Nil if the token is unknown, expired or revoked.
  public func authenticate(_ token: String) throws(Refusal) -> Caller? {
    guard let secret = Secret(parsing: token) else { return nil }
    let (known, now) = try read { tx throws(Refusal) in (try tx.session(withDigest: secret.digest), tx.now) }
    guard let known else { return nil }
    if known.lastUsedAt.map({ now - $0 > Community.touchInterval }) ?? true { community.touch(known.id, known.user) }
    return Caller(user: known.user, role: known.role, scope: known.scope, session: known.id)
  }

  /// Throws if the caller's credential is no longer valid.
  public func checkSession(of caller: Caller) throws(Refusal) {
    _ = try read { tx throws(Refusal) in try tx.revalidate(caller) }
  }

  /// Whether the name is the caller's sign-in name.
  public func isSignInName(_ name: String, _ caller: Caller) throws(Refusal) -> Bool {
    guard let user = caller.user else { return false }
    return try read { tx throws(Refusal) in try tx.user(named: UserName.key(name)) == user }
  }

  /// The caller's sessions or tokens, newest first.
  public func sessions(
    _ kind: Session.Kind, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<Session> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.sessions(kind, of: user, slice, current: caller.session)
      }
    }
  }
}

extension Community {
  /// Signs in with name and password. The error does not tell whether the name or the password was wrong. A deactivated
  /// user is reactivated.
  public func signIn(name: String, password: String, on device: String) async throws(Refusal) -> OpenedSession {
    let device = try Texts.device(device, bounds)
    guard password.utf8.count <= bounds.passwordBytes, name.utf8.count <= UserName.maxBytes else {
      throw .wrongCredentials
    }
    let known = try await store.readInBackground(.credentials) { tx throws(Refusal) in try tx.credentials(named: name) }
    let isRight = try await passwords.isRight(password, for: known?.password)
    guard isRight, let known, let hash = known.password else { throw .wrongCredentials }
    if !known.state.maySignIn {
      try await store.readInBackground(.credentials) { tx throws(Refusal) in
        try tx.checkMaySignIn(known.user, known.state)
      }
    }
    let reloadCaller = passwords.isOutdated(hash) ? try await passwords.hash(password) : nil
    let secret = try Secret.makeToken()
    return try await store.write { [bounds] tx throws(Refusal) in
      if let reloadCaller { try tx.rehashPassword(reloadCaller, of: known.user, from: hash) }
      return try tx.activeSession(of: known.user, secret, on: device, bounds)
    }
  }

  /// Revokes one of the caller's sessions, by default the current one. No-op if already revoked.
  public func revokeSession(_ session: ID<Session>?, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser()
    guard let session else { return try await endCurrent(of: user, caller) }
    guard session == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { tx throws(Refusal) in try tx.end(session, .session, of: user) }
  }

  /// Revokes the current session or token.
  private func endCurrent(of user: ID<User>, _ caller: Caller) async throws(Refusal) {
    guard let session = caller.session else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      try tx.end(session, .session, of: user)
      try tx.end(session, .token, of: user)
    }
  }

  /// Sets a new password and revokes all sessions and, unless `keepsTokens`, all tokens, except the current one.
  public func changePassword(
    from old: String, to new: String, keepsTokens: Bool, by caller: Caller
  ) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try Texts.checkPassword(new, bounds)
    guard old.utf8.count <= bounds.passwordBytes else { throw .invalid("old_password", .invalid) }
    let storedHash = try await store.readInBackground(.credentials) { tx throws(Refusal) in try tx.password(of: user) }
    guard try await passwords.isRight(old, for: storedHash) else { throw .invalid("old_password", .invalid) }
    let hash = try await passwords.hash(new)
    try await store.write { tx throws(Refusal) in
      // A concurrent change may have been committed meanwhile.
      guard try tx.password(of: user) == storedHash else { throw .conflict }
      try tx.setPassword(hash, of: user)
      try tx.endSessions(of: user, except: caller.session, keepsTokens: keepsTokens)
    }
  }

  /// The resolution of a session's last-used time, in milliseconds.
  static let touchInterval: Int64 = 5 * 60 * 1_000

  /// Updates the last-used time in the background. A lost update is repeated by the next use.
  fileprivate func touch(_ session: ID<Session>, _ user: ID<User>) {
    Task { _ = try? await store.write { tx throws(Refusal) in try tx.touch(session, of: user) } }
  }
}

extension UserState {
  fileprivate var maySignIn: Bool {
    switch self {
    case .active, .deactivated: true
    case .pending, .disabled, .left, .erased: false
    }
  }
}

extension ReadTransaction {
  /// Throws unless a user in this state may sign in. A banned user receives the end and the reason of the ban.
  func checkMaySignIn(_ user: ID<User>, _ state: UserState) throws(Refusal) {
    guard !state.maySignIn else { return }
    if state == .disabled, let ban = try sanction(.ban, of: user) {
      throw .banned(until: ban.until, reason: ban.reason)
    }
    throw .notAdmitted(state)
  }
}

extension WriteTransaction {
  /// Opens a session for an authenticated user.
  func activeSession(
    of userID: ID<User>, _ secret: Secret, on device: String, _ bounds: Bounds
  ) throws(Refusal) -> OpenedSession {
    guard var user = try user(userID), let state = user.standing?.state else { throw .unauthenticated }
    try checkMaySignIn(userID, state)
    if state == .deactivated {
      let before = user
      user.standing?.state = .active
      user = try change(before, to: user, by: userID)
    }
    let session = NewSession(user: userID, kind: .session, digest: secret.digest, name: device, scope: .admin)
    let id = try add(session)
    try trimSessions(of: userID, limit: bounds.sessions)
    return OpenedSession(id: id, token: secret.text, user: user)
  }
}
