// Sign-up and approval. Cheap checks run before the password is hashed and again in the transaction that creates the
// user.

public import ParleyModel
import Storage

/// The result of a sign-up.
public struct SignUpResult: Sendable {
  public let user: User
  /// Nil while the user waits for approval.
  public let session: OpenedSession?
  /// False if an earlier request with the same `client_id` created the user.
  public let isNew: Bool
}

extension Community {
  public func signUp(
    _ registration: Registration, from origin: SignInOrigin = SignInOrigin()
  ) async throws(Refusal) -> SignUpResult {
    try requirePasswordSignIn()
    let registration = try registration.checked(bounds)
    if let earlier = try await registered(registration, origin) { return earlier }
    do throws(Refusal) { return try await createUser(registration, origin) } catch {
      // A parallel request with the same `client_id` may have taken the name and used up the invite.
      guard case .invalid = error, let earlier = try await registered(registration, origin) else { throw error }
      return earlier
    }
  }

  private func createUser(_ registration: Registration, _ origin: SignInOrigin) async throws(Refusal) -> SignUpResult {
    _ = try await store.readInBackground(.credentials) { tx throws(Refusal) in try tx.checkedSignUp(of: registration) }
    let hash = try await passwords.hash(registration.password)
    let secret = try Secret.makeToken()
    return try await store.write { [bounds, deviceKey] tx throws(Refusal) in
      let checkedSignUp = try tx.checkedSignUp(of: registration)
      let userID = try tx.insertUser(checkedSignUp, hash)
      if let clientID = registration.clientID {
        try tx.remember(.user, by: userID, clientID, subject: userID.number)
      }
      guard checkedSignUp.state == .active else {
        guard let user = try tx.user(userID) else { throw .unavailable }
        return SignUpResult(user: user, session: nil, isNew: true)
      }
      let session = try tx.activeSession(
        of: userID, secret, by: .signUp, on: registration.device, from: origin, bounds, deviceKey: deviceKey)
      return SignUpResult(user: session.user, session: session, isNew: true)
    }
  }

  /// Finds the user created by an earlier request with the same `client_id` and name. The password proves that it is
  /// the same user.
  private func registered(
    _ registration: Registration, _ origin: SignInOrigin
  ) async throws(Refusal) -> SignUpResult? {
    guard let clientID = registration.clientID, let name = registration.name else { return nil }
    // Once more if the stored hash has changed meanwhile, as for a sign-in.
    for _ in 1...2 {
      let outcome = try await registeredOnce(registration, name, clientID, origin)
      if let outcome { return try outcome.get() }
    }
    return nil
  }

  /// Nil if the stored hash is no longer the one that was checked.
  private func registeredOnce(
    _ registration: Registration, _ name: String, _ clientID: String, _ origin: SignInOrigin
  ) async throws(Refusal) -> Result<SignUpResult?, Refusal>? {
    let known = try await store.readInBackground(.credentials) { tx throws(Refusal) -> Credentials? in
      guard let known = try tx.credentials(named: name) else { return nil }
      return try tx.remembered(.user, by: known.user, clientID) == nil ? nil : known
    }
    guard let known, try await passwords.isRight(registration.password, for: known.password) else {
      return .success(nil)
    }
    let secret = try Secret.makeToken()
    return try await store.write { [bounds, linkKey, deviceKey] tx throws(Refusal) in
      guard let user = try tx.user(known.user) else { throw .unavailable }
      guard try tx.password(of: known.user) == known.password else { return nil }
      if let challenge = try tx.recordedChallenge(
        for: known.user, key: linkKey, by: .signUp, on: registration.device, from: origin)
      {
        return .failure(challenge)
      }
      guard user.standing?.state != .pending else {
        return .success(SignUpResult(user: user, session: nil, isNew: false))
      }
      let session = try tx.activeSession(
        of: known.user, secret, by: .signUp, on: registration.device, from: origin, bounds, deviceKey: deviceKey)
      return .success(SignUpResult(user: session.user, session: session, isNew: false))
    }
  }

  /// Approves a pending user. No-op if already active.
  public func approveUser(_ reference: UserReference, by caller: Caller) async throws(Refusal) -> User {
    let actor = try caller.requireUser(.admin)
    return try await store.write { tx throws(Refusal) in
      let (before, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(.govern) else { throw .forbidden }
      guard before.standing?.state == .pending else { return before.redacted(for: rights) }
      var after = before
      after.standing?.state = .active
      let user = try tx.change(before, to: after, by: actor)
      if user.summary.role != .guest { try tx.joinDefaultForums(user.summary.id) }
      try tx.audit(.userApproved, by: actor, subject: user.summary.id.number)
      return user.redacted(for: rights)
    }
  }

  /// Rejects a pending user and frees the name. No-op if the user no longer exists.
  public func rejectUser(_ userID: ID<User>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard let role = caller.role, role.isStaff else { throw .forbidden }
      guard let user = try tx.user(userID) else { return }
      guard user.standing?.state == .pending, try tx.removePending(userID) else { throw .conflict }
      try tx.audit(.userRefused, by: actor, subject: userID.number)
    }
  }
}

/// The checked sign-up.
struct CheckedSignUp {
  let name: UserName
  let displayName: String?
  var role: Role
  let state: UserState
  let invite: Invite?
  /// The imported user who claims the user.
  let claims: User?
}

extension Registration: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> Registration {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in if let name { try Texts.checkName(name) } }
    check { () throws(Refusal) in
      if let displayName { checked.displayName = try Texts.displayName(displayName, bounds) }
    }
    check { () throws(Refusal) in checked.device = try Texts.device(device, bounds) }
    check { () throws(Refusal) in try Texts.checkPassword(password, bounds) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension ReadTransaction {
  /// - Parameter proved: an imported user that the new user has proved to be. It counts as an invite.
  func checkedSignUp(of registration: Registration, claiming proved: User? = nil) throws(Refusal) -> CheckedSignUp {
    let settings = try settings()
    guard settings.registration != .closed else { throw .forbidden }
    if let until = settings.signUpsPausedUntil, until > now { throw .signUpsPaused(until: until) }
    guard settings.rules.isEmpty || registration.acceptsRules else { throw .invalid("accept_rules", .missing) }
    let invite = try registration.invite.map { code throws(Refusal) in try openInvite(code) }
    let isInvited = invite != nil || proved != nil
    guard isInvited || settings.registration != .invite else { throw .invalid("invite", .missing) }

    let claims = try invite?.claims.flatMap { id throws(Refusal) in try user(id) } ?? proved
    guard let name = (registration.name ?? claims?.summary.name).flatMap({ UserName($0) }) else {
      throw .invalid("name", .missing)
    }
    try checkIsFree(name.text, exceptFor: claims?.summary.id)
    return CheckedSignUp(
      name: name, displayName: registration.displayName, role: invite?.role ?? .member,
      state: settings.registration == .approval && !isInvited ? .pending : .active, invite: invite, claims: claims)
  }

  private func openInvite(_ code: String) throws(Refusal) -> Invite {
    guard let secret = Secret(parsing: code), let stored = try invite(withDigest: secret.digest),
      try isUsable(stored)
    else { throw .invalid("invite", .unknown) }
    guard let claimed = stored.claims else { return stored }
    // A banned one stays banned.
    guard let standing = try user(claimed)?.standing, standing.isImported, standing.state == .active else {
      throw .invalid("invite", .unknown)
    }
    return stored
  }
}

extension WriteTransaction {
  /// - Parameter hash: of the password; nil for a user of an issuer.
  func insertUser(_ checkedSignUp: CheckedSignUp, _ hash: String?) throws(Refusal) -> ID<User> {
    let user = try createOrClaim(checkedSignUp, hash)
    if checkedSignUp.state == .active, checkedSignUp.role != .guest { try joinDefaultForums(user) }
    guard let invite = checkedSignUp.invite else { return user }
    try use(invite: invite.id, by: user)
    if let forum = invite.forum { try joinForum(user, in: forum) }
    return user
  }

  private func createOrClaim(_ checkedSignUp: CheckedSignUp, _ hash: String?) throws(Refusal) -> ID<User> {
    guard let before = checkedSignUp.claims else {
      return try add(
        NewUser(
          name: checkedSignUp.name.text, role: checkedSignUp.role, state: checkedSignUp.state, password: hash,
          displayName: checkedSignUp.displayName))
    }
    var after = before
    after.summary.name = checkedSignUp.name.text
    after.summary.displayName = checkedSignUp.displayName ?? before.summary.displayName
    after.standing?.isImported = false
    after.standing?.state = .active
    if let hash { try setPassword(hash, of: before.summary.id) }
    try noteClaim(of: before.summary.id)
    try forgetMailedResets(of: before.summary.id)
    return try change(before, to: after, by: before.summary.id).summary.id
  }
}
