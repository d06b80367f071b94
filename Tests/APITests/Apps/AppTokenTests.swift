import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import OAuth
@testable import Storage

/// The exchange of codes and refresh tokens, revocation and introspection.
@Suite struct AppTokenTests {
  @Test func `a code is valid for 60 seconds`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      let (first, second) = (try await stage.code(), try await stage.code())
      clock.add(59_999)
      #expect(try await stage.exchange(first).status == 200)
      clock.add(1)
      let late = try await stage.exchange(second)
      #expect(late.status == 400 && late["error"] == "invalid_grant")
    }
  }

  @Test func `the second use of a code ends its tokens`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let code = try await stage.code()
      let first = try await stage.exchange(code)
      let (access, refresh) = (try #require(first["access_token"]), try #require(first["refresh_token"]))
      let next = try #require(try await stage.refresh(refresh)["access_token"])
      #expect(try await stage.status(access) == 200)
      let second = try await stage.exchange(code)
      #expect(second.status == 400 && second["error"] == "invalid_grant")
      #expect(try await stage.status(access) == 401)
      #expect(try await stage.status(next) == 401)
      #expect(try await stage.refresh(refresh)["error"] == "invalid_grant")
      #expect(try await village.request(.get, "/me/apps", as: "grace").count("data") == 0)
    }
  }

  @Test func `a grant with many used refresh tokens ends`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let (access, refresh) = try await stage.tokens()
      // More rows than one write may change.
      for part in 0..<3 {
        try await village.community.store.write { tx throws(Refusal) in
          try tx.run { connection in
            try connection.execute(
              """
              with recursive number (n) as (select 1 union all select n + 1 from number where n < 5000)
              insert into app_refresh (digest, grant_id, created_at, used_at)
              select randomblob(32), (select id from app_grant), 1, $1 + n
              from number
              """, Int(tx.now) + part)
          }
        }
      }
      #expect(try await village.request(.delete, "/me/apps/\(stage.app)", as: "grace").status == 204)
      #expect(try await stage.status(access) == 401)
      #expect(try await stage.refresh(refresh)["error"] == "invalid_grant")
    }
  }

  @Test func `the tokens of a disabled app are not valid while their grants end`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let (access, refresh) = try await stage.tokens()
      func set(_ isEnabled: Int) async throws {
        try await village.community.store.write { tx throws(Refusal) in
          try tx.run { connection in try connection.execute("update app set enabled = $1", isEnabled) }
        }
      }
      // A crash before the end of the grants leaves this.
      try await set(0)
      #expect(try await stage.status(access) == 401)
      #expect(try await stage.refresh(refresh).status == 404)
      #expect(try await village.request(.patch, "/apps/\(stage.app)", as: "ada", ["enabled": true]).status == 200)
      #expect(try await stage.status(access) == 401)
      #expect(try await stage.refresh(refresh)["error"] == "invalid_grant")
      let (next, _) = try await stage.tokens()
      #expect(try await stage.status(next) == 200)
    }
  }

  @Test func `a stolen code is of no use without its verifier and its app`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village, ["redirect_uris": [OAuthStage.uri, "https://ferry.example.org/b"]])
      let other = try await OAuthStage(village)
      let code = try await stage.code()
      let wrong = String(OAuthStage.verifier.reversed())
      for (answer, error) in [
        (try await stage.exchange(code, ["code_verifier": wrong]), "invalid_grant"),
        (try await stage.exchange(code, ["code_verifier": OAuthStage.challenge]), "invalid_grant"),
        (try await stage.exchange(code, ["code_verifier": ""]), "invalid_request"),
        (try await stage.exchange(code, ["redirect_uri": "https://ferry.example.org/b"]), "invalid_grant"),
        (try await other.exchange(code), "invalid_grant"),
        (try await stage.exchange(code, ["client_id": "999"]), "invalid_client"),
        (try await stage.exchange(code, ["client_secret": "x"]), "invalid_client"),
        (try await stage.exchange(code, ["grant_type": "password"]), "unsupported_grant_type"),
      ] {
        #expect(answer.status == (error == "invalid_client" ? 401 : 400) && answer["error"] == error, "\(answer.text)")
      }
      // The attempts have not used it up.
      #expect(try await stage.exchange(code).status == 200)
    }
  }

  @Test func `an access token lasts an hour, and a refresh gives the next`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      var (access, refresh) = try await stage.tokens("write")
      clock.add(3_599_999)
      #expect(try await stage.status(access) == 200)
      clock.add(1)
      #expect(try await stage.status(access) == 401)
      for _ in 0..<3 {
        let next = try await stage.refresh(refresh)
        #expect(next.status == 200 && next["scope"] == "profile read write" && next["refresh_token"] != refresh)
        (access, refresh) = (try #require(next["access_token"]), try #require(next["refresh_token"]))
        #expect(try await stage.status(access) == 200)
      }
      let narrow = try await stage.refresh(refresh, ["scope": "read"])
      #expect(narrow["scope"] == "profile read")
      let wide = try await stage.refresh(try #require(narrow["refresh_token"]), ["scope": "admin"])
      #expect(wide.status == 400 && wide["error"] == "invalid_scope")
      // The grant keeps its scope.
      let again = try await stage.refresh(try #require(narrow["refresh_token"]))
      #expect(again["scope"] == "profile read write")
    }
  }

  @Test func `the work of an app lasts as long as its grant`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      let (_, room) = try await village.garden()
      var (access, refresh) = try await stage.tokens("admin", as: "ada", with: ["password": "ada’s password"])
      let headers: Fields = ["Authorization": "Bearer \(access)"]
      let hook = try await village.request(
        .post, "/webhooks", ["conversation_id": room, "name": "CI"], fields: headers)
      let url = try #require(hook["url"], "\(hook.text)")
      let path = String(url[try #require(url.range(of: "/hooks/")).lowerBound...])
      let made = try await village.request(.post, "/me/tokens", ["name": "robot", "scope": "read"], fields: headers)
      let token = try #require(made["token"], "\(made.text)")
      let housekeeping = Housekeeping(village.community.store)
      // The access token expires, and is then replaced more often than a grant has access tokens.
      for _ in 0..<2 * AppGrant.accessTokens {
        clock.add(3_600_001)
        await housekeeping.tick()
        #expect(try await stage.status(access) == 401)
        let next = try await stage.refresh(refresh)
        (access, refresh) = (try #require(next["access_token"]), try #require(next["refresh_token"]))
      }
      for _ in 0..<2 * AppGrant.accessTokens {
        let next = try await stage.refresh(refresh)
        (access, refresh) = (try #require(next["access_token"]), try #require(next["refresh_token"]))
      }
      #expect(try await stage.status(token) == 200)
      #expect(try await village.request(.post, path, ["text": "green"]).status == 200)
      let rows = try await village.rows("select cast(count(*) as text) from session where grant_id is not null")
      #expect(rows == ["\(AppGrant.accessTokens + 1)"])
      // No replaced access token counts as revoked.
      #expect(try await village.rows("select cast(count(*) as text) from ended_session") == ["0"])
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
      try await village.expect(204, .delete, "/me/apps/\(stage.app)", as: "ada")
      #expect(try await stage.status(token) == 401)
      #expect(try await village.request(.post, path, ["text": "green"]).status != 200)
      #expect(try await village.rows("select cast(count(*) as text) from session where grant_id is not null") == ["0"])
    }
  }

  @Test func `the device of an app outlives its access token`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      var (access, refresh) = try await stage.tokens("write")
      let oldest = access
      let made = try await village.request(
        .post, "/me/push-subscriptions", try PushReceiver.Device("one").draft,
        fields: ["Authorization": "Bearer \(oldest)"])
      #expect(made.status == 201, "\(made.text)")
      _ = await village.push()
      for _ in 0..<AppGrant.accessTokens {
        let next = try await stage.refresh(refresh)
        (access, refresh) = (try #require(next["access_token"]), try #require(next["refresh_token"]))
      }
      #expect(try await stage.status(oldest) == 401)
      #expect(try await village.rows("select cast(count(*) as text) from push_subscription") == ["1"])
      // The device of the app is told, though its token has expired.
      try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "script", "scope": "read"])
      #expect(await village.push().count == 1)
      try await village.expect(204, .delete, "/me/apps/\(stage.app)", as: "grace")
      #expect(try await village.rows("select cast(count(*) as text) from push_subscription") == ["0"])
    }
  }

  @Test func `the second use of a refresh token ends its family`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let (access, stolen) = try await stage.tokens()
      let other = try await stage.tokens()
      let own = try await stage.refresh(stolen)
      let thief = try await stage.refresh(stolen)
      #expect(thief.status == 400 && thief["error"] == "invalid_grant" && thief["access_token"] == nil)
      #expect(try await stage.status(access) == 401)
      #expect(try await stage.status(try #require(own["access_token"])) == 401)
      #expect(try await stage.refresh(try #require(own["refresh_token"]))["error"] == "invalid_grant")
      // Another grant of the user goes on.
      #expect(try await stage.status(other.access) == 200)
      #expect(try await stage.refresh(other.refresh).status == 200)
    }
  }

  @Test func `a race of refreshes has one winner and ends the family`() async throws {
    try await Village.open(.socket) { village in
      let stage = try await OAuthStage(village)
      let tokens = try await stage.directTokens()
      let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
        for _ in 0..<20 { group.addTask { try await stage.refresh(tokens.refresh) } }
        return try await group.reduce(into: [Answer]()) { $0.append($1) }
      }
      #expect(answers.filter { $0.status == 200 }.count == 1)
      #expect(answers.filter { $0["error"] == "invalid_grant" }.count == 19)
      let winner = try #require(answers.first { $0.status == 200 })
      #expect(try await stage.status(try #require(winner["access_token"])) == 401)
      #expect(try await stage.refresh(try #require(winner["refresh_token"]))["error"] == "invalid_grant")
    }
  }

  @Test func `a grant without use for 90 days ends`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let stage = try await OAuthStage(village)
      let refresh = try await stage.tokens().refresh
      clock.add(90 * 86_400_000)
      #expect(try await stage.refresh(refresh)["error"] == "invalid_grant")
      try await village.community.store.write { tx throws(Refusal) in _ = try tx.removeIdleGrants(limit: 10) }
      let grants = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.connectedApps(of: village.userID("grace"), ListSlice(limit: 10))
      }
      #expect(grants.isEmpty)
    }
  }

  @Test func `a confidential app authenticates with its secret`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village, ["confidential": true])
      let secret = try #require(stage.secret)
      #expect(secret.hasPrefix("parley_app_"))
      let code = try await stage.code()
      for wrong in ["x", String(secret.dropLast())] {
        #expect(try await stage.exchange(code, ["client_secret": wrong]).status == 401)
      }
      let values = ["grant_type": "authorization_code", "code": code, "code_verifier": OAuthStage.verifier]
      func basic(_ secret: String) -> Fields {
        ["Authorization": "Basic \(Base64.encode(Array("\(stage.app):\(secret)".utf8)))"]
      }
      let refused = try await stage.call("/oauth/token", values, fields: basic("x"))
      #expect(refused.status == 401 && refused["error"] == "invalid_client")
      #expect(refused.fields["www-authenticate"] == "Basic realm=\"Parley\"")
      #expect(try await stage.call("/oauth/token", values, fields: basic(secret)).status == 200)
      // A new secret replaces the old one at once.
      let next = try await village.expect(200, .post, "/apps/\(stage.app)/secret", as: "ada")
      let again = try await stage.call("/oauth/introspect", ["token": "x"], fields: basic(secret))
      #expect(again.status == 401)
      let fresh = try await stage.call("/oauth/introspect", ["token": "x"], fields: basic(try #require(next["secret"])))
      #expect(fresh.status == 200 && fresh.bool("active") == false)
    }
  }

  @Test func `an app revokes its tokens and no others`() async throws {
    try await Village.open(.inMemory) { village in
      let (stage, other) = (try await OAuthStage(village), try await OAuthStage(village))
      let (access, refresh) = try await stage.tokens()
      let foreign = try await other.call("/oauth/revoke", ["token": access])
      #expect(foreign.status == 400 && foreign["error"] == "unauthorized_client")
      #expect(try await stage.status(access) == 200)
      #expect(
        try await stage.call("/oauth/revoke", ["token": access, "token_type_hint": "refresh_token"]).status == 200)
      #expect(try await stage.status(access) == 401)
      let next = try await stage.refresh(refresh)
      #expect(next.status == 200)
      #expect(try await stage.call("/oauth/revoke", ["token": try #require(next["refresh_token"])]).status == 200)
      #expect(try await stage.status(try #require(next["access_token"])) == 401)
      for token in [access, refresh, "unknown", village.token("grace")] {
        #expect(try await stage.call("/oauth/revoke", ["token": token]).status == 200)
      }
      #expect(try await stage.status(village.token("grace")) == 200)
      #expect(try await stage.call("/oauth/revoke", [:])["error"] == "invalid_request")
    }
  }

  @Test func `an app introspects its own tokens`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village, ["confidential": true])
      let open = try await OAuthStage(village)
      let (access, refresh) = try await stage.tokens("write")
      let facts = try await stage.call("/oauth/introspect", ["token": access])
      #expect(facts.bool("active") == true && facts["scope"] == "profile read write" && facts["client_id"] == stage.app)
      #expect(facts["sub"] == village.id("grace") && facts["username"] == "grace" && facts["iss"] == village.origin)
      #expect(facts.int("exp") == facts.int("iat").map { $0 + 3_600 })
      #expect(try await stage.call("/oauth/introspect", ["token": refresh]).bool("active") == true)
      let foreign = try await open.tokens().access
      for token in [foreign, village.token("grace"), "x", "parley_"] {
        let answer = try await stage.call("/oauth/introspect", ["token": token])
        #expect(answer.status == 200 && answer.text == #"{"active":false}"#)
      }
      #expect(try await open.call("/oauth/introspect", ["token": foreign]).status == 401)
    }
  }

  /// Rows: an end of the access, by request.
  @Test(arguments: ["password", "ban", "disable", "leave", "sessions", "disconnect", "app", "scope", "deletion"])
  func `the end of a user or of an app ends its tokens`(end: String) async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let (access, refresh) = try await stage.tokens("write")
      let pending = try await stage.code()
      let user = "/users/@grace"
      switch end {
      case "password":
        try await village.expect(
          204, .put, "/me/password", as: "grace",
          ["old_password": "grace’s password", "password": "a longer password"])
      case "ban": try await village.expect(200, .put, user + "/ban", as: "ada", ["reason": "x"])
      case "disable": try await village.expect(200, .patch, user, as: "ada", ["disabled": true])
      case "leave":
        try await village.expect(200, .delete, "/users/me", as: "grace", ["password": "grace’s password"])
      case "sessions": try await village.expect(200, .patch, user, as: "ada", ["end_sessions": true])
      case "disconnect": try await village.expect(204, .delete, "/me/apps/\(stage.app)", as: "grace")
      case "app": try await village.expect(200, .patch, "/apps/\(stage.app)", as: "ada", ["enabled": false])
      case "scope": try await village.expect(200, .patch, "/apps/\(stage.app)", as: "ada", ["scope": "read"])
      default: try await village.expect(204, .delete, "/apps/\(stage.app)", as: "ada")
      }
      #expect(try await stage.status(access) == 401)
      let isOff = end == "app" || end == "deletion"
      for answer in [try await stage.refresh(refresh), try await stage.exchange(pending)] {
        #expect(isOff ? answer.status == 404 : answer["error"] == "invalid_grant", "\(end): \(answer.text)")
      }
    }
  }

  @Test func `the socket of a revoked app closes`() async throws {
    try await Village.open(.socket) { village in
      let stage = try await OAuthStage(village)
      let tokens = try await stage.directTokens()
      let client = try village.connect(as: nil, fields: ["Authorization": "Bearer \(tokens.access)"])
      defer { client.leave() }
      _ = try await client.request(["do": "ping"])
      try await village.expect(204, .delete, "/me/apps/\(stage.app)", as: "grace")
      #expect(try await client.closed().code == 4501)
    }
  }

  @Test func `token requests are limited by address`() async throws {
    var rates = Village.unlimited
    rates.oauth = Allowance(burst: 2, perMinute: 1)
    rates.registeringApps = Allowance(burst: 1, perDay: 1)
    try await Village.open(.inMemory, rates: rates) { village in
      let stage = try await OAuthStage(village)
      for expected in [400, 400, 429] {
        let answer = try await stage.refresh("x")
        #expect(answer.status == expected, "\(answer.text)")
        guard expected == 429 else { continue }
        #expect(answer["error"] == "temporarily_unavailable" && answer.fields["retry-after"] != nil)
      }
      try await village.changeSettings(["app_registration": true])
      let json: Fields = ["Content-Type": "application/json"]
      for expected in [400, 429] {
        let answer = try await village.submit("/oauth/register", "{}", fields: json)
        #expect(answer.status == expected, "\(answer.text)")
      }
    }
  }

  @Test func `wrong requests of apps have errors of the specification`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await OAuthStage(village)
      let json = try await village.submit(
        "/oauth/token", #"{"grant_type":"refresh_token"}"#, fields: ["Content-Type": "application/json"])
      #expect(json.status == 400 && json["error"] == "invalid_request")
      let inQuery = try await village.submit("/oauth/token?client_id=\(stage.app)", "grant_type=refresh_token")
      #expect(inQuery.status == 400 && inQuery["error"] == "invalid_request")
      for form in ["grant_type=refresh_token&refresh_token=x", "client_id=x&grant_type=refresh_token&refresh_token=x"] {
        #expect(try await village.submit("/oauth/token", form)["error"] == "invalid_client")
      }
      let twice = try await village.submit("/oauth/token", "client_id=\(stage.app)&client_id=1&grant_type=x")
      #expect(twice["error"] == "invalid_request")
    }
  }
}

extension OAuthStage {
  /// The tokens of grace, without a browser: over sockets the client of the tests would follow the redirect.
  func directTokens() async throws -> (access: String, refresh: String) {
    let view = village.community.view()
    let caller = try #require(try view.authenticate(village.token("grace")))
    let request = AuthorizationRequest(
      redirectURI: try #require(RedirectURI(Self.uri)), scope: OAuthScope(.write), state: nil,
      challenge: Self.challenge)
    let code = try await village.community.authorizeApp(try #require(ID<App>(app)), request, by: caller)
    let answer = try await exchange(code)
    return (try #require(answer["access_token"]), try #require(answer["refresh_token"]))
  }
}
