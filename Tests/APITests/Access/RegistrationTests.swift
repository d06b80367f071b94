import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct RegistrationTests {
  private static let lena = ["name": "Lena", "password": "lena’s password"]

  @Test(arguments: TestTransport.allCases)
  func `an open site registers users with a session at once`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.changeSettings(["registration": "open"])
      var made: Answer?
      let events = try await village.events {
        made = try await village.request(.post, "/users", Self.lena.merging(["display_name": " Lena L. "]) { $1 })
      }
      #expect(events == ["user.updated site #1"])
      let answer = try #require(made)
      #expect(answer.status == 201 && answer["user.name"] == "Lena" && answer["user.display_name"] == "Lena L.")
      #expect(answer["user.role"] == "member" && answer["user.state"] == "active")
      let token = try #require(answer["token"])
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"])["name"] == "Lena")
      try await village.signIn("lena", "lena’s password")
      let taken = try await village.request(.post, "/users", ["name": "LENA", "password": "another one"])
      #expect(taken["errors.0.field"] == "name" && taken["errors.0.code"] == "taken")
    }
  }

  @Test func `a browser gets its cookie at registration`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open"])
      let body: [String: Any] = ["name": "lena", "password": "lena’s password", "cookie": true]
      let foreign = try await village.request(.post, "/users", body, fields: ["Origin": "https://evil.example"])
      #expect(foreign.status == 403 && !foreign.fields.has("set-cookie"))
      let made = try await village.request(.post, "/users", body, fields: ["Origin": village.origin])
      #expect(made.fields["set-cookie"]?.hasPrefix("parley=") == true && !made.has("token"))
    }
  }

  /// Columns: the policy, without an invite, with one.
  @Test(arguments: [
    ("open", 201, "active", 201, "active"), ("approval", 201, "pending", 201, "active"),
    ("invite", 400, nil, 201, "active"), ("closed", 403, nil, 403, nil),
  ])
  func `registration follows the policy`(
    policy: String, alone: Int, aloneState: String?, invited: Int, invitedState: String?
  ) async throws {
    try await Village.open(.inMemory) { village in
      let code = try #require(try await village.request(.post, "/invites", as: "grace", [:])["code"])
      try await village.changeSettings(["registration": policy])
      let one = try await village.request(.post, "/users", Self.lena)
      #expect(one.status == alone && one["user.state"] == aloneState)
      #expect(one.has("token") == (aloneState == "active"))
      let other = try await village.request(
        .post, "/users", ["name": "otto", "password": "otto’s password", "invite": code])
      #expect(other.status == invited && other["user.state"] == invitedState)
    }
  }

  @Test func `a pending user is hidden until staff approve them`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "approval"])
      var id = ""
      #expect(
        try await village.events { id = try await village.request(.post, "/users", Self.lena)["user.id"] ?? "" } == [])
      let waiting = try await village.request(.post, "/sessions", ["name": "lena", "password": "lena’s password"])
      #expect(waiting.status == 403 && waiting.code == "account_pending")
      #expect(try await village.request(.get, "/users/@lena", as: "grace").status == 404)
      #expect(try await village.request(.get, "/users?query=lena", as: "grace").count("data") == 0)
      #expect(try await village.request(.get, "/users?state=pending", as: "grace").status == 403)
      let list = try await village.request(.get, "/users?state=pending", as: "mira")
      #expect(list.texts("data", "id") == [id] && list.texts("data", "state") == ["pending"])
      // A moderator sees pending users; approval is for staff.
      #expect(try await village.request(.put, "/users/\(id)/approval", as: "mira").status == 403)
      #expect(try await village.request(.put, "/users/\(id)/approval", as: "grace").status == 404)
      let events = try await village.events {
        for _ in 1...2 {
          let approved = try await village.request(.put, "/users/@lena/approval", as: "ada")
          #expect(approved.status == 200 && approved["state"] == "active")
        }
      }
      #expect(events == ["user.updated site #2"])
      try await village.signIn("lena", "lena’s password")
      #expect(try await village.request(.delete, "/users/\(id)/approval", as: "ada").status == 409)
    }
  }

  @Test func `a rejected user is deleted, and the name is free`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "approval"])
      let id = try #require(try await village.request(.post, "/users", Self.lena)["user.id"])
      #expect(try await village.request(.delete, "/users/\(id)/approval", as: "mira").status == 403)
      let events = try await village.events {
        for _ in 1...2 {
          let refused = try await village.request(.delete, "/users/\(id)/approval", as: "ada")
          #expect(refused.status == 204)
        }
      }
      #expect(events == [])
      #expect(try await village.request(.get, "/users/\(id)", as: "ada").status == 404)
      #expect(try await village.request(.post, "/users", Self.lena).status == 201)
    }
  }

  @Test func `registration requires accepting the rules, if any`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open", "rules": "Be kind."])
      let silent = try await village.request(.post, "/users", Self.lena)
      #expect(silent.status == 400 && silent["errors.0.field"] == "accept_rules")
      let body: [String: Any] = ["name": "lena", "password": "lena’s password", "accept_rules": true]
      #expect(try await village.request(.post, "/users", body).status == 201)
    }
  }

  @Test func `registering twice with one client_id returns the same user if the password matches`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open"])
      let body = Self.lena.merging(["client_id": "r1"]) { $1 }
      let first = try await village.request(.post, "/users", body)
      let again = try await village.request(.post, "/users", body)
      #expect(first.status == 201 && again.status == 200 && again["user.id"] == first["user.id"])
      #expect(
        try await village.request(
          .get, "/me", fields: ["Authorization": "Bearer \(try #require(again["token"]))"]
        ).status == 200)
      let guess = try await village.request(
        .post, "/users", ["name": "lena", "password": "a wrong one", "client_id": "r1"])
      #expect(guess.status == 400 && guess["errors.0.code"] == "taken")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a registration repeated in parallel creates one user`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let invite = try #require(try await village.request(.post, "/invites", as: "ada", ["max_uses": 1])["code"])
      let body = Self.lena.merging(["client_id": "r1", "invite": invite]) { $1 }
      let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
        for _ in 0..<20 { group.addTask { try await village.request(.post, "/users", body) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.map(\.status).sorted() == [Int](repeating: 200, count: 19) + [201])
      #expect(Set(answers.map { $0["user.id"] }).count == 1)
    }
  }

  @Test(arguments: [
    (["password": "long enough"], "name", "missing"), (["name": "lena"], "password", "missing"),
    (["name": "", "password": "long enough"], "name", "invalid"),
    (["name": "a b", "password": "long enough"], "name", "invalid"),
    (["name": "me", "password": "long enough"], "name", "invalid"),
    (["name": "Everyone", "password": "long enough"], "name", "invalid"),
    (["name": "1234", "password": "long enough"], "name", "invalid"),
    (["name": "lеna", "password": "long enough"], "name", "invalid"),
    (["name": "lena\u{0}", "password": "long enough"], "name", "invalid"),
    (["name": "lena", "password": "short"], "password", "too_short"),
    (["name": "lena", "password": "12345678"], "password", "too_common"),
    (["name": "lena", "password": "PassWord123"], "password", "too_common"),
    (["name": "lena", "password": String(repeating: "x", count: 1_025)], "password", "too_long"),
    (["name": "lena", "password": "long\u{0}enough"], "password", "invalid"),
    (["name": "lena", "password": "long enough", "display_name": "a\nb"], "display_name", "invalid"),
    (["name": "lena", "password": "long enough", "display_name": "a\u{202e}b"], "display_name", "invalid"),
    (["name": "lena", "password": "long enough", "display_name": "  "], "display_name", "too_short"),
    (
      ["name": "lena", "password": "long enough", "display_name": String(repeating: "x", count: 65)], "display_name",
      "too_long"
    ),
    (["name": "lena", "password": "long enough", "invite": "no such"], "invite", "unknown"),
    (["name": "lena", "password": "long enough", "role": "owner"], "role", "unknown_field"),
  ])
  func `an invalid registration is refused by field`(body: [String: String], field: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open"])
      let answer = try await village.request(.post, "/users", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
    }
  }

  @Test(arguments: [
    #"{"name":"lena","name":"otto","password":"long enough"}"#, #"{"name":"\ud800","password":"long enough"}"#,
    #"["lena"]"#, "{", "", #"{"name":{"a":1},"password":"long enough"}"#, String(repeating: "[", count: 1_000),
  ])
  func `a hostile body is refused, and the server continues`(body: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["registration": "open"])
      let answer = try await village.send(.post, "/users", Array(body.utf8))
      #expect(answer.status == 400)
      #expect(try await village.request(.post, "/users", Self.lena).status == 201)
    }
  }
}
