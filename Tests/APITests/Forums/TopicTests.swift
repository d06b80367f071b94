import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct TopicTests {
  private func make(_ village: Village, _ settings: [String: Any] = [:]) async throws -> String {
    let body = settings.merging(["title": "Garden", "visibility": "public"]) { given, _ in given }
    return try #require(try await village.request(.post, "/forums", as: "grace", body)["id"])
  }

  @Test(arguments: TestTransport.allCases)
  func `a topic is created with or without a first message`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let forum = try await make(village)
      let path = "/forums/\(forum)/conversations"
      var made: Answer?
      let events = try await village.events { () async throws in
        made = try await village.request(.post, path, as: "linus", ["title": " Weeds ", "text": "Pull *them*"])
      }
      let topic = try #require(made?["id"])
      #expect(
        made?.status == 201 && made?["title"] == "Weeds" && made?["kind"] == "topic" && made?["forum_id"] == forum)
      #expect(made?.int("last_seq") == 1 && made?["created_by"] == village.id("linus") && made?.int("revision") == 1)
      #expect(
        events == [
          "conversation.created forum:\(forum) #1", "conversation.created conversation:\(topic) #1",
          "conversation.created user:\(village.id("linus"))", "message.created conversation:\(topic) #1",
          "level.changed user:\(village.id("linus"))",
        ])
      let quiet = try await village.request(.post, path, as: "linus", ["title": "Seeds"])
      #expect(quiet.status == 201 && quiet.int("last_seq") == 0 && quiet.isNull("last_message_id"))
      for (field, value) in [("title", ""), ("title", "a\u{0}"), ("text", ""), ("text", "\u{0}")] {
        var body = ["title": "x"]
        body[field] = value
        #expect(try await village.request(.post, path, as: "linus", body)["errors.0.field"] == field)
      }
      let long = String(repeating: "x", count: 16_001)
      #expect(
        try await village.request(.post, path, as: "linus", ["title": "x", "text": long])["errors.0.code"] == "too_long"
      )
    }
  }

  @Test func `a repeated request creates one topic`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village)
      let path = "/forums/\(forum)/conversations"
      let body: [String: Any] = ["title": "Weeds", "text": "Pull them", "client_id": "t1"]
      let first = try await village.request(.post, path, as: "linus", body)
      var again: Answer?
      #expect(try await village.events { again = try await village.request(.post, path, as: "linus", body) } == [])
      #expect(again?.status == 200 && again?.body == first.body)
      #expect(
        try await village.request(.post, path, as: "linus", ["title": "Seeds", "client_id": "t1"]).code
          == "client_id_reused")
      #expect(try await village.request(.get, path).count("data") == 1)
    }
  }

  @Test func `a client_id creates one kind of conversation, even after deletion`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village)
      let path = "/forums/\(forum)/conversations"
      let topic: [String: Any] = ["title": "Weeds", "client_id": "t1"]
      let group: [String: Any] = ["kind": "group", "client_id": "g1"]
      let started = try await village.expect(201, .post, path, as: "grace", topic)
      let made = try await village.expect(201, .post, "/conversations", as: "grace", group)
      for _ in 1...2 {
        let asTopic = try await village.expect(409, .post, path, as: "grace", ["title": "Weeds", "client_id": "g1"])
        let asGroup = try await village.expect(
          409, .post, "/conversations", as: "grace", ["kind": "group", "client_id": "t1"])
        #expect(asTopic.code == "client_id_reused" && asGroup.code == "client_id_reused")
        for id in [started["id"], made["id"]] {
          _ = try await village.request(.delete, "/conversations/\(id ?? "")", as: "grace")
        }
      }
      #expect(try await village.request(.post, path, as: "grace", topic).code == "gone")
      #expect(try await village.request(.post, "/conversations", as: "grace", group).code == "gone")
    }
  }

  @Test(arguments: [
    ("readers", "linus", 201), ("readers", "gus", 403), ("members", "linus", 403), ("members", "robo", 201),
    ("moderators", "robo", 403), ("moderators", "mira", 201), ("moderators", "grace", 201),
  ])
  func `a forum setting limits topic creation`(policy: String, name: String, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, ["start_topics": policy])
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "robo")
      let answer = try await village.request(.post, "/forums/\(forum)/conversations", as: name, ["title": "x"])
      #expect(answer.status == status)
    }
  }

  @Test func `silenced users and users without write access can't create topics with a message`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village, ["write": "members"])
      let path = "/forums/\(forum)/conversations"
      #expect(try await village.request(.post, path, as: "linus", ["title": "x", "text": "y"]).status == 403)
      #expect(try await village.request(.post, path, as: "linus", ["title": "x"]).status == 201)
      let (linus, ada) = (village.userID("linus"), village.userID("ada"))
      try await village.community.store.write { tx throws(Refusal) in
        let id = tx.nextID()
        try tx.run { connection in
          try connection.execute(
            """
            insert into sanction (id, user_id, kind, forum_id, created_by, created_at)
            values ($1, $2, 'silence', $3, $4, $5)
            """, id, linus.number, Int(forum), ada.number, Int(tx.now))
        }
      }
      #expect(try await village.request(.post, path, as: "linus", ["title": "z"]).status == 403)
    }
  }

  @Test func `topics are listed by pin and last activity, and pages cover all of them`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village)
      let path = "/forums/\(forum)/conversations"
      var ids: [String] = []
      for number in 0..<6 {
        ids.append(
          try #require(try await village.request(.post, path, as: "linus", ["title": "topic \(number)"])["id"]))
      }
      for pinned in [1, 4] {
        let answer = try await village.request(.patch, "/conversations/\(ids[pinned])", as: "grace", ["pinned": true])
        #expect(answer.bool("pinned") == true)
      }
      let (ada, moved) = (village.userID("ada"), ID<Conversation>(Int(ids[0]) ?? 0))
      try await village.community.store.write { tx throws(Refusal) in
        _ = try tx.post(NewMessage(conversation: moved, author: ada, text: "up"))
      }
      let expected = [4, 1, 0, 5, 3, 2].map { ids[$0] }
      for limit in [1, 2, 4, 6] {
        var found: [String?] = []
        var next = ""
        while found.count < 20 {
          let page = try await village.request(.get, "\(path)?limit=\(limit)\(next)")
          found += page.texts("data", "id")
          guard let token = page["next"] else { break }
          next = "&next=\(token)"
        }
        #expect(found == expected, "\(limit) at a time")
      }
      for query in ["limit=0", "next=1", "previous=1", "kind=topic"] {
        #expect(try await village.request(.get, "\(path)?\(query)").status == 400, "\(query)")
      }
    }
  }

  @Test func `a topic's creator renames it, moderators do the rest`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village)
      let topic = try #require(
        try await village.request(.post, "/forums/\(forum)/conversations", as: "linus", ["title": "Weeds"])["id"])
      let path = "/conversations/\(topic)"
      let events = try await village.events { () async throws in
        let renamed = try await village.request(.patch, path, as: "linus", ["title": "Herbs", "if_revision": 1])
        #expect(renamed.status == 200 && renamed["title"] == "Herbs" && renamed.int("revision") == 2)
        let late = try await village.request(.patch, path, as: "linus", ["title": "Roots", "if_revision": 1])
        #expect(late.status == 409 && late["current.title"] == "Herbs")
        #expect(try await village.request(.patch, path, as: "linus", ["title": "Herbs"]).int("revision") == 2)
      }
      #expect(events == ["conversation.updated conversation:\(topic) #2", "conversation.updated forum:\(forum) #2"])
      #expect(try await village.request(.patch, path, as: "linus", ["locked": true]).status == 403)
      #expect(try await village.request(.patch, path, as: "robo", ["title": "x"]).status == 403)
      let locked = try await village.request(
        .patch, path, as: "mira", ["locked": true, "slow_seconds": 60, "reason": "too hot"])
      #expect(locked.bool("locked") == true && locked.int("slow_seconds") == 60)
      #expect(try await village.request(.patch, path, as: "linus", ["title": "x"]).status == 403, "it is locked")
      #expect(try await village.audited() == ["topic.changed \(topic)"])
      #expect(try await village.request(.patch, path, as: "mira", ["slow_seconds": 86_401]).status == 400)
      #expect(try await village.request(.patch, path, as: "mira", ["solved": true]).code == "unknown_field")
    }
  }

  @Test func `a topic is solved by one of its messages, if the forum allows it`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village)
      let path = "/forums/\(forum)/conversations"
      let topic = try await village.request(.post, path, as: "linus", ["title": "Help", "text": "How?"])
      let other = try await village.request(.post, path, as: "linus", ["title": "Other", "text": "So"])
      let (address, answer) = ("/conversations/\(try #require(topic["id"]))", try #require(topic["last_message_id"]))
      let refused = try await village.request(.patch, address, as: "linus", ["solved_by": answer])
      #expect(refused.status == 400 && refused["errors.0.code"] == "mismatch")
      _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["solvable": true])
      let foreign = try await village.request(
        .patch, address, as: "linus", ["solved_by": try #require(other["last_message_id"])])
      #expect(foreign["errors.0.code"] == "unknown")
      #expect(try await village.request(.patch, address, as: "robo", ["solved_by": answer]).status == 403)
      #expect(try await village.request(.patch, address, as: "linus", ["solved_by": answer])["solved_by"] == answer)
      #expect(try await village.request(.patch, address, as: "mira", ["solved_by": NSNull()]).isNull("solved_by"))
    }
  }

  @Test func `a topic is unsolved once its solution is deleted or moved, and solved again with its restore`()
    async throws
  {
    try await Village.open(.inMemory) { village in
      let forum = try await make(village)
      try await village.expect(200, .patch, "/forums/\(forum)", as: "grace", ["solvable": true])
      let path = "/forums/\(forum)/conversations"
      let topic = try #require(
        try await village.expect(201, .post, path, as: "linus", ["title": "Help", "text": "How?"])["id"])
      let address = "/conversations/\(topic)"
      func solve() async throws -> String {
        let answer = try await village.post("So", in: topic, as: "grace")
        try await village.expect(200, .patch, address, as: "linus", ["solved_by": answer])
        return answer
      }
      func solution() async throws -> String? { try await village.expect(200, .get, address, as: "linus")["solved_by"] }
      func isUnsolved() async throws -> Bool {
        try await village.expect(200, .get, "\(path)?filter=unsolved", as: "linus").count("data") == 1
      }
      let deleted = try await solve()
      let events = try await village.events {
        try await village.expect(200, .delete, "/messages/\(deleted)", as: "grace")
      }
      #expect(
        events == [
          "conversation.updated conversation:\(topic) #3", "conversation.updated forum:\(forum) #3",
          "message.deleted conversation:\(topic) #2",
        ])
      #expect(try await solution() == nil)
      #expect(try await isUnsolved())
      let moved = try await solve()
      try await village.expect(201, .post, "/messages/\(moved)/topic", as: "grace", ["title": "So"])
      #expect(try await solution() == nil)
      let removed = try await solve()
      try await village.expect(200, .post, "/messages/\(removed)/remove", as: "mira")
      #expect(try await solution() == nil)
      let restored = try await village.events {
        try await village.expect(200, .post, "/messages/\(removed)/restore", as: "mira")
      }
      #expect(restored.filter { $0.hasPrefix("conversation.updated") }.count == 2)
      #expect(try await solution() == removed)
      // A solution that was chosen meanwhile stays.
      try await village.expect(200, .post, "/messages/\(removed)/remove", as: "mira")
      let other = try await solve()
      try await village.expect(200, .post, "/messages/\(removed)/restore", as: "mira")
      #expect(try await solution() == other)
    }
  }
}
