import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Apps as resources, connected apps, and registration (RFC 7591).
@Suite struct AppTests {
  static var draft: [String: Any] { ["name": "Ferry", "redirect_uris": [OAuthStage.uri]] }

  @Test func `owners create apps, and others don't`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let made = try await village.expect(201, .post, "/apps", as: "ada", Self.draft)
      #expect(made["scope"] == "write" && made.bool("verified") == true && made.bool("enabled") == true)
      #expect(made.isNull("secret") && made["creator_id"] == village.id("ada"))
      let path = "/apps/\(made["id"] ?? "")"
      #expect(try await village.request(.get, path + "?include=users", as: "alma").count("included.users") == 1)
      for name in ["alma", "mira", "grace", "robo", "gus"] {
        #expect(try await village.request(.post, "/apps", as: name, Self.draft).status == 403)
        #expect(try await village.request(.patch, path, as: name, ["name": "x"]).status == 403)
        #expect(try await village.request(.delete, path, as: name).status == 403)
        #expect(try await village.request(.get, "/apps", as: name).status == (name == "alma" ? 200 : 403))
      }
      // All staff may stop it, and only an owner lets it go on.
      try await village.expect(200, .patch, path, as: "alma", ["enabled": false])
      #expect(try await village.request(.patch, path, as: "alma", ["enabled": true]).status == 403)
      try await village.expect(200, .patch, path, as: "ada", ["enabled": true, "name": "Ferry 2"])
      try await village.expect(204, .delete, path, as: "ada")
      try await village.expect(204, .delete, path, as: "ada")
      let kinds = try await village.request(.get, "/audit", as: "ada").texts("data", "kind")
      for kind in ["app.created", "app.disabled", "app.enabled", "app.changed", "app.deleted"] {
        #expect(kinds.contains(kind))
      }
    }
  }

  @Test func `a repeated request creates no second app and returns no secret`() async throws {
    try await Village.open(.inMemory) { village in
      let draft = Self.draft.merging(["client_id": "one", "confidential": true]) { $1 }
      let first = try await village.expect(201, .post, "/apps", as: "ada", draft)
      let second = try await village.expect(200, .post, "/apps", as: "ada", draft)
      #expect(first["id"] == second["id"] && first["secret"] != nil && second["secret"] == nil)
      let other = draft.merging(["name": "other"]) { $1 }
      #expect(try await village.request(.post, "/apps", as: "ada", other).code == "client_id_reused")
    }
  }

  @Test func `wrong fields are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try #require(try await village.expect(201, .post, "/apps", as: "ada", Self.draft)["id"])
      let rows: [(String, Any, String, String)] = [
        ("name", "", "name", "too_short"), ("name", "a\nb", "name", "invalid"),
        ("name", String(repeating: "a", count: 65), "name", "too_long"),
        ("website", "javascript:alert(1)", "website", "invalid"),
        ("redirect_uris", [String](), "redirect_uris", "missing"),
        ("redirect_uris", (0..<11).map { "https://example.org/\($0)" }, "redirect_uris", "too_many"),
        ("redirect_uris", [OAuthStage.uri, "http://example.org/"], "redirect_uris[1]", "invalid"),
        ("redirect_uris", [OAuthStage.uri, OAuthStage.uri], "redirect_uris[1]", "taken"),
        (
          "redirect_uris", ["https://example.org/" + String(repeating: "a", count: 1_024)], "redirect_uris[0]",
          "too_long"
        ),
        ("scope", "everything", "scope", "invalid"),
      ]
      for (name, value, field, code) in rows {
        for refused in [
          try await village.request(.post, "/apps", as: "ada", Self.draft.merging([name: value]) { $1 }),
          try await village.request(.patch, "/apps/\(id)", as: "ada", [name: value]),
        ] {
          #expect(refused.status == 400 && refused["errors.0.field"] == field, "\(value): \(refused.text)")
          #expect(refused["errors.0.code"] == code, "\(value): \(refused.text)")
        }
      }
    }
  }

  @Test func `the apps of a site are limited`() async throws {
    var bounds = Bounds()
    (bounds.apps, bounds.registeredApps) = (1, 1)
    try await Village.open(.inMemory, bounds: bounds) { village in
      try await village.expect(201, .post, "/apps", as: "ada", Self.draft)
      let more = try await village.request(.post, "/apps", as: "ada", Self.draft)
      #expect(more.status == 409 && more.code == "too_many" && more.int("params.limit") == 1)
      try await village.changeSettings(["app_registration": true])
      #expect(try await Self.register(village).status == 201)
      let full = try await Self.register(village)
      #expect(full.status == 503 && full["error"] == "temporarily_unavailable")
    }
  }

  @Test func `connected apps list all grants of an app as one`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let forum = try await village.forum("Garden", .public, ["grace"])
      _ = try await stage.tokens("read forum:\(forum)")
      var listed = try await village.expect(200, .get, "/me/apps", as: "grace")
      #expect(
        listed["data.0.id"] == stage.app && listed["data.0.scope"] == "read" && listed.int("data.0.grant_count") == 1)
      #expect(listed["data.0.forums.0"] == forum)
      _ = try await stage.tokens("write")
      listed = try await village.expect(200, .get, "/me/apps", as: "grace")
      #expect(listed.count("data") == 1 && listed["data.0.scope"] == "write" && listed.isNull("data.0.forums"))
      #expect(listed.int("data.0.grant_count") == 2)
      #expect(try await village.request(.get, "/me/apps", as: "linus").count("data") == 0)
      // Access tokens are no tokens of the user's own list.
      #expect(try await village.request(.get, "/me/tokens", as: "grace").count("data") == 0)
      #expect(try await village.request(.get, "/apps/\(stage.app)", as: "ada").int("user_count") == 1)
      let inbox = try await village.request(.get, "/inbox", as: "grace").texts("data", "kind")
      #expect(inbox.filter { $0 == "token" }.count == 2)
    }
  }

  @Test func `a user has 20 grants of an app and 5 access tokens of a grant`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let first = try await stage.tokens()
      for _ in 0..<AppGrant.grantsPerApp { _ = try await stage.tokens() }
      #expect(try await stage.status(first.access) == 401)
      #expect(try await village.request(.get, "/me/apps", as: "grace").int("data.0.grant_count") == 20)
      var (access, refresh) = try await stage.tokens()
      let oldest = access
      for _ in 0..<AppGrant.accessTokens {
        let next = try await stage.refresh(refresh)
        (access, refresh) = (try #require(next["access_token"]), try #require(next["refresh_token"]))
      }
      #expect(try await stage.status(oldest) == 401)
      #expect(try await stage.status(access) == 200)
    }
  }

  static func register(_ village: Village, _ more: [String: Any] = [:]) async throws -> Answer {
    let body: [String: Any] = [
      "client_name": "Ferry", "redirect_uris": [OAuthStage.uri], "token_endpoint_auth_method": "none", "logo_uri": "x",
    ]
    let bytes = try JSONSerialization.data(withJSONObject: body.merging(more) { $1 })
    return try await village.submit(
      "/oauth/register", String(decoding: bytes, as: UTF8.self), fields: ["Content-Type": "application/json"])
  }

  @Test func `apps register themselves only while the owners permit it`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await Self.register(village).status == 404)
      try await village.addUser("alma", .admin)
      #expect(try await village.request(.patch, "/settings", as: "alma", ["app_registration": true]).status == 403)
      try await village.changeSettings(["app_registration": true])
      let metadata = try await village.page("/.well-known/oauth-authorization-server")
      #expect(metadata["registration_endpoint"] == "\(village.origin)/oauth/register")
      let made = try await Self.register(village)
      #expect(made.status == 201 && made["client_secret"] == nil && made["client_name"] == "Ferry")
      let id = try #require(made["client_id"])
      let read = try await village.expect(200, .get, "/apps/\(id)", as: "ada")
      #expect(read.bool("verified") == false && read.isNull("creator_id") && read["scope"] == "write")
      let confidential = try await Self.register(village, ["token_endpoint_auth_method": "client_secret_basic"])
      #expect(confidential["client_secret"]?.hasPrefix("parley_app_") == true)
      #expect(confidential.int("client_secret_expires_at") == 0)
      for (more, error) in [
        (["redirect_uris": ["http://example.org/"]], "invalid_redirect_uri"),
        (["redirect_uris": []], "invalid_redirect_uri"),
        (["client_name": ""], "invalid_client_metadata"), (["grant_types": ["implicit"]], "invalid_client_metadata"),
      ] as [([String: Any], String)] {
        let refused = try await Self.register(village, more)
        #expect(refused.status == 400 && refused["error"] == error, "\(refused.text)")
      }
    }
  }

  @Test func `the page warns of an app that registered itself, until an owner verifies it`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["app_registration": true])
      let id = try #require(try await Self.register(village)["client_id"])
      let query =
        "response_type=code&client_id=\(id)&code_challenge=\(OAuthStage.challenge)&code_challenge_method=S256&scope="
      #expect(try await village.page("/oauth/authorize?\(query)read", as: "grace").text.contains("registered itself"))
      // Such an app may not ask for full access.
      let refused = try await village.page("/oauth/authorize?\(query)admin", as: "grace")
      #expect(refused.status == 400 && refused.fields["location"] == nil)
      try await village.expect(200, .patch, "/apps/\(id)", as: "ada", ["verified": true])
      let verified = try await village.page("/oauth/authorize?\(query)read", as: "grace").text
      #expect(verified.contains("Allow Ferry") && !verified.contains("registered itself"))
    }
  }

  @Test func `an app that registered itself and that no user connects is deleted after a day`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.changeSettings(["app_registration": true])
      _ = try await Self.register(village)
      try await village.expect(201, .post, "/apps", as: "ada", Self.draft)
      clock.add(86_400_000)
      try await village.community.store.write { tx throws(Refusal) in _ = try tx.removeUnusedApps(limit: 10) }
      let counts = try await village.community.store.readInBackground { tx throws(Refusal) in
        [try tx.appCount(selfRegistered: true), try tx.appCount(selfRegistered: false)]
      }
      #expect(counts == [0, 1])
    }
  }
}
