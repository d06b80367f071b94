import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Changes of visibility, history and deleted forums.
@Suite struct ForumHistoryTests {
  /// The first readable seq of a forum's room; nil without access.
  private func start(_ village: Village, _ name: String?, _ role: Role?, in forum: String) async throws -> Int? {
    let (user, id) = (name.map { village.userID($0) }, ID<Forum>(Int(forum) ?? 0))
    return try await village.community.store.readInBackground { tx throws(Refusal) in
      guard let room = try tx.forum(id)?.room, let standing = try tx.standing(of: user, in: room),
        Permissions.rights(of: role, in: standing).contains(.read)
      else { return nil }
      return Permissions.fromSeq(of: role, in: standing)
    }
  }

  private func starts(_ village: Village, in forum: String) async throws -> [Int?] {
    [
      try await start(village, nil, nil, in: forum), try await start(village, "gus", .guest, in: forum),
      try await start(village, "linus", .member, in: forum), try await start(village, "grace", .member, in: forum),
    ]
  }

  @Test func `a wider visibility opens history from now on to new readers, and all to members`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(
        try await village.request(.post, "/forums", as: "grace", ["title": "Attic", "visibility": "private"])["id"])
      for number in 1...3 { try await village.sayInRoom("\(number)", of: forum) }
      #expect(try await starts(village, in: forum) == [nil, nil, nil, 1])
      let opened = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["visibility": "members"])
      #expect(opened.status == 200 && opened.int("opened") == 0)
      try await village.sayInRoom("4", of: forum)
      #expect(try await starts(village, in: forum) == [nil, nil, 4, 1])
      // Joining does not reveal hidden history.
      #expect(try await village.request(.put, "/forums/\(forum)/members/me", as: "linus").status == 200)
      #expect(try await starts(village, in: forum) == [nil, nil, 4, 1])
      let wider = try await village.request(
        .patch, "/forums/\(forum)", as: "grace", ["visibility": "public", "from": "now"])
      #expect(wider.int("opened") == 0)
      try await village.sayInRoom("5", of: forum)
      #expect(try await starts(village, in: forum) == [5, 5, 4, 1])
      // A user added by the forum's admin reads the whole history.
      #expect(try await village.request(.put, "/forums/\(forum)/members/@gus", as: "grace").status == 200)
      #expect(try await starts(village, in: forum) == [5, 1, 4, 1])
    }
  }

  @Test func `opening from the beginning reveals all history and reports its size`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(
        try await village.request(.post, "/forums", as: "grace", ["title": "Attic", "visibility": "private"])["id"])
      for number in 1...3 { try await village.sayInRoom("\(number)", of: forum) }
      _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["visibility": "members"])
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "linus")
      let body: [String: Any] = ["visibility": "public", "from": "beginning"]
      let opened = try await village.request(.patch, "/forums/\(forum)", as: "grace", body)
      #expect(opened.int("opened") == 3)
      #expect(try await starts(village, in: forum) == [1, 1, 1, 1])
      var again: Answer?
      let events = try await village.events {
        again = try await village.request(.patch, "/forums/\(forum)", as: "grace", body)
      }
      #expect(events == [] && again?.status == 200 && again?.has("opened") == false)
    }
  }

  @Test func `a topic created later has no hidden history`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(
        try await village.request(.post, "/forums", as: "grace", ["title": "Attic", "visibility": "private"])["id"])
      let before = try #require(
        try await village.request(.post, "/forums/\(forum)/conversations", as: "grace", ["title": "old", "text": "1"])[
          "id"]
      )
      _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["visibility": "public"])
      let after = try #require(
        try await village.request(.post, "/forums/\(forum)/conversations", as: "grace", ["title": "new", "text": "1"])[
          "id"]
      )
      for (topic, expected) in [(before, 2), (after, 1)] {
        let found = try await village.community.store.readInBackground { tx throws(Refusal) in
          try tx.standing(of: nil, in: ID<Conversation>(Int(topic) ?? 0)).map { Permissions.fromSeq(of: nil, in: $0) }
        }
        #expect(found == expected)
      }
    }
  }

  @Test func `messages before the reader's history are not unread`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("Attic", .members, ["grace", "linus"])
      let topics = "/forums/\(forum)/conversations"
      let draft: [String: Any] = ["title": "Beams", "text": "hi @linus"]
      let topic = try #require(try await village.expect(201, .post, topics, as: "grace", draft)["id"])
      let unread = { () async throws -> (Int?, Int) in
        let listed = try await village.expect(200, .get, "/forums", as: "linus")
        let index = listed.texts("data", "id").firstIndex(of: forum) ?? 0
        let found = try await village.expect(200, .get, topics + "?filter=unread", as: "linus")
        return (listed.int("data.\(index).unread_count"), found.count("data"))
      }
      #expect(try await unread() == (1, 1))
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "members", "from": "now"])
      try await village.expect(204, .delete, "/forums/\(forum)/members/me", as: "linus")
      try await village.expect(200, .put, "/forums/\(forum)/members/me", as: "linus")
      #expect(try await unread() == (0, 0))
      try await village.post("what now?", in: topic, as: "grace")
    }
  }

  @Test func `users without access lose the forum's conversations, with an event for all`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try #require(
        try await village.request(.post, "/forums", as: "grace", ["title": "Garden", "visibility": "public"])["id"])
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "robo")
      let topic = try #require(
        try await village.request(.post, "/forums/\(forum)/conversations", as: "linus", ["title": "weeds"])["id"])
      let events = try await village.events { () async throws in
        _ = try await village.request(.patch, "/forums/\(forum)", as: "grace", ["visibility": "private"])
        await village.community.store.jobs.run()
      }
      #expect(
        events == [
          "forum.updated forum:\(forum) #2", "forum.updated site #2", "participant.left conversation:\(topic)",
          "conversation.removed user:\(village.id("linus"))",
        ])
      #expect(try await village.request(.get, "/forums/\(forum)", as: "linus").status == 404)
      #expect(try await village.request(.patch, "/conversations/\(topic)", as: "linus", ["title": "x"]).status == 404)
      #expect(try await village.participants(inRoomOf: forum).count == 2)
    }
  }

  @Test func `a deleted forum leaves tombstones and no members`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.request(.post, "/forums", as: "grace", ["title": "Garden", "visibility": "public"])
      let (forum, room) = (try #require(made["id"]), try #require(made["room_id"]))
      _ = try await village.request(.put, "/forums/\(forum)/members/me", as: "linus")
      let topic = try #require(
        try await village.request(
          .post, "/forums/\(forum)/conversations", as: "robo", ["title": "weeds", "text": "pull!"])[
            "id"])
      for number in 0..<250 { try await village.sayInRoom("\(number)", of: forum) }
      let sealed = try await village.sayInRoom("sealed", of: forum)
      let ada = village.userID("ada")
      try await village.community.store.write { tx throws(Refusal) in
        _ = try tx.remove(sealed, by: ada, reason: nil)
      }
      let events = try await village.events { () async throws in
        for _ in 1...2 { #expect(try await village.request(.delete, "/forums/\(forum)", as: "grace").status == 200) }
        await village.community.store.jobs.run()
      }
      #expect(events.prefix(2) == ["forum.deleted forum:\(forum) #2", "forum.deleted site #2"])
      let lost = Set(events.filter { $0.hasPrefix("conversation.removed") })
      #expect(lost == Set(["grace", "linus", "robo"].map { "conversation.removed user:\(village.id($0))" }))
      #expect(events.filter { $0 == "message.deleted conversation:\(room) #2" }.count == 250)
      #expect(events.filter { $0 == "message.deleted conversation:\(topic) #2" }.count == 1)
      let left = Set(events.filter { $0.hasPrefix("participant.left") })
      #expect(left == Set(["grace", "linus"].map { "participant.left user:\(village.id($0))" }))
      let expected = 2 + 3 + 2 + 251
      #expect(events.count == expected)
      #expect(try await village.request(.get, "/forums/\(forum)", as: "ada").status == 404)
      #expect(try await village.request(.delete, "/forums/\(forum)", as: "ada").status == 404)
      #expect(try await village.request(.get, "/forums", as: "grace").count("data") == 0)
      let remains = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.run { connection in
          try connection.all(
            """
            select count(*) from message where text is not null
            union all select count(*) from participant
            union all select count(*) from forum_member
            union all select count(*) from sealed
            union all select count(*) from conversation where state <> 'deleted' or title is not null
            union all select count(*) from forum where title <> '' or description <> ''
            """
          ) { row in try row.int(0) }
        }
      }
      #expect(remains == [0, 0, 0, 0, 0, 0])
      #expect(try await village.audited() == ["forum.deleted \(forum)"])
      #expect(try Verification(village.folder).run(all: true).flatMap(\.faults) == [])
    }
  }
}
