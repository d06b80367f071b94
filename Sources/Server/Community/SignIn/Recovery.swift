// Recovery of a stolen account by the staff. Nothing signs in any more that the thief may have set up: the password, the second
// factor, passkeys, linked accounts, the address of mail, sessions, tokens, connected apps, the cookies of devices. Invites, webhooks,
// slash commands and the tokens of bots end, too: the thief may have made them. The user sets a new password with a link, or keeps one
// linked account.

public import ParleyModel
import Storage

extension CommunityView {
  /// The accounts of a user at issuers, oldest first, for the staff that may recover the user.
  public func listUserIdentities(
    _ page: PageRequest, of reference: UserReference, at service: IssuerService?, for caller: Caller
  ) throws(Refusal) -> ListPage<Identity> {
    _ = try caller.requireUser(.admin)
    let found = try read { tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      guard rights.contains(.govern) else { throw .forbidden }
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in
        try tx.identities(of: user.summary.id, slice)
      }
    }
    return try found.map { identities in identities.map { Identity($0, at: service) } }
  }
}

extension Community {
  /// Takes all ways to sign in from a user, and ends their sessions and tokens, and all that they have made and that gives access.
  ///
  /// - Parameter kept: a linked account that stays, at a provider of the settings.
  /// - Returns: the link with which the user sets a new password; nil if the user may have none.
  public func recoverUser(
    _ reference: UserReference, keeping kept: ID<Identity>?, over service: IssuerService?, by caller: Caller
  ) async throws(Refusal) -> PasswordReset? {
    let actor = try caller.requireUser(.admin)
    let issuers = service.urls
    let secret = try Secret.make()
    return try await store.write { [allowsPasswordSignIn] tx throws(Refusal) in
      let (user, rights) = try tx.user(reference, for: try tx.reloadCaller(caller))
      try tx.requireReset(of: user, rights, by: caller)
      guard user.mayReset else { throw .conflict }
      let id = user.summary.id
      if let kept {
        guard let identity = try tx.identity(kept, of: id), issuers.contains(identity.issuer) else {
          throw .invalid("keep_identity", .unknown)
        }
      }
      let mayHavePassword = allowsPasswordSignIn || user.summary.role == .owner
      guard mayHavePassword || kept != nil else { throw .passwordSignInOff }
      try tx.removeSignInMethods(of: id, keeping: kept, by: actor)
      try tx.endAllSessions(of: id)
      try tx.endAccess(madeBy: id)
      try tx.audit(.userRecovered, by: actor, subject: id.number)
      guard mayHavePassword else { return nil }
      let link = PasswordReset(code: secret.text, expiresAt: tx.now + Self.resetTime)
      try tx.addLink(.reset, for: id, digest: secret.digest, by: actor, expiresAt: link.expiresAt)
      return link
    }
  }
}

extension User {
  /// Whether the staff may create a reset link. Imported users sign up by an invite instead, and bots have tokens alone.
  var mayReset: Bool {
    guard let standing, !standing.isImported, summary.role != .bot else { return false }
    return standing.state == .active || standing.state == .deactivated
  }
}

extension WriteTransaction {
  /// The notices go to the inbox alone: the address may be that of the thief.
  fileprivate func removeSignInMethods(
    of user: ID<User>, keeping kept: ID<Identity>?, by actor: ID<User>
  ) throws(Refusal) {
    try deleteEmail(of: user)
    try deleteMailedLinks(of: user)
    try logPrivateChange(of: user, by: actor)
    try setPassword(nil, of: user)
    if try removeSecondFactor(of: user) { try addNotification(.secondFactorDisabled, of: user, by: actor) }
    if try deletePasskeys(of: user) { try addNotification(.passkeyDeleted, of: user, by: actor) }
    if try deleteIdentities(of: user, except: kept) { try addNotification(.identityUnlinked, of: user, by: actor) }
  }
}
