import ParleyJSON

/// The checked token of a logout (OpenID Connect Back-Channel Logout §2.4): the issuer ends sessions of a user.
public struct LogoutToken: Sendable, Hashable {
  public let subject: String?
  /// Nil for all sessions of the user.
  public let sessionID: String?
  /// With the issuer, the name of the token. It is used once.
  public let id: String
  /// In seconds since 1970: after it the token is refused.
  public let expiresAt: Int64

  public static let event = "http://schemas.openid.net/event/backchannel-logout"
  /// In seconds: the age at which a token without `exp` is too old.
  static let maxAge: Int64 = 600

  /// - Parameter now: in seconds since 1970.
  public init(_ token: SignedToken, signedBy keys: KeySet, of issuer: Issuer, at now: Int64) throws(OIDCFault) {
    let value = try token.claims(signedBy: keys)
    let claims = try OIDCFault.reading(.malformed) { () throws(JSONError) in try Claims(value) }
    guard token.type == nil || token.type == "jwt" || token.type == "logout+jwt" else {
      throw OIDCFault(.type, token.type ?? "")
    }
    try claims.registered.check(for: issuer, at: now)
    guard claims.registered.issuedAt + Self.maxAge + RegisteredClaims.skew > now else {
      throw OIDCFault(.expired, "issued \(now - claims.registered.issuedAt) s ago")
    }
    guard claims.isLogout else { throw OIDCFault(.events) }
    // §2.4: an ID token is no logout token.
    guard !claims.hasNonce else { throw OIDCFault(.nonce, "in a logout token") }
    guard claims.registered.subject != nil || claims.sessionID != nil else {
      throw OIDCFault(.subject, "no sub or sid")
    }
    guard !claims.id.isEmpty, claims.id.utf8.count <= RegisteredClaims.maxSubjectBytes else {
      throw OIDCFault(.malformed, "jti")
    }
    subject = claims.registered.subject
    sessionID = claims.sessionID
    id = claims.id
    let end = claims.registered.issuedAt + Self.maxAge
    expiresAt = min(claims.registered.expiresAt ?? end, end) + RegisteredClaims.skew
  }

  private struct Claims {
    let registered: RegisteredClaims
    let id: String
    let sessionID: String?
    let isLogout: Bool
    let hasNonce: Bool

    init(_ value: JSONValue) throws(JSONError) {
      var object = try value.object()
      registered = try RegisteredClaims(&object)
      id = try object.string("jti")
      sessionID = try object.optional("sid")
      var events = try object.object("events")
      isLogout = events.member(LogoutToken.event)?.kind == .object
      hasNonce = object.member("nonce") != nil
    }
  }
}
