public import ParleyModel
import Storage

/// A way in that has just been made: the only time that its secret is known.
public struct OpenedSession: Sendable {
  public let id: ID<Session>
  public let token: String
  /// Whose it is, as they see themselves.
  public let person: Person
}

extension CommunityView {
  /// Who shows this token; nil if it lets nobody in, or no longer.
  public func caller(showing token: String) throws(Refusal) -> Caller? {
    guard let secret = Secret(shown: token) else { return nil }
    let (known, now) = try read { tx throws(Refusal) in (try tx.session(withDigest: secret.digest), tx.now) }
    guard let known else { return nil }
    if known.lastUsedAt.map({ now - $0 > Community.touchInterval }) ?? true { community.touch(known.id, known.account) }
    return Caller(account: known.account, role: known.role, scope: known.scope, session: known.id)
  }

  /// Refuses who is no longer let in the way they came.
  public func checkAdmission(of caller: Caller) throws(Refusal) {
    _ = try read { tx throws(Refusal) in try tx.admitted(caller) }
  }

  /// Whether it is by this name that the caller signs in.
  public func isCalled(_ name: String, _ caller: Caller) throws(Refusal) -> Bool {
    guard let account = caller.account else { return false }
    return try read { tx throws(Refusal) in try tx.account(named: AccountName.key(name)) == account }
  }

  /// The caller's own ways in of one kind, the newest first: one more than `limit`, where there are more.
  public func sessions(
    _ kind: Session.Kind, before: ID<Session>?, limit: Int, for caller: Caller
  ) throws(Refusal) -> [Session] {
    let account = try caller.person()
    return try read { tx throws(Refusal) in
      try tx.sessions(kind, of: account, before: before, limit: limit + 1, current: caller.session)
    }
  }
}

extension Community {
  /// By name and password. Whether the name or the password was wrong is not told. Who had gone away by their own wish is
  /// back.
  public func signIn(name: String, password: String, on device: String) async throws(Refusal) -> OpenedSession {
    let device = try Texts.device(device, bounds)
    guard password.utf8.count <= bounds.passwordBytes, name.utf8.count <= AccountName.mostBytes else {
      throw .unauthenticated
    }
    let known = try await store.readInBackground { tx throws(Refusal) in try tx.credentials(named: name) }
    let isRight = try await passwords.isRight(password, for: known?.password)
    guard isRight, let known, let hash = known.password else { throw .unauthenticated }
    try known.state.checkAdmission()
    let renewed = passwords.isOutdated(hash) ? try await passwords.hash(password) : nil
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      if let renewed { try tx.renewPassword(renewed, of: known.account, from: hash) }
      return try tx.openSession(of: known.account, secret, on: device, bounds)
    }
  }

  /// Ends a session of the caller's: the one that asks, where none is named. One that has ended already stays so.
  public func end(_ session: ID<Session>?, by caller: Caller) async throws(Refusal) {
    let account = try caller.person()
    guard let session else { return try await endCurrent(of: account, caller) }
    guard session == caller.session || caller.scope >= .admin else { throw .forbidden }
    try await store.write { tx throws(Refusal) in try tx.end(session, .session, of: account) }
  }

  /// A token may end itself so.
  private func endCurrent(of account: ID<Account>, _ caller: Caller) async throws(Refusal) {
    guard let session = caller.session else { throw .notFound }
    try await store.write { tx throws(Refusal) in
      try tx.end(session, .session, of: account)
      try tx.end(session, .token, of: account)
    }
  }

  /// Sets a new password, and ends the sessions that were opened with the old one, but for the one that asks.
  public func changePassword(from old: String, to new: String, by caller: Caller) async throws(Refusal) {
    let account = try caller.person(for: .admin)
    try Texts.checkPassword(new, bounds)
    guard old.utf8.count <= bounds.passwordBytes else { throw .invalid("old_password", .invalid) }
    let kept = try await store.readInBackground { tx throws(Refusal) in try tx.password(of: account) }
    guard try await passwords.isRight(old, for: kept) else { throw .invalid("old_password", .invalid) }
    let hash = try await passwords.hash(new)
    try await store.write { tx throws(Refusal) in
      // Another change may have come between.
      guard try tx.password(of: account) == kept else { throw .conflict }
      try tx.setPassword(hash, of: account)
      try tx.endSessions(of: account, but: caller.session)
    }
  }

  /// How exactly a person sees when a way in was last used, in milliseconds.
  static let touchInterval: Int64 = 5 * 60 * 1_000

  /// Nobody waits for it, and when it is lost the next use says it again.
  fileprivate func touch(_ session: ID<Session>, _ account: ID<Account>) {
    Task { _ = try? await store.write { tx throws(Refusal) in try tx.touch(session, of: account) } }
  }
}

extension AccountState {
  /// Whether who proved who they are may come in.
  func checkAdmission() throws(Refusal) {
    switch self {
    case .active, .deactivated: break
    case .waiting, .disabled, .left, .erased: throw .notAdmitted(self)
    }
  }
}

extension WriteTransaction {
  /// Lets somebody in who has proved who they are.
  func openSession(
    of account: ID<Account>, _ secret: Secret, on device: String, _ bounds: Bounds
  ) throws(Refusal) -> OpenedSession {
    guard var person = try person(account), let state = person.standing?.state else { throw .unauthenticated }
    try state.checkAdmission()
    if state == .deactivated {
      let before = person
      person.standing?.state = .active
      person = try change(before, to: person, by: account)
    }
    let session = NewSession(account: account, kind: .session, digest: secret.digest, name: device, scope: .admin)
    let id = try add(session)
    try trimSessions(of: account, most: bounds.sessions)
    return OpenedSession(id: id, token: secret.text, person: person)
  }
}
