import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Storage

@Suite struct AuditTests {
  @Test(arguments: TestTransport.allCases)
  func `audit entries are found by actor, action, reason and time`(transport: TestTransport) async throws {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      let (forum, room) = try await village.garden("garden")
      try await village.addUser("olga", .moderator)
      let posted = try await village.post("buy", in: room, as: "grace")
      try await village.expect(200, .post, "/messages/\(posted)/remove", as: "mira", ["reason": "Spam."])
      clock.add(1_000)
      let noon = Timestamp.format(Int(clock.read()))
      clock.add(1_000)
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", ["reason": "Spam."])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["locked": true, "reason": "A break."])
      let group = try await village.conversation("group", by: "ada", with: ["linus"])
      try await village.expect(200, .patch, "/conversations/\(group)", as: "ada", ["locked": true, "reason": "Late."])
      for (query, kinds) in [
        ("", ["conversation.changed", "forum.changed", "user.banned", "message.removed"]),
        ("actor=@mira", ["user.banned", "message.removed"]),
        ("actor=\(village.id("ada"))&limit=1", ["conversation.changed"]),
        ("subject=\(posted)", ["message.removed"]), ("kind=user.banned", ["user.banned"]),
        ("forum=\(forum)", ["forum.changed", "message.removed"]), ("before_time=\(noon)", ["message.removed"]),
        ("after_time=\(noon)&actor=@mira", ["user.banned"]), ("actor=me", []),
        ("subject=\(forum)&kind=forum.changed&forum=\(forum)&actor=@ada", ["forum.changed"]),
      ] as [(String, [String?])] {
        let found = try await village.expect(200, .get, "/audit?\(query)", as: "olga")
        #expect(found.texts("data", "kind") == kinds, "\(query)")
      }
      let all = try await village.expect(200, .get, "/audit", as: "ada")
      #expect(all["data.1.changes.0.field"] == "locked" && all.texts("data.0.changes", "field") == ["locked"])
      #expect(!all.has("data.3.changes"))
      #expect(all["data.3.reason"] == "Spam." && all["data.3.actor_id"] == village.id("mira"))
      #expect(all["data.3.subject_id"] == posted && all["data.3.forum_id"] == forum)
      let page = try await village.expect(200, .get, "/audit?limit=3", as: "ada")
      #expect(!page.isNull("next"))
      let rest = try await village.expect(200, .get, "/audit?limit=3&next=\(try #require(page["next"]))", as: "ada")
      #expect(rest.texts("data", "kind") == ["message.removed"] && rest.isNull("next"))
      #expect(try await village.request(.get, "/audit?kind=nonsense", as: "ada")["errors.0.field"] == "kind")
      #expect(try await village.request(.get, "/audit?actor=@nemo", as: "ada")["errors.0.code"] == "unknown")
    }
  }

  @Test func `the deletion of a forum has its title`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Allotments")
      try await village.expect(200, .delete, "/forums/\(forum)", as: "ada")
      let audit = try await village.expect(200, .get, "/audit?kind=forum.deleted", as: "ada")
      #expect(audit.texts("data", "reason") == ["Allotments"] && !audit.has("data.0.messages"))
    }
  }

  @Test func `an entry has the changed fields, and of texts the name`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden")
      let change: [String: Any] = ["section": "Growing", "title": "meadow", "slow_seconds": 5, "visibility": "private"]
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", change)
      let changed = try await village.expect(200, .get, "/audit?kind=forum.changed", as: "ada")
      let fields = changed.texts("data.0.changes", "field").compactMap(\.self)
      #expect(Set(fields) == ["section", "title", "slow_seconds", "visibility"])
      let entries = try #require(changed.find("data.0.changes") as? [[String: Any]])
      for entry in entries {
        switch entry["field"] as? String {
        case "section": #expect(entry["from"] is NSNull && entry["to"] as? String == "Growing")
        case "slow_seconds": #expect(entry["from"] as? Int == 0 && entry["to"] as? Int == 5)
        case "visibility": #expect(entry["to"] as? String == "private")
        default: #expect(entry.count == 1, "\(entry)")
        }
      }
      try await village.expect(200, .patch, "/settings", as: "ada", ["newcomers": ["days": 17], "hue": 9])
      let settings = try await village.expect(200, .get, "/audit?kind=settings.changed", as: "ada")
      #expect(settings.texts("data.0.changes", "field") == ["hue", "newcomers.days"])
      try await village.expect(200, .patch, "/users/@grace", as: "ada", ["role": "moderator", "end_sessions": false])
      let role = try await village.expect(200, .get, "/audit?kind=user.role", as: "ada")
      #expect(role["data.0.changes.0.from"] == "member" && role["data.0.changes.0.to"] == "moderator")
    }
  }

  @Test(arguments: [
    (nil, 401, 401), ("gus", 403, 404), ("robo", 403, 403), ("linus", 403, 403), ("fay", 403, 200), ("mira", 200, 200),
    ("ada", 200, 200),
  ])
  func `permissions to read the audit log`(caller: String?, all: Int, inForum: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("fay")
      let forum = try await village.garden(members: ["fay"]).forum
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      try await village.expect(all, .get, "/audit", as: caller)
      try await village.expect(inForum, .get, "/audit?forum=\(forum)", as: caller)
    }
  }

  @Test func `neither an endpoint nor SQL changes the audit log`() async throws {
    #expect(API.endpoints.filter { $0.path.hasPrefix("/audit") }.map(\.method) == [.get])
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["hue": 7])
      for statement in ["update audit set reason = 'none'", "delete from audit"] {
        await #expect(throws: Refusal.unavailable) {
          try await village.community.store.write { tx throws(Refusal) in
            try tx.run { connection in try connection.executeScript(statement) }
          }
        }
      }
      #expect(try await village.rows("select action from audit") == ["settings.changed"])
    }
  }

  @Test func `acts of moderators on posts of others and on roles are audited`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden")
      let id = try await village.post("roses", in: room, as: "grace")
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["text": "tulips"])
      try await village.expect(204, .delete, "/messages/\(id)/revisions/1", as: "mira")
      try await village.expect(201, .post, "/messages/\(id)/topic", as: "mira", ["title": "Tulips"])
      let topics = "/forums/\(forum)/conversations"
      let topic = try #require(try await village.expect(201, .post, topics, as: "grace", ["title": "Weeds"])["id"])
      try await village.expect(204, .delete, "/conversations/\(topic)", as: "mira")
      try await village.expect(200, .put, "/forums/\(forum)/members/@linus", as: "ada", ["role": "moderator"])
      let found = try await village.expect(200, .get, "/audit?forum=\(forum)", as: "ada")
      #expect(
        found.texts("data", "kind") == [
          "forum.member_changed", "topic.deleted", "message.moved", "message.revision_deleted",
        ])
      #expect(found["data.0.subject_id"] == village.id("linus") && found["data.0.changes.0.to"] == "moderator")
      #expect(found["data.1.reason"] == "Weeds" && found["data.2.subject_id"] == id)
      // Their own posts are not.
      let own = try #require(try await village.expect(201, .post, topics, as: "mira", ["title": "Mine"])["id"])
      try await village.expect(204, .delete, "/conversations/\(own)", as: "mira")
      #expect(try await village.expect(200, .get, "/audit?forum=\(forum)", as: "ada").count("data") == 4)
    }
  }
}
