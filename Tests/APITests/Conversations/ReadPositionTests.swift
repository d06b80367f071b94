import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Read positions, notification levels and feeds.
@Suite struct ReadPositionTests {
  @Test(arguments: TestTransport.allCases)
  func `a read position only moves forward, and reading implies delivery`(transport: TestTransport) async throws {
    try await Village.open(transport, clock: StoppedClock().read) { village in
      try await village.shareForum("grace", "linus")
      let id = try await village.conversation("direct", by: "grace", with: ["linus"])
      var messages: [String] = []
      for number in 1...4 { messages.append(try await village.post("\(number)", in: id, by: "grace")) }
      let path = "/conversations/\(id)"
      let events = try await village.events {
        for _ in 1...2 {
          let got = try await village.request(.put, path + "/delivered", as: "linus", ["message_id": messages[2]])
          #expect(got.int("delivered_up_to") == 3 && got.int("read_up_to") == 0 && got.int("unread_count") == 4)
        }
      }
      #expect(events == ["read_position.updated user:\(village.id("linus"))", "receipt.updated conversation:\(id)"])
      // A second update within one second is not broadcast; housekeeping broadcasts it later.
      let soon = try await village.events {
        let read = try await village.request(.put, path + "/read", as: "linus", ["message_id": messages[1]])
        #expect(read.int("read_up_to") == 2 && read.int("delivered_up_to") == 3 && read.int("unread_count") == 2)
        let back = try await village.request(.put, path + "/read", as: "linus", ["message_id": messages[0]])
        #expect(back.status == 200 && back.int("read_up_to") == 2)
        let ahead = try await village.request(.put, path + "/read", as: "linus", ["message_id": messages[3]])
        #expect(ahead.int("read_up_to") == 4 && ahead.int("delivered_up_to") == 4 && ahead.int("unread_count") == 0)
      }
      #expect(soon == Array(repeating: "read_position.updated user:\(village.id("linus"))", count: 2))
      let own = try await village.request(.get, path, as: "linus")
      #expect(own.int("read_up_to") == 4 && own.int("unread_count") == 0)
    }
  }

  @Test func `the ETag of a conversation changes with its unread count`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let id = try await village.conversation("group", by: "grace", with: ["linus"])
      _ = try await village.post("hello", in: id, by: "grace")
      for (path, method, unread) in [
        ("mute", Method.put, 0), ("mute", .delete, 1), ("block", .put, 0), ("block", .delete, 1),
      ] {
        let before = try #require(
          try await village.request(.get, "/conversations/\(id)", as: "linus").fields["etag"])
        try await village.expect(204, method, "/users/@grace/\(path)", as: "linus")
        let after = try await village.request(
          .get, "/conversations/\(id)", as: "linus", fields: ["If-None-Match": before])
        #expect(after.status == 200 && after.int("unread_count") == unread, "\(method) \(path)")
      }
    }
  }

  @Test func `a read position requires a readable message of the conversation`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let id = try await village.conversation("group", by: "grace", with: ["linus"], ["history_visible": false])
      let other = try await village.conversation("group", by: "grace", with: ["linus"])
      let message = try await village.post("one", in: id, by: "grace")
      let foreign = try await village.post("two", in: other, by: "grace")
      try await village.request(.put, "/conversations/\(id)/participants/@mira", as: "grace", [:])
      let path = "/conversations/\(id)/read"
      for (name, message) in [("linus", foreign), ("linus", "99999999"), ("linus", id), ("mira", message)] {
        let answer = try await village.request(.put, path, as: name, ["message_id": message])
        #expect(
          answer.status == 400 && answer["errors.0.field"] == "message_id" && answer["errors.0.code"] == "mismatch")
      }
      for body: [String: Any] in [[:], ["message_id": 7], ["message_id": "x"], ["message_id": message, "at": 1]] {
        try await village.expect(400, .put, path, as: "linus", body)
      }
      try await village.expect(404, .put, path, as: "ada", ["message_id": message])
      try await village.expect(401, .put, path, ["message_id": message])
    }
  }

  /// Rows: the kind of conversation, `show_receipts`, whether others get the event.
  @Test(arguments: [
    ("direct", true, true), ("group", true, true), ("channel", true, false), ("direct", false, false),
    ("group", false, false),
  ])
  func `receipts are sent in small conversations by users that show them`(
    kind: String, shows: Bool, isSent: Bool
  ) async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let more: [String: Any] = kind == "channel" ? ["type": "com.example.news"] : [:]
      let id = try await village.conversation(kind, by: "grace", with: ["linus"], more)
      let message = try await village.post("one", in: id, by: "grace")
      try await village.request(.patch, "/me", as: "linus", ["show_receipts": shows])
      let events = try await village.events {
        try await village.request(.put, "/conversations/\(id)/read", as: "linus", ["message_id": message])
      }
      let own = "read_position.updated user:\(village.id("linus"))"
      #expect(events == (isSent ? [own, "receipt.updated conversation:\(id)"] : [own]))
    }
  }

  @Test func `a stranger gets no receipts before their request is accepted`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.conversation("direct", by: "grace", with: ["linus"])
      let message = try await village.post("one", in: id, by: "grace")
      let events = try await village.events {
        try await village.request(.put, "/conversations/\(id)/read", as: "linus", ["message_id": message])
      }
      #expect(events == ["read_position.updated user:\(village.id("linus"))"])
    }
  }

  // MARK: Levels

  @Test(arguments: TestTransport.allCases)
  func `a notification level is set, and reset to its default`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let forum = try await village.forum("garden", .members, ["grace", "linus"])
      let list = try await village.request(.get, "/conversations?kind=room", as: "linus")
      let room = try #require(list["data.0.id"])
      #expect(list["data.0.level"] == "mentions")
      let events = try await village.events {
        for _ in 1...2 {
          let set = try await village.request(.put, "/forums/\(forum)/level", as: "linus", ["level": "everything"])
          #expect(set["level"] == "everything" && set.bool("set") == true)
        }
      }
      #expect(events == ["level.changed user:\(village.id("linus"))"])
      // A room without its own level has the level of its forum.
      #expect(try await village.request(.get, "/conversations/\(room)", as: "linus")["level"] == "everything")
      try await village.expect(200, .put, "/conversations/\(room)/level", as: "linus", ["level": "nothing"])
      #expect(try await village.request(.get, "/conversations/\(room)", as: "linus")["level"] == "nothing")
      let unset = try await village.events {
        for _ in 1...2 {
          let usual = try await village.request(.delete, "/conversations/\(room)/level", as: "linus")
          #expect(usual["level"] == "everything" && usual.bool("set") == false)
        }
        let usual = try await village.request(.put, "/forums/\(forum)/level", as: "linus", ["level": NSNull()])
        #expect(usual["level"] == "mentions" && usual.bool("set") == false)
      }
      #expect(unset == Array(repeating: "level.changed user:\(village.id("linus"))", count: 2))
      for body: [String: Any] in [[:], ["level": "loud"], ["level": 1], ["level": "nothing", "x": 1]] {
        try await village.expect(400, .put, "/forums/\(forum)/level", as: "linus", body)
      }
      try await village.expect(404, .put, "/forums/\(forum)/level", as: "gus", ["level": "nothing"])
      try await village.expect(401, .put, "/forums/\(forum)/level", ["level": "nothing"])
      try await village.expect(404, .put, "/conversations/\(room)/level", as: "gus", ["level": "nothing"])
    }
  }

  @Test func `subscribing to a topic adds a participant`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .members, ["grace", "linus"])
      let topic = try await village.topic("Roses", in: forum, by: "grace")
      try await village.post("one", in: topic, by: "grace")
      let events = try await village.events {
        for _ in 1...2 {
          try await village.request(.put, "/conversations/\(topic)/level", as: "mira", ["level": "everything"])
        }
      }
      let mira = village.id("mira")
      #expect(
        events == [
          "level.changed user:\(mira)", "participant.joined conversation:\(topic)",
          "conversation.created user:\(mira)",
        ])
      let list = try await village.request(.get, "/conversations", as: "mira")
      #expect(list.texts("data", "id") == [topic] && list["data.0.level"] == "everything")
      #expect(list["data.0.last_message.text"] == "one" && list.int("data.0.unread_count") == 0)
    }
  }

  // MARK: Feeds

  @Test(arguments: TestTransport.allCases)
  func `a feed belongs to one user, is created once and follows its reader setting`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      let path = "/users/@grace/feed"
      try await village.expect(404, .get, path, as: "linus")
      var feed: Answer?
      let events = try await village.events {
        for status in [201, 200] {
          feed = try await village.request(.post, "/conversations", as: "grace", ["kind": "feed"])
          #expect(feed?.status == status)
        }
      }
      let id = try #require(feed?["id"])
      let grace = village.id("grace")
      #expect(events == ["conversation.created conversation:\(id) #1", "conversation.created user:\(grace)"])
      #expect(feed?["owner_id"] == grace && feed?["readers.open_to"] == "users" && feed?.has("participants") == false)
      // Access for linus, gus and a visitor by each setting.
      for (readers, expected) in [
        ("users", [200, 404, 404]), ("anyone", [200, 200, 200]), ("listed", [404, 404, 404]),
      ] {
        let change: [String: Any] = ["readers": ["open_to": readers]]
        try await village.expect(200, .patch, "/conversations/\(id)", as: "grace", change)
        let found = [
          try await village.request(.get, "/users/\(grace)/feed", as: "linus").status,
          try await village.request(.get, "/users/\(grace)/feed", as: "gus").status,
          try await village.request(.get, "/users/\(grace)/feed").status,
        ]
        #expect(found == expected, "\(readers)")
        #expect(try await village.request(.get, "/me/feed", as: "grace")["id"] == id)
      }
      try await village.expect(204, .post, "/conversations/\(id)/typing", as: "grace")
      try await village.expect(404, .patch, "/conversations/\(id)", as: "ada", ["locked": true])
      try await village.expect(403, .delete, "/conversations/\(id)", as: "grace")
    }
  }
}
