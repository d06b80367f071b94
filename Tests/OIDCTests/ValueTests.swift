import OIDC
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@Suite struct ValueTests {
  @Test(arguments: [
    ("https://id.example.org", true), ("https://id.example.org/realms/x", true), ("https://id.example.org:8443/", true),
    ("http://127.0.0.1:9400", true), ("http://localhost:9400/x", true), ("http://[::1]:9400", true),
    ("http://id.example.org", false), ("http://127.0.0.1.example.org", false), ("https://id.example.org?x=y", false),
    ("https://id.example.org?", false), ("https://id.example.org#x", false), ("wss://id.example.org", false),
    ("id.example.org", false), ("", false),
  ])
  func `an issuer has an https address`(text: String, isURL: Bool) {
    #expect(Issuer.isURL(text) == isURL)
  }

  @Test(arguments: [("work", true), ("w-1", true), ("", false), ("Work", false), ("a/b", false), ("a.b", false)])
  func `an id is a part of addresses`(text: String, isID: Bool) {
    #expect(Issuer.isID(text) == isID)
  }

  @Test func `the highest role of the groups counts`() {
    var roles = GroupRoles()
    roles["staff"] = .admin
    roles["mods"] = .moderator
    roles["people"] = .member
    roles["guests"] = .guest
    for (groups, role) in [
      (["people", "staff", "mods"], Role.admin), (["guests", "people"], .member), (["mods", "guests"], .moderator),
      (["guests"], .guest), (["other"], nil), ([], nil), (["*"], nil), (["Staff"], nil),
    ] as [([String], Role?)] {
      #expect(roles.role(of: groups) == role)
    }
    roles[GroupRoles.everyone] = .guest
    #expect(roles.role(of: []) == .guest && roles.role(of: ["mods"]) == .moderator)
  }

  static let right = #"""
    {"issuer":"https://id.example.org","authorization_endpoint":"https://id.example.org/a?x=y",
    "token_endpoint":"https://id.example.org/t","jwks_uri":"https://keys.example.org/k"}
    """#

  @Test(
    arguments: [
      ("", nil), (#""issuer":"https://id.example.org""#, #""issuer":"https://id.example.org/""#),
      (#""https://id.example.org/t""#, #""http://id.example.org/t""#),
      (#""https://id.example.org/t""#, #""javascript:x""#),
      (#""https://id.example.org/t""#, "null"), (#""jwks_uri""#, #""keys""#), ("{", "["),
      (#""jwks_uri""#, #""issuer""#),
    ] as [(String, String?)])
  func `metadata is of the issuer and has https addresses`(old: String, new: String?) throws {
    let issuer = try TestIssuer().issuer
    let text = new.map { Self.right.replacing(old, with: $0) } ?? Self.right
    if new == nil {
      _ = try ProviderMetadata(Array(text.utf8), of: issuer)
    } else {
      #expect(throws: OIDCFault.self) { try ProviderMetadata(Array(text.utf8), of: issuer) }
    }
  }

  @Test func `the request keeps the query of the provider's page`() throws {
    let issuer = try TestIssuer().issuer
    let metadata = try ProviderMetadata(Array(Self.right.utf8), of: issuer)
    let request = try SignInRequest(
      to: issuer, .prove, session: ID(7), redirectURI: "https://wool.example/oidc/work/callback", back: "/x?y",
      invite: nil, at: 1_000)
    let url = try request.url(at: metadata, for: issuer)
    #expect(url.hasPrefix("https://id.example.org/a?x=y&response_type=code&client_id=parley&"))
    #expect(url.contains("&max_age=0") && url.contains("&state=\(request.state)&"))
    #expect(!url.contains(request.verifier))
    let code = try request.code(in: "code=c&state=\(request.state)", of: issuer, at: metadata)
    #expect(code == "c")
    for query in [
      "", "code=c", "code=c&state=x", "code=c&state=\(request.state)&iss=https://evil.example",
      "state=\(request.state)", "error=x&state=\(request.state)", "code=c&code=d&state=\(request.state)",
      "code=c&state=\(request.state)%", "code=&state=\(request.state)",
    ] {
      #expect(throws: OIDCFault.self, "\(query)") { try request.code(in: query, of: issuer, at: metadata) }
    }
  }

  @Test func `a sealed cookie opens for its purpose and with its key alone`() throws {
    let issuer = try TestIssuer().issuer
    let box = try #require(SealedBox(key: [UInt8](repeating: 1, count: 32)))
    let other = try #require(SealedBox(key: [UInt8](repeating: 2, count: 32)))
    let request = try SignInRequest(
      to: issuer, .link, session: ID(7), redirectURI: "https://wool.example", back: "/", invite: "code", at: 1_000)
    let text = try SealedCookie.seal(request, box, for: "request")
    #expect(text.utf8.count < SealedCookie.maxBytes)
    #expect(try SealedCookie.open(text, box, for: "request") == request)
    let none: SignInRequest? = nil
    #expect(try SealedCookie.open(text, box, for: "ticket") == none)
    #expect(try SealedCookie.open(text, other, for: "request") == none)
    #expect(try SealedCookie.open(String(text.dropLast()), box, for: "request") == none)
    #expect(try SealedCookie.open("", box, for: "request") == none)
  }

  @Test func `keys of other kinds are left out`() throws {
    let issuer = try TestIssuer()
    let others = [
      #"{"kty":"oct","k":"AAAA","kid":"x"}"#, #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#, "7", "{}",
      #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
    ]
    let text = #"{"keys":[\#((others + issuer.jwks).joined(separator: ","))]}"#
    let keys = try KeySet(Array(text.utf8))
    #expect(keys.knowsKey(of: try issuer.token(TestIssuer.claims())))
    let encryption = issuer.jwks[0].replacing("{", with: #"{"use":"enc","#)
    let without = try KeySet(Array(#"{"keys":[\#(encryption)]}"#.utf8))
    #expect(!without.knowsKey(of: try issuer.token(TestIssuer.claims())))
  }

  @Test func `a token without a kid has the only key`() throws {
    let issuer = try TestIssuer()
    let token = try issuer.token(TestIssuer.claims(), header: #"{"alg":"ES256"}"#)
    #expect(try KeySet(Array(#"{"keys":[\#(issuer.jwks[0])]}"#.utf8)).knowsKey(of: token))
    let two = issuer.jwks[0] + "," + issuer.jwks[0].replacing(#""ec""#, with: #""e2""#)
    #expect(try !KeySet(Array(#"{"keys":[\#(two)]}"#.utf8)).knowsKey(of: token))
  }

  @Test func `the secret is in the field or in the form`() throws {
    let issuer = try TestIssuer().issuer
    let request = try SignInRequest(
      to: issuer, .signIn, session: nil, redirectURI: "https://wool.example/x", back: "/", invite: nil, at: 0)
    let basic = try ProviderMetadata(Array(Self.right.utf8), of: issuer)
    let form = try ProviderMetadata(
      Array(Self.right.replacing("{", with: #"{"token_endpoint_auth_methods_supported":["client_secret_post"],"#).utf8),
      of: issuer)
    for (metadata, isForm) in [(basic, false), (form, true)] {
      let exchange = TokenExchange(
        of: "c", verifier: request.verifier, redirectURI: request.redirectURI, for: issuer, at: metadata)
      let body = String(decoding: exchange.body, as: UTF8.self)
      #expect(exchange.fields.has("authorization") == !isForm && body.contains("client_secret=secret") == isForm)
    }
  }
}
