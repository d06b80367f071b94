import ParleyCrypto
public import ParleyModel
import Storage

/// A new session. Its secret is returned only once.
public struct OpenedSession: Sendable {
  public let id: ID<Session>
  public let token: String
  /// The signed-in user, with their own fields.
  public let user: User
  /// The time at which the second factor of the sign-in was set up; nil for a sign-in of one step.
  public let secondFactor: Int64?
}

extension CommunityView {
  /// Authenticates a token. Nil if the token is unknown, expired or revoked.
  ///
  /// - Parameter address: the network of the client.
  public func authenticate(_ token: String, from address: String? = nil) throws(Refusal) -> Caller? {
    guard let secret = Secret(parsing: token) else { return nil }
    let (known, now) = try read { tx throws(Refusal) in (try tx.session(withDigest: secret.digest), tx.now) }
    guard let known else {
      if try read({ tx throws(Refusal) in try tx.hasEndedSession(withDigest: secret.digest) }) { throw .sessionEnded }
      return nil
    }
    if known.lastUsedAt.map({ now - $0 > Community.touchInterval }) ?? true {
      community.touch(known.id, known.user, from: address)
    }
    return Caller(
      user: known.user, role: known.role, scope: known.scope, session: known.id, limits: known.limits,
      lacksSecondFactor: known.lacksSecondFactor)
  }

  /// Throws if the caller's credential is no longer valid.
  public func checkSession(of caller: Caller) throws(Refusal) {
    _ = try read { tx throws(Refusal) in try tx.revalidate(caller) }
  }

  /// Throws if the caller may change nothing before they set up a second factor. For a connection: this may have changed
  /// since it was authenticated.
  public func requireSecondFactor(of caller: Caller) throws(Refusal) {
    guard let user = caller.user else { return }
    if try read({ tx throws(Refusal) in try tx.lacksSecondFactor(user) }) { throw .secondFactorMissing }
  }

  /// Throws unless the caller may sign in again.
  public func checkAdmitted(_ caller: Caller) throws(Refusal) {
    let user = try caller.requireUser()
    try read { tx throws(Refusal) in
      guard let state = try tx.user(user)?.standing?.state else { throw .unauthenticated }
      try tx.checkMaySignIn(user, state)
    }
  }

  /// Whether the name is the caller's sign-in name.
  public func isSignInName(_ name: String, _ caller: Caller) throws(Refusal) -> Bool {
    guard let user = caller.user else { return false }
    return try read { tx throws(Refusal) in try tx.user(named: UserName.key(name)) == user }
  }

  /// Whether a user has this name.
  public func isKnown(_ name: String) throws(Refusal) -> Bool {
    guard name.utf8.count <= UserName.maxBytes else { return false }
    return try read { tx throws(Refusal) in try tx.user(named: UserName.key(name)) } != nil
  }

  /// Whether the caller's credential is a token.
  public func isToken(_ caller: Caller) throws(Refusal) -> Bool {
    guard let session = caller.session else { return false }
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in try tx.session(session, of: user, current: nil)?.kind == .token }
  }

  /// A digest of the stored password of the caller's user, which changes with the password; nil if more than the password is
  /// needed to sign in, or the user has none.
  public func passwordDigest(of caller: Caller) throws(Refusal) -> [UInt8]? {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      guard let hash = try tx.password(of: user), try !tx.hasSecondFactor(user) else { return nil }
      do { return try Digest.sha256(of: Array(hash.utf8)) } catch { throw .unavailable }
    }
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
  /// Signs in with name and password. The error does not tell whether the name or the password was wrong. A user with a second
  /// factor gets a challenge, for `confirmSignIn`.
  ///
  /// - Parameter reactivates: whether a deactivated user is reactivated; otherwise they are refused.
  public func signIn(
    name: String, password: String, on device: String, from origin: SignInOrigin = SignInOrigin(),
    reactivates: Bool = true
  ) async throws(Refusal) -> OpenedSession {
    try requirePasswordSignIn()
    let device = try Texts.device(device, bounds)
    guard password.utf8.count <= bounds.passwordBytes, name.utf8.count <= UserName.maxBytes else {
      throw .wrongCredentials
    }
    // Once more if the stored hash has changed meanwhile: by another sign-in, which made it costlier, or by a new password.
    for _ in 1...2 {
      let outcome = try await signInOnce(name, password, on: device, from: origin, reactivates: reactivates)
      if let outcome { return try outcome.get() }
    }
    throw .wrongCredentials
  }

  /// Throws if the operator has switched sign-in by password off. The answer is the same for all names.
  func requirePasswordSignIn() throws(Refusal) {
    guard allowsPasswordSignIn else { throw .passwordSignInOff }
  }

  /// Nil if the stored hash is no longer the one that was checked.
  private func signInOnce(
    _ name: String, _ password: String, on device: String, from origin: SignInOrigin, reactivates: Bool
  ) async throws(Refusal) -> Result<OpenedSession, Refusal>? {
    let known = try await store.readInBackground(.credentials) { tx throws(Refusal) in try tx.credentials(named: name) }
    let isRight = try await passwords.isRight(password, for: known?.password)
    guard isRight, let known, let hash = known.password else {
      if let known { noteFailure(.password, .wrongPassword, of: known.user, on: device, from: origin) }
      throw .wrongCredentials
    }
    if !known.state.maySignIn(reactivating: reactivates) {
      noteFailure(.password, .refused, of: known.user, on: device, from: origin)
      try await store.readInBackground(.credentials) { tx throws(Refusal) in
        try tx.checkMaySignIn(known.user, known.state, reactivating: reactivates)
      }
    }
    let newHash = passwords.isOutdated(hash) ? try await passwords.hash(password) : nil
    let secret = try Secret.makeToken()
    // A challenge is an outcome of the transaction: if it were thrown, the hash would not be stored.
    return try await store.write { [bounds, linkKey, deviceKey] tx throws(Refusal) in
      guard try tx.password(of: known.user) == hash else { return nil }
      if let newHash { try tx.rehashPassword(newHash, of: known.user, from: hash) }
      if let challenge = try tx.recordedChallenge(
        for: known.user, key: linkKey, by: .password, on: device, from: origin)
      {
        return .failure(challenge)
      }
      return .success(
        try tx.activeSession(
          of: known.user, secret, by: .password, on: device, from: origin, bounds, deviceKey: deviceKey,
          reactivates: reactivates))
    }
  }

  /// Revokes one of the caller's sessions, by default the current one. No-op if already revoked.
  public func revokeSession(_ session: ID<Session>?, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser()
    guard let session else { return try await endCurrent(of: user, caller) }
    guard session == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { [signOuts] tx throws(Refusal) in
      try tx.end(session, .session, of: user)
      signOuts.note(user, at: tx.now)
    }
  }

  /// Revokes a session that the caller has not opened, and forgets all devices but that of the caller, so that the next
  /// sign-in there makes a notification.
  ///
  /// - Parameter cookie: of the caller's device.
  /// - Returns: the next cookie of the device, if it had a valid one.
  public func revokeForeignSession(
    _ session: ID<Session>, cookie: String?, by caller: Caller
  ) async throws(Refusal) -> String? {
    let user = try caller.requireUser(.admin)
    guard session != caller.session else { throw .invalid("foreign", .mismatch) }
    return try await store.write { [signOuts, deviceKey] tx throws(Refusal) in
      let known = try cookie.flatMap { text throws(Refusal) in try tx.deviceCookie(text, of: user, key: deviceKey) }
      try tx.end(session, .session, of: user)
      signOuts.note(user, at: tx.now)
      try tx.forgetDevices(of: user)
      return try tx.renewed(known, of: user, key: deviceKey)
    }
  }

  /// Revokes the caller's sessions except the current one. Tokens stay.
  public func revokeOtherSessions(by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try await store.write { [signOuts] tx throws(Refusal) in
      try tx.endOtherSessions(of: user, except: caller.session)
      signOuts.note(user, at: tx.now)
    }
  }

  /// Revokes the current session or token.
  private func endCurrent(of user: ID<User>, _ caller: Caller) async throws(Refusal) {
    guard let session = caller.session else { throw .notFound }
    try await store.write { [signOuts] tx throws(Refusal) in
      try tx.end(session, .session, of: user)
      try tx.end(session, .token, of: user)
      signOuts.note(user, at: tx.now)
    }
  }

  /// Sets a new password and revokes all sessions and, unless `keepsTokens`, all tokens, except the current one. The cookies of
  /// devices end, too.
  ///
  /// - Parameter cookie: of the caller's device.
  /// - Returns: the next cookie of the device, if it had a valid one.
  public func changePassword(
    from old: String, to new: String, keepsTokens: Bool, cookie: String?, by caller: Caller
  ) async throws(Refusal) -> String? {
    let user = try caller.requireUser(.admin)
    try Texts.checkPassword(new, bounds)
    try await store.readInBackground(.credentials) { tx throws(Refusal) in
      try tx.requireProofBesidesPassword(of: caller)
    }
    let storedHash = try await checkPassword(old, "old_password", of: user)
    let hash = try await passwords.hash(new)
    return try await store.write { [deviceKey] tx throws(Refusal) in
      try tx.requireProofBesidesPassword(of: caller)
      guard try tx.password(of: user) == storedHash else { throw .conflict }
      let known = try cookie.flatMap { text throws(Refusal) in try tx.deviceCookie(text, of: user, key: deviceKey) }
      try tx.setPassword(hash, of: user)
      try tx.endSessions(of: user, except: caller.session, keepsTokens: keepsTokens)
      try tx.deleteMailedLinks(of: user)
      try tx.mailNotification(.account(.passwordChanged), of: user)
      return try tx.renewed(known, of: user, key: deviceKey)
    }
  }

  /// The resolution of a session's last-used time, in milliseconds.
  public static let touchInterval: Int64 = 5 * 60 * 1_000

  /// Notes that the caller's session is in use by an open connection.
  public func noteUse(by caller: Caller, from address: String?) {
    guard let session = caller.session, let user = caller.user else { return }
    touch(session, user, from: address)
  }

  /// Updates the last-used time in the background. A lost update is repeated by the next use.
  fileprivate func touch(_ session: ID<Session>, _ user: ID<User>, from address: String?) {
    Task { _ = try? await store.write { tx throws(Refusal) in try tx.touch(session, of: user, from: address) } }
  }
}

extension UserState {
  fileprivate func maySignIn(reactivating: Bool) -> Bool {
    switch self {
    case .active: true
    case .deactivated: reactivating
    case .pending, .disabled, .left, .erased: false
    }
  }
}

extension ReadTransaction {
  /// The password is a proof of users without a second factor. The others need another.
  fileprivate func requireProofBesidesPassword(of caller: Caller) throws(Refusal) {
    if try hasSecondFactor(try caller.requireUser()) { try requireProof(of: caller) }
  }

  /// Throws unless a user in this state may sign in. A banned user receives the end and the reason of the ban.
  func checkMaySignIn(_ user: ID<User>, _ state: UserState, reactivating: Bool = true) throws(Refusal) {
    guard !state.maySignIn(reactivating: reactivating) else { return }
    if state == .disabled, let ban = try sanction(.ban, of: user) {
      throw .banned(until: ban.until, reason: ban.reason)
    }
    throw .notAdmitted(state)
  }
}

extension WriteTransaction {
  /// Opens a session for an authenticated user, and notifies them of a new device.
  func activeSession(
    of userID: ID<User>, _ secret: Secret, by method: SignIn.Method, on device: String, from origin: SignInOrigin,
    _ bounds: Bounds, deviceKey: [UInt8]?, secondFactor: Int64? = nil, reactivates: Bool = true
  ) throws(Refusal) -> OpenedSession {
    guard var user = try user(userID), let state = user.standing?.state else { throw .unauthenticated }
    try checkMaySignIn(userID, state, reactivating: reactivates)
    if state == .deactivated {
      let before = user
      user.standing?.state = .active
      user = try change(before, to: user, by: userID)
    }
    let name = origin.name(of: device)
    let hasCookie =
      try origin.deviceCookie.flatMap { text throws(Refusal) in
        try deviceCookie(text, of: userID, key: deviceKey)
      } != nil
    let isNew = hasCookie ? false : try isNewDevice(name, from: origin.address, of: userID)
    let session = NewSession(
      user: userID, kind: .session, digest: secret.digest, name: name, scope: .admin, address: origin.address)
    let id = try add(session)
    try addSignIn(
      method, .signedIn, of: userID, on: name, from: origin.address, isNewDevice: isNew, session: id)
    if isNew { try addNotification(.signIn, of: userID, session: id, by: userID) }
    try trimSessions(of: userID, limit: bounds.sessions)
    return OpenedSession(id: id, token: secret.text, user: user, secondFactor: secondFactor)
  }
}
