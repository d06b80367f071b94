import ParleyJSON

/// The checked ID token of a sign-in (OpenID Connect Core §2).
public struct IDToken: Sendable, Hashable {
  /// The user at the issuer.
  public let subject: String
  /// The session at the issuer.
  public let sessionID: String?
  public let groups: [String]
  public let email: String?
  /// Nil if the issuer tells nothing about it.
  public let isEmailVerified: Bool?
  public let preferredName: String?
  public let displayName: String?
  /// Whether the issuer has checked a second factor: `mfa` in `amr` (RFC 8176 §2), or the `acr` that the operator asks for.
  public let hasSecondFactor: Bool
  /// The time of the sign-in at the issuer, in seconds since 1970; nil if the issuer tells none.
  public let authenticatedAt: Int64?

  private static let maxGroups = 1_000
  /// The limit of claims that are shown.
  private static let maxTextScalars = 100
  /// RFC 5321 §4.5.3.1.3.
  private static let maxEmailBytes = 254

  /// - Parameters:
  ///   - now: in seconds since 1970.
  ///   - authenticatedSince: for a proof: the user has to have signed in at the issuer since then.
  public init(
    _ token: SignedToken, signedBy keys: KeySet, of issuer: Issuer, nonce: String, at now: Int64,
    authenticatedSince: Int64? = nil
  ) throws(OIDCFault) {
    let value = try token.claims(signedBy: keys)
    let claims = try OIDCFault.reading(.malformed) { () throws(JSONError) in try Claims(value, issuer.groupsClaim) }
    // A logout token has no nonce, but an issuer may sign other tokens with these keys, too (RFC 8725 §3.11).
    guard token.type == nil || token.type == "jwt" else { throw OIDCFault(.type, token.type ?? "") }
    guard !claims.hasEvents else { throw OIDCFault(.type, "a token with events") }
    try claims.registered.check(for: issuer, at: now)
    guard claims.registered.expiresAt != nil else { throw OIDCFault(.expired, "no exp") }
    // §3.1.3.7: a token for several clients names the one that asked for it.
    if claims.registered.audience.count > 1, claims.authorizedParty == nil {
      throw OIDCFault(.authorizedParty, "no azp")
    }
    guard claims.authorizedParty.map({ $0 == issuer.clientID }) ?? true else {
      throw OIDCFault(.authorizedParty, claims.authorizedParty ?? "")
    }
    guard claims.nonce == nonce else { throw OIDCFault(.nonce) }
    guard let subject = claims.registered.subject else { throw OIDCFault(.subject, "no sub") }
    if let acr = issuer.acr, claims.acr != acr { throw OIDCFault(.acr, claims.acr ?? "no acr") }
    if let since = authenticatedSince {
      guard let time = claims.authenticatedAt else { throw OIDCFault(.authTime, "no auth_time") }
      guard time >= since - RegisteredClaims.skew else { throw OIDCFault(.authTime, "\(since - time) s before") }
    }
    self.subject = subject
    authenticatedAt = claims.authenticatedAt
    sessionID = claims.sessionID.flatMap { $0.utf8.count <= RegisteredClaims.maxSubjectBytes ? $0 : nil }
    groups = claims.groups
    email = claims.email.flatMap { $0.utf8.count <= Self.maxEmailBytes ? $0 : nil }
    isEmailVerified = claims.isEmailVerified
    preferredName = claims.preferredName.map(Self.shortened)
    displayName = claims.displayName.map(Self.shortened)
    hasSecondFactor = claims.methods.contains("mfa") || issuer.acr != nil
  }

  private static func shortened(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(maxTextScalars)))
  }

  /// The user at the issuer in words, for lists.
  public var label: String { Self.shortened(preferredName ?? email ?? displayName ?? subject) }

  private struct Claims {
    let registered: RegisteredClaims
    let hasEvents: Bool
    let authorizedParty: String?
    let nonce: String?
    let acr: String?
    let methods: [String]
    let authenticatedAt: Int64?
    let sessionID: String?
    let groups: [String]
    let email: String?
    let isEmailVerified: Bool?
    let preferredName: String?
    let displayName: String?

    init(_ value: JSONValue, _ groupsClaim: String) throws(JSONError) {
      var object = try value.object()
      registered = try RegisteredClaims(&object)
      hasEvents = object.member("events") != nil
      authorizedParty = try object.optional("azp")
      nonce = try object.optional("nonce")
      acr = try object.optional("acr")
      methods = try object.optional("amr") ?? []
      authenticatedAt = try object.optional("auth_time", RegisteredClaims.time)
      sessionID = try object.optional("sid")
      groups = Array(
        (try object.optional(groupsClaim) { value throws(JSONError) in
          value.kind == .string ? [try value.string()] : try value.array { item throws(JSONError) in try item.string() }
        } ?? []).prefix(IDToken.maxGroups))
      email = try object.optional("email")
      isEmailVerified = try object.optional("email_verified") { value throws(JSONError) in
        // Some issuers write it as a text.
        value.kind == .string ? try value.string() == "true" : try value.bool()
      }
      preferredName = try object.optional("preferred_username")
      displayName = try object.optional("name")
    }
  }
}
