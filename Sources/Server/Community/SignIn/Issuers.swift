// Sign-in with accounts at OpenID providers. An account is linked by issuer and subject, never by an address. The request to the
// issuer is a sealed cookie; its answer counts once, and in the same browser alone.

public import OIDC
import Mail
import ParleyCrypto
public import ParleyModel
import Storage

/// The issuers of the site, and the program's way to them.
public struct IssuerService: Sendable {
  public let issuers: [Issuer]
  let metadata: @Sendable (Issuer) async throws(OIDCFault) -> ProviderMetadata
  let keys: @Sendable (Issuer, SignedToken) async throws(OIDCFault) -> KeySet
  /// Exchanges a code.
  let exchange: @Sendable (String, SignInRequest, Issuer) async throws(OIDCFault) -> SignedToken

  public init(
    _ issuers: [Issuer], metadata: @escaping @Sendable (Issuer) async throws(OIDCFault) -> ProviderMetadata,
    keys: @escaping @Sendable (Issuer, SignedToken) async throws(OIDCFault) -> KeySet,
    exchange: @escaping @Sendable (String, SignInRequest, Issuer) async throws(OIDCFault) -> SignedToken
  ) {
    self.issuers = issuers
    self.metadata = metadata
    self.keys = keys
    self.exchange = exchange
  }

  public subscript(_ id: String) -> Issuer? { issuers.first { $0.id == id } }
}

/// A page of an issuer, and the cookie that the answer needs.
public struct IssuerRedirect: Sendable {
  public let page: IssuerPage
  public let cookie: String
}

/// The outcome of an issuer's answer.
public enum IssuerOutcome: Sendable {
  case signedIn(OpenedSession, back: String)
  /// The account has a second factor here, and the issuer has checked none.
  case codeRequired(challenge: String, back: String)
  /// No user is linked. The cookie lets one sign up.
  case newUser(cookie: String)
  case linked(back: String)
  case proved(back: String)
}

extension IssuerService? {
  /// The URLs of the issuers that sign users in. Those of earlier settings are not among them.
  var urls: [String] { self?.issuers.map(\.url) ?? [] }
}

extension Identity {
  init(_ stored: StoredIdentity, at service: IssuerService?) {
    let issuer = service?.issuers.first { $0.url == stored.issuer }
    self.init(
      id: stored.id, issuer: issuer?.id, issuerName: issuer?.name ?? stored.issuer, name: stored.name,
      createdAt: stored.createdAt, lastUsedAt: stored.lastUsedAt)
  }
}

enum IssuerCookie {
  static let request = "issuer request"
  static let ticket = "issuer ticket"
}

extension CommunityView {
  /// The caller's accounts at issuers, oldest first.
  public func listIdentities(
    _ page: PageRequest, of service: IssuerService?, for caller: Caller
  ) throws(Refusal) -> ListPage<Identity> {
    let user = try caller.requireUser()
    let found = try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.identities(of: user, slice) }
    }
    return try found.map { identities in identities.map { Identity($0, at: service) } }
  }

  /// The account that a visitor may create with the cookie of an answer; nil for an invalid cookie.
  public func signUpTicket(in cookie: String?, at issuer: Issuer) throws(Refusal) -> SignUpTicket? {
    let now = try read { tx throws(Refusal) in tx.now }
    return try community.ticket(in: cookie, at: issuer, now: now)
  }
}

extension Community {
  /// Starts a sign-in, or a proof for the session of the caller.
  public func startSignIn(
    at issuer: Issuer, _ purpose: SignInRequest.Purpose, redirectURI: String, back: String, invite: String? = nil,
    over service: IssuerService, by caller: Caller
  ) async throws -> IssuerRedirect {
    let metadata = try await service.metadata(issuer)
    let now = try await store.readInBackground(.credentials) { tx throws(Refusal) in tx.now }
    do throws(CryptoError) {
      let request = try SignInRequest(
        to: issuer, purpose, session: purpose == .signIn ? nil : caller.session, redirectURI: redirectURI, back: back,
        invite: invite, at: now)
      return IssuerRedirect(
        page: IssuerPage(url: try request.url(at: metadata, for: issuer)),
        cookie: try SealedCookie.seal(request, store.secrets, for: IssuerCookie.request))
    } catch {
      throw Refusal.unavailable
    }
  }

  /// Starts to link an account at an issuer to the caller.
  ///
  /// - Parameter origin: of the site, as the browser knows it.
  public func linkIdentity(
    at id: String, origin: String, back: String?, over service: IssuerService?, by caller: Caller
  ) async throws -> IssuerRedirect {
    _ = try caller.requireUser(.admin)
    try await store.readInBackground(.credentials) { tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard caller.session != nil else { throw .forbidden }
    }
    guard let service, let issuer = service[id] else { throw Refusal.invalid("issuer", .unknown) }
    guard let back else { throw Refusal.invalid("back", .invalid) }
    return try await startSignIn(
      at: issuer, .link, redirectURI: origin + issuer.callbackPath, back: back, over: service, by: caller)
  }

  /// Unlinks an account of the caller, and ends the other sessions that it has opened. No-op if already unlinked.
  public func unlinkIdentity(
    _ id: ID<Identity>, over service: IssuerService?, by caller: Caller
  ) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    let issuers = service.urls
    try await store.write { [allowsPasswordSignIn] tx throws(Refusal) in
      try tx.requireProof(of: caller, forbidsTokens: true)
      guard try tx.identity(id, of: user) != nil else { return }
      let password = try tx.password(of: user)
      if !allowsPasswordSignIn || password == nil {
        guard try tx.hasIdentity(at: issuers, of: user, except: id) else { throw .lastSignInMethod }
      }
      try tx.endSessions(openedBy: id, except: caller.session)
      try tx.deleteIdentity(id)
      try tx.addNotification(.identityUnlinked, of: user, by: user)
    }
  }

  /// Takes the answer of an issuer.
  ///
  /// - Parameters:
  ///   - query: of the redirect.
  ///   - cookie: of the request.
  public func completeSignIn(
    _ query: String, cookie: String?, at issuer: Issuer, over service: IssuerService, from origin: SignInOrigin,
    by caller: Caller
  ) async throws -> IssuerOutcome {
    let request = try request(in: cookie)
    guard request.issuer == issuer.id else { throw OIDCFault(.state, "The request went to \(request.issuer).") }
    let code = try request.code(in: query, of: issuer, at: try await service.metadata(issuer))
    let now = try await useUp(request)
    let signed = try await service.exchange(code, request, issuer)
    let keys = try await service.keys(issuer, signed)
    let token = try IDToken(
      signed, signedBy: keys, of: issuer, nonce: request.nonce, at: now / 1_000,
      authenticatedSince: request.purpose == .prove ? request.startedAt / 1_000 : nil)
    switch request.purpose {
    case .signIn: return try await signIn(token, request, issuer, from: origin)
    case .link:
      try await link(token, request, issuer, by: caller)
      return .linked(back: request.back)
    case .prove:
      try await prove(token, request, issuer, by: caller)
      return .proved(back: request.back)
    }
  }

  /// Ends sessions at the request of the issuer (OpenID Connect Back-Channel Logout §2.5).
  public func endSessions(_ logout: String, at issuer: Issuer, over service: IssuerService) async throws {
    let signed = try SignedToken(logout)
    let keys = try await service.keys(issuer, signed)
    // Strangers send tokens, too: the signature is checked outside of the writer.
    let now = try await store.readInBackground(.credentials) { tx throws(Refusal) in tx.now }
    let token = try LogoutToken(signed, signedBy: keys, of: issuer, at: now / 1_000)
    let fault: OIDCFault? = try await store.write { tx throws(Refusal) in
      guard try tx.useUp("logout \(issuer.url) \(token.id)", until: token.expiresAt * 1_000) else {
        return OIDCFault(.replayed)
      }
      if let subject = token.subject {
        try tx.endSessions(at: issuer.url, subject: subject, sid: token.sessionID)
      } else if let sid = token.sessionID {
        try tx.endSessions(at: issuer.url, sid: sid)
      }
      return nil
    }
    if let fault { throw fault }
  }

  /// Creates a user for an account at an issuer.
  ///
  /// - Parameter keepsEmail: whether the site sends mail, so that a verified address is of use.
  public func signUp(
    named name: String, displayName: String?, acceptsRules: Bool, with cookie: String?, at issuer: Issuer,
    keepsEmail: Bool, from origin: SignInOrigin
  ) async throws -> (result: SignUpResult, back: String) {
    let now = try await store.readInBackground(.credentials) { tx throws(Refusal) in tx.now }
    guard let ticket = try ticket(in: cookie, at: issuer, now: now) else { throw OIDCFault(.noRequest) }
    var registration = Registration(
      name: name, password: "", displayName: displayName, invite: ticket.invite, acceptsRules: acceptsRules)
    try Texts.checkName(name)
    if let displayName { registration.displayName = try Texts.displayName(displayName, bounds) }
    let secret = try Secret.makeToken()
    let result: SignUpResult? = try await store.write { [bounds, deviceKey, registration] tx throws(Refusal) in
      guard try tx.identity(at: issuer.url, subject: ticket.subject) == nil else { return nil }
      let claimed = try tx.claimedUser(by: ticket, at: issuer)
      var checked = try tx.checkedSignUp(of: registration, claiming: claimed)
      if let role = ticket.role { checked.role = role }
      let userID = try tx.insertUser(checked, nil)
      // An imported user has a role of before.
      if let role = ticket.role { try tx.applyRole(role, to: userID, of: issuer, isLost: false, keeping: nil) }
      let identity = try tx.addIdentity(
        of: userID, at: issuer.url, subject: ticket.subject, name: ticket.label)
      if keepsEmail, let address = ticket.email.flatMap({ MailAddress($0) }) {
        _ = try tx.setPendingEmail(address.description, of: userID, window: Self.confirmationTime)
        try tx.confirmEmail(of: userID)
      }
      guard checked.state == .active else {
        guard let user = try tx.user(userID) else { throw .unavailable }
        return SignUpResult(user: user, session: nil, isNew: true)
      }
      let session = try tx.activeSession(
        of: userID, secret, by: .signUp, on: "", from: origin, bounds, deviceKey: deviceKey)
      try tx.note(session.id, of: identity, sid: ticket.sessionID)
      return SignUpResult(user: session.user, session: session, isNew: true)
    }
    // A second press of the button: the account has signed up meanwhile.
    guard let result else { throw OIDCFault(.replayed) }
    return (result, ticket.back)
  }

  // MARK: Cookies

  /// The request that waits for its answer.
  private func request(in cookie: String?) throws -> SignInRequest {
    let request: SignInRequest?
    do { request = try cookie.flatMap { try SealedCookie.open($0, store.secrets, for: IssuerCookie.request) } } catch {
      throw Refusal.unavailable
    }
    guard let request else { throw OIDCFault(.noRequest) }
    return request
  }

  fileprivate func ticket(in cookie: String?, at issuer: Issuer, now: Int64) throws(Refusal) -> SignUpTicket? {
    guard let cookie else { return nil }
    let ticket: SignUpTicket?
    do { ticket = try SealedCookie.open(cookie, store.secrets, for: IssuerCookie.ticket) } catch { throw .unavailable }
    guard let ticket, ticket.issuer == issuer.id, now < ticket.expiresAt else { return nil }
    return ticket
  }

  /// Takes a request out of use. Returns the time in milliseconds.
  private func useUp(_ request: SignInRequest) async throws -> Int64 {
    let end = request.startedAt + SignInRequest.life
    let (isFirst, now) = try await store.write { tx throws(Refusal) in
      (try tx.useUp("state \(request.state)", until: end), tx.now)
    }
    guard now < end else { throw OIDCFault(.requestExpired) }
    guard isFirst else { throw OIDCFault(.replayed) }
    return now
  }

  // MARK: Purposes

  private func signIn(
    _ token: IDToken, _ request: SignInRequest, _ issuer: Issuer, from origin: SignInOrigin
  ) async throws -> IssuerOutcome {
    let secret = try Secret.makeToken()
    // Faults are outcomes of the transaction: a lost role and an entry among the sign-ins stay.
    let outcome: Result<IssuerOutcome?, any Error> = try await store.write {
      [bounds, linkKey, deviceKey] tx throws(Refusal) in
      guard let identity = try tx.identity(at: issuer.url, subject: token.subject) else { return .success(nil) }
      if let fault = try tx.applyGroups(of: token, to: identity, at: issuer, keeping: nil) {
        return .failure(fault)
      }
      guard let state = try tx.user(identity.user)?.standing?.state else { throw .unauthenticated }
      do throws(Refusal) { try tx.checkMaySignIn(identity.user, state) } catch {
        try tx.addSignIn(.issuer, .refused, of: identity.user, on: origin.name(of: ""), from: origin.address)
        return .failure(error)
      }
      try tx.noteUse(of: identity.id, name: token.label)
      let session = IssuerSession(identity.id, sid: token.sessionID)
      if !token.hasSecondFactor,
        let challenge = try tx.recordedChallenge(
          for: identity.user, identity: session, key: linkKey, by: .issuer, on: "", from: origin),
        case .secondFactorRequired(let text, _) = challenge
      {
        return .success(.codeRequired(challenge: text, back: request.back))
      }
      let opened = try tx.activeSession(
        of: identity.user, secret, by: .issuer, on: "", from: origin, bounds, deviceKey: deviceKey)
      try tx.note(opened.id, of: identity.id, sid: token.sessionID)
      // An issuer may answer without asking its user, which proves nothing.
      try tx.setProof(of: opened.id, at: token.authenticatedAt.map { $0 * 1_000 })
      return .success(.signedIn(opened, back: request.back))
    }
    if let done = try outcome.get() { return done }
    return .newUser(cookie: try await newUser(token, request, issuer))
  }

  /// The cookie with which a visitor signs up.
  private func newUser(
    _ token: IDToken, _ request: SignInRequest, _ issuer: Issuer
  ) async throws -> String {
    if token.email != nil, token.isEmailVerified == false { throw OIDCFault(.unverifiedEmail) }
    var role: Role?
    if let roles = issuer.roles {
      role = roles.role(of: token.groups)
      guard role != nil else { throw OIDCFault(.noRole, token.groups.joined(separator: " ")) }
    }
    let now = try await store.readInBackground(.credentials) { tx throws(Refusal) in
      let email = token.isEmailVerified == true ? token.email : nil
      let claimed = try tx.claimedUser(subject: token.subject, email: email, at: issuer)
      try tx.requireOpenRegistration(isInvited: request.invite != nil || claimed != nil)
      return tx.now
    }
    let ticket = SignUpTicket(token, role: role, for: request, at: now)
    do { return try SealedCookie.seal(ticket, store.secrets, for: IssuerCookie.ticket) } catch {
      throw Refusal.unavailable
    }
  }

  private func link(
    _ token: IDToken, _ request: SignInRequest, _ issuer: Issuer, by caller: Caller
  ) async throws {
    guard let user = caller.user, let session = caller.session, session == request.session else {
      throw OIDCFault(.otherUser)
    }
    let fault: OIDCFault? = try await store.write { tx throws(Refusal) in
      guard try tx.session(session, of: user, current: nil)?.kind == .session else { throw .forbidden }
      if let known = try tx.identity(at: issuer.url, subject: token.subject) {
        return known.user == user ? nil : OIDCFault(.linkedElsewhere)
      }
      guard try tx.identityCount(of: user) < Identity.maxCount else { return OIDCFault(.tooManyAccounts) }
      _ = try tx.addIdentity(of: user, at: issuer.url, subject: token.subject, name: token.label)
      try tx.addNotification(.identityLinked, of: user, by: user)
      return nil
    }
    if let fault { throw fault }
  }

  private func prove(
    _ token: IDToken, _ request: SignInRequest, _ issuer: Issuer, by caller: Caller
  ) async throws {
    guard let user = caller.user, let session = caller.session, session == request.session else {
      throw OIDCFault(.otherUser)
    }
    let fault: OIDCFault? = try await store.write { tx throws(Refusal) in
      guard let known = try tx.identity(at: issuer.url, subject: token.subject) else {
        return OIDCFault(.notLinked)
      }
      guard known.user == user, try tx.session(session, of: user, current: nil)?.kind == .session else {
        return OIDCFault(.otherUser)
      }
      if let fault = try tx.applyGroups(of: token, to: known, at: issuer, keeping: session) { return fault }
      // The account has a second factor here, and the issuer has checked none.
      if !token.hasSecondFactor, try tx.hasSecondFactor(user) { return OIDCFault(.acr, "no second factor") }
      try tx.prove(session)
      return nil
    }
    if let fault { throw fault }
  }
}

extension ReadTransaction {
  /// Throws unless new users may sign up.
  fileprivate func requireOpenRegistration(isInvited: Bool) throws(Refusal) {
    let settings = try settings()
    switch settings.registration {
    case .closed: throw .forbidden
    case .invite: guard isInvited else { throw .invalid("invite", .missing) }
    case .open, .approval: break
    }
    if let until = settings.signUpsPausedUntil, until > now { throw .signUpsPaused(until: until) }
  }
}

extension WriteTransaction {
  /// Takes a text out of use. Returns false if it was used before.
  fileprivate func useUp(_ text: String, until end: Int64) throws(Refusal) -> Bool {
    let digest: [UInt8]
    do { digest = try Digest.sha256(of: Array(text.utf8)) } catch { throw .unavailable }
    return try useUp(challenge: digest, until: end)
  }

  /// Applies the roles of the issuer. Without a role the sessions and tokens of the user end; of the last owner only the
  /// sessions that the issuer has opened.
  ///
  /// - Parameter session: the one that is proved; nil at a sign-in.
  fileprivate func applyGroups(
    of token: IDToken, to identity: StoredIdentity, at issuer: Issuer, keeping session: ID<Session>?
  ) throws(Refusal) -> OIDCFault? {
    guard let roles = issuer.roles else { return nil }
    guard let role = roles.role(of: token.groups) else {
      try applyRole(.member, to: identity.user, of: issuer, isLost: true, keeping: nil)
      if try user(identity.user)?.isActiveOwner == true {
        try endSessions(openedBy: identity.id)
      } else {
        try endAllSessions(of: identity.user)
      }
      return OIDCFault(.noRole, token.groups.joined(separator: " "))
    }
    try applyRole(role, to: identity.user, of: issuer, isLost: false, keeping: session)
    return nil
  }

  /// Gives a user the role of their groups, also a lower one, which ends the sessions and tokens of the earlier role. The last
  /// owner keeps the role.
  ///
  /// - Parameters:
  ///   - isLost: whether the groups give no role: then only roles above `role` change, and the caller ends the sessions.
  ///   - session: goes on.
  fileprivate func applyRole(
    _ role: Role, to id: ID<User>, of issuer: Issuer, isLost: Bool, keeping session: ID<Session>?
  ) throws(Refusal) {
    guard let before = try user(id), before.summary.role != role, before.standing?.state.hasGone == false,
      !isLost || role.isBelow(before.summary.role)
    else { return }
    if before.isActiveOwner, try !hasOwner(except: id) { return }
    var after = before
    after.summary.role = role
    let user = try change(before, to: after, by: id)
    try startRoleAccessChange(of: id, from: before.summary.role, to: role, by: id)
    if before.summary.role.isStaff, !role.isStaff { try revokeWebhooks(of: id) }
    if !isLost { try endSessions(of: id, except: session, keepsTokens: false) }
    try mailNotification(.account(.roleChanged), of: id)
    try audit(
      .roleChanged, by: id, subject: id.number, reason: "Groups at \(issuer.name)",
      changes: user.summary.changes(since: before.summary, only: ["role"]))
  }
}
