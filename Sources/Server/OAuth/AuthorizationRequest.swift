/// A request to `/oauth/authorize` (RFC 6749 §4.1.1, RFC 7636 §4.3), after the client and its redirect URI are known.
public struct AuthorizationRequest: Sendable, Hashable {
  /// The URI that the answer goes to, as the request names it.
  public let redirectURI: RedirectURI
  public let scope: OAuthScope
  public let state: String?
  public let challenge: String

  public static let maxStateBytes = 1_024

  public init(redirectURI: RedirectURI, scope: OAuthScope, state: String?, challenge: String) {
    self.redirectURI = redirectURI
    self.scope = scope
    self.state = state
    self.challenge = challenge
  }

  public init(_ parameters: OAuthParameters, redirectURI: RedirectURI) throws(OAuthError) {
    self.redirectURI = redirectURI
    state = try Self.state(of: parameters)
    guard try parameters.require("response_type") == "code" else {
      throw OAuthError(.unsupportedResponseType, "The only response_type is code.")
    }
    if let mode = parameters["response_mode"], mode != "query" {
      throw OAuthError(.invalidRequest, "The only response_mode is query.")
    }
    challenge = try parameters.require("code_challenge")
    guard parameters["code_challenge_method"] == PKCE.method else {
      throw OAuthError(.invalidRequest, "The code_challenge_method has to be S256.")
    }
    guard PKCE.isChallenge(challenge) else {
      throw OAuthError(.invalidRequest, "The code_challenge has to be 43 characters of Base64 for URLs.")
    }
    scope = try OAuthScope(parsing: parameters["scope"])
  }

  /// The state, which an error repeats as well.
  public static func state(of parameters: OAuthParameters) throws(OAuthError) -> String? {
    guard let state = parameters["state"] else { return nil }
    guard state.utf8.count <= maxStateBytes, state.utf8.allSatisfy(ASCIIClass.isPrintable) else {
      throw OAuthError(.invalidRequest, "The state has to be at most \(maxStateBytes) bytes of printable ASCII.")
    }
    return state
  }

  /// The address of the answer with a code (RFC 9207).
  public func accepted(code: String, issuer: String) -> String {
    redirectURI.adding(["code": code, "state": state, "iss": issuer])
  }
}

extension RedirectURI {
  /// The registered URI that the request names. An app with a single one may leave it out.
  public static func requested(_ text: String?, of registered: [RedirectURI]) throws(OAuthError) -> RedirectURI {
    guard let text else {
      guard let only = registered.first, registered.count == 1, only.kind != .loopback else {
        throw .missing("redirect_uri")
      }
      return only
    }
    guard registered.contains(where: { $0.matches(text) }), let uri = RedirectURI(text) else {
      throw OAuthError(.invalidRequest, "The redirect_uri is not registered for this app.")
    }
    return uri
  }

  /// The address of an answer with an error.
  public func refused(_ error: OAuthError, state: String?, issuer: String) -> String {
    adding([
      "error": error.code.rawValue, "error_description": error.description, "state": state, "iss": issuer,
    ])
  }
}
