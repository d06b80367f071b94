// Requests of apps to act for a user, and the user's answer: an authorization code.

public import OAuth
public import ParleyModel
import Storage

/// A request of an app that the user is to answer.
public struct PendingAuthorization: Sendable {
  public let app: App
  public let request: AuthorizationRequest
  public let user: User
  /// The forums to which the app limits itself.
  public let forums: [Forum]
  /// The proof that the answer needs; nil if it needs none.
  public let proof: ProofMethods?
}

extension CommunityView {
  /// Whether apps can connect, and whether they can register themselves. Off until an owner allows an app.
  public func oauthState() throws(Refusal) -> (isOn: Bool, hasRegistration: Bool) {
    try read { tx throws(Refusal) in
      let hasRegistration = try tx.settings().appRegistration
      return (try tx.isOAuthOn(), hasRegistration)
    }
  }

  /// The enabled app with this `client_id`.
  public func enabledApp(_ client: String?) throws(Refusal) -> App? {
    guard let id = client.flatMap({ ID<App>($0) }) else { return nil }
    return try read { tx throws(Refusal) in try tx.enabledApp(id) }
  }

  /// The request as the caller is to answer it. Throws `invalid` for forums that the caller may not see.
  public func pendingAuthorization(
    _ request: AuthorizationRequest, of app: App, for caller: Caller
  ) throws(Refusal) -> PendingAuthorization {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let caller = try tx.requireConsenting(caller)
      let id = try caller.requireUser()
      guard let user = try tx.user(id) else { throw .unauthenticated }
      var proof: ProofMethods?
      if request.scope.scope >= .admin, try !tx.isProved(caller) {
        proof = try tx.proofMethods(of: id)
      }
      return PendingAuthorization(
        app: app, request: request, user: user,
        forums: try tx.forums(of: request, for: caller, atMost: community.bounds.appForums), proof: proof)
    }
  }

  /// The value of the hidden field by which the answer is of the page that this session was shown.
  public func consentToken(for caller: Caller, _ query: String) throws(Refusal) -> String {
    guard let session = caller.session, let key = community.linkKey else { throw .unavailable }
    let now = try read { tx throws(Refusal) in tx.now }
    return try ConsentToken(session: session, query: query, key: key, at: now).text
  }

  /// Whether the token is of this request and this session, and has not expired.
  public func isConsentToken(_ text: String, for caller: Caller, _ query: String) throws(Refusal) -> Bool {
    guard let session = caller.session, let key = community.linkKey else { return false }
    let now = try read { tx throws(Refusal) in tx.now }
    return try ConsentToken.isValid(text, session: session, query: query, key: key, at: now)
  }
}

extension Community {
  /// Allows an app what it asks for. Returns the authorization code.
  public func authorizeApp(
    _ id: ID<App>, _ request: AuthorizationRequest, by caller: Caller
  ) async throws(Refusal) -> String {
    let user = try caller.requireUser()
    let secret = try Secret.make()
    return try await store.write { [bounds] tx throws(Refusal) in
      let caller = try tx.requireConsenting(caller)
      guard let app = try tx.enabledApp(id), request.scope.scope <= app.scope,
        app.redirects.contains(where: { $0.matches(request.redirectURI.description) })
      else { throw .notFound }
      _ = try tx.forums(of: request, for: caller, atMost: bounds.appForums)
      // The access goes on after the end of the session.
      if request.scope.scope >= .admin { try tx.requireProof(of: caller, forbidsTokens: true) }
      try tx.add(
        NewAppCode(
          digest: secret.digest, app: id, user: user, scope: request.scope.scope, forums: request.scope.forums,
          redirectURI: request.redirectURI.description, challenge: request.challenge,
          expiresAt: tx.now + AppLifetime.code))
      return secret.text
    }
  }
}

/// Times in milliseconds.
enum AppLifetime {
  static let code: Int64 = 60_000
  static let accessToken: Int64 = 3_600_000
  /// Lifetime of a consent page.
  static let consent: Int64 = 600_000
}

extension ReadTransaction {
  func isOAuthOn() throws(Refusal) -> Bool { try settings().appRegistration ? true : try hasEnabledApp() }

  func enabledApp(_ id: ID<App>) throws(Refusal) -> App? {
    guard let app = try app(id, countsUsers: false), app.isEnabled else { return nil }
    return app
  }

  /// Throws unless the caller has a session: a token allows no app.
  fileprivate func requireConsenting(_ caller: Caller) throws(Refusal) -> Caller {
    let isLacking = caller.lacksSecondFactor
    let caller = try revalidate(caller)
    let user = try caller.requireUser(.admin)
    guard let session = caller.session, try self.session(session, of: user, current: nil)?.kind == .session else {
      throw .forbidden
    }
    if isLacking { throw .secondFactorMissing }
    return caller
  }

  /// The forums of a request. Throws `invalid` unless the caller sees all of them.
  fileprivate func forums(
    of request: AuthorizationRequest, for caller: Caller, atMost limit: Int
  ) throws(Refusal) -> [Forum] {
    let ids = request.scope.forums ?? []
    guard ids.count <= limit else { throw .invalid("scope", .tooMany(limit: limit)) }
    return try ids.sorted().map { id throws(Refusal) in
      do throws(Refusal) { try require(.see, caller, in: id) } catch .notFound { throw .invalid("scope", .unknown) }
      guard let forum = try forum(id) else { throw .invalid("scope", .unknown) }
      return forum
    }
  }
}

/// A token of the consent page: `<end>.<signature>` over the session and the query of the request. A page of another site
/// can't make one, and that of another request does not fit.
private struct ConsentToken {
  private static let purpose = "consent"
  /// Longer input is no token.
  private static let maxBytes = 200

  let text: String

  init(session: ID<Session>, query: String, key: [UInt8], at now: Int64) throws(Refusal) {
    let end = now + AppLifetime.consent
    text = "\(end).\(try TextSignature.make(Self.purpose, Self.claim(session, query, end), key: key))"
  }

  static func isValid(
    _ text: String, session: ID<Session>, query: String, key: [UInt8], at now: Int64
  ) throws(Refusal) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard text.utf8.count <= maxBytes, parts.count == 2, let end = Int64(parts[0]), now < end else { return false }
    return try TextSignature.isRight(parts[1], purpose, claim(session, query, end), key: key)
  }

  private static func claim(_ session: ID<Session>, _ query: String, _ end: Int64) -> String {
    "\(session) \(end) \(query)"
  }
}
