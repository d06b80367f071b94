import Foundation
import ParleyCrypto
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ForumTests {
  @Test(arguments: TestTransport.allCases)
  func `a forum's creator is its admin, and all users get the event`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      var made: Answer?
      let events = try await village.events { () async throws in
        made = try await village.request(
          .post, "/forums", as: "grace",
          [
            "title": "  Garden  ", "description": "Seeds\nand tools", "icon_url": "https://garden.example/icon.png",
            "visibility": "public", "write": "members", "start_topics": "moderators",
          ])
      }
      let (forum, room) = (try #require(made?["id"]), try #require(made?["room_id"]))
      #expect(made?.status == 201 && made?["title"] == "Garden" && made?["description"] == "Seeds\nand tools")
      #expect(made?["visibility"] == "public" && made?["write"] == "members" && made?["start_topics"] == "moderators")
      #expect(made?["role"] == "admin" && made?.int("member_count") == 1 && made?.isNull("last_message_id") == true)
      #expect(
        made?["room_mention"] == "moderators" && made?.int("slow_seconds") == 0
          && made?["created_by"] == village.id("grace"))
      #expect(
        events == [
          "forum.created forum:\(forum) #1", "forum.created site #1", "conversation.created forum:\(forum) #1",
          "conversation.created conversation:\(room) #1", "participant.joined forum:\(forum)",
          "participant.joined user:\(village.id("grace"))", "conversation.created user:\(village.id("grace"))",
        ])
      #expect(try await village.participants(inRoomOf: forum) == [village.id("grace")])
      let seen = try await village.request(.get, "/forums/\(forum)")
      #expect(seen.status == 200 && seen.isNull("role") && seen.int("member_count") == 1)
    }
  }

  @Test func `events of a private forum reach only its members`() async throws {
    try await Village.open(.inMemory) { village in
      var made: Answer?
      let events = try await village.events { () async throws in
        made = try await village.request(.post, "/forums", as: "grace", ["title": "Attic", "visibility": "private"])
      }
      let (forum, room) = (try #require(made?["id"]), try #require(made?["room_id"]))
      #expect(
        events == [
          "forum.created forum:\(forum) #1", "conversation.created forum:\(forum) #1",
          "conversation.created conversation:\(room) #1", "participant.joined forum:\(forum)",
          "participant.joined user:\(village.id("grace"))", "conversation.created user:\(village.id("grace"))",
        ])
      let (changed, deleted) = (
        try await village.events {
          _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["title": "Cellar"])
        },
        try await village.events {
          _ = try await village.request(.delete, "/forums/\(forum)", as: "grace")
        }
      )
      #expect(changed == ["forum.updated forum:\(forum) #2"])
      #expect(deleted.first == "forum.deleted forum:\(forum) #3")
      #expect(!(changed + deleted).contains { $0.contains("site") })
    }
  }

  @Test func `a repeated request creates one forum`() async throws {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = ["title": "Garden", "client_id": "g1"]
      let first = try await village.request(.post, "/forums", as: "grace", body)
      var again: Answer?
      #expect(try await village.events { again = try await village.request(.post, "/forums", as: "grace", body) } == [])
      #expect(again?.status == 200 && again?.body == first.body)
      let forum = try #require(first["id"])
      let other = try await village.request(.post, "/forums", as: "grace", ["title": "Shed", "client_id": "g1"])
      #expect(other.status == 409 && other.code == "client_id_reused")
      // A `client_id` is scoped to its user.
      #expect(
        try await village.request(.post, "/forums", as: "linus", ["title": "Shed", "client_id": "g1"]).status == 201)
      _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["title": "Orchard"])
      let now = try await village.request(.post, "/forums", as: "grace", body)
      #expect(now.status == 200 && now["title"] == "Orchard", "as it is now")
      _ = try await village.request(.delete, "/forums/\(forum)", as: "grace")
      #expect(try await village.request(.post, "/forums", as: "grace", body).status == 410)
      #expect(
        try await village.request(.post, "/forums", as: "grace", ["title": "x", "client_id": ""])["errors.0.field"]
          == "client_id")
    }
  }

  @Test func `forum titles are unique until deletion`() async throws {
    try await Village.open(.inMemory) { village in
      let first = try #require(try await village.request(.post, "/forums", as: "grace", ["title": "Garden"])["id"])
      let second = try await village.request(.post, "/forums", as: "linus", ["title": "Garden"])
      #expect(second.status == 409 && second.code == "taken")
      #expect(second["errors.0.field"] == "title" && second["errors.0.code"] == "taken")
      let lower = try await village.request(.post, "/forums", as: "linus", ["title": "garden"])
      #expect(lower.status == 201, "case tells them apart")
      let other = try #require(lower["id"])
      let renamed = try await village.request(.patch, "/forums/\(other)", as: "linus", ["title": "Garden"])
      #expect(renamed.status == 409 && renamed.code == "taken" && !renamed.has("current"))
      #expect(try await village.request(.delete, "/forums/\(first)", as: "grace").status == 200)
      #expect(try await village.request(.patch, "/forums/\(other)", as: "linus", ["title": "Garden"]).status == 200)
    }
  }

  @Test(arguments: [
    ("title", "", "too_short"), ("title", "   ", "too_short"), ("title", "a\u{0}b", "invalid"),
    ("title", "a\nb", "invalid"), ("title", "nedrag\u{202e}", "invalid"), ("title", "a\u{2066}b", "invalid"),
    ("title", String(repeating: "x", count: 121), "too_long"), ("description", "a\u{0}", "invalid"),
    ("description", String(repeating: "é", count: 2_001), "too_long"), ("icon_url", "javascript:alert(1)", "invalid"),
    ("icon_url", "https://", "invalid"), ("icon_url", "https:///x", "invalid"),
    ("icon_url", "https://ada@evil.example/", "invalid"), ("icon_url", "http://a b/", "invalid"),
    ("icon_url", "//garden.example/x", "invalid"), ("icon_url", "https://x\"onload=\"", "invalid"),
    ("visibility", "secret", "invalid"), ("write", "admins", "invalid"), ("start_topics", "", "invalid"),
    ("section", "\n", "too_short"), ("client_id", String(repeating: "x", count: 65), "too_long"),
    ("colour", "red", "unknown_field"),
  ])
  func `an invalid forum is refused by field`(field: String, value: String, code: String) async throws {
    try await Village.open(.inMemory) { village in
      var body = ["title": "Garden"]
      body[field] = value
      let answer = try await village.request(.post, "/forums", as: "ada", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
      #expect(try await village.request(.get, "/forums").count("data") == 0)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `any valid title is returned unchanged`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let titles = [
        "<script>alert(1)</script>", "'; drop table forum; --", "%00", "日本語の庭", "👩‍👩‍👧‍👦", "e\u{301}", "\u{e9}", "null",
        "../../etc/passwd", "a\u{200d}b", "\u{feff}x", "İı", "ﷺ", "%s%d", "\\u0000",
      ]
      for title in titles {
        let made = try await village.request(.post, "/forums", as: "grace", ["title": title, "visibility": "public"])
        let read = try ForumView(json: JSONValue(parsing: made.body)).forum
        #expect(made.status == 201 && Array(read.title.utf8) == Array(title.utf8), "\(made.text)")
        let id = try #require(made["id"])
        #expect(try await village.request(.get, "/forums/\(id)/icon").status == 200)
      }
      #expect(try await village.request(.get, "/forums").count("data") == titles.count)
    }
  }

  @Test func `an update has one event, and an update without changes none`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(try await village.request(.post, "/forums", as: "grace", ["title": "Garden"])["id"])
      let body: [String: Any] = [
        "title": "Orchard", "description": "Trees", "write": "members", "start_topics": "members",
        "room_mention": "members",
        "slow_seconds": 30, "locked": true, "archived": true, "solvable": true, "shows_revisions": true,
        "call_url": "https://meet.example/orchard", "icon_url": "https://orchard.example/i.png", "if_revision": 1,
      ]
      var changed: Answer?
      let events = try await village.events { () async throws in
        changed = try await village.request(.patch, "/forums/\(forum)", as: "grace", body)
      }
      #expect(events == ["forum.updated forum:\(forum) #2", "forum.updated site #2"])
      #expect(changed?.status == 200 && changed?.int("revision") == 2 && changed?["room_mention"] == "members")
      #expect(changed?.bool("locked") == true && changed?.bool("archived") == true && changed?.bool("solvable") == true)
      #expect(changed?.bool("shows_revisions") == true && changed?.int("slow_seconds") == 30)
      #expect(changed?["call_url"] == "https://meet.example/orchard" && changed?.has("opened") == false)
      let late = try await village.request(.patch, "/forums/\(forum)", as: "grace", body)
      #expect(late.status == 409 && late.code == "conflict" && late["current.title"] == "Orchard")
      var same = body
      same["if_revision"] = nil
      var again: Answer?
      let none = try await village.events {
        again = try await village.request(.patch, "/forums/\(forum)", as: "grace", same)
      }
      #expect(none == [] && again?.status == 200 && again?.int("revision") == 2)
      let cleared = try await village.request(
        .patch, "/forums/\(forum)", as: "grace", ["icon_url": NSNull(), "call_url": NSNull(), "archived": false])
      #expect(cleared.isNull("icon_url") && cleared.isNull("call_url") && cleared.bool("archived") == false)
      #expect(try await village.audited() == ["forum.changed \(forum)", "forum.changed \(forum)"])
      for (field, value) in [("slow_seconds", 86_401), ("slow_seconds", -1), ("position", 1_000_001)] {
        let refused = try await village.request(.patch, "/forums/\(forum)", as: "ada", [field: value])
        #expect(refused.status == 400 && refused["errors.0.code"] == "out_of_range")
      }
      #expect(
        try await village.request(.patch, "/forums/\(forum)", as: "ada", ["from": "now"])["errors.0.code"] == "mismatch"
      )
    }
  }

  @Test func `a forum is created with the settings of its topics and messages`() async throws {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = [
        "title": "Garden", "room_mention": "members", "slow_seconds": 30, "solvable": true, "shows_revisions": true,
        "call_url": "https://meet.example/garden",
      ]
      let made = try await village.request(.post, "/forums", as: "grace", body)
      #expect(made.status == 201 && made.int("revision") == 1 && made["room_mention"] == "members", "\(made.text)")
      #expect(made.int("slow_seconds") == 30 && made.bool("solvable") == true && made.bool("shows_revisions") == true)
      #expect(made["call_url"] == "https://meet.example/garden")
      let forum = try #require(made["id"])
      #expect(try await village.request(.get, "/forums/\(forum)", as: "grace").int("slow_seconds") == 30)
      let slow = try await village.request(.post, "/forums", as: "grace", ["title": "x", "slow_seconds": 86_401])
      #expect(slow["errors.0.field"] == "slow_seconds" && slow["errors.0.code"] == "out_of_range")
      let call = try await village.request(.post, "/forums", as: "grace", ["title": "x", "call_url": "call"])
      #expect(call["errors.0.field"] == "call_url" && call["errors.0.code"] == "invalid")
      // A new forum is open: these are states of a forum with messages.
      for field in ["locked", "archived"] {
        let refused = try await village.request(.post, "/forums", as: "grace", ["title": "x", field: true])
        #expect(refused["errors.0.field"] == field && refused["errors.0.code"] == "unknown_field")
      }
    }
  }

  @Test func `a setting limits forum creation, and staff set positions`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await village.request(.post, "/forums", as: "gus", ["title": "x"]).status == 403)
      #expect(try await village.request(.post, "/forums", ["title": "x"]).status == 401)
      #expect(try await village.request(.post, "/forums", as: "grace", ["title": "x", "position": 2]).status == 403)
      let placed = try await village.request(
        .post, "/forums", as: "ada", ["title": "News", "section": "Town hall", "position": 2])
      #expect(placed.status == 201 && placed["section"] == "Town hall" && placed.int("position") == 2)
      try await village.changeSettings(["may_create_forums": "moderators"])
      #expect(try await village.request(.post, "/forums", as: "grace", ["title": "x"]).status == 403)
      #expect(try await village.request(.post, "/forums", as: "mira", ["title": "x"]).status == 201)
    }
  }

  @Test func `a new forum is last in its section, and a new section is last`() async throws {
    try await Village.open(.inMemory) { village in
      func make(_ title: String, _ section: String? = nil, _ position: Int? = nil) async throws -> Answer {
        var body: [String: Any] = ["title": title]
        body["section"] = section
        body["position"] = position
        return try await village.request(.post, "/forums", as: "ada", body)
      }
      #expect(try await make("one").int("position") == 0)
      #expect(try await make("two").int("position") == 10)
      #expect(try await make("arranged", "Town hall", 10_000).int("position") == 10_000)
      #expect(try await make("three").int("position") == 20)
      let four = try await make("four", "Town hall")
      #expect(four.int("position") == 10_010)
      #expect(try await make("five", "Market").int("position") == 10_020)
      #expect(try await make("first", "Market", 0).int("position") == 0)
      // A deleted forum has no position.
      _ = try await village.request(.delete, "/forums/\(four["id"] ?? "")", as: "ada")
      #expect(try await make("six", "Town hall").int("position") == 10_010)
      #expect(try await make("last", "Attic", 1_000_000).int("position") == 1_000_000)
      #expect(try await make("behind it", "Attic").int("position") == 1_000_000)
      // Setting a position, 0 included, is for staff.
      #expect(try await village.request(.post, "/forums", as: "grace", ["title": "x", "position": 0]).status == 403)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `forums are listed by last activity, and pages cover all of them`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      var ids: [String] = []
      for number in 0..<7 {
        ids.append(
          try #require(
            try await village.request(
              .post, "/forums", as: "grace", ["title": "forum \(number)", "visibility": "public"])[
                "id"]))
      }
      // Without messages a forum sorts by its creation; a message moves it up.
      try await village.sayInRoom("hello", of: ids[2])
      let expected = [ids[2]] + [6, 5, 4, 3, 1, 0].map { ids[$0] }
      let whole = try await village.request(.get, "/forums")
      #expect(whole.texts("data", "id") == expected && whole.isNull("next"))
      var found: [String?] = []
      var path = "/forums?limit=2"
      while found.count < 20 {
        let page = try await village.request(.get, path)
        found += page.texts("data", "id")
        guard let next = page["next"] else { break }
        #expect(!page.isNull("next"))
        path = "/forums?limit=2&next=\(next)"
      }
      #expect(found == expected)
      for query in ["limit=0", "limit=201", "limit=x", "next=-1", "next=x", "sort=new"] {
        #expect(try await village.request(.get, "/forums?\(query)").status == 400, "\(query)")
      }
    }
  }

  @Test func `forums are found by part of the title, ignoring case and accents`() async throws {
    try await Village.open(.inMemory) { village in
      for title in ["Rose Garden", "Über uns", "100% cotton", "庭の話"] {
        _ = try await village.request(.post, "/forums", as: "grace", ["title": title, "visibility": "public"])
      }
      for (query, titles) in [
        ("garden", ["Rose Garden"]), ("SE%20GA", ["Rose Garden"]), ("uber", ["Über uns"]), ("%25", ["100% cotton"]),
        ("%E5%BA%AD", ["庭の話"]), ("tulip", []), ("", ["庭の話", "100% cotton", "Über uns", "Rose Garden"]),
      ] {
        #expect(try await village.request(.get, "/forums?query=\(query)").texts("data", "title") == titles, "\(query)")
      }
      let page = try await village.request(.get, "/forums?query=r&limit=1")
      let next = try #require(page["next"])
      #expect(page.texts("data", "title") == ["Über uns"])
      #expect(
        try await village.request(.get, "/forums?query=r&limit=1&next=\(next)").texts("data", "title") == [
          "Rose Garden"
        ])
      #expect(try await village.request(.get, "/forums?query=%00").status == 400)
    }
  }

  @Test func `an unchanged forum returns 304`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(
        try await village.request(.post, "/forums", as: "grace", ["title": "Garden", "visibility": "public"])["id"])
      let tag = try #require(try await village.request(.get, "/forums/\(forum)").fields["etag"])
      #expect(try await village.request(.get, "/forums/\(forum)", fields: ["If-None-Match": tag]).status == 304)
      #expect(
        try await village.request(.get, "/forums/\(forum)", as: "grace", fields: ["If-None-Match": tag]).status == 200)
      try await village.sayInRoom("hello", of: forum)
      #expect(try await village.request(.get, "/forums/\(forum)", fields: ["If-None-Match": tag]).status == 200)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a forum without an icon gets a drawing of its title`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let forum = try #require(
        try await village.request(.post, "/forums", as: "grace", ["title": "Garden", "visibility": "public"])["id"])
      let drawn = try await village.request(.get, "/forums/\(forum)/icon")
      #expect(drawn.status == 200 && drawn.fields["content-type"] == "image/svg+xml")
      #expect(drawn.text == Picture.quilt(try Digest.sha256(of: Array("Garden".utf8))).svg)
      #expect(drawn.fields["content-security-policy"]?.contains("sandbox") == true)
      let tag = try #require(drawn.fields["etag"])
      #expect(try await village.request(.get, "/forums/\(forum)/icon", fields: ["If-None-Match": tag]).status == 304)
    }
    try await Village.open(.inMemory) { village in
      let forum = try #require(
        try await village.request(
          .post, "/forums", as: "grace", ["title": "Garden", "icon_url": "https://garden.example/i.png"])["id"])
      // No redirect: if the fetch fails, the drawing is returned.
      let drawn = try await village.request(.get, "/forums/\(forum)/icon", as: "grace")
      #expect(drawn.status == 200 && drawn.fields["content-type"] == "image/svg+xml")
      #expect(try await village.request(.get, "/forums/\(forum)/icon").status == 404)
    }
  }

  @Test func `room mentions are limited to one in ten minutes and to permitted roles`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(try await village.request(.post, "/forums", as: "grace", ["title": "Garden"])["id"])
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "linus")
      let id = ID<Forum>(try #require(Int(forum)))
      func mentionsRoom(_ name: String, _ role: Role = .member) async throws -> Bool {
        let caller = Caller(user: village.userID(name), role: role, scope: .write, session: nil)
        return try await village.community.store.write { tx throws(Refusal) in try tx.mayMentionRoom(id, for: caller) }
      }
      #expect(try await mentionsRoom("linus") == false)
      #expect(try await mentionsRoom("grace"))
      #expect(try await mentionsRoom("grace") == false)
      #expect(try await mentionsRoom("mira", .moderator) == false)
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute(
            "update forum set room_mentioned_at = $1 where id = $2", Int(tx.now - WriteTransaction.roomMentionInterval),
            id.number
          )
        }
      }
      #expect(try await mentionsRoom("mira", .moderator))
      _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["room_mention": "members"])
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("update forum set room_mentioned_at = null") }
      }
      #expect(try await mentionsRoom("robo", .bot) == false)
      #expect(try await mentionsRoom("linus"))
    }
  }
}

extension Village {
  /// Posts a message as ada in a forum's room.
  @discardableResult
  func sayInRoom(_ text: String, of forum: String) async throws -> ID<Message> {
    let (ada, id) = (userID("ada"), ID<Forum>(Int(forum) ?? 0))
    return try await community.store.write { tx throws(Refusal) in
      guard let room = try tx.forum(id)?.room else { throw .notFound }
      let message = try tx.post(NewMessage(conversation: room, author: ada, text: text)).id
      try tx.run { connection in
        try connection.execute("update forum set last_message_id = $1 where id = $2", message.number, id.number)
      }
      return message
    }
  }

  /// The audit entries in order, such as `forum.changed 12`.
  func audited() async throws -> [String] {
    try await community.store.readInBackground { tx throws(Refusal) in
      try tx.run { connection in
        try connection.all("select action, subject from audit order by id") { row in
          "\(try row.text(0)) \(try row.int(1))"
        }
      }
    }
  }
}
