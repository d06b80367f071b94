/// A request to `/oauth/token` (RFC 6749 §4.1.3, §6).
public enum TokenRequest: Sendable, Hashable {
  case code(String, redirectURI: String?, verifier: String)
  /// - Parameter scope: nil for the scope of the grant.
  case refresh(String, scope: OAuthScope?)

  public init(_ parameters: OAuthParameters) throws(OAuthError) {
    switch try parameters.require("grant_type") {
    case "authorization_code":
      let verifier = try parameters.require("code_verifier")
      guard PKCE.isVerifier(verifier) else {
        throw OAuthError(.invalidRequest, "The code_verifier has to be 43 to 128 unreserved characters.")
      }
      self = .code(try parameters.require("code"), redirectURI: parameters["redirect_uri"], verifier: verifier)
    case "refresh_token":
      let scope = try parameters["scope"].map { text throws(OAuthError) in try OAuthScope(parsing: text) }
      self = .refresh(try parameters.require("refresh_token"), scope: scope)
    default:
      throw OAuthError(.unsupportedGrantType, "The grant types are authorization_code and refresh_token.")
    }
  }
}
