import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// How far users have come, what they want to hear, and what those write whom they follow.
@Suite struct MarkTests {
  @Test(arguments: Way.allCases)
  func `a mark moves ahead, never back, and reading is having got`(way: Way) async throws {
    try await Village.open(way, clock: StoppedClock().read) { village in
      try await village.acquaint("grace", "linus")
      let id = try await village.talk("direct", by: "grace", with: ["linus"])
      var messages: [String] = []
      for number in 1...4 { messages.append(try await village.say("\(number)", in: id, by: "grace")) }
      let path = "/conversations/\(id)"
      let events = try await village.events {
        for _ in 1...2 {
          let got = try await village.ask(.put, path + "/delivered", as: "linus", ["message_id": messages[2]])
          #expect(got.int("delivered_up_to") == 3 && got.int("read_up_to") == 0 && got.int("unread_count") == 4)
        }
      }
      #expect(events == ["read_position.updated user:\(village.id("linus"))", "receipt.updated conversation:\(id)"])
      // Within the same second others are told no more; the housekeeping tells it later.
      let soon = try await village.events {
        let read = try await village.ask(.put, path + "/read", as: "linus", ["message_id": messages[1]])
        #expect(read.int("read_up_to") == 2 && read.int("delivered_up_to") == 3 && read.int("unread_count") == 2)
        let back = try await village.ask(.put, path + "/read", as: "linus", ["message_id": messages[0]])
        #expect(back.status == 200 && back.int("read_up_to") == 2)
        let ahead = try await village.ask(.put, path + "/read", as: "linus", ["message_id": messages[3]])
        #expect(ahead.int("read_up_to") == 4 && ahead.int("delivered_up_to") == 4 && ahead.int("unread_count") == 0)
      }
      #expect(soon == Array(repeating: "read_position.updated user:\(village.id("linus"))", count: 2))
      let own = try await village.ask(.get, path, as: "linus")
      #expect(own.int("read_up_to") == 4 && own.int("unread_count") == 0)
    }
  }

  @Test func `a mark is set at a message that one may read there, and nowhere else`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.acquaint("grace", "linus", "mira")
      let id = try await village.talk("group", by: "grace", with: ["linus"], ["history_visible": false])
      let other = try await village.talk("group", by: "grace", with: ["linus"])
      let message = try await village.say("one", in: id, by: "grace")
      let foreign = try await village.say("two", in: other, by: "grace")
      try await village.ask(.put, "/conversations/\(id)/participants/@mira", as: "grace", [:])
      let path = "/conversations/\(id)/read"
      for (name, message) in [("linus", foreign), ("linus", "99999999"), ("linus", id), ("mira", message)] {
        let answer = try await village.ask(.put, path, as: name, ["message_id": message])
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

  /// Rows: where, and whether the others are told.
  @Test(arguments: [
    ("direct", true, true), ("group", true, true), ("channel", true, false), ("direct", false, false),
    ("group", false, false),
  ])
  func `others are told in small conversations, by those who show it`(
    kind: String, shows: Bool, isTold: Bool
  ) async throws {
    try await Village.open(.inMemory) { village in
      try await village.acquaint("grace", "linus")
      let more: [String: Any] = kind == "channel" ? ["type": "com.example.news"] : [:]
      let id = try await village.talk(kind, by: "grace", with: ["linus"], more)
      let message = try await village.say("one", in: id, by: "grace")
      try await village.ask(.patch, "/me", as: "linus", ["show_receipts": shows])
      let events = try await village.events {
        try await village.ask(.put, "/conversations/\(id)/read", as: "linus", ["message_id": message])
      }
      let own = "read_position.updated user:\(village.id("linus"))"
      #expect(events == (isTold ? [own, "receipt.updated conversation:\(id)"] : [own]))
    }
  }

  @Test func `a stranger is not told how far one has come before one takes their request`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.talk("direct", by: "grace", with: ["linus"])
      let message = try await village.say("one", in: id, by: "grace")
      let events = try await village.events {
        try await village.ask(.put, "/conversations/\(id)/read", as: "linus", ["message_id": message])
      }
      #expect(events == ["read_position.updated user:\(village.id("linus"))"])
    }
  }

  // MARK: Levels

  @Test(arguments: Way.allCases)
  func `a level is set, and unset for what is usual there`(way: Way) async throws {
    try await Village.open(way) { village in
      let forum = try await village.forum("garden", .members, ["grace", "linus"])
      let list = try await village.ask(.get, "/conversations?kind=room", as: "linus")
      let room = try #require(list["data.0.id"])
      #expect(list["data.0.level"] == "mentions")
      let events = try await village.events {
        for _ in 1...2 {
          let set = try await village.ask(.put, "/forums/\(forum)/level", as: "linus", ["level": "everything"])
          #expect(set["level"] == "everything" && set.bool("set") == true)
        }
      }
      #expect(events == ["level.changed user:\(village.id("linus"))"])
      // A room is as its forum, unless something else was said of it.
      #expect(try await village.ask(.get, "/conversations/\(room)", as: "linus")["level"] == "everything")
      try await village.expect(200, .put, "/conversations/\(room)/level", as: "linus", ["level": "nothing"])
      #expect(try await village.ask(.get, "/conversations/\(room)", as: "linus")["level"] == "nothing")
      let unset = try await village.events {
        for _ in 1...2 {
          let usual = try await village.ask(.delete, "/conversations/\(room)/level", as: "linus")
          #expect(usual["level"] == "everything" && usual.bool("set") == false)
        }
        let usual = try await village.ask(.put, "/forums/\(forum)/level", as: "linus", ["level": NSNull()])
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

  @Test func `who follows a topic takes part in it`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .members, ["grace", "linus"])
      let topic = try await village.topic("Roses", in: forum, by: "grace")
      try await village.say("one", in: topic, by: "grace")
      let events = try await village.events {
        for _ in 1...2 {
          try await village.ask(.put, "/conversations/\(topic)/level", as: "mira", ["level": "everything"])
        }
      }
      let mira = village.id("mira")
      #expect(
        events == [
          "level.changed user:\(mira)", "participant.joined conversation:\(topic)",
          "conversation.created user:\(mira)",
        ])
      let list = try await village.ask(.get, "/conversations", as: "mira")
      #expect(list.texts("data", "id") == [topic] && list["data.0.level"] == "everything")
      #expect(list["data.0.last_message.text"] == "one" && list.int("data.0.unread_count") == 0)
    }
  }

  // MARK: Feeds

  @Test(arguments: Way.allCases)
  func `a feed is one's own, made once, and read as its owner says`(way: Way) async throws {
    try await Village.open(way) { village in
      let path = "/users/@grace/feed"
      try await village.expect(404, .get, path, as: "linus")
      var feed: Answer?
      let events = try await village.events {
        for status in [201, 200] {
          feed = try await village.ask(.post, "/conversations", as: "grace", ["kind": "feed"])
          #expect(feed?.status == status)
        }
      }
      let id = try #require(feed?["id"])
      let grace = village.id("grace")
      #expect(events == ["conversation.created conversation:\(id) #1", "conversation.created user:\(grace)"])
      #expect(feed?["owner_id"] == grace && feed?["readers.open_to"] == "users" && feed?.has("participants") == false)
      // Who may read it by each setting: linus, gus, nobody.
      for (readers, expected) in [
        ("users", [200, 404, 404]), ("anyone", [200, 200, 200]), ("listed", [404, 404, 404]),
      ] {
        let change: [String: Any] = ["readers": ["open_to": readers]]
        try await village.expect(200, .patch, "/conversations/\(id)", as: "grace", change)
        let found = [
          try await village.ask(.get, "/users/\(grace)/feed", as: "linus").status,
          try await village.ask(.get, "/users/\(grace)/feed", as: "gus").status,
          try await village.ask(.get, "/users/\(grace)/feed").status,
        ]
        #expect(found == expected, "\(readers)")
        #expect(try await village.ask(.get, "/me/feed", as: "grace")["id"] == id)
      }
      try await village.expect(204, .post, "/conversations/\(id)/typing", as: "grace")
      try await village.expect(404, .patch, "/conversations/\(id)", as: "ada", ["locked": true])
      try await village.expect(403, .delete, "/conversations/\(id)", as: "grace")
    }
  }

  @Test func `the timeline has the posts of those one follows, newest first, page by page`() async throws {
    try await Village.open(.inMemory) { village in
      var feeds: [String: String] = [:]
      for name in ["grace", "mira", "robo"] {
        let feed = try await village.ask(.post, "/conversations", as: name, ["kind": "feed"])
        feeds[name] = feed["id"]
      }
      for name in ["grace", "mira"] { try await village.relate("linus", "follow", name) }
      var expected: [String] = []
      for number in 1...7 {
        let name = number % 3 == 0 ? "grace" : "mira"
        expected.insert(try await village.say("\(number)", in: feeds[name] ?? "", by: name), at: 0)
        try await village.say("not followed", in: feeds["robo"] ?? "", by: "robo")
      }
      var seen: [String?] = []
      var next = ""
      repeat {
        let page = try await village.ask(.get, "/timeline?limit=2\(next)", as: "linus")
        seen += page.texts("data", "id")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(seen == expected)
      try await village.ask(.put, "/messages/\(expected[0])/actions/like", as: "linus")
      try await village.ask(.put, "/messages/\(expected[1])/actions/like", as: "mira")
      let marked = try await village.ask(.get, "/timeline", as: "linus")
      #expect(marked.bool("data.0.actions.like.mine") == true && marked.bool("data.1.actions.like.mine") == false)
      try await village.relate("linus", "mute", "grace")
      #expect(try await village.ask(.get, "/timeline", as: "linus").count("data") == 5)
      let change: [String: Any] = ["readers": ["open_to": "listed"]]
      try await village.ask(.patch, "/conversations/\(feeds["mira"] ?? "")", as: "mira", change)
      #expect(try await village.ask(.get, "/timeline", as: "linus").count("data") == 0)
      try await village.expect(401, .get, "/timeline")
      try await village.expect(400, .get, "/timeline?next=x", as: "linus")
    }
  }
}
