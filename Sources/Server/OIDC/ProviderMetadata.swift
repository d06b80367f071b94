import ParleyJSON
public import ParleyWire

/// The metadata of a provider (OpenID Connect Discovery §3), as far as it is in use.
public struct ProviderMetadata: Sendable, Hashable {
  public let authorizationEndpoint: WebAddress
  public let tokenEndpoint: WebAddress
  public let keysURL: WebAddress
  /// Whether each answer has `iss` (RFC 9207 §3).
  public let answersHaveIssuer: Bool
  /// Whether the token endpoint takes the secret in the form alone.
  public let takesSecretInForm: Bool
  /// Scopes that the provider names.
  let scopes: [String]

  public static let maxBytes = 262_144

  /// Throws unless the document is of the issuer: its `issuer` is the same text.
  public init(_ bytes: [UInt8], of issuer: Issuer) throws(OIDCFault) {
    let document = try OIDCFault.reading(.metadata) { () throws(JSONError) in try Document(bytes) }
    guard document.issuer == issuer.url else { throw OIDCFault(.issuer, "The metadata is of \(document.issuer).") }
    authorizationEndpoint = try Self.address(document.authorizationEndpoint)
    tokenEndpoint = try Self.address(document.tokenEndpoint)
    keysURL = try Self.address(document.keysURL)
    answersHaveIssuer = document.answersHaveIssuer
    scopes = document.scopes ?? []
    takesSecretInForm =
      document.methods.map { !$0.contains("client_secret_basic") && $0.contains("client_secret_post") } ?? false
  }

  private struct Document {
    let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let keysURL: String
    let answersHaveIssuer: Bool
    let methods: [String]?
    let scopes: [String]?

    init(_ bytes: [UInt8]) throws(JSONError) {
      var object = try JSONValue(parsing: bytes).object()
      issuer = try object.string("issuer")
      authorizationEndpoint = try object.string("authorization_endpoint")
      tokenEndpoint = try object.string("token_endpoint")
      keysURL = try object.string("jwks_uri")
      answersHaveIssuer = try object.optional("authorization_response_iss_parameter_supported") ?? false
      scopes = try object.optional("scopes_supported")
      methods = try object.optional("token_endpoint_auth_methods_supported")
    }
  }

  private static func address(_ text: String) throws(OIDCFault) -> WebAddress {
    guard let address = WebAddress(text), Issuer.isPermitted(address) else {
      throw OIDCFault(.metadata, "No https address: \(text)")
    }
    return address
  }
}

extension OIDCFault {
  /// Reads JSON of the issuer.
  static func reading<Value>(
    _ reason: Reason, _ body: () throws(JSONError) -> Value
  ) throws(OIDCFault) -> Value {
    do throws(JSONError) { return try body() } catch { throw OIDCFault(reason, error.words) }
  }
}

extension JSONError {
  fileprivate var words: String {
    switch self {
    case .malformed(let malformation, let offset): "no JSON: \(malformation.rawValue) at byte \(offset)"
    case .refused(let errors): errors.map { "\($0.field) \($0.code)" }.joined(separator: ", ")
    }
  }
}
