import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ParticipantTests {
  @Test(arguments: TestTransport.allCases)
  func `a participant is added, promoted and removed, each with its events`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus", "mira")
      let (mira, linus) = (village.id("mira"), village.id("linus"))
      let id = try await village.conversation("group", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)/participants"
      let added = try await village.events {
        for _ in 1...2 {
          let answer = try await village.request(.put, "\(path)/@mira", as: "grace", [:])
          #expect(answer.status == 200 && answer["user_id"] == mira && answer["role"] == "member")
        }
      }
      #expect(added == ["participant.joined conversation:\(id)", "conversation.created user:\(mira)"])
      let changed = try await village.events {
        for _ in 1...2 {
          let answer = try await village.request(.put, "\(path)/\(mira)", as: "grace", ["role": "admin"])
          #expect(answer["role"] == "admin")
        }
      }
      #expect(changed == ["participant.changed conversation:\(id)"])
      let removed = try await village.events {
        for _ in 1...2 { try await village.expect(204, .delete, "\(path)/@linus", as: "mira") }
      }
      #expect(removed == ["participant.left conversation:\(id)", "conversation.removed user:\(linus)"])
      try await village.expect(404, .get, "/conversations/\(id)", as: "linus")
      let page = try await village.request(.get, "\(path)?limit=1", as: "grace")
      #expect(page.texts("data", "user_id") == [mira])
      let rest = try await village.request(.get, "\(path)?limit=1&next=\(try #require(page["next"]))", as: "grace")
      #expect(rest.texts("data", "user_id") == [village.id("grace")] && rest.isNull("next"))
      try await village.expect(404, .get, path, as: "linus")
      try await village.expect(401, .get, path)
    }
  }

  /// Columns: adds mira, makes linus an admin, removes linus, lists.
  @Test(arguments: [
    (nil, [401, 401, 401, 401]), ("ada", [404, 404, 404, 404]), ("gus", [403, 403, 403, 200]),
    ("linus", [403, 403, 204, 404]), ("grace", [200, 200, 204, 200]),
  ])
  func `permissions to manage the participants of a group`(caller: String?, expected: [Int]) async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira", "gus")
      let path =
        "/conversations/\(try await village.conversation("group", by: "grace", with: ["linus", "gus"]))/participants"
      let found = [
        try await village.request(.put, "\(path)/@mira", as: caller, [:]).status,
        try await village.request(.put, "\(path)/\(village.id("linus"))", as: caller, ["role": "admin"]).status,
        try await village.request(.delete, "\(path)/\(village.id("linus"))", as: caller).status,
        try await village.request(.get, path, as: caller).status,
      ]
      #expect(found == expected)
    }
  }

  @Test func `the longest participant succeeds the last admin, and the last participant ends the group`()
    async throws
  {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let (grace, linus, mira) = (village.id("grace"), village.id("linus"), village.id("mira"))
      let id = try await village.conversation("group", by: "grace", with: ["mira"])
      let path = "/conversations/\(id)/participants"
      try await village.expect(200, .put, "\(path)/@linus", as: "grace", [:])
      let alone = try await village.request(.put, "\(path)/@grace", as: "grace", ["role": "member"])
      #expect(alone.status == 409)
      let left = try await village.events {
        try await village.expect(204, .delete, "\(path)/me", as: "grace")
      }
      #expect(
        left == [
          "participant.left conversation:\(id)", "conversation.removed user:\(grace)",
          "participant.changed conversation:\(id)",
        ])
      #expect(try await village.request(.get, "/conversations/\(id)", as: "mira")["role"] == "admin")
      #expect(try await village.request(.get, "/conversations/\(id)", as: "linus")["role"] == "member")
      try await village.expect(204, .delete, "\(path)/\(mira)", as: "mira")
      let last = try await village.events {
        try await village.expect(204, .delete, "\(path)/me", as: "linus")
      }
      #expect(
        last == [
          "participant.left conversation:\(id)", "conversation.removed user:\(linus)",
          "conversation.removed conversation:\(id) #2",
        ])
      try await village.expect(404, .get, "/conversations/\(id)", as: "linus")
    }
  }

  @Test func `adding a participant to a distinct conversation makes it an ordinary one`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let id = try await village.conversation("group", by: "grace", with: ["linus"], ["distinct": true])
      let events = try await village.events {
        try await village.request(.put, "/conversations/\(id)/participants/@mira", as: "grace", [:])
      }
      #expect(
        events == [
          "participant.joined conversation:\(id)", "conversation.created user:\(village.id("mira"))",
          "conversation.updated conversation:\(id) #2",
        ])
      #expect(try await village.request(.get, "/conversations/\(id)", as: "grace").bool("distinct") == false)
      #expect(try await village.conversation("group", by: "grace", with: ["linus"], ["distinct": true]) != id)
    }
  }

  @Test(arguments: [true, false])
  func `an added participant reads earlier messages if history is visible`(isVisible: Bool) async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let id = try await village.conversation("group", by: "grace", with: ["linus"], ["history_visible": isVisible])
      for text in ["one", "two"] { try await village.post(text, in: id, by: "grace") }
      try await village.request(.put, "/conversations/\(id)/participants/@mira", as: "grace", [:])
      let own = try await village.request(.get, "/conversations/\(id)", as: "mira")
      #expect(own.int("from_seq") == (isVisible ? 1 : 3) && own.isNull("last_message") == !isVisible)
      // Three events precede: the creation and two messages. Her first event is the join.
      #expect(own.int("from_offset") == (isVisible ? 1 : 4) && own.int("unread_count") == 0)
      let message = try await village.post("three", in: id, by: "grace")
      let now = try await village.request(.get, "/conversations/\(id)", as: "mira")
      #expect(now["last_message.id"] == message && now.int("unread_count") == 1)
      let faults = try Verification(village.folder).run(all: true).flatMap(\.faults)
      #expect(faults.isEmpty)
    }
  }

  @Test func `users join and leave an open channel freely, and guests need an invitation`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.conversation(
        "channel", by: "grace", with: [], ["type": "com.example.news", "readers": ["open_to": "users"]])
      let path = "/conversations/\(id)/participants/me"
      let events = try await village.events {
        for body: [String: Any]? in [nil, [:]] {
          let joined = try await village.request(.put, path, as: "linus", body)
          #expect(joined["role"] == "reader")
        }
      }
      #expect(events == ["participant.joined conversation:\(id)", "conversation.created user:\(village.id("linus"))"])
      try await village.expect(403, .put, path, as: "linus", ["role": "member"])
      try await village.expect(404, .put, path, as: "gus", [:])
      try await village.expect(403, .put, path, as: "mira", ["role": "admin"])
      for _ in 1...2 { try await village.expect(204, .delete, path, as: "linus") }
      #expect(try await village.request(.get, "/conversations/\(id)", as: "grace").int("participant_count") == 1)
    }
  }

  @Test func `the number of participants is limited`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let id = try await village.conversation("group", by: "grace", with: ["linus"])
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          for number in 1...1_998 {
            try connection.execute(
              """
              insert into account (id, name, name_key, role, state, created_at)
              values ($1, $2, $2, 'member', 'active', 1)
              """, 1_000_000 + number, "many\(number)")
            try connection.execute(
              "insert into participant (conversation_id, user_id, joined_at) values ($1, $2, 1)", Int(id) ?? 0,
              1_000_000 + number)
          }
        }
      }
      let full = try await village.request(.put, "/conversations/\(id)/participants/@mira", as: "grace", [:])
      #expect(full.status == 409 && full.code == "too_many" && full.int("params.limit") == 2_000)
      let seen = try await village.request(.get, "/conversations/\(id)", as: "linus")
      #expect(seen.int("participant_count") == 1_000 && !seen.has("participants"))
      // One transaction can notify all of them.
      let events = try await village.events {
        try await village.expect(204, .delete, "/conversations/\(id)", as: "grace")
      }
      #expect(events.count == 2_001)
    }
  }
}
