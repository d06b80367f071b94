// The state of a sign-in at an issuer. It is sealed in a cookie, so that the answer counts in the same browser alone, and the
// server keeps nothing.

import OAuth
public import ParleyCrypto
public import ParleyJSON
public import ParleyModel
import ParleyWire

/// A request to an issuer that waits for its answer.
public struct SignInRequest: Sendable, Hashable {
  public enum Purpose: String, Sendable, Hashable {
    case signIn = "sign_in"
    /// To link the account at the issuer to the user of the session.
    case link
    /// To prove that the session is its user's.
    case prove
  }

  public let issuer: String
  public let purpose: Purpose
  /// For `link` and `prove`.
  public let session: ID<Session>?
  public let state: String
  public let nonce: String
  /// The secret of PKCE (RFC 7636).
  public let verifier: String
  public let redirectURI: String
  /// The path to return to.
  public let back: String
  public let invite: String?
  /// In milliseconds since 1970.
  public let startedAt: Int64

  /// In milliseconds: the time that a user has at the issuer.
  public static let life: Int64 = 900_000
  private static let randomBytes = 32

  public init(
    to issuer: Issuer, _ purpose: Purpose, session: ID<Session>?, redirectURI: String, back: String, invite: String?,
    at now: Int64
  ) throws(CryptoError) {
    self.issuer = issuer.id
    (self.purpose, self.session, self.redirectURI) = (purpose, session, redirectURI)
    (self.back, self.invite, startedAt) = (back, invite, now)
    state = Base64.encode(try SecureRandom.bytes(Self.randomBytes), .url)
    nonce = Base64.encode(try SecureRandom.bytes(Self.randomBytes), .url)
    verifier = Base64.encode(try SecureRandom.bytes(Self.randomBytes), .url)
  }

  /// The address of the issuer's page (OpenID Connect Core §3.1.2.1).
  public func url(at metadata: ProviderMetadata, for issuer: Issuer) throws(CryptoError) -> String {
    // Some providers tell the groups in a scope of their own alone.
    let asksGroups = issuer.roles != nil && metadata.scopes.contains(issuer.groupsClaim)
    var parameters = [
      ("response_type", "code"), ("client_id", issuer.clientID), ("redirect_uri", redirectURI),
      ("scope", "openid profile email" + (asksGroups ? " \(issuer.groupsClaim)" : "")), ("state", state),
      ("nonce", nonce),
      ("code_challenge", try PKCE.challenge(of: verifier)), ("code_challenge_method", PKCE.method),
    ]
    if purpose == .prove { parameters.append(("max_age", "0")) }
    if let acr = issuer.acr { parameters.append(("acr_values", acr)) }
    let query = parameters.map { "\($0.0)=\(Percent.encode($0.1))" }.joined(separator: "&")
    let endpoint = metadata.authorizationEndpoint
    return "\(endpoint)\(endpoint.query == nil ? "?" : "&")\(query)"
  }

  /// The code of the issuer's answer.
  public func code(
    in query: String, of issuer: Issuer, at metadata: ProviderMetadata
  ) throws(OIDCFault) -> String {
    let parameters: OAuthParameters
    do throws(OAuthError) { parameters = try OAuthParameters(query) } catch { throw OIDCFault(.state, "\(error)") }
    guard let given = parameters["state"], ConstantTime.isEqual(Array(given.utf8), Array(state.utf8)) else {
      throw OIDCFault(.state)
    }
    // RFC 9207 §2.4: against an answer of another issuer (mix-up).
    guard parameters["iss"] ?? (metadata.answersHaveIssuer ? nil : issuer.url) == issuer.url else {
      throw OIDCFault(.issuer, "The answer is of \(parameters["iss"] ?? "no issuer").")
    }
    if let error = parameters["error"] { throw OIDCFault(.refused, error) }
    guard let code = parameters["code"] else { throw OIDCFault(.code, "no code") }
    return code
  }
}

extension SignInRequest: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    issuer = try object.string("issuer")
    let word = try object.string("purpose")
    guard let purpose = Purpose(rawValue: word) else { throw try object.value("purpose").error(.invalid) }
    self.purpose = purpose
    session = try object.optional("session")
    state = try object.string("state")
    nonce = try object.string("nonce")
    verifier = try object.string("verifier")
    redirectURI = try object.string("redirect_uri")
    back = try object.string("back")
    invite = try object.optional("invite")
    startedAt = Int64(try object.int("started_at"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("issuer", issuer)
    json.field("purpose", purpose.rawValue)
    json.field("session", session)
    json.field("state", state)
    json.field("nonce", nonce)
    json.field("verifier", verifier)
    json.field("redirect_uri", redirectURI)
    json.field("back", back)
    json.field("invite", invite)
    json.field("started_at", Int(startedAt))
  }
}

/// A user of an issuer without an account on this site, who may create one.
public struct SignUpTicket: Sendable, Hashable {
  public let issuer: String
  public let subject: String
  public let label: String
  public let sessionID: String?
  public let preferredName: String
  public let displayName: String?
  /// A verified address.
  public let email: String?
  /// The role of the user's groups; nil if the issuer gives none.
  public let role: Role?
  public let back: String
  public let invite: String?
  /// In milliseconds since 1970.
  public let expiresAt: Int64

  /// In milliseconds.
  public static let life: Int64 = 900_000

  public init(_ token: IDToken, role: Role?, for request: SignInRequest, at now: Int64) {
    (issuer, subject, label) = (request.issuer, token.subject, token.label)
    sessionID = token.sessionID
    preferredName = token.preferredName ?? token.email.map { String($0.prefix { $0 != "@" }) } ?? ""
    displayName = token.displayName
    email = token.isEmailVerified == true ? token.email : nil
    self.role = role
    (back, invite) = (request.back, request.invite)
    expiresAt = now + Self.life
  }
}

extension SignUpTicket: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    issuer = try object.string("issuer")
    subject = try object.string("subject")
    label = try object.string("label")
    sessionID = try object.optional("session_id")
    preferredName = try object.string("preferred_name")
    displayName = try object.optional("display_name")
    email = try object.optional("email")
    role = try (object.optional("role") as String?).flatMap(Role.init)
    back = try object.string("back")
    invite = try object.optional("invite")
    expiresAt = Int64(try object.int("expires_at"))
  }

  public func writeMembers(to json: inout JSONWriter) {
    json.field("issuer", issuer)
    json.field("subject", subject)
    json.field("label", label)
    json.field("session_id", sessionID)
    json.field("preferred_name", preferredName)
    json.field("display_name", displayName)
    json.field("email", email)
    json.field("role", role?.rawValue)
    json.field("back", back)
    json.field("invite", invite)
    json.field("expires_at", Int(expiresAt))
  }
}

/// A value in a cookie, which its browser can neither read nor change.
public enum SealedCookie {
  /// Browsers keep 4,096 bytes with the name and the attributes.
  public static let maxBytes = 3_800

  public static func seal(_ value: some JSONWritable, _ box: SealedBox, for context: String) throws(CryptoError)
    -> String
  {
    var json = JSONWriter()
    json.value(value)
    return Base64.encode(try box.seal(json.bytes, for: context), .url)
  }

  /// Nil for a text that the server has not made for this purpose.
  public static func open<Value: JSONReadable>(
    _ text: String, _ box: SealedBox, for context: String
  ) throws(CryptoError) -> Value? {
    guard text.utf8.count <= maxBytes, let sealed = Base64.decode(text, .url),
      let bytes = try box.open(sealed, for: context)
    else { return nil }
    return try? Value(json: JSONValue(parsing: bytes))
  }
}
