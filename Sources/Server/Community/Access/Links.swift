// One-time links: setup for the first owner, and password reset.

public import ParleyModel
import Storage

/// A password reset link, to be passed on by staff.
public struct PasswordReset: Sendable {
  public let code: String
  public let expiresAt: Int64
}

extension Community {
  /// Creates the setup link for the first owner, or nil if the site has an owner. Each call voids the previous link.
  public func createSetupLink() async throws(Refusal) -> String? {
    let secret = try Secret.make()
    return try await store.write { tx throws(Refusal) in
      guard try !tx.hasOwner() else { return nil }
      try tx.addLink(.setup, digest: secret.digest)
      return secret.text
    }
  }

  /// Creates a link by which the first owner signs in. Nil while all users may sign in with passwords: the link is the way
  /// back when no issuer answers.
  public func createOwnerLink() async throws(Refusal) -> String? {
    guard !allowsPasswordSignIn else { return nil }
    let secret = try Secret.make()
    return try await store.write { tx throws(Refusal) in
      guard let owner = try tx.owner() else { return nil }
      try tx.addLink(.reset, for: owner, digest: secret.digest, by: owner, expiresAt: tx.now + Self.resetTime)
      try tx.audit(.passwordReset, by: owner, subject: owner.number)
      return secret.text
    }
  }

  /// Lifetime of a reset link in milliseconds: one day.
  static let resetTime: Int64 = 86_400_000

  /// Creates a password reset link. Voids the user's earlier links.
  public func createPasswordReset(for reference: UserReference, by caller: Caller) async throws(Refusal)
    -> PasswordReset
  {
    let actor = try caller.requireUser(.admin)
    let secret = try Secret.make()
    return try await store.write { [allowsPasswordSignIn] tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      try tx.requireReset(of: user, rights, by: caller)
      guard allowsPasswordSignIn || user.summary.role == .owner else { throw .passwordSignInOff }
      guard user.mayReset else { throw .conflict }
      let link = PasswordReset(code: secret.text, expiresAt: tx.now + Self.resetTime)
      let userID = user.summary.id
      try tx.addLink(.reset, for: userID, digest: secret.digest, by: actor, expiresAt: link.expiresAt)
      try tx.audit(.passwordReset, by: actor, subject: userID.number)
      return link
    }
  }

  /// Signs in with the link and consumes it. A user with a second factor gets the new password and a challenge.
  public func useLink(
    _ code: String, _ use: LinkUse, from origin: SignInOrigin = SignInOrigin()
  ) async throws(Refusal) -> OpenedSession {
    let use = try use.checked(bounds)
    guard let link = Secret(parsing: code) else { throw .notFound }
    let kind = try await store.readInBackground(.credentials) { tx throws(Refusal) in try tx.purpose(of: link).kind }
    guard kind == .reset || use.name != nil else { throw .invalid("name", .missing) }
    guard kind == .setup || (use.name ?? use.displayName) == nil else { throw .invalid("name", .unknownField) }
    let hash = try await passwords.hash(use.password)
    let secret = try Secret.makeToken()
    // A challenge is an outcome of the transaction: if it were thrown, the link would not be consumed.
    let outcome: Result<OpenedSession, Refusal> = try await store.write {
      [bounds, linkKey, deviceKey, allowsPasswordSignIn] tx throws(Refusal) in
      let user = try tx.useUp(link, use, hash)
      let role = try tx.user(user)?.summary.role
      guard allowsPasswordSignIn || role == .owner else { throw .passwordSignInOff }
      if let challenge = try tx.recordedChallenge(for: user, key: linkKey, by: .link, on: use.device, from: origin) {
        return .failure(challenge)
      }
      return .success(
        try tx.activeSession(
          of: user, secret, by: .link, on: use.device, from: origin, bounds, deviceKey: deviceKey))
    }
    return try outcome.get()
  }
}

extension CommunityView {
  /// The purpose of a link. Throws `gone` if the link can no longer be used.
  public func getLink(_ code: String) throws(Refusal) -> LinkPurpose {
    guard let link = Secret(parsing: code) else { throw .notFound }
    return try read { tx throws(Refusal) in
      if let invite = try tx.purpose(ofInvite: link) { return invite }
      return try tx.purpose(of: link)
    }
  }
}

extension LinkUse: CheckedInput {
  public func checked(_ bounds: Bounds) throws(Refusal) -> LinkUse {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in if let name { try Texts.checkName(name) } }
    check { () throws(Refusal) in
      if let displayName { checked.displayName = try Texts.displayName(displayName, bounds) }
    }
    check { () throws(Refusal) in checked.device = try Texts.device(device, bounds) }
    check { () throws(Refusal) in try Texts.checkPassword(password, bounds) }
    try check.finish()
    return checked
  }
}

extension ReadTransaction {
  fileprivate func purpose(of secret: Secret) throws(Refusal) -> LinkPurpose {
    guard let link = try link(withDigest: secret.digest) else { throw .notFound }
    guard link.usedAt == nil, link.expiresAt.map({ $0 > now }) ?? true else { throw .gone }
    switch link.kind {
    case .setup:
      guard try !hasOwner() else { throw .gone }
      return LinkPurpose(kind: .setup, user: nil, expiresAt: nil)
    case .reset:
      guard let user = try link.user.flatMap({ id throws(Refusal) in try user(id) }), user.summary.role != .bot else {
        throw .gone
      }
      return LinkPurpose(kind: .reset, user: user.summary, expiresAt: link.expiresAt)
    // Invites have a table of their own.
    case .invite: throw .notFound
    }
  }
}

extension WriteTransaction {
  /// Consumes the link, sets the password and returns the user.
  fileprivate func useUp(_ secret: Secret, _ use: LinkUse, _ hash: String) throws(Refusal) -> ID<User> {
    let purpose = try purpose(of: secret)
    try useUp(linkWithDigest: secret.digest)
    if let user = purpose.user?.id {
      try setPassword(hash, of: user)
      try endAllSessions(of: user)
      try deleteMailedLinks(of: user)
      try mailNotification(.account(.passwordChanged), of: user)
      return user
    }
    guard let name = use.name else { throw .invalid("name", .missing) }
    try checkIsFree(name)
    return try add(NewUser(name: name, role: .owner, password: hash, displayName: use.displayName))
  }
}
