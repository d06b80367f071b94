import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The consent page and its answers (RFC 6749 §4.1, RFC 7636, RFC 9207).
@Suite struct AuthorizationTests {
  @Test func `the provider is off until an owner allows an app`() async throws {
    try await Village.open(.inMemory) { village in
      for path in ["/.well-known/oauth-authorization-server", "/oauth/authorize?client_id=1"] {
        #expect(try await village.page(path, as: "grace").status == 404)
      }
      for path in ["/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/register"] {
        #expect(try await village.submit(path, "client_id=1&token=x").status == 404)
      }
      let stage = try await OAuthStage(village)
      let metadata = try await village.page("/.well-known/oauth-authorization-server")
      #expect(metadata.status == 200 && metadata["issuer"] == village.origin)
      #expect(metadata["authorization_endpoint"] == "\(village.origin)/oauth/authorize")
      #expect(metadata.list("code_challenge_methods_supported") == ["S256"])
      #expect(metadata.list("response_types_supported") == ["code"] && metadata["registration_endpoint"] == nil)
      #expect(metadata.bool("authorization_response_iss_parameter_supported") == true)
      #expect(metadata.fields["access-control-allow-origin"] == "*")
      #expect(try await stage.page(stage.query()).status == 200)
      try await village.expect(200, .patch, "/apps/\(stage.app)", as: "ada", ["enabled": false])
      #expect(try await stage.page(stage.query()).status == 404)
    }
  }

  @Test func `the page tells what the app may do, and can't be framed or cached`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(
        village, ["name": "<b>Ferry</b>", "website": "https://ferry.example.org/", "scope": "write"])
      let page = try await stage.page(stage.query("write"))
      #expect(page.status == 200 && page.text.contains("Allow &lt;b&gt;Ferry&lt;/b&gt; to use your account"))
      #expect(page.text.contains("ferry.example.org") && page.text.contains("@grace"))
      #expect(page.text.contains("Post and change things as you") && !page.text.contains("Change all of your settings"))
      #expect(!page.text.contains("registered itself") && !page.text.contains("type=\"password\""))
      #expect(page.fields["cache-control"] == "no-store")
      let policy = try #require(page.fields["content-security-policy"])
      #expect(policy.contains("frame-ancestors 'none'"))
      // Browsers check the redirect after the form as well.
      #expect(policy.contains("form-action 'self' https://ferry.example.org;"))
      let arabic = try await village.page(
        "/oauth/authorize?\(stage.query())", as: "grace", fields: ["Accept-Language": "ar"])
      #expect(arabic.text.contains("dir=\"rtl\"") && arabic.text.contains("سماح"))
    }
  }

  @Test func `a visitor signs in first`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let answer = try await stage.page(stage.query(), as: nil)
      #expect(answer.status == 303)
      let location = try #require(answer.fields["location"])
      #expect(location.hasPrefix("/sign-in?back=/oauth/authorize%3Fclient_id%3D\(stage.app)"), "\(location)")
    }
  }

  @Test func `a user allows or cancels`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let cancelled = Redirect(try await stage.answer(stage.query(), "cancel"))
      #expect(cancelled.address == OAuthStage.uri && cancelled["error"] == "access_denied" && cancelled["code"] == nil)
      #expect(cancelled["state"] == "s1" && cancelled["iss"] == village.origin)
      let code = try await stage.code()
      let answer = try await stage.exchange(code)
      #expect(answer.status == 200 && answer["token_type"] == "Bearer" && answer.int("expires_in") == 3_600)
      #expect(answer["scope"] == "profile read" && answer.fields["cache-control"] == "no-store")
      #expect(try #require(answer["access_token"]).hasPrefix("parley_"))
      #expect(try #require(answer["refresh_token"]).hasPrefix("parley_refresh_"))
    }
  }

  /// Rows: parameters, and the error of the redirect.
  @Test(
    arguments: [
      (["response_type": "token"], "unsupported_response_type"), (["response_type": nil], "invalid_request"),
      (["code_challenge": nil], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
      (["code_challenge_method": nil], "invalid_request"), (["scope": "everything"], "invalid_scope"),
      (["scope": "admin forum:1"], "invalid_scope"), (["scope": "admin"], "invalid_scope"),
      (["response_mode": "fragment"], "invalid_request"),
    ] as [([String: String?], String)])
  func `a wrong request is answered at the registered URI`(more: [String: String?], error: String) async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village, ["scope": "write"])
      for name in ["grace", nil] {
        let answer = try await stage.page(stage.query("read", more), as: name)
        let redirect = Redirect(answer)
        #expect(answer.status == 303 && redirect.address == OAuthStage.uri && redirect["error"] == error)
        #expect(redirect["state"] == "s1" && redirect["iss"] == village.origin && redirect["code"] == nil)
      }
    }
  }

  @Test func `nothing is redirected to an unregistered URI`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      for uri in [
        "https://evil.example/", "https://ferry.example.org/callback/", "https://ferry.example.org/callback?x=1",
        "https://ferry.example.org/callback#x", "https://ferry.example.org:8443/callback",
        "https://ferry.example.org@evil.example/callback", "https://ferry.example.org/a/../callback",
        "https://FERRY.example.org/callback", "http://ferry.example.org/callback", "javascript:alert(1)",
        "//ferry.example.org/callback", "/callback", "https://ferry.example.org\\@evil.example/callback",
      ] {
        for more in [["redirect_uri": uri], ["redirect_uri": uri, "scope": "wrong"]] {
          let answer = try await stage.page(stage.query("read", more))
          #expect(answer.status == 400 && answer.fields["location"] == nil, "\(uri)")
          #expect(!answer.text.contains("evil.example"))
        }
      }
      for client in ["999", "", "x", "0\(stage.app)", village.id("grace")] {
        let answer = try await stage.page(stage.query("read", ["client_id": client]))
        #expect(answer.status == 400 && answer.fields["location"] == nil)
      }
      let twice = try await stage.page(stage.query() + "&redirect_uri=https%3A%2F%2Fevil.example%2F")
      #expect(twice.status == 400 && twice.fields["location"] == nil)
    }
  }

  @Test func `only the form of the shown page allows an app`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      let (query, other) = (stage.query(), stage.query("write"))
      let page = try await stage.page(query)
      let token = try #require(page.attribute("value", after: "<input type=\"hidden\" name=\"token\""))
      // A forged token, that of another request, and that of another user.
      for (sent, given, name) in [(query, "x", "grace"), (other, token, "grace"), (query, token, "linus")] {
        let answer = try await stage.submit(sent, given, as: name)
        #expect(answer.status == 303 && answer.fields["location"]?.hasPrefix("/oauth/authorize?") == true)
      }
      // A page of another origin, and one without an origin.
      for origin in ["https://evil.example", "null", nil] {
        var fields: Fields = ["Cookie": "parley=\(village.token("grace"))"]
        if let origin { fields.add("Origin", origin) }
        #expect(try await stage.submit(query, token, fields: fields).status == 403)
      }
      // A token of the user is no session.
      let bearer: Fields = ["Authorization": "Bearer \(try await village.token("grace", .admin))"]
      let byToken = try await stage.submit(query, token, fields: bearer)
      #expect(byToken.status == 404 && byToken.fields["location"] == nil)
      let broken = try await stage.submit("a=b\r\nLocation: https://evil.example", token)
      #expect(broken.status == 400)
      clock.add(600_000)
      let late = try await stage.submit(query, token)
      #expect(late.fields["location"]?.hasPrefix("/oauth/authorize?") == true)
    }
  }

  @Test func `full access needs a proof of the last ten minutes`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      clock.add(600_000)
      let query = stage.query("admin")
      let page = try await stage.page(query)
      #expect(page.text.contains("type=\"password\"") && !page.text.contains("name=\"code\""))
      // The proof of a shown page may end before its form is sent.
      let again = try await stage.answer(query)
      #expect(again.status == 200 && again.fields["location"] == nil && !again.text.contains("role=\"alert\""))
      for password in ["", "wrong"] {
        let refused = try await stage.answer(query, with: ["password": password])
        #expect(refused.status == 400 && refused.fields["location"] == nil)
        #expect(refused.text.contains("role=\"alert\"") && refused.text.contains("type=\"password\""))
      }
      _ = try await stage.tokens("admin", with: ["password": "grace’s password"])
      let proved = try await stage.page(query).text
      #expect(proved.contains("Allow Ferry") && !proved.contains("type=\"password\""))
      // The other scopes need none.
      clock.add(600_000)
      _ = try await stage.tokens("write")
    }
  }

  @Test func `wrong passwords of the page are limited`() async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 2, perDay: 1)
    let clock = StoppedClock()
    try await Village.open(.inMemory, rates: rates, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      clock.add(600_000)
      for expected in [400, 400, 429, 429] {
        let answer = try await stage.answer(stage.query("admin"), with: ["password": "wrong"])
        #expect(answer.status == expected && answer.fields["location"] == nil)
      }
    }
  }

  @Test func `an app is limited to forums that its user sees`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let open = try await village.forum("Open garden", .public, ["grace"])
      let hidden = try await village.forum("Hidden garden", .private, ["linus"])
      let page = try await stage.page(stage.query("write forum:\(open)"))
      #expect(page.text.contains("Read these forums: Open garden"))
      let refused = try await stage.page(stage.query("read forum:\(hidden)"))
      #expect(refused.status == 400 && refused.fields["location"] == nil && !refused.text.contains("Hidden"))
      #expect(try await stage.page(stage.query("read forum:\(hidden)"), as: "linus").text.contains("Hidden garden"))
      let (access, _) = try await stage.tokens("write forum:\(open)")
      #expect(try await stage.status(access, "/forums/\(open)") == 200)
      #expect(try await stage.status(access, "/conversations") == 403)
      #expect(try await stage.status(access, "/forums/\(hidden)") == 404)
    }
  }

  @Test func `an app reaches no more than its scope and its user`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let profile = try await stage.tokens("profile").access
      let me = try await village.request(.get, "/users/me", fields: ["Authorization": "Bearer \(profile)"])
      #expect(me.status == 200 && me["name"] == "grace" && !me.has("preferences") && !me.has("state"))
      for path in ["/users/@linus", "/conversations", "/snapshot", "/me/tokens", "/inbox", "/users"] {
        let status = try await stage.status(profile, path)
        #expect(status == 403 || status == 404, "\(path)")
      }
      // Elsewhere it reads what visitors read.
      let secret = try await village.forum("Committee", .private, ["grace"])
      #expect(try await stage.status(profile, "/forums/\(secret)") == 404)
      #expect(try await stage.status(village.token("grace"), "/forums/\(secret)") == 200)
      #expect(try await stage.status(profile, "/server") == 200)
      let read = try await stage.tokens("read").access
      #expect(try await stage.status(read, "/conversations") == 200)
      #expect(try await stage.status(read, "/forums", .post) == 403)
      #expect(try await stage.status(read, "/settings", .patch) == 403)
      // An app with full access of a member is no staff.
      let admin = try await stage.tokens("admin").access
      #expect(try await stage.status(admin, "/audit") == 403)
      // One of an owner changes no apps.
      let owner: Fields = ["Authorization": "Bearer \(try await stage.tokens("admin", as: "ada").access)"]
      #expect(try await village.request(.get, "/audit", fields: owner).status == 200)
      let draft: [String: Any] = ["name": "x", "redirect_uris": ["https://evil.example/"]]
      #expect(try await village.request(.post, "/apps", draft, fields: owner).status == 403)
      #expect(try await village.request(.patch, "/settings", ["app_registration": true], fields: owner).status == 403)
    }
  }
}
