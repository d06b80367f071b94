import Foundation
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct LeavingTests {
  private static func leave(
    _ how: String, _ name: String, in village: Village
  ) async throws -> Answer {
    let answer = try await village.request(
      .delete, "/me", as: name, ["how": how, "password": "\(name)’s password"])
    await village.community.store.jobs.run()
    return answer
  }

  private static func post(_ text: String, _ name: String, in forum: String, _ village: Village) async throws -> ID<
    Message
  > {
    let author = ID<User>(Int(village.id(name)) ?? 0)
    return try await village.community.store.write { tx throws(Refusal) in
      guard let room = try tx.forum(ID(Int(forum) ?? 0))?.room else { throw .notFound }
      return try tx.post(NewMessage(conversation: room, author: author, text: text)).id
    }
  }

  private static func text(of message: ID<Message>, in village: Village) async throws -> String? {
    try await village.community.store.readInBackground { tx throws(Refusal) -> String? in
      guard case .live(let content) = try tx.messages([message]).first?.state else { return nil }
      return content.text
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a deactivated user keeps the name and returns by signing in`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let token = try #require(
        try await village.request(.post, "/me/tokens", as: "grace", ["name": "t", "scope": "read"])["token"])
      let events = try await village.events {
        let gone = try await Self.leave("deactivate", "grace", in: village)
        #expect(gone.status == 200 && gone["state"] == "deactivated" && gone["name"] == "grace", "\(gone.text)")
      }
      #expect(events == ["user.updated site #2"])
      #expect(try await village.request(.get, "/me", as: "grace").status == 401)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 401)
      let seen = try await village.request(.get, "/users/@grace", as: "linus")
      #expect(seen.status == 200 && !seen.has("state"))
      let back = try await village.events { try await village.signIn("grace", "grace’s password") }
      // All devices were signed out, so it is a new one.
      #expect(back == ["user.updated site #3", "notification.created user:\(village.id("grace"))"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a user that leaves becomes a former member and keeps messages`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let id = village.id("grace")
      let forum = try await village.forum("garden", .members, ["linus", "grace"])
      let message = try await Self.post("seeds", "grace", in: forum, village)
      try await village.request(
        .patch, "/me", as: "grace",
        ["display_name": "Grace", "bio": "compilers", "status_text": "away", "addresses": ["g@example.org"]])
      try await village.request(.put, "/users/@linus/follow", as: "grace")
      try await village.request(.put, "/users/@grace/follow", as: "linus")
      let invite = try await village.request(.post, "/invites", as: "grace", [:])
      let code = try #require(invite["code"])
      let events = try await village.events {
        let gone = try await Self.leave("leave", "grace", in: village)
        #expect(gone.status == 200 && gone["state"] == "left" && gone["id"] == id, "\(gone.text)")
      }
      let room = try await village.request(.get, "/forums/\(forum)", as: "linus")["room_id"] ?? ""
      #expect(
        events.sorted() == [
          "conversation.removed user:\(id)", "participant.left forum:\(forum)", "participant.left user:\(id)",
          "relation.changed user:\(village.id("linus"))", "user.updated site #3",
        ], "\(events), room \(room)")
      #expect(try await Self.text(of: message, in: village) == "seeds")
      for viewer in ["linus", "ada", "gus", nil] {
        let seen = try await village.request(.get, "/users/\(id)", as: viewer)
        #expect(seen.status == 200 && seen["state"] == "left" && seen.isNull("name") && seen.isNull("display_name"))
        #expect(
          seen.isNull("status_text") && seen["bio"] == "" && seen["role"] == "member" && seen.isNull("last_seen_at"))
        #expect(!seen.has("preferences"))
        let user = try User(json: JSONValue(parsing: seen.body))
        #expect(user.summary.name == nil && user.standing?.state == .left)
      }
      #expect(try await village.request(.get, "/users/\(id)/avatar").status == 200)
      #expect(try await village.request(.get, "/users/@grace", as: "ada").status == 404)
      #expect(try await village.request(.get, "/users?query=gra", as: "ada").count("data") == 0)
      #expect(try await village.request(.get, "/me", as: "grace").status == 401)
      #expect(try await village.request(.get, "/me/following", as: "linus").count("data") == 0)
      #expect(try await village.request(.put, "/users/\(id)/follow", as: "linus").status == 403)
      #expect(try await village.request(.get, "/links/\(code)").status != 200)
      let refused = try await village.request(
        .post, "/sessions", ["name": "grace", "password": "grace’s password", "device": ""])
      #expect(refused.status == 401)
      try await village.changeSettings(["registration": "open"])
      let body = ["name": "grace", "password": "another password"]
      let newUser = try await village.request(.post, "/users", body)
      #expect(newUser.status == 201 && newUser["user.id"] != id, "\(newUser.text)")
      try Self.expectSound(village)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `erasing an account leaves only tombstones`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (id, linus) = (village.id("grace"), village.id("linus"))
      let forum = try await village.forum("garden", .members, ["linus", "grace"])
      let seeds = try await Self.post("seeds", "grace", in: forum, village)
      let thanks = try await Self.post("thanks @grace", "linus", in: forum, village)
      let room = try #require(try await village.request(.get, "/forums/\(forum)", as: "linus")["room_id"])
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          for type in ["like", "star"] {
            try connection.execute(
              """
              insert into action (message_id, type, user_id, created_at, message_at)
              select id, $1, $2, 0, created_at from message where id = $3
              """, type, Int(id) ?? 0, thanks.number)
          }
        }
      }
      let events = try await village.events {
        let gone = try await Self.leave("erase", "grace", in: village)
        #expect(gone.status == 200 && gone["state"] == "erased" && gone.isNull("name"), "\(gone.text)")
      }
      #expect(
        events == [
          "user.updated site #2", "participant.left forum:\(forum)", "participant.left user:\(id)",
          "conversation.removed user:\(id)",
          "action.removed conversation:\(room)", "message.deleted conversation:\(room) #2",
        ])
      #expect(try await Self.text(of: seeds, in: village) == nil)
      #expect(try await Self.text(of: thanks, in: village) == "thanks @grace")
      #expect(try await village.request(.get, "/users/\(id)", as: "linus")["state"] == "erased")
      let members = try await village.request(.get, "/forums/\(forum)/members", as: "linus")
      #expect(members.count("data") == 1 && members["data.0.user.id"] == linus)
      try Self.expectSound(village)
    }
  }

  @Test func `an erased user's messages leave the copies in reports`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation(.direct, ["grace", "linus"])
      let posts = [("first secret", "grace"), ("hello", "linus"), ("second secret", "grace"), ("hi", "linus")]
      var ids: [String] = []
      for (text, author) in posts { ids.append(try await village.post(text, in: conversation, as: author)) }
      let ofGrace = try await village.expect(
        201, .post, "/reports", as: "linus", ["message_id": ids[2], "reason": "Rude."])
      let ofLinus = try await village.expect(
        201, .post, "/reports", as: "grace", ["message_id": ids[3], "reason": "Rude."])
      #expect(try await Self.leave("erase", "grace", in: village).status == 200)
      let first = try await village.expect(200, .get, "/reports/\(ofGrace["id"] ?? "")", as: "mira")
      #expect(first.isNull("message") && first["reason"] == "Rude." && !first.text.contains("secret"), "\(first.text)")
      let second = try await village.expect(200, .get, "/reports/\(ofLinus["id"] ?? "")", as: "mira")
      #expect(second["message.text"] == "hi" && second.texts("surroundings", "text") == ["hello"], "\(second.text)")
      try Self.expectSound(village)
    }
  }

  @Test(arguments: ["leave", "erase"])
  func `leaving the site leaves each conversation`(how: String) async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus, mira) = (village.id("grace"), village.id("linus"), village.id("mira"))
      try await village.shareForum("linus", "mira", "robo")
      let garden = try await village.garden("garden", "members")
      try await village.setRelation("linus", "follow", "grace")
      try await village.setRelation("mira", "follow", "grace")
      let alone = try await village.conversation("group", by: "grace", with: [])
      let led = try await village.conversation("group", by: "grace", with: ["linus", "mira"])
      let distinct = try await village.conversation("group", by: "grace", with: ["mira"], ["distinct": true])
      let topic = try await village.topic("roses", in: garden.forum, by: "grace")
      let events = try await village.events {
        let gone = try await Self.leave(how, "grace", in: village)
        #expect(gone.status == 200)
      }
      #expect(
        events == [
          "user.updated site #2", "relation.changed user:\(mira)", "relation.changed user:\(linus)",
          "participant.left conversation:\(alone)", "conversation.removed user:\(grace)",
          "conversation.removed conversation:\(alone) #2",
          "participant.left conversation:\(led)", "conversation.removed user:\(grace)",
          "participant.changed conversation:\(led)",
          "participant.left conversation:\(distinct)", "conversation.removed user:\(grace)",
          "conversation.updated conversation:\(distinct) #2", "participant.changed conversation:\(distinct)",
          "participant.left conversation:\(topic)", "conversation.removed user:\(grace)",
        ])
      #expect(try await village.request(.get, "/conversations/\(led)", as: "mira")["role"] == "admin")
      let states = try await village.rows("select state from conversation where id in (\(alone), \(topic)) order by id")
      #expect(states == ["inactive", "open"])
      try Self.expectSound(village)
    }
  }

  @Test(arguments: ["leave", "erase"])
  func `the forum of a departed admin gets the next one`(how: String) async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(
        201, .post, "/forums", as: "grace", ["title": "shed", "visibility": "private"])
      let forum = "/forums/\(try #require(made["id"]))"
      for (name, role) in [("robo", "member"), ("linus", "moderator")] {
        try await village.expect(200, .put, "\(forum)/members/@\(name)", as: "grace", ["role": role])
      }
      let events = try await village.events {
        let gone = try await Self.leave(how, "grace", in: village)
        #expect(gone.status == 200)
      }
      #expect(events.contains("participant.changed user:\(village.id("linus"))"), "\(events)")
      #expect(try await village.expect(200, .get, forum, as: "linus")["role"] == "admin")
      #expect(try await village.expect(200, .get, forum, as: "robo")["role"] == "member")
      try Self.expectSound(village)
    }
  }

  private static func expectSound(_ village: Village) throws {
    let faults = try Verification(village.folder).run(all: true).flatMap(\.faults)
    #expect(faults == [], "\(faults)")
  }

  // MARK: Permissions and proof

  /// Callers that delete grace, and an admin.
  @Test(arguments: [
    (String?.none, 401, 401), ("gus", 404, 404), ("robo", 403, 403), ("linus", 403, 403), ("mira", 403, 403),
    ("alma", 200, 403), ("ada", 200, 200),
  ])
  func `staff remove users below their role`(caller: String?, member: Int, admin: Int) async throws {
    try await Village.open(.inMemory) { village in
      for name in ["alma", "alba"] { try await village.addUser(name, .admin) }
      for how in ["deactivate", "leave", "erase"] {
        for (target, status) in [("grace", member), ("alba", admin)] {
          let id = village.id(target)
          for _ in 1...2 {
            let answer = try await village.request(
              .delete, "/users/\(id)", as: caller, ["how": how, "reason": "spam"])
            #expect(answer.status == status, "\(how) \(target): \(answer.text)")
          }
        }
      }
      await village.community.store.jobs.run()
    }
  }

  @Test func `the audit log has the actor, action and reason of a departure`() async throws {
    try await Village.open(.inMemory) { village in
      let id = village.id("grace")
      for how in ["deactivate", "leave", "leave", "erase", "erase"] {
        _ = try await village.request(.delete, "/users/\(id)", as: "ada", ["how": how, "reason": "because \(how)"])
      }
      _ = try await Self.leave("leave", "linus", in: village)
      let audit = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.run { connection in
          try connection.all("select actor_id, action, subject, reason from audit order by id") { row in
            "\(try row.int(0)) \(try row.text(1)) \(try row.int(2)) \(try row.text(3))"
          }
        }
      }
      let ada = village.id("ada")
      #expect(
        audit == [
          "\(ada) user.deactivated \(id) because deactivate", "\(ada) user.left \(id) because leave",
          "\(ada) user.erased \(id) because erase",
        ])
    }
  }

  private static let rows: [(caller: String, body: [String: any Sendable], status: Int, field: String?, code: String)] =
    [
      ("grace", ["how": "leave"], 400, "password", "missing"),
      ("grace", ["how": "leave", "password": "wrong"], 400, "password", "invalid"),
      ("grace", ["how": "leave", "password": String(repeating: "x", count: 5_000)], 400, "password", "invalid"),
      ("grace", ["how": "leave", "password": "grace’s password", "reason": "x"], 400, "reason", "unknown_field"),
      ("grace", ["how": "vanish", "password": "grace’s password"], 400, "how", "invalid"),
      ("grace", ["how": 7], 400, "how", "wrong_type"), ("grace", ["now": true], 400, "now", "unknown_field"),
      ("ada", ["how": "leave"], 400, "reason", "missing"),
      ("ada", ["how": "leave", "reason": ""], 400, "reason", "too_short"),
      ("ada", ["how": "leave", "reason": "a\u{0}b"], 400, "reason", "invalid"),
      ("ada", ["how": "leave", "reason": String(repeating: "x", count: 1_001)], 400, "reason", "too_long"),
      ("ada", ["how": "leave", "reason": "x", "password": "ada’s password"], 400, "password", "unknown_field"),
    ]

  @Test(arguments: rows.indices)
  func `a departure without proof or reason is refused`(row: Int) async throws {
    try await Village.open(.inMemory) { village in
      let (caller, body, status, field, code) = Self.rows[row]
      let events = try await village.events {
        let answer = try await village.request(.delete, "/users/@grace", as: caller, body)
        #expect(answer.status == status && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
      }
      #expect(events == [])
      #expect(try await village.request(.get, "/me", as: "grace").status == 200)
    }
  }

  @Test func `the last owner can't leave`() async throws {
    try await Village.open(.inMemory) { village in
      for how in ["deactivate", "leave", "erase"] {
        let last = try await Self.leave(how, "ada", in: village)
        #expect(last.status == 409 && last.code == "last_owner")
      }
      #expect(
        try await village.request(.patch, "/users/@grace", as: "ada", ["role": "owner", "end_sessions": false]).status
          == 200)
      #expect(try await Self.leave("leave", "ada", in: village)["role"] == "member")
      #expect(try await Self.leave("leave", "grace", in: village).code == "last_owner")
    }
  }

  @Test func `pending and disabled users can't be deactivated`() async throws {
    try await Village.open(.inMemory) { village in
      for (name, state) in [("grace", UserState.pending), ("linus", .disabled)] {
        try await village.setState(name, in: state)
        let answer = try await village.request(
          .delete, "/users/@\(name)", as: "ada", ["how": "deactivate", "reason": "x"])
        #expect(answer.status == 409 && answer.code == "conflict")
      }
      let gone = try await village.request(.delete, "/users/@linus", as: "ada", ["how": "leave", "reason": "x"])
      #expect(gone.status == 200 && gone["state"] == "left")
    }
  }

  @Test func `a write token can't remove users`() async throws {
    try await Village.open(.inMemory) { village in
      let token = try #require(
        try await village.request(.post, "/me/tokens", as: "ada", ["name": "t", "scope": "write"])["token"])
      let answer = try await village.request(
        .delete, "/users/@grace", ["how": "leave", "reason": "x"], fields: ["Authorization": "Bearer \(token)"])
      #expect(answer.status == 403)
    }
  }

  @Test func `password attempts by leaving count as password attempts`() async throws {
    var rates = Village.unlimited
    rates.login = Allowance(burst: 2, perMinute: 1)
    try await Village.open(.inMemory, rates: rates) { village in
      var found: [Int] = []
      for _ in 1...3 {
        found.append(try await village.request(.delete, "/me", as: "grace", ["password": "a guess"]).status)
      }
      #expect(found == [400, 400, 429])
    }
  }
}
