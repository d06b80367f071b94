// Tokens of apps: the exchange of codes and refresh tokens, revocation (RFC 7009) and introspection (RFC 7662). A second use
// of a code or of a refresh token ends its grant (RFC 6749 §4.1.2, RFC 9700 §4.14.2).

import ParleyCrypto
public import OAuth
public import ParleyModel
import Storage

/// The answer to a token request.
public struct IssuedTokens: Sendable {
  public let accessToken: String
  public let refreshToken: String
  public let scope: OAuthScope
  /// Seconds.
  public let expiresIn: Int
}

/// An outcome of a token request. A refusal may have ended a grant, so it is no error of the transaction.
public enum TokenOutcome: Sendable {
  case issued(IssuedTokens)
  case refused(OAuthError)
  /// A code or a refresh token was used again. Its grant has ended.
  case reused(ID<App>, OAuthError)
}

/// The facts about a valid token, for its app.
public struct TokenFacts: Sendable {
  public let app: ID<App>
  public let user: ID<User>
  public let userName: String?
  public let scope: OAuthScope
  /// Seconds since 1970; nil for a refresh token.
  public let issuedAt: Int?
  public let expiresAt: Int?
}

extension Community {
  /// Exchanges a code or a refresh token.
  public func issueTokens(
    _ request: TokenRequest, for client: ClientCredentials
  ) async throws(Refusal) -> TokenOutcome {
    let secrets = (try Secret.makeToken(), try Secret.makeToken(.refresh))
    return try await store.write { tx throws(Refusal) in
      do throws(OAuthFault) {
        let app = try tx.client(client)
        switch request {
        case .code(let code, let uri, let verifier):
          return .issued(try tx.exchange(code, uri, verifier, for: app, secrets))
        case .refresh(let token, let scope): return .issued(try tx.refresh(token, scope, for: app, secrets))
        }
      } catch {
        switch error {
        case .refused(let error): return .refused(error)
        case .reused(let app, let error): return .reused(app, error)
        case .failed(let refusal): throw refusal
        }
      }
    }
  }

  /// Revokes an access token, or a refresh token with its whole grant. An unknown token is no error.
  public func revokeAppToken(_ text: String, for client: ClientCredentials) async throws(Refusal) -> OAuthError? {
    let secret = Secret(parsing: text)
    return try await store.write { tx throws(Refusal) in
      do throws(OAuthFault) {
        let app = try tx.client(client)
        guard let secret else { return nil }
        try tx.revoke(secret, for: app)
        return nil
      } catch {
        switch error {
        case .refused(let error), .reused(_, let error): return error
        case .failed(let refusal): throw refusal
        }
      }
    }
  }
}

extension CommunityView {
  /// The facts about a token of the client; nil for any other token.
  public func introspect(
    _ text: String, for client: ClientCredentials
  ) throws(Refusal) -> Result<TokenFacts?, OAuthError> {
    try read { tx throws(Refusal) in
      do throws(OAuthFault) {
        let app = try tx.client(client)
        guard app.isConfidential else {
          throw .refused(OAuthError(.invalidClient, "A client without a secret can't introspect tokens."))
        }
        return .success(try tx.facts(of: text, for: app))
      } catch {
        switch error {
        case .refused(let error), .reused(_, let error): return .failure(error)
        case .failed(let refusal): throw refusal
        }
      }
    }
  }
}

/// An error of the protocol, or a refusal of the database.
private enum OAuthFault: Error {
  case refused(OAuthError)
  case reused(ID<App>, OAuthError)
  case failed(Refusal)

  static let unknownGrant = refused(OAuthError(.invalidGrant, "The code or token is unknown, expired or revoked."))

  /// Runs a query, whose refusals are no errors of the protocol.
  static func query<Value>(_ body: () throws(Refusal) -> Value) throws(OAuthFault) -> Value {
    do throws(Refusal) { return try body() } catch { throw .failed(error) }
  }
}

extension ReadTransaction {
  /// The enabled app that the credentials are of. A public client has no secret.
  fileprivate func client(_ credentials: ClientCredentials) throws(OAuthFault) -> App {
    let unknown = OAuthFault.refused(OAuthError(.invalidClient, "The client is unknown, or its secret is wrong."))
    guard let id = ID<App>(credentials.client) else { throw unknown }
    let found = try OAuthFault.query { () throws(Refusal) in (try enabledApp(id), try secretDigest(of: id)) }
    guard let app = found.0 else { throw unknown }
    guard let digest = found.1 else {
      guard credentials.secret == nil else { throw unknown }
      return app
    }
    guard let secret = credentials.secret.flatMap({ Secret(parsing: $0) }), ConstantTime.isEqual(secret.digest, digest)
    else { throw unknown }
    return app
  }

  fileprivate func isActive(_ user: ID<User>) throws(Refusal) -> Bool {
    try self.user(user)?.standing?.state == .active
  }

  fileprivate func facts(of text: String, for app: App) throws(OAuthFault) -> TokenFacts? {
    guard let secret = Secret(parsing: text) else { return nil }
    return try OAuthFault.query { () throws(Refusal) -> TokenFacts? in
      if let token = try accessToken(withDigest: secret.digest), token.grant.app == app.id {
        return TokenFacts(
          app: app.id, user: token.grant.user, userName: try user(token.grant.user)?.summary.name,
          scope: OAuthScope(token.scope, forums: token.forums), issuedAt: Int(token.createdAt / 1_000),
          expiresAt: Int(token.expiresAt / 1_000))
      }
      guard let token = try refreshToken(withDigest: secret.digest), token.grant.app == app.id, !token.isUsed,
        try isActive(token.grant.user)
      else { return nil }
      return TokenFacts(
        app: app.id, user: token.grant.user, userName: try user(token.grant.user)?.summary.name,
        scope: OAuthScope(token.grant.scope, forums: token.grant.forums), issuedAt: nil, expiresAt: nil)
    }
  }
}

extension WriteTransaction {
  fileprivate func exchange(
    _ text: String, _ redirectURI: String?, _ verifier: String, for app: App,
    _ secrets: (access: Secret, refresh: Secret)
  ) throws(OAuthFault) -> IssuedTokens {
    guard let secret = Secret(parsing: text),
      let code = try OAuthFault.query({ () throws(Refusal) in try appCode(withDigest: secret.digest) }),
      code.app == app.id
    else { throw .unknownGrant }
    if let grant = code.grant {
      try OAuthFault.query { () throws(Refusal) in try endGrant(grant) }
      throw .reused(app.id, OAuthError(.invalidGrant, "The code was used before. Its tokens have ended."))
    }
    guard now < code.expiresAt else { throw .unknownGrant }
    guard redirectURI == nil || redirectURI == code.redirectURI else {
      throw .refused(OAuthError(.invalidGrant, "The redirect_uri is not that of the code."))
    }
    guard PKCE.isRight(verifier, for: code.challenge) else {
      throw .refused(OAuthError(.invalidGrant, "The code_verifier is not that of the code_challenge."))
    }
    return try OAuthFault.query { () throws(Refusal) -> IssuedTokens? in
      guard try isActive(code.user), code.scope <= app.scope else { return nil }
      let grant = try addGrant(of: code, withDigest: secret.digest)
      try trimGrants(of: app.id, by: code.user)
      try addNotification(.token, of: code.user, by: code.user)
      return try issue(OAuthScope(grant.scope, forums: grant.forums), of: grant, app, replacing: nil, secrets)
    }.required
  }

  fileprivate func refresh(
    _ text: String, _ scope: OAuthScope?, for app: App, _ secrets: (access: Secret, refresh: Secret)
  ) throws(OAuthFault) -> IssuedTokens {
    guard let secret = Secret(parsing: text),
      let token = try OAuthFault.query({ () throws(Refusal) in try refreshToken(withDigest: secret.digest) }),
      token.grant.app == app.id
    else { throw .unknownGrant }
    if token.isUsed {
      try OAuthFault.query { () throws(Refusal) in try endGrant(token.grant.id) }
      throw .reused(app.id, OAuthError(.invalidGrant, "The refresh token was used before. Its grant has ended."))
    }
    let granted = OAuthScope(token.grant.scope, forums: token.grant.forums)
    guard scope?.isWithin(granted) != false else {
      throw .refused(OAuthError(.invalidScope, "The scope is not within that of the grant."))
    }
    return try OAuthFault.query { () throws(Refusal) -> IssuedTokens? in
      guard try isActive(token.grant.user) else { return nil }
      return try issue(scope ?? granted, of: token.grant, app, replacing: secret.digest, secrets)
    }.required
  }

  private func issue(
    _ scope: OAuthScope, of grant: AppGrant, _ app: App, replacing used: [UInt8]?,
    _ secrets: (access: Secret, refresh: Secret)
  ) throws(Refusal) -> IssuedTokens {
    _ = try add(
      NewSession(
        user: grant.user, kind: .token, digest: secrets.access.digest, name: app.name, scope: scope.scope,
        expiresAt: now + AppLifetime.accessToken, limits: TokenLimits(forums: scope.forums), grant: grant.id))
    try addRefreshToken(secrets.refresh.digest, replacing: used, of: grant.id)
    try trimAccessTokens(of: grant.id)
    return IssuedTokens(
      accessToken: secrets.access.text, refreshToken: secrets.refresh.text, scope: scope,
      expiresIn: Int(AppLifetime.accessToken / 1_000))
  }

  fileprivate func revoke(_ secret: Secret, for app: App) throws(OAuthFault) {
    let (access, refresh) = try OAuthFault.query { () throws(Refusal) in
      (try accessToken(withDigest: secret.digest), try refreshToken(withDigest: secret.digest))
    }
    guard let grant = access?.grant ?? refresh?.grant else { return }
    guard grant.app == app.id else {
      throw .refused(OAuthError(.unauthorizedClient, "The token is of another client."))
    }
    try OAuthFault.query { () throws(Refusal) in
      if let access { try end(access.session, .token, of: grant.user) } else { try endGrant(grant.id) }
    }
  }
}

extension Optional where Wrapped == IssuedTokens {
  /// Nil is a grant of a user or an app that has ended.
  fileprivate var required: IssuedTokens {
    get throws(OAuthFault) {
      guard let self else { throw .unknownGrant }
      return self
    }
  }
}
