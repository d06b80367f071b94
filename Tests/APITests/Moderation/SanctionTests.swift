import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct SanctionTests {
  @Test(arguments: TestTransport.allCases)
  func `a warning notifies its user and stays in their history`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let grace = village.id("grace")
      let body: [String: Any] = ["reason": "Please stay kind.", "client_id": "w1"]
      var made: Answer?
      let events = try await village.events {
        made = try await village.expect(201, .post, "/users/@grace/warn", as: "mira", body)
        let again = try await village.expect(200, .post, "/users/@grace/warn", as: "mira", body)
        #expect(again["id"] == made?["id"])
      }
      #expect(events == ["preferences.updated user:\(grace) #2", "notification.created user:\(grace)"])
      let inbox = try await village.expect(200, .get, "/inbox?kind=warning", as: "grace")
      #expect(inbox.texts("data", "sanction_id") == [made?["id"]] && inbox["data.0.actor_id"] == village.id("mira"))
      #expect(inbox.int("unread.warning") == 1 && inbox.int("unread.all") == 1)
      #expect(made?["kind"] == "warning" && made?["user_id"] == grace && made?["created_by"] == village.id("mira"))
      for viewer in ["grace", "mira", "ada"] {
        let list = try await village.expect(200, .get, "/users/\(grace)/sanctions", as: viewer)
        #expect(list.texts("data", "reason") == ["Please stay kind."])
      }
      try await village.expect(403, .get, "/users/\(grace)/sanctions", as: "linus")
      var other = body
      other["reason"] = "Another."
      #expect(try await village.request(.post, "/users/@grace/warn", as: "mira", other).code == "client_id_reused")
      #expect(try await village.request(.post, "/users/@grace/warn", as: "mira", ["reason": ""]).status == 400)
    }
  }

  @Test func `a silenced user publishes no titles and adds no participants`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      try await village.changeSettings(["may_create_forums": "users"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      try await village.expect(200, .put, "/users/@grace/silence", as: "mira", ["reason": "Cool down."])
      let requests: [(Method, String, [String: Any])] = [
        (.post, "/forums", ["title": "Linus lies"]), (.patch, "/conversations/\(group)", ["title": "Linus lies"]),
        (.post, "/conversations", ["kind": "group", "participants": ["@mira"]]),
        (.post, "/conversations", ["kind": "direct", "participants": ["@mira"]]),
        (.put, "/conversations/\(group)/participants/@mira", [:]),
      ]
      for (method, path, body) in requests {
        let answer = try await village.expect(403, method, path, as: "grace", body)
        #expect(answer.code == "silenced" && answer["params.reason"] == "Cool down.", "\(path)")
      }
      // Leaving and reading stay.
      try await village.expect(204, .delete, "/conversations/\(group)/participants/me", as: "grace")
    }
  }

  @Test func `a banned user learns the end and the reason at sign-in`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      func refusal() async throws -> Answer {
        try await village.expect(403, .post, "/sessions", as: nil, ["name": "grace", "password": "grace’s password"])
      }
      let until = Timestamp.format(Int(clock.read()) + 60_000)
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", ["until": until, "reason": "Spam."])
      let problem = try await refusal()
      #expect(
        problem.code == "account_disabled" && problem["params.until"] == until && problem["params.reason"] == "Spam.")
      // Only with the right password.
      let wrong = try await village.request(.post, "/sessions", ["name": "grace", "password": "guess guess"])
      #expect(wrong.status == 401 && !wrong.has("params"))
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", [:])
      #expect(try await refusal().has("params") == false)
      try await village.expect(204, .delete, "/users/@grace/ban", as: "mira")
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["disabled": true])
      let disabled = try await refusal()
      #expect(disabled.code == "account_disabled" && !disabled.has("params"))
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a silenced user reads but can't post in one forum or everywhere until the end`(transport: TestTransport)
    async throws
  {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      let (forum, room) = try await village.garden("garden")
      let (_, meadow) = try await village.garden("meadow")
      let grace = village.id("grace")
      let until = Timestamp.format(Int(clock.read()) + 60_000)
      let body: [String: Any] = ["forum": forum, "until": until, "reason": "Cool down."]
      let events = try await village.events {
        for _ in 1...2 { try await village.expect(200, .put, "/users/@grace/silence", as: "mira", body) }
      }
      #expect(events == ["preferences.updated user:\(grace) #2"])
      let own = try await village.expect(200, .get, "/me/sanctions", as: "grace")
      #expect(own["data.0.forum_id"] == forum && own["data.0.until"] == until && own.isNull("data.0.lifted_at"))
      let silence = ["forum_id": forum, "until": until, "reason": "Cool down."]
      for viewer in ["grace", "linus", "mira"] {
        let seen = try await village.expect(200, .get, "/users/@grace", as: viewer).find("silences")
        #expect(seen as? [[String: String]] == (viewer == "grace" ? [silence] : nil), "\(viewer)")
      }
      let snapshot = try await village.expect(200, .get, "/snapshot", as: "grace")
      #expect(snapshot["me.silences.0.until"] == until)
      let words: [String: Any] = ["text": "but"]
      let problem = try await village.expect(403, .post, "/conversations/\(room)/messages", as: "grace", words)
      #expect(
        problem.code == "silenced" && problem["params.until"] == until && problem["params.reason"] == "Cool down.")
      let topics = "/forums/\(forum)/conversations"
      #expect(try await village.expect(403, .post, topics, as: "grace", ["title": "but"]).code == "silenced")
      try await village.expect(200, .get, "/conversations/\(room)/messages", as: "grace")
      try await village.expect(201, .post, "/conversations/\(meadow)/messages", as: "grace", words)
      clock.add(60_000)
      try await village.expect(201, .post, "/conversations/\(room)/messages", as: "grace", words)

      try await village.expect(200, .put, "/users/@grace/silence", as: "mira")
      for conversation in [room, meadow] {
        let problem = try await village.expect(
          403, .post, "/conversations/\(conversation)/messages", as: "grace", words)
        #expect(problem.code == "silenced" && !problem.has("params"))
      }
      // The silence of the forum is separate.
      try await village.expect(204, .delete, "/users/@grace/silence?forum=\(forum)", as: "mira")
      try await village.expect(403, .post, "/conversations/\(room)/messages", as: "grace", words)
      let freed = try await village.events {
        for _ in 1...2 {
          try await village.expect(204, .delete, "/users/@grace/silence", as: "mira", ["reason": "Enough."])
        }
      }
      #expect(freed == ["preferences.updated user:\(grace) #5"])
      try await village.expect(201, .post, "/conversations/\(room)/messages", as: "grace", words)
      #expect(try await village.expect(200, .get, "/users/me", as: "grace").has("silences") == false)
      let past = try await village.request(
        .put, "/users/@grace/silence", as: "mira", ["until": "2020-01-01T00:00:00.000Z"])
      #expect(past["errors.0.field"] == "until")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a ban revokes all credentials and keeps messages`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let posted = try await village.post("roses", in: room, as: "grace")
      let token = try await village.expect(201, .post, "/me/tokens", as: "grace", ["name": "bot", "scope": "read"])
      let bearer: Fields = ["Authorization": "Bearer \(try #require(token["token"]))"]
      let grace = village.id("grace")
      let events = try await village.events {
        for _ in 1...2 {
          let ban = try await village.expect(200, .put, "/users/\(grace)/ban", as: "mira", ["reason": "Spam."])
          #expect(ban["kind"] == "ban" && ban["reason"] == "Spam." && ban.isNull("until"))
        }
      }
      #expect(events == ["user.updated site #2"])
      #expect(try await village.request(.get, "/me", as: "grace").status == 401)
      #expect(try await village.request(.get, "/forums?query=gar", as: "grace").status == 401)
      #expect(try await village.request(.get, "/me", fields: bearer).status == 401)
      let back = try await village.request(
        .post, "/sessions", ["name": "grace", "password": "grace’s password"])
      #expect(back.status == 403 && back.code == "account_disabled")
      #expect(try await village.request(.get, "/messages/\(posted)", as: "linus")["text"] == "roses")
      let lifted = try await village.events {
        for _ in 1...2 { try await village.expect(204, .delete, "/users/\(grace)/ban", as: "mira") }
      }
      #expect(lifted == ["user.updated site #3"])
      try await village.signIn("grace", "grace’s password")
      let history = try await village.expect(200, .get, "/users/\(grace)/sanctions", as: "mira")
      #expect(history.count("data") == 1 && !history.isNull("data.0.lifted_at"))
    }
  }

  @Test func `a temporary ban ends by itself with an event`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let until = Timestamp.format(Int(clock.read()) + 60_000)
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", ["until": until])
      let housekeeping = Housekeeping(village.community.store)
      clock.add(59_999)
      #expect(try await village.events { await housekeeping.tick() } == [])
      #expect(
        try await village.request(.post, "/sessions", ["name": "grace", "password": "grace’s password"]).status == 403)
      clock.add(1)
      #expect(try await village.events { await housekeeping.tick() } == ["user.updated site #3"])
      try await village.signIn("grace", "grace’s password")
      #expect(try await village.events { await housekeeping.tick() } == [])
    }
  }

  @Test func `the end of a ban does not enable a disabled user`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let body: [String: Any] = ["until": Timestamp.format(Int(clock.read()) + 60_000)]
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", body)
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["disabled": true])
      #expect(try await village.request(.put, "/users/@grace/ban", as: "mira", body).status == 409)
      try await village.expect(204, .delete, "/users/@grace/ban", as: "mira")
      clock.add(60_000)
      await Housekeeping(village.community.store).tick()
      let seen = try await village.expect(200, .get, "/users/@grace", as: "ada")
      #expect(seen["state"] == "disabled")
    }
  }

  @Test func `a ban can revoke the invite of the user`() async throws {
    try await Village.open(.inMemory) { village in
      let code = try #require(try await village.request(.post, "/invites", as: "grace", [:])["code"])
      func join(_ name: String) async throws -> Int {
        try await village.request(.post, "/users", ["name": name, "password": "\(name)’s password", "invite": code])
          .status
      }
      #expect(try await join("otto") == 201)
      try await village.expect(200, .put, "/users/@otto/ban", as: "mira")
      #expect(try await join("olga") == 201)
      try await village.expect(200, .put, "/users/@olga/ban", as: "mira", ["revoke_invite": true])
      #expect(try await join("oskar") == 400)
      // The invites of a banned user are void.
      let own = try #require(try await village.request(.post, "/invites", as: "linus", [:])["code"])
      try await village.expect(200, .put, "/users/@linus/ban", as: "ada")
      #expect(try await village.request(.get, "/links/\(own)").status == 410)
    }
  }

  @Test func `the last owner can't be banned, and a banned user can't be added to a forum`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .owner)
      try await village.expect(200, .put, "/users/@alma/ban", as: "ada")
      try await village.expect(403, .put, "/users/me/ban", as: "ada")
      try await village.expect(200, .put, "/users/@grace/ban", as: "ada")
      let forum = try await village.garden().forum
      try await village.expect(404, .put, "/forums/\(forum)/members/@grace", as: "ada")
    }
  }

  /// Rows: the sanction and its target. Columns: visitor, gus (guest), robo (bot), linus (member), fay (moderator of
  /// the forum), fred (its admin), mira (moderator), alma (admin), ada and olive (owners).
  @Test(arguments: [
    ("post warn grace", "1433332222"), ("post warn mira", "1433333222"), ("post warn ada", "1333333332"),
    ("post warn robo", "1433332222"), ("put ban grace", "1433332222"), ("put ban mira", "1433333222"),
    ("put silence grace", "1433332222"), ("put silence alma", "1433333322"),
    ("forum silence grace", "1433222222"), ("forum silence mira", "1433333222"), ("forum silence fay", "1333322222"),
    ("get sanctions grace", "1433332222"), ("delete ban grace", "1433332222"), ("delete silence grace", "1433332222"),
  ])
  func `permissions of each sanction`(row: String, expected: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      for name in ["fay", "fred", "olive"] { try await village.addUser(name, name == "olive" ? .owner : .member) }
      let forum = try await village.garden("garden", "public", members: ["fay", "fred"]).forum
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      try await village.expect(200, .put, "/forums/\(forum)/members/@fred", as: "ada", ["role": "admin"])
      let parts = row.split(separator: " ").map(String.init)
      let (isInForum, what, target) = (parts[0] == "forum", parts[1], parts[2])
      let method = try #require(
        ["post": Method.post, "put": .put, "delete": .delete, "get": .get, "forum": .put][parts[0]])
      let body: [String: Any]? = isInForum ? ["forum": forum] : what == "warn" ? ["reason": "x"] : nil
      var answers = ""
      for caller in [nil, "gus", "robo", "linus", "fay", "fred", "mira", "alma", "ada", "olive"] as [String?] {
        let answer = try await village.request(method, "/users/@\(target)/\(what)", as: caller, body)
        answers += [401, 403, 404].contains(answer.status) ? "\(answer.status % 10)" : "\(answer.status / 100)"
        if what == "ban", answer.status == 200 {
          try await village.expect(204, .delete, "/users/@\(target)/ban", as: "ada")
        }
      }
      #expect(answers == expected, "\(row)")
    }
  }
}
