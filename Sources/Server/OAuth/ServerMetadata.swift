public import ParleyJSON
import ParleyModel

/// The metadata of the server (RFC 8414 §2).
public struct ServerMetadata: Sendable, JSONWritable {
  public let issuer: String
  public let hasRegistration: Bool

  public static let path = "/.well-known/oauth-authorization-server"

  public init(issuer: String, hasRegistration: Bool) {
    self.issuer = issuer
    self.hasRegistration = hasRegistration
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("issuer", issuer)
      json.field("authorization_endpoint", issuer + "/oauth/authorize")
      json.field("token_endpoint", issuer + "/oauth/token")
      json.field("revocation_endpoint", issuer + "/oauth/revoke")
      json.field("introspection_endpoint", issuer + "/oauth/introspect")
      if hasRegistration { json.field("registration_endpoint", issuer + "/oauth/register") }
      json.field("scopes_supported", Scope.allCases.map(\.rawValue))
      json.field("response_types_supported", ["code"])
      json.field("response_modes_supported", ["query"])
      json.field("grant_types_supported", ["authorization_code", "refresh_token"])
      json.field("token_endpoint_auth_methods_supported", ClientMetadata.authMethods)
      json.field("revocation_endpoint_auth_methods_supported", ClientMetadata.authMethods)
      json.field("introspection_endpoint_auth_methods_supported", ["client_secret_basic", "client_secret_post"])
      json.field("code_challenge_methods_supported", [PKCE.method])
      json.field("authorization_response_iss_parameter_supported", true)
      json.field("service_documentation", issuer + "/docs/apps/")
    }
  }
}
