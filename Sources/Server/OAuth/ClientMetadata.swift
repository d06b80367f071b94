public import ParleyJSON

/// The metadata of a client that registers itself (RFC 7591 §2). Unknown members are ignored.
public struct ClientMetadata: Sendable, Hashable {
  public let name: String
  public let redirectURIs: [String]
  public let website: String?
  /// Whether it gets a secret.
  public let isConfidential: Bool
  public let authMethod: String

  static let authMethods = ["none", "client_secret_basic", "client_secret_post"]

  public init(json value: JSONValue) throws(OAuthError) {
    do throws(JSONError) {
      var object = try value.object()
      name = try object.optional("client_name") ?? ""
      redirectURIs = try object.optional("redirect_uris") ?? []
      website = try object.optional("client_uri")
      authMethod = try object.optional("token_endpoint_auth_method") ?? "client_secret_basic"
      let grantTypes: [String] = try object.optional("grant_types") ?? ["authorization_code"]
      let responseTypes: [String] = try object.optional("response_types") ?? ["code"]
      guard grantTypes.contains("authorization_code"),
        grantTypes.allSatisfy({ ["authorization_code", "refresh_token"].contains($0) }), responseTypes == ["code"],
        Self.authMethods.contains(authMethod)
      else {
        throw value.error(.invalid)
      }
    } catch {
      throw OAuthError(.invalidClientMetadata, "The metadata of the client is not valid.")
    }
    isConfidential = authMethod != "none"
  }
}
