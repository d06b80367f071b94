import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct InviteTests {
  /// Registers with an invite.
  @discardableResult
  private func join(_ village: Village, _ name: String, _ code: String) async throws -> Answer {
    try await village.request(.post, "/users", ["name": name, "password": "\(name)’s password", "invite": code])
  }

  @Test(arguments: TestTransport.allCases)
  func `an invite admits its number of users and lists them for its creator`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      var made: Answer?
      #expect(
        try await village.events {
          made = try await village.request(.post, "/invites", as: "grace", ["max_uses": 1, "role": "guest"])
        } == [])
      let code = try #require(made?["code"])
      #expect(made?.status == 201 && made?.int("max_uses") == 1 && made?.int("uses") == 0)
      let lena = try await join(village, "lena", code)
      #expect(lena.status == 201 && lena["user.role"] == "guest")
      let second = try await join(village, "otto", code)
      #expect(second.status == 400 && second["errors.0.field"] == "invite" && second["errors.0.code"] == "unknown")
      let seen = try await village.request(.get, "/invites/\(made?["id"] ?? "")", as: "grace")
      #expect(seen.int("uses") == 1 && seen["used_by.0"] == lena["user.id"])
      #expect(try await village.request(.get, "/links/\(code)").code == "gone")
    }
  }

  @Test func `an invite link shows its inviter and forum to visitors and users`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .members, ["grace"])
      let code = try #require(
        try await village.request(.post, "/invites", as: "grace", ["forum_id": forum])["code"])
      for viewer in [nil, "linus"] {
        let link = try await village.request(.get, "/links/\(code)", as: viewer)
        #expect(link["kind"] == "invite" && link.isNull("user") && link.isNull("expires_at"))
        #expect(link["invite.inviter.name"] == "grace" && link["invite.role"] == "member")
        #expect(link["invite.forum_title"] == "garden" && !link.has("invite.used_by"))
      }
      #expect(try await village.request(.get, "/links/no-such").status == 404)
      // Signing up is the only use of an invite.
      #expect(try await village.request(.post, "/links/\(code)", ["password": "a long one"]).status == 404)
      var lena = ""
      let events = try await village.events { lena = try await join(village, "lena", code)["user.id"] ?? "" }
      #expect(
        events == [
          "user.updated site #1", "participant.joined forum:\(forum)", "participant.joined user:\(lena)",
          "conversation.created user:\(lena)",
        ])
      #expect(try await village.participants(inRoomOf: forum).contains(lena))
    }
  }

  /// Rows: the caller. Columns: may invite a guest, member, moderator, admin, owner.
  @Test(arguments: [
    ("gus", "users", [403, 403, 403, 403, 400]), ("grace", "users", [201, 201, 403, 403, 400]),
    ("mira", "users", [201, 201, 403, 403, 400]), ("alma", "users", [201, 201, 201, 403, 400]),
    ("ada", "users", [201, 201, 201, 201, 400]), ("grace", "moderators", [403, 403, 403, 403, 400]),
    ("mira", "moderators", [201, 201, 403, 403, 400]), ("mira", "staff", [403, 403, 403, 403, 400]),
  ])
  func `invite permissions of each role`(caller: String, circle: String, expected: [Int]) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      try await village.changeSettings(["may_invite": circle])
      var found: [Int] = []
      for role in ["guest", "member", "moderator", "admin", "owner"] {
        found.append(try await village.request(.post, "/invites", as: caller, ["role": role]).status)
      }
      #expect(found == expected)
    }
  }

  @Test func `only users that manage a private forum can invite to it`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("cellar", .private, ["grace"])
      let hidden = try await village.request(.post, "/invites", as: "linus", ["forum_id": forum])
      #expect(hidden["errors.0.field"] == "forum_id" && hidden["errors.0.code"] == "unknown")
      #expect(try await village.request(.post, "/invites", as: "grace", ["forum_id": forum]).status == 403)
      #expect(try await village.request(.post, "/invites", as: "ada", ["forum_id": forum]).status == 201)
    }
  }

  @Test func `an invite ends by expiry or revocation`() async throws {
    try await Village.open(.inMemory) { village in
      let past = try await village.request(.post, "/invites", as: "grace", ["expires_at": "2020-01-01T00:00:00Z"])
      #expect(past["errors.0.field"] == "expires_at")
      let made = try await village.request(.post, "/invites", as: "grace", [:])
      let (id, code) = (try #require(made["id"]), try #require(made["code"]))
      #expect(try await village.request(.delete, "/invites/\(id)", as: "linus").status == 404)
      for _ in 1...2 { #expect(try await village.request(.delete, "/invites/\(id)", as: "grace").status == 204) }
      #expect(try await join(village, "lena", code).status == 400)
      #expect(try await village.request(.get, "/links/\(code)").status == 410)
      #expect(try await village.request(.get, "/invites/\(id)", as: "grace").isNull("revoked_at") == false)
    }
  }

  @Test func `an invite is void once its creator loses the permission`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let high = try #require(
        try await village.request(.post, "/invites", as: "alma", ["role": "moderator"])["code"])
      let low = try #require(try await village.request(.post, "/invites", as: "alma", [:])["code"])
      _ = try await village.request(.patch, "/users/@alma", as: "ada", ["role": "member", "end_sessions": false])
      #expect(try await village.request(.get, "/links/\(high)").status == 410)
      #expect(try await join(village, "lena", high)["errors.0.code"] == "unknown")
      #expect(try await join(village, "lena", low).status == 201)
      _ = try await village.request(.patch, "/users/@alma", as: "ada", ["disabled": true])
      #expect(try await join(village, "otto", low)["errors.0.code"] == "unknown")
    }
  }

  @Test func `an invite into a forum is void once its creator could not make it`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .members, ["grace", "linus"])
      let code = try #require(try await village.request(.post, "/invites", as: "grace", ["forum_id": forum])["code"])
      #expect(try await village.request(.get, "/links/\(code)").status == 200)
      // Only its admins invite to a private forum.
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      #expect(try await village.request(.get, "/links/\(code)").status == 410)
      #expect(try await join(village, "lena", code)["errors.0.code"] == "unknown")

      try await village.expect(200, .put, "/forums/\(forum)/members/@grace", as: "ada", ["role": "admin"])
      #expect(try await village.request(.get, "/links/\(code)").status == 200)
      try await village.expect(204, .delete, "/forums/\(forum)/members/@grace", as: "ada")
      #expect(try await village.request(.get, "/links/\(code)").status == 410)
      #expect(try await join(village, "lena", code)["errors.0.code"] == "unknown")
    }
  }

  @Test func `an imported user with a higher role can't be invited`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      try await village.community.store.write { tx throws(Refusal) in
        var user = NewUser(name: "emil", role: .owner)
        user.isImported = true
        _ = try tx.add(user)
      }
      #expect(try await village.request(.post, "/invites", as: "alma", ["user_id": "@emil"]).status == 403)
      #expect(try await village.request(.post, "/users/@emil/reset", as: "ada").status == 409)
      #expect(try await village.request(.post, "/invites", as: "ada", ["user_id": "@emil"]).status == 201)
    }
  }

  @Test func `revoking a branch of invites revokes all descendants`() async throws {
    try await Village.open(.inMemory) { village in
      let first = try await village.request(.post, "/invites", as: "grace", [:])
      let (id, root) = (try #require(first["id"]), try #require(first["code"]))
      let lena = try #require(try await join(village, "lena", root)["token"])
      let bearer = "Bearer \(lena)"
      let child = try #require(
        try await village.request(.post, "/invites", [:], fields: ["Authorization": bearer])["code"])
      let otto = try #require(try await join(village, "otto", child)["token"])
      let grandchild = try #require(
        try await village.request(.post, "/invites", [:], fields: ["Authorization": "Bearer \(otto)"])["code"])
      let other = try #require(try await village.request(.post, "/invites", as: "grace", [:])["code"])
      #expect(try await village.request(.delete, "/invites/\(id)?descendants=true", as: "grace").status == 403)
      #expect(try await village.request(.delete, "/invites/\(id)?descendants=true", as: "mira").status == 204)
      for code in [root, child, grandchild] {
        #expect(try await village.request(.get, "/links/\(code)").status == 410, "\(code)")
      }
      #expect(try await village.request(.get, "/links/\(other)").status == 200)
    }
  }

  @Test func `an imported user signs up by an invite under their old account`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.community.store.write { tx throws(Refusal) in
        var user = NewUser(name: "emil", role: .moderator)
        user.isImported = true
        return try tx.add(user)
      }
      #expect(try await village.request(.post, "/sessions", ["name": "emil", "password": "anything"]).status == 401)
      #expect(try await village.request(.post, "/invites", as: "grace", ["user_id": "@emil"]).status == 403)
      let mismatch = try await village.request(.post, "/invites", as: "ada", ["user_id": "@grace"])
      #expect(mismatch["errors.0.code"] == "mismatch")
      let made = try await village.request(.post, "/invites", as: "ada", ["user_id": "@emil", "max_uses": 5])
      let code = try #require(made["code"])
      #expect(made.int("max_uses") == 1 && made["user_id"] == id.description)
      #expect(try await village.request(.get, "/links/\(code)")["user.name"] == "emil")
      let events = try await village.events {
        let back = try await village.request(.post, "/users", ["password": "emil’s password", "invite": code])
        #expect(back.status == 201 && back["user.id"] == id.description && back["user.role"] == "moderator")
        #expect(back.bool("user.imported") == false)
      }
      #expect(events == ["user.updated site #2"])
      try await village.signIn("emil", "emil’s password")
    }
  }

  @Test func `users see their own invites, moderators see all`() async throws {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = ["client_id": "i1"]
      let first = try await village.request(.post, "/invites", as: "grace", body)
      let again = try await village.request(.post, "/invites", as: "grace", body)
      #expect(again.status == 200 && again["id"] == first["id"] && first["code"] != nil && again["code"] == nil)
      #expect(
        try await village.request(.post, "/invites", as: "grace", ["client_id": "i1", "role": "guest"]).code
          == "client_id_reused")
      _ = try await village.request(.post, "/invites", as: "linus", [:])
      #expect(try await village.request(.get, "/invites", as: "grace").texts("data", "id") == [first["id"]])
      let page = try await village.request(.get, "/invites?limit=1", as: "mira")
      #expect(page.count("data") == 1 && !page.isNull("next"))
      let next = try await village.request(.get, "/invites?limit=1&next=\(try #require(page["next"]))", as: "mira")
      #expect(next.texts("data", "id") == [first["id"]] && next.isNull("next"))
      #expect(try await village.request(.get, "/invites").status == 401)
      for uses in [0, -1, 10_001] {
        #expect(try await village.request(.post, "/invites", as: "grace", ["max_uses": uses]).status == 400)
      }
    }
  }

  /// Sessions have scope `admin`; a token of scope `write` lacks it.
  @Test func `inviting staff, into a private forum or for an existing user needs scope admin`() async throws {
    try await Village.open(.inMemory) { village in
      let cellar = try await village.forum("cellar", .private, ["ada"])
      try await village.community.store.write { tx throws(Refusal) in
        var user = NewUser(name: "emil", role: .member)
        user.isImported = true
        _ = try tx.add(user)
      }
      let program = try await village.token("ada", .write)
      for (body, status) in [
        (["role": "guest"], 201), (["role": "member"], 201), (["role": "moderator"], 403), (["role": "admin"], 403),
        (["forum_id": cellar], 403), (["user_id": "@emil"], 403),
      ] as [([String: String], Int)] {
        let asProgram = try await village.request(
          .post, "/invites", body, fields: ["Authorization": "Bearer \(program)"])
        #expect(asProgram.status == status, "\(body): \(asProgram.text)")
        #expect(try await village.request(.post, "/invites", as: "ada", body).status == 201, "\(body)")
      }
    }
  }

  /// Every GET endpoint, as a visitor and as each role with a credential of each scope, before and after the invites are
  /// used and revoked. Over a socket with one scope of each role, since all are thousands of requests.
  @Test(arguments: TestTransport.allCases)
  func `no answer holds the code of an invite, except to its creation`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.addUser("alma", .admin)
      let forum = try await village.forum("cellar", .private, ["ada", "grace"])
      var codes: [String] = []
      var ids: [String] = []
      func invite(_ name: String, _ body: [String: Any]) async throws {
        let made = try await village.expect(201, .post, "/invites", as: name, body)
        codes.append(try #require(made["code"]))
        ids.append(try #require(made["id"]))
        for key in codes.dropLast() { #expect(!made.text.contains(key)) }
      }
      try await invite("ada", ["role": "admin", "max_uses": 1, "client_id": "i1"])
      try await invite("ada", ["forum_id": forum])
      try await invite("grace", ["role": "guest", "client_id": "i1"])
      try await invite("mira", [:])
      var readers: [(name: String, fields: Fields)] = [("visitor", [:])]
      for name in ["ada", "alma", "mira", "grace", "linus", "robo", "gus"] {
        for scope in transport == .inMemory ? Scope.allCases : [.admin] {
          let token = try await village.token(name, scope)
          readers.append(("\(name), \(scope)", ["Authorization": "Bearer \(token)"]))
        }
      }
      // They do not end by themselves.
      let endless = ["/realtime", "/events"]
      var found = 0
      func readAll() async throws {
        for endpoint in API.endpoints where endpoint.method == .get && !endless.contains(endpoint.path) {
          for id in endpoint.path.contains("{id}") ? ids : [""] {
            let path = endpoint.path.replacing("{id}", with: id).replacing("{code}", with: "x").replacing(
              "{stream}", with: "site"
            ).replacing("{key}", with: "x")
            for reader in readers {
              let answer = try await village.request(.get, path, fields: reader.fields)
              found += answer.status == 200 ? 1 : 0
              #expect(!codes.contains { answer.text.contains($0) }, "\(path), \(reader.name)")
            }
          }
        }
      }
      try await readAll()
      // Not in a repeated request and not in the answers to those who use it.
      let again = try await village.request(.post, "/invites", as: "grace", ["role": "guest", "client_id": "i1"])
      let lena = try await join(village, "lena", codes[2])
      let link = try await village.request(.get, "/links/\(codes[3])")
      #expect(again.status == 200 && lena.status == 201 && link.status == 200)
      for answer in [again, lena, link] { #expect(!codes.contains { answer.text.contains($0) }) }
      try await village.expect(204, .delete, "/invites/\(ids[3])", as: "ada")
      try await readAll()
      #expect(found > (transport == .inMemory ? 500 : 100))
      // Nor on the disk.
      for file in ["parley.db", "parley.db-wal"] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(village.folder)/\(file)"))
        for code in codes { #expect(bytes.range(of: Data(code.utf8)) == nil, "\(file)") }
      }
    }
  }
}
