import OAuth
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@Suite struct RequestTests {
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let uri = "https://app.example.org/callback"

  private func code(_ body: () throws -> Void) -> OAuthError.Code? {
    do { try body() } catch { return (error as? OAuthError)?.code }
    return nil
  }

  private func authorization(_ query: String) throws -> AuthorizationRequest {
    try AuthorizationRequest(try OAuthParameters(query), redirectURI: try #require(RedirectURI(Self.uri)))
  }

  @Test func `a whole request is read`() throws {
    let request = try authorization(
      "response_type=code&code_challenge=\(Self.challenge)&code_challenge_method=S256&scope=read+write+forum%3A12&state=a%20b"
    )
    #expect(request.scope == OAuthScope(.write, forums: [ID(12)]) && request.state == "a b")
    #expect(
      request.accepted(code: "x", issuer: "https://chat.example.org")
        == "\(Self.uri)?code=x&state=a%20b&iss=https%3A%2F%2Fchat.example.org")
  }

  @Test(arguments: [
    ("code_challenge=\(challenge)&code_challenge_method=S256", OAuthError.Code.invalidRequest),
    ("response_type=token&code_challenge=\(challenge)&code_challenge_method=S256", .unsupportedResponseType),
    ("response_type=code%20token&code_challenge=\(challenge)&code_challenge_method=S256", .unsupportedResponseType),
    ("response_type=code", .invalidRequest),
    ("response_type=code&code_challenge=\(challenge)", .invalidRequest),
    ("response_type=code&code_challenge=\(challenge)&code_challenge_method=plain", .invalidRequest),
    ("response_type=code&code_challenge=short&code_challenge_method=S256", .invalidRequest),
    ("response_type=code&code_challenge=\(challenge)&code_challenge_method=S256&scope=everything", .invalidScope),
    ("response_type=code&code_challenge=\(challenge)&code_challenge_method=S256&scope=forum:12", .invalidScope),
    ("response_type=code&code_challenge=\(challenge)&code_challenge_method=S256&scope=admin%20forum:12", .invalidScope),
    ("response_type=code&code_challenge=\(challenge)&code_challenge_method=S256&state=%0A", .invalidRequest),
    (
      "response_type=code&code_challenge=\(challenge)&code_challenge_method=S256&response_mode=fragment",
      .invalidRequest
    ),
    ("response_type=code&response_type=code", .invalidRequest), ("a=%zz", .invalidRequest),
  ])
  func `a wrong request has the error of the specification`(query: String, expected: OAuthError.Code) {
    #expect(code { _ = try authorization(query) } == expected)
  }

  @Test func `scopes include the ones before and have one spelling`() throws {
    #expect(try OAuthScope(parsing: nil).description == "profile")
    #expect(try OAuthScope(parsing: "write").description == "profile read write")
    #expect(try OAuthScope(parsing: "admin read").scope == .admin)
    #expect(try OAuthScope(parsing: "forum:9 read forum:12").description == "profile read forum:9 forum:12")
    for text in [
      "", " ", "read  write", "Read", "forum:", "forum:012", "forum:x read", String(repeating: "a", count: 2_000),
    ] {
      #expect(code { _ = try OAuthScope(parsing: text) } == .invalidScope, "\(text)")
    }
  }

  @Test func `a narrower scope is within a wider one`() {
    let garden = OAuthScope(.write, forums: [ID(12)])
    #expect(OAuthScope(.read, forums: [ID(12)]).isWithin(garden) && garden.isWithin(OAuthScope(.admin)))
    #expect(OAuthScope(.profile).isWithin(garden))
    for wider in [OAuthScope(.read), OAuthScope(.write, forums: [ID(12), ID(13)]), OAuthScope(.admin)] {
      #expect(!wider.isWithin(garden))
    }
  }

  @Test func `token requests are read`() throws {
    let code = try TokenRequest(
      OAuthParameters("grant_type=authorization_code&code=c&redirect_uri=\(Self.uri)&code_verifier=\(Self.verifier)"))
    #expect(code == .code("c", redirectURI: Self.uri, verifier: Self.verifier))
    #expect(
      try TokenRequest(OAuthParameters("grant_type=refresh_token&refresh_token=r&scope=read"))
        == .refresh("r", scope: OAuthScope(.read)))
  }

  @Test(arguments: [
    ("", OAuthError.Code.invalidRequest), ("grant_type=", .invalidRequest),
    ("grant_type=password&username=a&password=b", .unsupportedGrantType),
    ("grant_type=client_credentials", .unsupportedGrantType),
    ("grant_type=authorization_code&code=c", .invalidRequest),
    ("grant_type=authorization_code&code=c&code_verifier=short", .invalidRequest),
    ("grant_type=authorization_code&code_verifier=\(verifier)", .invalidRequest),
    ("grant_type=refresh_token", .invalidRequest),
    ("grant_type=refresh_token&refresh_token=r&scope=all", .invalidScope),
  ])
  func `a wrong token request has the error of the specification`(form: String, expected: OAuthError.Code) {
    #expect(code { _ = try TokenRequest(try OAuthParameters(form)) } == expected)
  }

  @Test func `clients authenticate in one way`() throws {
    let none = try OAuthParameters("client_id=7")
    #expect(try ClientCredentials(authorization: nil, none).secret == nil)
    #expect(try ClientCredentials(authorization: nil, OAuthParameters("client_id=7&client_secret=s")).secret == "s")
    // RFC 6749 §2.3.1: both parts are encoded as in a form.
    let basic = "Basic " + Base64.encode(Array("7:a%20b+c%3A".utf8))
    let found = try ClientCredentials(authorization: basic, none)
    #expect(found.client == "7" && found.secret == "a b c:" && found.isBasic)
    for (field, form, expected) in [
      (nil, "", OAuthError.Code.invalidClient), ("Bearer x", "client_id=7", .invalidClient),
      ("Basic !", "client_id=7", .invalidClient), ("Basic " + Base64.encode(Array("7".utf8)), "", .invalidClient),
      (basic, "client_secret=s", .invalidRequest), (basic, "client_id=8", .invalidRequest),
    ] {
      #expect(code { _ = try ClientCredentials(authorization: field, OAuthParameters(form)) } == expected)
    }
  }

  @Test func `a request names a registered redirect URI, or the only one`() throws {
    let one = try [#require(RedirectURI(Self.uri))]
    #expect(try RedirectURI.requested(nil, of: one).description == Self.uri)
    #expect(try RedirectURI.requested(Self.uri, of: one).description == Self.uri)
    let two = one + [try #require(RedirectURI("http://127.0.0.1/callback"))]
    #expect(
      try RedirectURI.requested("http://127.0.0.1:5/callback", of: two).description == "http://127.0.0.1:5/callback")
    for (text, registered) in [(nil, two), ("https://evil.example/", two), (nil, [two[1]]), (Self.uri, [])] {
      #expect(code { _ = try RedirectURI.requested(text, of: registered) } == .invalidRequest)
    }
  }

  @Test func `metadata of clients is read, and unsupported kinds are refused`() throws {
    func metadata(_ text: String) throws -> ClientMetadata {
      try ClientMetadata(json: try JSONValue(parsing: Array(text.utf8)))
    }
    let native = try metadata(
      #"{"client_name":"Ferry","redirect_uris":["http://127.0.0.1/cb"],"token_endpoint_auth_method":"none","x":1}"#)
    #expect(native.name == "Ferry" && !native.isConfidential && native.redirectURIs == ["http://127.0.0.1/cb"])
    #expect(try metadata("{}").isConfidential)
    for text in [
      #"{"grant_types":["implicit"]}"#, #"{"response_types":["token"]}"#, #"{"redirect_uris":"https://a/"}"#,
      #"{"token_endpoint_auth_method":"private_key_jwt"}"#, "[]", #"{"client_name":1}"#,
    ] {
      #expect(code { _ = try metadata(text) } == .invalidClientMetadata, "\(text)")
    }
  }

  @Test func `errors have the characters and the status of the specification`() {
    for code in OAuthError.Code.allCases {
      let error = OAuthError(code, "A sentence.")
      #expect((400...503).contains(error.status.code))
    }
    #expect(OAuthError(.invalidClient, "").status == .unauthorized)
  }
}
