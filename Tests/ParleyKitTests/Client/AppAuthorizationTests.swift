import ParleyModel
import ParleyTransport
import Testing

@testable import ParleyKit

@Suite struct AppAuthorizationTests {
  static let uri = "com.example.ferry:/callback"

  static func make(_ origin: String = "https://chat.example.org") throws -> AppAuthorization {
    try AppAuthorization(
      server: try #require(ServerAddress(origin)), clientID: "71", redirectURI: uri, scope: "read forum:12")
  }

  static func redirect(_ authorization: AppAuthorization, _ rest: String = "&code=c%201") -> String {
    "\(uri)?state=\(authorization.state)&iss=https%3A%2F%2Fchat.example.org\(rest)"
  }

  @Test func `the challenge is that of the specification`() {
    // RFC 7636, appendix B.
    #expect(
      AppAuthorization.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test func `the address has all parameters`() throws {
    let authorization = try Self.make()
    let challenge = AppAuthorization.challenge(of: authorization.verifier)
    #expect(
      authorization.url
        == "https://chat.example.org/oauth/authorize?response_type=code&client_id=71"
        + "&redirect_uri=com.example.ferry%3A%2Fcallback&scope=read%20forum%3A12&state=\(authorization.state)"
        + "&code_challenge=\(challenge)&code_challenge_method=S256")
    #expect(authorization.verifier.utf8.count == 43 && authorization.state.utf8.count == 43)
    #expect(try Self.make().state != authorization.state)
  }

  @Test func `only the redirect URI with an answer is a redirect`() throws {
    let authorization = try Self.make()
    #expect(authorization.isRedirectURL(Self.redirect(authorization)))
    for text in ["", Self.uri, "com.example.ferry:/callback/?code=x", "com.example.other:/callback?code=x"] {
      #expect(!authorization.isRedirectURL(text))
    }
  }

  @Test func `the code of a redirect of this request and this site is taken`() throws {
    let authorization = try Self.make()
    #expect(try authorization.code(from: Self.redirect(authorization)) == "c 1")
    #expect(throws: AppAuthorizationFault.refused("access_denied", "No way.")) {
      try authorization.code(from: Self.redirect(authorization, "&error=access_denied&error_description=No%20way."))
    }
    for text in [
      Self.redirect(authorization, ""), Self.redirect(authorization, "&code="),
      Self.redirect(authorization, "&code=a&code=b"), Self.redirect(authorization, "&code=%zz"),
      Self.redirect(authorization).replacing("chat.example", with: "evil.example"), Self.redirect(try Self.make()),
      "\(Self.uri)?code=c&state=\(authorization.state)", "https://evil.example/?code=c",
    ] {
      #expect(throws: AppAuthorizationFault.redirectMismatch) { try authorization.code(from: text) }
    }
  }

  @Test func `codes and refresh tokens are exchanged with a site`() async throws {
    try await SocketSite.open { site in
      let ada = try site.client("ada")
      let made = try await ada.send(.createApp(AppDraft(name: "Ferry", redirectURIs: [Self.uri])))
      #expect(made.secret == nil && made.app.isVerified)
      let (address, transport) = (
        try #require(ServerAddress("http://127.0.0.1:\(site.port)")), try NetworkTransport()
      )
      let authorization = try AppAuthorization(
        server: address, clientID: made.app.id.description, redirectURI: Self.uri, scope: "write")
      let redirect =
        "\(Self.uri)?state=\(authorization.state)&iss=\(PercentEncoding.encode(address.origin))&code=unknown"
      await #expect(throws: AppAuthorizationFault.self) {
        try await authorization.exchange(redirect, over: transport)
      }
      let tokens = AppTokens(accessToken: "a", refreshToken: "r", scope: "read", expiresIn: 1)
      await #expect(throws: AppAuthorizationFault.self) { try await authorization.refresh(tokens, over: transport) }
      try await authorization.revoke(tokens, over: transport)
      #expect(try await ada.send(.listConnectedApps()).elements.isEmpty)
      #expect(try await ada.send(.listApps()).elements.map(\.name) == ["Ferry"])
      let changed = try await ada.send(.updateApp(made.app.id, AppChange(isEnabled: false)))
      #expect(!changed.isEnabled && changed.revision == 2)
      try await ada.send(.disconnectApp(made.app.id))
      try await ada.send(.deleteApp(made.app.id))
      #expect(try await ada.send(.listApps()).elements.isEmpty)
    }
  }
}
