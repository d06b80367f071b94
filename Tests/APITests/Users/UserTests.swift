import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct UserTests {
  @Test(arguments: TestTransport.allCases)
  func `me, @name and the id are the same user`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let id = village.id("grace")
      for path in ["/me", "/users/me", "/users/@grace", "/users/@GRACE", "/users/%40grace", "/users/\(id)"] {
        let seen = try await village.request(.get, path, as: "grace")
        #expect(seen["id"] == id, "\(path)")
      }
      #expect(try await village.request(.get, "/me").status == 401)
      for path in ["/users/@nobody-here", "/users/@", "/users/0", "/users/007", "/users/you", "/users/99999999"] {
        #expect(try await village.request(.get, path, as: "grace").status == 404, "\(path)")
      }
    }
  }

  /// The caller, and the visible parts of grace's profile.
  @Test(arguments: [
    (nil, 404, false, false), ("gus", 404, false, false), ("robo", 200, false, false), ("linus", 200, false, false),
    ("mira", 200, true, false), ("ada", 200, true, false), ("grace", 200, true, true),
  ])
  func `the visible profile depends on the viewer`(
    viewer: String?, status: Int, seesStanding: Bool, seesOwn: Bool
  ) async throws {
    try await Village.open(.inMemory) { village in
      let seen = try await village.request(.get, "/users/@grace", as: viewer)
      #expect(seen.status == status)
      #expect(seen.has("state") == seesStanding && seen.has("last_seen_at") == seesStanding)
      for field in ["preferences", "reachable_by", "discoverable", "show_receipts", "show_presence", "show_stars"] {
        #expect(seen.has(field) == seesOwn, "\(field)")
      }
      guard status == 200 else { return }
      #expect(seen["avatar"] == "/api/v1/users/\(village.id("grace"))/avatar" && seen.isNull("display_name"))
      #expect(!seen.text.contains("scrypt"))
    }
  }

  @Test func `guests see users of shared forums, and everyone sees users of public forums`() async throws {
    try await Village.open(.inMemory) { village in
      let (gus, grace) = (village.id("gus"), village.id("grace"))
      try await village.forum("garden", .members, ["gus", "grace"])
      #expect(try await village.request(.get, "/users/\(grace)", as: "gus").status == 200)
      #expect(try await village.request(.get, "/users/\(grace)").status == 404)
      #expect(try await village.request(.get, "/users/@linus", as: "gus").status == 404)
      try await village.forum("square", .public, ["linus"])
      #expect(try await village.request(.get, "/users/@linus").status == 200)
      #expect(try await village.request(.get, "/users?query=", as: "gus").status == 403)
      #expect(try await village.request(.get, "/users/\(gus)", as: "gus")["role"] == "guest")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `users are found by name prefix, page by page`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      for name in ["Ava", "avery", "avocado", "b.ava"] { try await village.addUser(name) }
      try await village.setState("avocado", in: .disabled)
      let found = try await village.request(.get, "/users?query=@AV", as: "grace")
      #expect(found.texts("data", "name") == ["Ava", "avery"] && found.isNull("next"))
      var names: [String?] = []
      var next = ""
      repeat {
        let page = try await village.request(.get, "/users?limit=2\(next)", as: "grace")
        names += page.texts("data", "name")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(names == ["ada", "Ava", "avery", "b.ava", "grace", "gus", "linus", "mira", "robo"])
      #expect(try await village.request(.get, "/users").status == 401)
      for query in ["limit=0", "limit=-1", "limit=201", "limit=x", "state=odd", "role=owner", "limit=1&limit=2"] {
        #expect(try await village.request(.get, "/users?\(query)", as: "grace").status == 400, "\(query)")
      }
      #expect(try await village.request(.get, "/users?query=%25_%5F'%22", as: "grace").count("data") == 0)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `users are found by words of their display names`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      for (name, display) in [
        ("zq", "Zora Quill-Ångström"), ("anna", "Anna Andersson"), ("taro", "山田太郎"), ("zoltan", ""),
        ("zack", "O’Zora"), ("gone", "Zora Gone"),
      ] {
        try await village.addUser(name)
        guard !display.isEmpty else { continue }
        try await village.expect(200, .patch, "/me", as: name, ["display_name": display])
      }
      try await village.setState("gone", in: .disabled)
      func found(_ query: String) async throws -> [String?] {
        let query = query.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await village.expect(200, .get, "/users?query=\(query)", as: "grace").texts("data", "name")
      }
      #expect(try await found("zora") == ["zack", "zq"])
      #expect(try await found("QUI") == ["zq"])
      #expect(try await found("zora  quill-a") == ["zq"])
      #expect(try await found("angs") == ["zq"])
      #expect(try await found("an") == ["anna", "zq"])
      #expect(try await found("太郎") == ["taro"])
      #expect(try await found("山田") == ["taro"])
      #expect(try await found("zo") == ["zoltan", "zack", "zq"])
      #expect(try await found("@zo") == ["zoltan"])
      #expect(try await found("@Q") == [])
      #expect(try await found("ora") == [])
      #expect(try await found("-") == [])
      var pages: [String?] = []
      var next = ""
      repeat {
        let page = try await village.expect(200, .get, "/users?query=z&limit=1\(next)", as: "grace")
        pages += page.texts("data", "name")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(pages == ["zack", "zoltan", "zq"])
      // The index follows the names.
      try await village.expect(200, .patch, "/me", as: "zq", ["display_name": "Quinn"])
      #expect(try await found("zora") == ["zack"])
      #expect(try await found("quinn") == ["zq"])
      try await village.expect(200, .patch, "/users/@zack", as: "ada", ["name": "yan"])
      #expect(try await found("zack") == [])
      #expect(try await found("ya") == ["yan"])
      try await village.expect(200, .delete, "/me", as: "zack", ["how": "leave", "password": "zack’s password"])
      let left = "select term from user_term where term like '%zora%' and user_id <> \(village.id("gone"))"
      #expect(try await village.rows(left) == [])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `users are listed by id, without those that the caller may not see`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (grace, linus, gus, mira) = (village.id("grace"), village.id("linus"), village.id("gus"), village.id("mira"))
      try await village.forum("garden", .members, ["gus", "grace"])
      let ids = "\(linus),999999, \(grace),\(linus)"
      let seen = try await village.expect(200, .get, "/users?ids=\(ids)".replacing(" ", with: "%20"), as: "mira")
      #expect(seen.texts("data", "id") == [linus, grace, linus] && seen.isNull("next") && seen.isNull("previous"))
      #expect(seen["data.0.state"] == "active" && !seen.has("data.0.preferences"))
      let own = try await village.expect(200, .get, "/users?ids=\(grace),\(linus)", as: "grace")
      #expect(own.has("data.0.preferences") && !own.has("data.1.preferences") && !own.has("data.1.state"))
      let all = "/users?ids=\(grace),\(linus),\(gus),\(mira)"
      #expect(try await village.expect(200, .get, all, as: "gus").texts("data", "id") == [grace, gus])
      try await village.forum("square", .public, ["linus"])
      #expect(try await village.expect(200, .get, all, as: "gus").texts("data", "id") == [grace, linus, gus])
      try await village.setState("linus", in: .pending)
      #expect(try await village.expect(200, .get, all, as: "grace").texts("data", "id") == [grace, gus, mira])
      #expect(try await village.request(.get, all).status == 401)
      let most = (1...200).map(String.init).joined(separator: ",")
      try await village.expect(200, .get, "/users?ids=\(most)", as: "grace")
      for query in ["ids=\(most),201", "ids=", "ids=x", "ids=1&query=a", "ids=1&state=active"] {
        #expect(try await village.request(.get, "/users?\(query)", as: "mira").status == 400, "\(query)")
      }
    }
  }

  @Test func `a list of users by id takes as many statements for a hundred as for two`() async throws {
    try await Village.open(.inMemory) { village in
      var ids: [String] = []
      for number in 0..<100 { ids.append("\(try await village.addUser("user\(number)"))") }
      for name in ["grace", "gus"] {
        var runs: [Int] = []
        for count in [2, 100, 2, 100] {
          let view = village.community.view()
          let caller = try #require(try view.authenticate(village.token(name)))
          let before = try view.read { tx throws(Refusal) in
            try tx.run { connection in connection.cachedStatementRuns.values.reduce(0, +) }
          }
          _ = try view.listUsers(ids.prefix(count).compactMap { ID<User>($0) }, for: caller)
          let after = try view.read { tx throws(Refusal) in
            try tx.run { connection in connection.cachedStatementRuns.values.reduce(0, +) }
          }
          runs.append(after - before)
        }
        #expect(Set(runs).count == 1, "\(name): \(runs)")
      }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `users update their own profile, and an update without changes writes nothing`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      var changed: Answer?
      let events = try await village.events {
        for _ in 1...2 {
          changed = try await village.request(
            .patch, "/me", as: "grace", ["display_name": "Grace 🌱", "bio": "compilers\nand more"])
        }
      }
      #expect(events == ["user.updated site #2"])
      #expect(changed?["display_name"] == "Grace 🌱" && changed?.int("revision") == 2)
      let own = try await village.events {
        let body: [String: Any] = [
          "preferences": ["theme": "dark"], "discoverable": true, "reachable_by": "shared", "show_receipts": false,
        ]
        changed = try await village.request(.patch, "/me", as: "grace", body)
      }
      #expect(own == ["preferences.updated user:\(village.id("grace")) #3"])
      #expect(changed?["preferences.theme"] == "dark" && changed?["reachable_by"] == "shared")
      #expect(changed?.bool("discoverable") == true && changed?.bool("show_receipts") == false)
      let cleared = try await village.request(.patch, "/users/me", as: "grace", ["display_name": NSNull()])
      #expect(cleared.isNull("display_name") && cleared["bio"] == "compilers\nand more")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a bio has its mentions and links`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let bio = "🌱 @LINUS and @nobody-here: #compilers https://example.org @linus `@mira`"
      let changed = try await village.request(.patch, "/me", as: "grace", ["bio": bio])
      let list = try await village.request(.get, "/users?ids=\(village.id("grace"))", as: "linus")
      #expect(list.texts("data.0.bio_entities.mentions", "name") == ["LINUS", "linus"])
      for seen in [changed, try await village.request(.get, "/users/@grace", as: "linus")] {
        #expect(seen.texts("bio_entities.mentions", "user_id") == [village.id("linus"), village.id("linus")])
        #expect(seen.texts("bio_entities.mentions", "name") == ["LINUS", "linus"])
        #expect(seen.int("bio_entities.mentions.0.pos") == 2 && seen.int("bio_entities.mentions.0.len") == 6)
        #expect(seen.texts("bio_entities.hashtags", "name") == ["compilers"])
        #expect(seen.texts("bio_entities.links", "url") == ["https://example.org"])
      }
      // The tag depends on the current owner of the name.
      let tag = try #require(try await village.request(.get, "/me", as: "grace").fields["etag"])
      #expect(try await village.request(.get, "/me", as: "grace", fields: ["If-None-Match": tag]).status == 304)
      try await village.request(.patch, "/users/@linus", as: "ada", ["name": "torvald"])
      let renamed = try await village.request(.get, "/me", as: "grace", fields: ["If-None-Match": tag])
      #expect(renamed.status == 200 && renamed.count("bio_entities.mentions") == 0)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a status has a text, an emoji and an end of its own`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let end = "2100-01-01T00:00:00.000Z"
      let events = try await village.events {
        let body = ["status_text": "on the train", "status_emoji": "🚆", "status_expires_at": end]
        _ = try await village.request(.patch, "/me", as: "grace", body)
      }
      #expect(events == ["user.updated site #2"])
      let seen = try await village.request(.get, "/users/@grace", as: "linus")
      #expect(seen["status_text"] == "on the train" && seen["status_emoji"] == "🚆" && seen["status_expires_at"] == end)
      // Another change keeps the status and its end; a new status does not inherit the end.
      let named = try await village.request(.patch, "/me", as: "grace", ["bio": "compilers"])
      #expect(named["status_text"] == "on the train" && named["status_expires_at"] == end)
      let next = try await village.request(.patch, "/me", as: "grace", ["status_text": "at home"])
      #expect(next["status_text"] == "at home" && next["status_emoji"] == "🚆" && next.isNull("status_expires_at"))
      let cleared = try await village.request(
        .patch, "/users/@grace", as: "ada",
        ["status_text": NSNull(), "status_emoji": NSNull(), "status_expires_at": end])
      #expect(cleared.isNull("status_text") && cleared.isNull("status_emoji") && cleared.isNull("status_expires_at"))
      #expect(try await village.request(.get, "/audit", as: "ada")["data.0.kind"] == "user.changed")
    }
  }

  @Test func `a conflicting update returns the current state`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await village.request(.patch, "/me", as: "grace", ["bio": "one", "if_revision": 1]).status == 200)
      let late = try await village.request(.patch, "/me", as: "grace", ["bio": "two", "if_revision": 1])
      #expect(late.status == 409 && late.code == "conflict")
      #expect(late["current.bio"] == "one" && late.int("current.revision") == 2)
    }
  }

  @Test func `the ETag of a user depends on the viewer`() async throws {
    try await Village.open(.inMemory) { village in
      let seen = try await village.request(.get, "/users/@grace", as: "linus")
      let tag = try #require(seen.fields["etag"])
      let again = try await village.request(.get, "/users/@grace", as: "linus", fields: ["If-None-Match": tag])
      #expect(again.status == 304)
      #expect(
        try await village.request(.get, "/users/@grace", as: "grace", fields: ["If-None-Match": tag]).status == 200)
      _ = try await village.request(.patch, "/me", as: "grace", ["bio": "new"])
      #expect(
        try await village.request(.get, "/users/@grace", as: "linus", fields: ["If-None-Match": tag]).status == 200)
    }
  }

  private static let whole: [(body: [String: any Sendable], field: String, code: String)] = [
    (["display_name": String(repeating: "x", count: 65)], "display_name", "too_long"),
    (["display_name": ""], "display_name", "too_short"), (["display_name": "a\u{2067}b"], "display_name", "invalid"),
    (["display_name": "\u{200b}"], "display_name", "too_short"),
    (["display_name": "\u{3164}"], "display_name", "too_short"),
    (["display_name": "a\u{2028}b"], "display_name", "invalid"),
    (["bio": "a\u{0}b"], "bio", "invalid"), (["bio": String(repeating: "x", count: 1_001)], "bio", "too_long"),
    (["status_text": String(repeating: "x", count: 81)], "status_text", "too_long"),
    (["status_text": ""], "status_text", "too_short"), (["status_text": "a\nb"], "status_text", "invalid"),
    (["status_text": "a\u{202e}b"], "status_text", "invalid"), (["status_emoji": "🚆🚆"], "status_emoji", "invalid"),
    (["status_emoji": "x"], "status_emoji", "invalid"), (["status_emoji": ""], "status_emoji", "invalid"),
    (["status_text": "x", "status_expires_at": "2020-01-01T00:00:00.000Z"], "status_expires_at", "invalid"),
    (["bio": 7], "bio", "wrong_type"), (["preferences": [1]], "preferences", "wrong_type"),
    (["preferences": ["x": String(repeating: "y", count: 8_192)]], "preferences", "too_long"),
    (["reachable_by": "robots"], "reachable_by", "invalid"), (["discoverable": "yes"], "discoverable", "wrong_type"),
    (["if_revision": "1"], "if_revision", "wrong_type"), (["state": "left"], "state", "unknown_field"),
  ]

  @Test(arguments: whole.indices)
  func `an invalid profile is refused by field`(row: Int) async throws {
    try await Village.open(.inMemory) { village in
      let (body, field, code) = Self.whole[row]
      let answer = try await village.request(.patch, "/me", as: "grace", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
      #expect(try await village.request(.get, "/me", as: "grace").int("revision") == 1)
    }
  }

  @Test func `a client decodes users of the server`() async throws {
    try await Village.open(.inMemory) { village in
      for viewer in ["grace", "ada", "linus"] {
        let bytes = try await village.request(.get, "/users/@grace", as: viewer).body
        let user = try User(json: JSONValue(parsing: bytes))
        var json = JSONWriter()
        json.value(user)
        #expect(json.bytes == bytes)
      }
      let settings = try await village.request(.get, "/settings").body
      var json = JSONWriter()
      json.value(try SiteSettings(json: JSONValue(parsing: settings)))
      #expect(json.bytes == settings)
    }
  }

  // MARK: Staff

  /// Rows: the caller. Columns: edits grace's profile, sets her private settings, renames her, sets her role, disables
  /// her.
  @Test(arguments: [
    ("gus", [404, 404, 404, 404, 404]), ("linus", [403, 403, 403, 403, 403]), ("mira", [403, 403, 403, 403, 403]),
    ("alma", [200, 403, 200, 200, 200]), ("ada", [200, 403, 200, 200, 200]), ("grace", [200, 200, 403, 403, 403]),
  ])
  func `permissions to update a member`(caller: String, expected: [Int]) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let id = village.id("grace")
      let bodies: [[String: Any]] = [
        ["bio": "x"], ["discoverable": true], ["name": "gracia"], ["role": "moderator"], ["disabled": true],
      ]
      var found: [Int] = []
      for body in bodies { found.append(try await village.request(.patch, "/users/\(id)", as: caller, body).status) }
      #expect(found == expected)
    }
  }

  /// An admin governs lower roles, an owner every role.
  @Test(arguments: [
    ("alma", "ada", "member", 403), ("alma", "alba", "member", 403), ("alma", "mira", "member", 200),
    ("alma", "grace", "admin", 403), ("alma", "grace", "owner", 403), ("alma", "alma", "owner", 403),
    ("ada", "alma", "member", 200), ("ada", "grace", "owner", 200),
  ])
  func `roles are assigned below the caller's own role to users below it`(
    caller: String, target: String, role: String, status: Int
  ) async throws {
    try await Village.open(.inMemory) { village in
      for name in ["alma", "alba"] { try await village.addUser(name, .admin) }
      let events = try await village.events {
        let changed = try await village.request(
          .patch, "/users/@\(target)", as: caller, ["role": role, "end_sessions": false])
        #expect(changed.status == status)
      }
      #expect(events == (status == 200 ? ["user.updated site #2"] : []))
    }
  }

  @Test func `the last owner can't be demoted or disabled`() async throws {
    try await Village.open(.inMemory) { village in
      for body: [String: Any] in [["role": "member"], ["disabled": true]] {
        let last = try await village.request(.patch, "/me", as: "ada", body)
        #expect(last.status == 409 && last.code == "last_owner")
      }
      #expect(
        try await village.request(.patch, "/users/@grace", as: "ada", ["role": "owner", "end_sessions": false]).status
          == 200)
      #expect(try await village.request(.patch, "/me", as: "ada", ["role": "member"]).status == 200)
      // The old role ends at once.
      #expect(
        try await village.request(.patch, "/users/@linus", as: "ada", ["role": "guest", "end_sessions": false]).status
          == 403)
    }
  }

  @Test func `disabling a user revokes all credentials at once`() async throws {
    try await Village.open(.inMemory) { village in
      let token = try #require(
        try await village.request(.post, "/me/tokens", as: "linus", ["name": "t", "scope": "read"])["token"])
      let body: [String: Any] = ["disabled": true, "reason": "spam"]
      let out = try await village.request(.patch, "/users/@linus", as: "ada", body)
      #expect(out.status == 200 && out["state"] == "disabled")
      #expect(try await village.request(.get, "/me", as: "linus").status == 401)
      #expect(try await village.request(.patch, "/users/@linus", as: "ada", ["disabled": false])["state"] == "active")
      // Enabled again, but the old credentials stay revoked.
      #expect(try await village.request(.get, "/me", as: "linus").status == 401)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 401)
      try await village.signIn("linus", "linus’s password")
    }
  }

  @Test func `a taken name is refused`() async throws {
    try await Village.open(.inMemory) { village in
      let taken = try await village.request(.patch, "/users/@grace", as: "ada", ["name": "LINUS"])
      #expect(taken["errors.0.field"] == "name" && taken["errors.0.code"] == "taken")
      #expect(try await village.request(.patch, "/users/@grace", as: "ada", ["name": "Grace"])["name"] == "Grace")
    }
  }

  @Test func `changing roles requires an admin-scope credential`() async throws {
    try await Village.open(.inMemory) { village in
      let token = try #require(
        try await village.request(.post, "/me/tokens", as: "ada", ["name": "t", "scope": "write"])["token"])
      let answer = try await village.request(
        .patch, "/users/@grace", ["role": "admin", "end_sessions": false], fields: ["Authorization": "Bearer \(token)"])
      #expect(answer.status == 403)
    }
  }
}
