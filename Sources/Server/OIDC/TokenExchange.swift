import ParleyJSON
public import ParleyWire

/// The request and the answer at the token endpoint (OpenID Connect Core §3.1.3).
public struct TokenExchange: Sendable {
  public static let maxBytes = 131_072

  public let fields: Fields
  public let body: [UInt8]

  public init(
    of code: String, verifier: String, redirectURI: String, for issuer: Issuer, at metadata: ProviderMetadata
  ) {
    var form = [
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI), ("code_verifier", verifier),
    ]
    var fields: Fields = ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"]
    if let secret = issuer.clientSecret, !metadata.takesSecretInForm {
      // RFC 6749 §2.3.1: both are encoded as in a form before they are joined.
      let pair = "\(Percent.encode(issuer.clientID)):\(Percent.encode(secret))"
      fields.add("Authorization", "Basic \(Base64.encode(Array(pair.utf8)))")
    } else {
      form.append(("client_id", issuer.clientID))
      if let secret = issuer.clientSecret { form.append(("client_secret", secret)) }
    }
    self.fields = fields
    body = Array(form.map { "\($0.0)=\(Percent.encode($0.1))" }.joined(separator: "&").utf8)
  }

  /// The ID token of the answer.
  public static func idToken(status: Int, _ body: [UInt8]) throws(OIDCFault) -> SignedToken {
    guard status == 200 else {
      let error = try? OIDCFault.reading(.tokenResponse) { () throws(JSONError) in
        var object = try JSONValue(parsing: body).object()
        return try object.string("error")
      }
      throw OIDCFault(.code, "status \(status)" + (error.map { " \($0)" } ?? ""))
    }
    let text = try OIDCFault.reading(.tokenResponse) { () throws(JSONError) in
      var object = try JSONValue(parsing: body).object()
      return try object.string("id_token")
    }
    return try SignedToken(text)
  }
}
