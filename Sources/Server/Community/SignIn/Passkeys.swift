// Passkeys: keys of authenticators that sign their users in, in place of the password and the second factor. The authenticator
// verifies the user, by a fingerprint or a PIN, so a passkey counts as both factors.

public import ParleyModel
import Storage
public import WebAuthn

extension CommunityView {
  /// The caller's passkeys, oldest first.
  public func listPasskeys(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<Passkey> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.passkeys(of: user, slice) }
    }
  }

  /// Options to make a passkey, for the session of the caller.
  public func createPasskeyOptions(
    at party: RelyingParty, for caller: Caller
  ) throws(Refusal) -> PasskeyCreationOptions {
    let user = try caller.requireUser(.admin)
    return try read { tx throws(Refusal) in
      let session = try tx.requireMayHavePasskey(caller)
      guard let summary = try tx.user(user)?.summary, let name = summary.name else { throw .unauthenticated }
      return PasskeyCreationOptions(
        challenge: try community.challenge(.register, for: session, at: tx.now), host: party.id,
        siteName: try tx.settings().name, userHandle: Base64URL.text(user.passkeyHandle), userName: name,
        displayName: summary.displayName ?? name, algorithms: COSEKey.algorithms,
        excluded: try tx.descriptors(of: user, for: party), timeout: Int(PasskeyChallenge.life))
    }
  }

  /// Options to sign in. They are the same for all callers but for the challenge: the authenticator knows its user.
  public func createPasskeySignInOptions(at party: RelyingParty) throws(Refusal) -> PasskeyRequestOptions {
    try read { tx throws(Refusal) in
      PasskeyRequestOptions(
        challenge: try community.challenge(.signIn, for: nil, at: tx.now), host: party.id, allowed: [],
        timeout: Int(PasskeyChallenge.life))
    }
  }

  /// Options to prove with a passkey that the session is the caller's.
  public func createPasskeyProofOptions(
    at party: RelyingParty, for caller: Caller
  ) throws(Refusal) -> PasskeyRequestOptions {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let session = try tx.requireSession(of: caller)
      return PasskeyRequestOptions(
        challenge: try community.challenge(.prove, for: session, at: tx.now), host: party.id,
        allowed: try tx.descriptors(of: user, for: party), timeout: Int(PasskeyChallenge.life))
    }
  }
}

extension Community {
  fileprivate func challenge(
    _ purpose: PasskeyChallenge.Purpose, for session: ID<Session>?, at now: Int64
  ) throws(Refusal) -> String {
    Base64URL.text(try PasskeyChallenge(purpose, for: session, store.secrets, at: now).bytes)
  }

  /// Registers a passkey of the caller.
  public func createPasskey(
    _ draft: PasskeyDraft, at party: RelyingParty, from origin: SignInOrigin = SignInOrigin(), by caller: Caller
  ) async throws(Refusal) -> Passkey {
    let user = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    guard let session = caller.session else { throw .forbidden }
    try await store.readInBackground(.credentials) { tx throws(Refusal) in _ = try tx.requireMayHavePasskey(caller) }
    let made: NewCredential
    do throws(PasskeyFault) { made = try NewCredential(draft.credential, at: party) } catch { throw .passkey(error) }
    let names = [draft.name, origin.program, party.id]
    let name = names.first { !$0.isEmpty } ?? party.id
    return try await store.write { [secrets = store.secrets] tx throws(Refusal) in
      _ = try tx.requireMayHavePasskey(caller)
      try tx.useUp(try PasskeyChallenge(checking: made.challenge, .register, for: session, secrets, at: tx.now))
      guard try tx.passkey(withCredential: made.credentialID) == nil else { throw .passkey(.taken) }
      guard try tx.passkeyCount(of: user) < Passkey.maxCount else { throw .tooMany(limit: Passkey.maxCount) }
      let id = try tx.add(
        NewPasskey(
          user: user, credentialID: made.credentialID, key: made.key, host: party.id, name: name,
          signCount: made.signCount, isBackupEligible: made.isBackupEligible, isBackedUp: made.isBackedUp,
          transports: made.transports))
      try tx.addNotification(.passkeyCreated, of: user, by: user)
      guard let passkey = try tx.passkey(id, of: user) else { throw .unavailable }
      return passkey
    }
  }

  /// Renames a passkey of the caller.
  public func updatePasskey(_ id: ID<Passkey>, name: String, by caller: Caller) async throws(Refusal) -> Passkey {
    let user = try caller.requireUser(.admin)
    let name = try Texts.line(name, "name", scalars: bounds.labelScalars)
    return try await store.write { tx throws(Refusal) in
      _ = try tx.requireSession(of: caller)
      try tx.rename(id, of: user, to: name)
      guard let passkey = try tx.passkey(id, of: user) else { throw .notFound }
      return passkey
    }
  }

  /// Deletes a passkey, and ends the other sessions that it has opened: it may have been lost with its device. No-op if already
  /// deleted.
  public func deletePasskey(_ id: ID<Passkey>, by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard try tx.passkey(id, of: user) != nil else { return }
      try tx.endSessions(openedBy: id, except: caller.session)
      _ = try tx.deletePasskey(id, of: user)
      try tx.addNotification(.passkeyDeleted, of: user, by: user)
    }
  }

  /// Signs in the user of a passkey, without name, password and code. A deactivated user is reactivated.
  public func signInWithPasskey(
    _ answer: PasskeyAssertion, at party: RelyingParty, on device: String,
    from origin: SignInOrigin = SignInOrigin()
  ) async throws(Refusal) -> OpenedSession {
    let device = try Texts.device(device, bounds)
    let asserted = try Assertion(checking: answer, at: party)
    let (known, now) = try await store.readInBackground(.credentials) { tx throws(Refusal) in
      (try tx.passkey(withCredential: asserted.credentialID), tx.now)
    }
    let challenge = try PasskeyChallenge(
      checking: asserted.challenge, .signIn, for: nil, store.secrets, at: now)
    guard let known else { throw .passkey(.unknown) }
    do throws(Refusal) { try asserted.verify(known, at: party, requiresHandle: true) } catch {
      noteFailure(.passkey, .wrongPasskey, of: known.user, on: device, from: origin)
      throw error
    }
    try await checkMaySignIn(known.user, on: device, from: origin)
    let secret = try Secret.makeToken()
    // A counter that fell is an outcome of the transaction: if it were thrown, the user would not be warned.
    let outcome: Result<OpenedSession, Refusal> = try await store.write { [bounds, deviceKey] tx throws(Refusal) in
      try tx.useUp(challenge)
      guard try tx.noteUse(of: known, by: asserted) else {
        try tx.addSignIn(
          .passkey, .wrongPasskey, of: known.user, on: origin.name(of: device), from: origin.address)
        return .failure(.passkey(.counter))
      }
      // The user was verified, so the device passes the second factor, too.
      let factor = try tx.totp(of: known.user)?.confirmedAt
      let opened = try tx.activeSession(
        of: known.user, secret, by: .passkey, on: device, from: origin, bounds, deviceKey: deviceKey,
        secondFactor: factor)
      try tx.note(opened.id, of: known.id)
      return .success(opened)
    }
    return try outcome.get()
  }

  /// Notes the attempt of a user who may not sign in, and throws.
  private func checkMaySignIn(_ user: ID<User>, on device: String, from origin: SignInOrigin) async throws(Refusal) {
    do throws(Refusal) {
      try await store.readInBackground(.credentials) { tx throws(Refusal) in
        guard let state = try tx.user(user)?.standing?.state else { throw .unauthenticated }
        try tx.checkMaySignIn(user, state)
      }
    } catch {
      noteFailure(.passkey, .refused, of: user, on: device, from: origin)
      throw error
    }
  }

  /// Proves with a passkey that the session is the user's.
  public func proveSession(
    _ answer: PasskeyAssertion, at party: RelyingParty, by caller: Caller
  ) async throws(Refusal) {
    let user = try caller.requireUser()
    let asserted = try Assertion(checking: answer, at: party)
    let (session, known, now) = try await store.readInBackground(.credentials) { tx throws(Refusal) in
      (try tx.requireSession(of: caller), try tx.passkey(withCredential: asserted.credentialID), tx.now)
    }
    let challenge = try PasskeyChallenge(
      checking: asserted.challenge, .prove, for: session, store.secrets, at: now)
    guard let known, known.user == user else { throw .passkey(.unknown) }
    try asserted.verify(known, at: party, requiresHandle: false)
    let isGenuine = try await store.write { tx throws(Refusal) in
      _ = try tx.requireSession(of: caller)
      try tx.useUp(challenge)
      guard try tx.noteUse(of: known, by: asserted) else { return false }
      try tx.prove(session)
      return true
    }
    guard isGenuine else { throw .passkey(.counter) }
  }
}

extension PasskeyDraft: CheckedInput {
  /// An empty name is replaced later.
  public func checked(_ bounds: Bounds) throws(Refusal) -> PasskeyDraft {
    var checked = self
    checked.name = try Texts.line(name, "name", scalars: bounds.labelScalars, atLeast: 0)
    return checked
  }
}

extension ID where Thing == User {
  /// The user's id in authenticators. It is no personal data, and a new passkey replaces a deleted one on the same device.
  var passkeyHandle: [UInt8] { Array(description.utf8) }
}

extension Assertion {
  fileprivate init(checking answer: PasskeyAssertion, at party: RelyingParty) throws(Refusal) {
    do throws(PasskeyFault) { try self.init(answer, at: party) } catch { throw .passkey(error) }
  }

  fileprivate func verify(
    _ known: StoredPasskey, at party: RelyingParty, requiresHandle: Bool
  ) throws(Refusal) {
    // Without a public URL the host is that of the request, which the client sets.
    guard known.host == party.id else { throw .passkey(.wrongSite) }
    do throws(PasskeyFault) {
      try verify(
        key: known.key, userHandle: known.user.passkeyHandle, requiresHandle: requiresHandle,
        isBackupEligible: known.isBackupEligible)
    } catch {
      throw .passkey(error)
    }
  }
}

extension ReadTransaction {
  /// The caller's session, proved within ten minutes. The password or a linked account stays the other way to sign in, so there is one.
  fileprivate func requireMayHavePasskey(_ caller: Caller) throws(Refusal) -> ID<Session> {
    try requireProof(of: caller, forbidsTokens: true)
    let session = try requireSession(of: caller)
    let user = try caller.requireUser()
    let (password, count) = (try password(of: user), try identityCount(of: user))
    guard password != nil || count > 0 else { throw .forbidden }
    return session
  }

  fileprivate func descriptors(of user: ID<User>, for party: RelyingParty) throws(Refusal) -> [PasskeyDescriptor] {
    try passkeyCredentials(of: user, for: party.id).map {
      PasskeyDescriptor(id: Base64URL.text($0.id), transports: $0.transports)
    }
  }
}

extension WriteTransaction {
  /// Stores the counter and the time. Returns false, and warns the user, if the counter did not rise.
  fileprivate func noteUse(of known: StoredPasskey, by asserted: Assertion) throws(Refusal) -> Bool {
    // The passkey may have been used or deleted since the challenge.
    guard let now = try passkey(withCredential: asserted.credentialID), now.id == known.id else {
      throw .passkey(.unknown)
    }
    guard Assertion.isAhead(asserted.signCount, of: now.signCount) else {
      try addNotification(.passkeyCopied, of: known.user, by: known.user)
      return false
    }
    try noteUse(of: known.id, signCount: asserted.signCount, isBackedUp: asserted.isBackedUp)
    return true
  }
}
