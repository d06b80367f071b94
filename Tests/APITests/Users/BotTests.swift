import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Bots that the staff creates with a token.
@Suite struct BotTests {
  private static func bearer(_ token: String?) -> Fields { ["Authorization": "Bearer \(token ?? "")"] }

  @Test(arguments: TestTransport.allCases)
  func `staff create a bot, which posts in its forums and is listed with its owner`(
    transport: TestTransport
  ) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden("garden", "private")
      let other = try await village.garden("meadow", "private")
      let body: [String: Any] = ["name": "dice", "display_name": " Dice ", "forums": [forum], "scope": "write"]
      let made = try await village.expect(201, .post, "/bots", as: "ada", body)
      #expect(made["user.name"] == "dice" && made["user.display_name"] == "Dice" && made["user.role"] == "bot")
      #expect(made["user.owner_id"] == village.id("ada") && made["user.state"] == "active")
      let (id, secret) = (try #require(made["user.id"]), try #require(made["token"]))
      let token = Self.bearer(secret)
      let posted = try await village.request(.post, "/conversations/\(room)/messages", ["text": "six"], fields: token)
      #expect(posted.status == 201 && posted["author_id"] == id)
      #expect(try await village.request(.get, "/conversations/\(other.room)", fields: token).status == 404)
      #expect(try await village.request(.post, "/bots", body, fields: token).status == 403)
      let list = try await village.request(.get, "/bots?include=users", as: "ada")
      #expect(list.texts("data", "name") == ["robo", "dice"] && !list.text.contains(secret))
      #expect(list.isNull("data.0.owner_id") && list["data.1.owner_id"] == village.id("ada"))
      #expect(list.int("data.1.token_count") == 1 && list["included.users.0.name"] == "ada")
      let entry = try await village.request(.get, "/audit?kind=bot.created", as: "ada")
      #expect(entry["data.0.subject_id"] == id && entry["data.0.actor_id"] == village.id("ada"))
    }
  }

  @Test func `the staff lists, creates and revokes tokens of a bot`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "write"])
      let (bot, first) = (try #require(made["user.id"]), Self.bearer(made["token"]))
      let body: [String: Any] = ["name": "new server", "scope": "read", "client_id": "one"]
      let renewed = try await village.expect(201, .post, "/bots/\(bot)/tokens", as: "ada", body)
      let second = Self.bearer(renewed["token"])
      let again = try await village.expect(200, .post, "/bots/@dice/tokens", as: "ada", body)
      #expect(again["id"] == renewed["id"] && !again.has("token"))
      let list = try await village.expect(200, .get, "/bots/@dice/tokens", as: "ada")
      #expect(
        list.texts("data", "name") == ["new server", "dice"] && list.texts("data", "scope") == ["read", "write"])
      #expect(!list.text.contains("parley_") && list.isNull("next"))
      #expect(try await village.request(.get, "/me/tokens", fields: second).status == 200)
      let old = try #require(list["data.1.id"])
      for _ in 0..<2 { try await village.expect(204, .delete, "/bots/\(bot)/tokens/\(old)", as: "ada") }
      #expect(try await village.request(.get, "/me/tokens", fields: first).status == 401)
      #expect(try await village.request(.get, "/me/tokens", fields: second).status == 200)
      let entries = try await village.expect(200, .get, "/audit?subject=\(bot)", as: "ada")
      #expect(entries.texts("data", "kind") == ["bot.token_revoked", "bot.token_created", "bot.created"])
    }
  }

  @Test func `only the staff with a proof reaches the tokens of a bot`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "write"])
      let path = "/bots/\(try #require(made["user.id"]))/tokens"
      let body: [String: Any] = ["name": "more", "scope": "write"]
      let token = try #require(try await village.expect(200, .get, path, as: "ada")["data.0.id"])
      for name in ["grace", "mira"] {
        #expect(try await village.request(.get, path, as: name).status == 403)
        #expect(try await village.request(.post, path, as: name, body).status == 403)
        #expect(try await village.request(.delete, "\(path)/\(token)", as: name).status == 403)
      }
      #expect(try await village.request(.get, path, fields: Self.bearer(made["token"])).status == 403)
      for (more, field) in [(["scope": "admin"], "scope"), (["password": "wool and needles"], "password")] {
        let refused = try await village.request(.post, path, as: "ada", body.merging(more) { $1 })
        #expect(refused.status == 400 && refused["errors.0.field"] == field, "\(refused.text)")
      }
      #expect(try await village.request(.get, "/bots/@grace/tokens", as: "ada").status == 404)
      #expect(try await village.request(.post, "/bots/@grace/tokens", as: "ada", body).status == 404)
    }
  }

  @Test func `the last use of a bot's token is listed`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "read"])
      #expect(try await village.request(.get, "/bots", as: "ada").isNull("data.1.last_used_at"))
      let bot = ID<User>(Int(made["user.id"] ?? "") ?? 0)
      try await village.community.store.write { tx throws(Refusal) in
        for token in try tx.sessions(.token, of: bot, ListSlice(limit: 10), current: nil) {
          try tx.touch(token.id, of: bot)
        }
      }
      let list = try await village.request(.get, "/bots", as: "ada")
      #expect(list["data.1.last_used_at"] != nil && list["data.1.last_used_at"] == list["data.1.last_seen_at"])
    }
  }

  @Test func `a bot without forums joins the default forums, one with an empty list none`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "members", ["is_default": true]).forum
      for (name, forums, joins) in [("one", nil, true), ("two", [], false)] as [(String, [String]?, Bool)] {
        var body: [String: Any] = ["name": name, "scope": "read"]
        body["forums"] = forums
        let made = try await village.expect(201, .post, "/bots", as: "ada", body)
        let bot = try #require(made["user.id"])
        let found = try await village.request(.get, "/forums/\(forum)/members", as: "ada")
        #expect(found.text.contains(#""id":"\#(bot)""#) == joins, "\(found.text)")
      }
    }
  }

  @Test func `a repeated request creates one bot and does not repeat its token`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let body: [String: Any] = ["name": "dice", "scope": "write", "client_id": "c1"]
      let first = try await village.request(.post, "/bots", as: "ada", body)
      let again = try await village.request(.post, "/bots", as: "ada", body)
      #expect(first.status == 201 && again.status == 200 && again["user.id"] == first["user.id"] && !again.has("token"))
      let changes: [[String: Any]] = [
        ["scope": "read"], ["name": "die"], ["display_name": "Die"], ["forums": [String]()],
      ]
      for change in changes {
        let other = try await village.request(.post, "/bots", as: "ada", body.merging(change) { $1 })
        #expect(other.status == 409 && other.code == "client_id_reused")
      }
      // The order of the forums does not matter.
      let forums = [try await village.garden("one").forum, try await village.garden("two").forum]
      let named: [String: Any] = ["name": "cards", "scope": "read", "client_id": "c2"]
      let ordered = try await village.expect(201, .post, "/bots", as: "ada", named.merging(["forums": forums]) { $1 })
      let reordered = try await village.expect(
        200, .post, "/bots", as: "ada", named.merging(["forums": forums.reversed() + forums]) { $1 })
      #expect(reordered["user.id"] == ordered["user.id"])
      // A `client_id` is scoped to its user. The name is taken.
      let alma = try await village.request(.post, "/bots", as: "alma", body)
      #expect(alma.status == 400 && alma["errors.0.code"] == "taken")
      let leaving = ["how": "leave", "reason": "x"]
      try await village.expect(200, .delete, "/users/@dice", as: "ada", leaving)
      #expect(try await village.request(.post, "/bots", as: "ada", body).status == 410)
      #expect(try await village.request(.get, "/bots", as: "ada").texts("data", "name") == ["robo", "cards"])
    }
  }

  @Test(arguments: [("ada", 201), ("alma", 201), ("mira", 403), ("grace", 403), ("robo", 403), ("gus", 403)])
  func `permissions to create and list bots`(caller: String, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let made = try await village.request(.post, "/bots", as: caller, ["name": "dice", "scope": "read"])
      #expect(made.status == status, "\(made.text)")
      #expect(try await village.request(.get, "/bots", as: caller).status == (status == 201 ? 200 : 403))
      #expect(try await village.request(.get, "/bots").status == 401)
    }
  }

  /// Rows: the scope of the credential.
  @Test(arguments: [(Scope.read, 403), (.write, 403), (.admin, 201)])
  func `a bot needs the scope admin, and its token ends with the one that created it`(
    scope: Scope, status: Int
  ) async throws {
    try await Village.open(.inMemory) { village in
      let end = "2100-01-01T00:00:00.000Z"
      let credential = try await village.expect(
        201, .post, "/me/tokens", as: "ada", ["name": "t", "scope": scope.rawValue, "expires_at": end])
      let made = try await village.request(
        .post, "/bots", ["name": "dice", "scope": "read"], fields: Self.bearer(credential["token"]))
      #expect(made.status == status)
      guard status == 201 else { return }
      let token = Self.bearer(made["token"])
      #expect(try await village.request(.get, "/me/tokens", fields: token)["data.0.expires_at"] == end)
      try await village.expect(204, .delete, "/me/tokens/\(credential["id"] ?? "")", as: "ada")
      #expect(try await village.request(.get, "/me", fields: token).status == 401)
      #expect(try await village.request(.get, "/bots", as: "ada").int("data.1.token_count") == 0)
    }
  }

  @Test(arguments: ["password", "ban"])
  func `the token of a bot ends with the token that created it, after`(change: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let credential = try await village.expect(
        201, .post, "/me/tokens", as: "alma", ["name": "t", "scope": "admin"])
      let made = try await village.request(
        .post, "/bots", ["name": "dice", "scope": "read"], fields: Self.bearer(credential["token"]))
      let token = Self.bearer(made["token"])
      #expect(try await village.request(.get, "/me", fields: token).status == 200)
      if change == "password" {
        let body = ["old_password": "alma’s password", "password": "another one"]
        try await village.expect(204, .put, "/me/password", as: "alma", body)
      } else {
        try await village.expect(200, .put, "/users/@alma/ban", as: "ada", ["reason": "x"])
      }
      #expect(try await village.request(.get, "/me", fields: token).status == 401)
    }
  }

  @Test func `wrong fields of a bot are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let rows: [(String, Any, String)] = [
        ("scope", "admin", "invalid"), ("scope", "all", "invalid"), ("name", "a b", "invalid"),
        ("name", "GRACE", "taken"), ("display_name", "", "too_short"), ("forums", ["999999"], "unknown"),
        ("forums", (1...51).map { "\($0)" }, "too_many"), ("client_id", "", "too_short"),
        ("forums", "7", "wrong_type"), ("password", "a long one", "unknown_field"),
      ]
      for (field, value, code) in rows {
        let body = ["name": "dice", "scope": "read"].merging([field: value]) { $1 } as [String: Any]
        let refused = try await village.request(.post, "/bots", as: "ada", body)
        #expect(refused.status == 400 && refused["errors.0.field"]?.hasPrefix(field) == true, "\(refused.text)")
        #expect(refused["errors.0.code"] == code, "\(refused.text)")
      }
      // No bot was created.
      #expect(try await village.request(.get, "/bots", as: "ada").count("data") == 1)
    }
  }

  @Test func `the first token of a bot may have limits`() async throws {
    try await Village.open(.inMemory) { village in
      let (garden, kitchen) = (try await village.garden("garden"), try await village.garden("kitchen"))
      let limits: [String: Any] = ["forums": [garden.forum], "rate_limit": 30]
      let body: [String: Any] = [
        "name": "dice", "scope": "write", "forums": [garden.forum, kitchen.forum], "limits": limits, "client_id": "one",
      ]
      let made = try await village.expect(201, .post, "/bots", as: "ada", body)
      let token = Self.bearer(made["token"])
      let say = ["text": "six"]
      let posted = try await village.request(.post, "/conversations/\(garden.room)/messages", say, fields: token)
      #expect(posted.status == 201)
      #expect(try await village.request(.get, "/conversations/\(kitchen.room)", fields: token).status == 404)
      let list = try await village.expect(200, .get, "/bots/@dice/tokens", as: "ada")
      #expect(list["data.0.forums.0"] == garden.forum && list.int("data.0.rate_limit") == 30)
      #expect(try await !village.expect(200, .post, "/bots", as: "ada", body).has("token"))
      var other = body
      other["limits"] = ["rate_limit": 31]
      #expect(try await village.expect(409, .post, "/bots", as: "ada", other)["code"] == "client_id_reused")
    }
  }

  @Test(arguments: [
    (#"{"forums":[]}"#, "limits.forums", "missing"), (#"{"forums":["999999"]}"#, "limits.forums", "unknown"),
    (#"{"rate_limit":0}"#, "limits.rate_limit", "out_of_range"), (#"{"rate":1}"#, "limits.rate", "unknown_field"),
  ])
  func `wrong limits of a first token are refused`(limits: String, field: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      let body = Array(#"{"name":"dice","scope":"write","limits":\#(limits)}"#.utf8)
      let answer = try await village.send(.post, "/bots", as: "ada", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field, "\(answer.text)")
      #expect(answer["errors.0.code"] == code, "\(answer.text)")
    }
  }

  @Test func `the owner of a bot is shown to moderators and the bot alone`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "read"])
      for name in ["ada", "mira"] {
        #expect(try await village.request(.get, "/users/@dice", as: name)["owner_id"] == village.id("ada"))
        #expect(try await !village.request(.get, "/users/@grace", as: name).has("owner_id"))
      }
      let own = try await village.request(.get, "/me", fields: Self.bearer(made["token"]))
      #expect(own["owner_id"] == village.id("ada"))
      #expect(try await !village.request(.get, "/users/@dice", as: "grace").has("owner_id"))
      let leaving = ["how": "leave", "reason": "x"]
      let left = try await village.expect(200, .delete, "/users/@dice", as: "ada", leaving)
      #expect(!left.has("owner_id"))
    }
  }

  @Test func `the bot of a forum that its owner may not read is audited as entering it`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["may_create_forums": "users"])
      let made = try await village.expect(
        201, .post, "/forums", as: "grace", ["title": "den", "visibility": "private"])
      let den = try #require(made["id"])
      let body: [String: Any] = ["name": "dice", "scope": "read", "forums": [den, den]]
      try await village.expect(201, .post, "/bots", as: "ada", body)
      let entries = try await village.request(.get, "/audit?kind=forum.entered", as: "ada")
      #expect(entries.texts("data", "forum_id") == [den])
      #expect(try await village.request(.get, "/forums/\(den)/members", as: "grace").count("data") == 2)
      // A bot that joins later is audited, too.
      try await village.expect(201, .post, "/bots", as: "ada", ["name": "die", "scope": "read", "forums": [String]()])
      try await village.expect(200, .put, "/forums/\(den)/members/@die", as: "ada", [:])
      let later = try await village.request(.get, "/audit?kind=forum.entered", as: "ada")
      #expect(later.texts("data", "forum_id") == [den, den])
    }
  }

  @Test func `a bot stays without its owner`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      try await village.expect(201, .post, "/bots", as: "alma", ["name": "dice", "scope": "read"])
      let before = try await village.request(.get, "/users/@dice", as: "ada")
      #expect(before["owner_id"] == "\(village.userID("alma"))")
      try await village.expect(200, .delete, "/users/@alma", as: "ada", ["how": "leave", "reason": "x"])
      let after = try await village.request(.get, "/users/@dice", as: "ada")
      #expect(after.status == 200 && after["owner_id"] == nil && after.int("revision") == 2)
    }
  }

  @Test func `the owner is notified of the token`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "read"])
      let inbox = try await village.request(.get, "/inbox?kind=token", as: "ada")
      #expect(inbox.count("data") == 1 && inbox["data.0.kind"] == "token")
      let own = try await village.request(.get, "/inbox", fields: Self.bearer(made["token"]))
      #expect(own.status == 200 && own.count("data") == 0)
    }
  }

  @Test func `a bot has no password reset link`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.expect(201, .post, "/bots", as: "ada", ["name": "dice", "scope": "read"])
      for name in ["dice", "robo"] {
        #expect(try await village.request(.post, "/users/@\(name)/reset", as: "ada", [:]).code == "conflict")
      }
      // A link ends when its user becomes a bot.
      let code = try #require(try await village.expect(201, .post, "/users/@grace/reset", as: "ada", [:])["code"])
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["role": "bot", "end_sessions": false])
      #expect(try await village.request(.post, "/links/\(code)", ["password": "another one"]).status == 410)
    }
  }
}
