import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// A change that makes a stream unreadable reaches the clients that were away, too.
@Suite struct LostStreamTests {
  private func events(
    _ village: Village, _ topics: String, after cursor: String, as name: String
  ) async throws -> Answer {
    try await village.expect(200, .get, "/sync?topics=\(topics)&after=\(cursor)", as: name)
  }

  @Test func `a deleted topic reaches its participants without the forum`() async throws {
    try await Village.open(.socket) { village in
      let (forum, _) = try await village.garden("garden", "public")
      let topic = try await village.topic("weeds", in: forum)
      try await village.post("hello", in: topic, as: "linus")
      let start = try await village.cursor(as: "linus")
      let logged = try await village.events { () async throws in
        try await village.expect(204, .delete, "/conversations/\(topic)", as: "ada")
      }
      #expect(logged.suffix(1) == ["conversation.removed user:\(village.id("linus"))"])
      let page = try await events(village, "me", after: start, as: "linus")
      #expect(page.texts("data", "event") == ["conversation.removed"] && page["data.0.data.id"] == topic)
      #expect(page["data.0.stream"] == "user:\(village.id("linus"))")
      let resumed = try village.connect("topics=me&after=\(start)", as: "linus")
      let missed = try await resumed.events { $0["event"] == "complete" }
      #expect(missed.map { $0["event"] } == ["conversation.removed", "complete"])
    }
  }

  @Test func `many participants of a deleted topic are removed in chunks`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public")
      let topic = try await village.topic("weeds", in: forum)
      let id = ID<Conversation>(Int(topic) ?? 0)
      try await village.community.store.write { tx throws(Refusal) in
        for number in 0..<450 {
          let user = try tx.add(NewUser(name: "user\(number)", role: .member))
          try tx.takePart(user, inTopic: id, since: 1, by: user)
        }
      }
      let events = try await village.events { () async throws in
        try await village.expect(204, .delete, "/conversations/\(topic)", as: "ada")
        await village.community.store.jobs.run()
      }
      // The creator of the topic is a participant, too.
      #expect(Set(events.filter { $0.hasPrefix("conversation.removed user:") }).count == 451)
      let left = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.participantCount(of: id, upTo: 10)
      }
      #expect(left == 0)
    }
  }

  @Test func `a deleted topic reaches those that receive all messages of the forum`() async throws {
    try await Village.open(.socket) { village in
      let (forum, room) = try await village.garden("garden", "public")
      let topics = "forum:\(forum)/messages"
      let old = try await village.topic("old", in: forum)
      try await village.post("known", in: old)
      let start = try await village.cursor(topics, as: "linus")
      let connected = try village.connect("topics=\(topics)", as: "linus")
      _ = try await connected.event("complete")
      try await village.post("missed", in: old, as: "grace")
      try await village.expect(200, .patch, "/conversations/\(old)", as: "ada", ["locked": true])
      try await village.expect(204, .delete, "/conversations/\(old)", as: "ada")
      try await village.post("later", in: room)
      let live = try await connected.events { $0["data.text"] == "later" }
      #expect(live.contains { $0["event"] == "conversation.removed" && $0["data.id"] == old })
      let page = try await events(village, topics, after: start, as: "linus")
      // The messages are not readable any more, and offsets have no gap.
      let last = page.texts("data", "event").suffix(2)
      #expect(Array(last) == ["conversation.removed", "message.created"], "\(page.text)")
      #expect(!page.text.contains("missed"))
      let offsets = (0..<page.count("data")).filter { page["data.\($0).stream"] == "conversation:\(old)" }
        .compactMap { page.int("data.\($0).offset") }
      #expect(offsets.count >= 3 && offsets == Array(offsets[0]..<(offsets[0] + offsets.count)))
      // Later events of it stay out.
      let leaving = ["how": "erase", "password": "grace’s password"]
      #expect(try await village.request(.delete, "/me", as: "grace", leaving).status < 300)
      await village.community.store.jobs.run()
      let cursor = try #require(page["cursor"])
      let rest = try await events(village, topics, after: cursor, as: "linus")
      #expect(!rest.texts("data", "stream").contains("conversation:\(old)"))
      let resumed = try village.connect("topics=\(topics)&after=\(start)", as: "linus")
      let missed = try await resumed.events { $0["event"] == "complete" }
      #expect(missed.contains { $0["event"] == "conversation.removed" && $0["data.id"] == old })
      // The client that resumed is live in the other conversations.
      try await village.post("live", in: room)
      #expect(try await resumed.event("message.created")["data.text"] == "live")
    }
  }

  @Test func `a feed that its followers may no longer read leaves the timeline`() async throws {
    try await Village.open(.socket) { village in
      let body: [String: Any] = ["kind": "feed", "readers": ["open_to": "users"]]
      let feed = try #require(try await village.expect(201, .post, "/conversations", as: "grace", body)["id"])
      try await village.setRelation("linus", "follow", "grace")
      try await village.post("private thoughts", in: feed, by: "grace")
      let start = try await village.cursor("timeline", as: "linus")
      let connected = try village.connect("topics=timeline&after=\(start)", as: "linus")
      _ = try await connected.event("complete")
      try await village.post("more thoughts", in: feed, by: "grace")
      _ = try await connected.event("message.created")
      let change: [String: Any] = ["readers": ["open_to": "listed"]]
      try await village.expect(200, .patch, "/conversations/\(feed)", as: "grace", change)
      // Connected clients get the id alone, too.
      let live = try await connected.event("conversation.updated")
      #expect(live["data.id"] == feed && !live.has("data.kind"))
      for number in 0..<3 { try await village.post("hidden \(number)", in: feed, by: "grace") }
      let page = try await events(village, "timeline", after: start, as: "linus")
      #expect(page.texts("data", "event") == ["hidden", "conversation.updated"])
      #expect(page["data.1.data.id"] == feed && !page.has("data.1.data.kind"))
      let cursor = try #require(page["cursor"])
      #expect(try await events(village, "timeline", after: cursor, as: "linus").count("data") == 0)
      let resumed = try village.connect("topics=timeline&after=\(start)", as: "linus")
      let missed = try await resumed.events { $0["event"] == "complete" }
      #expect(missed.map { $0["event"] } == ["hidden", "conversation.updated", "complete"])
      // The owner, and readers of a feed that stays open, get all of it.
      let own = try await events(village, "timeline", after: start, as: "grace")
      #expect(own.texts("data", "event").filter { $0 == "message.created" }.count == 4)
      #expect(own.texts("data", "kind").isEmpty == false)
      let opening: [String: Any] = ["readers": ["open_to": "users"], "from": "beginning"]
      try await village.expect(200, .patch, "/conversations/\(feed)", as: "grace", opening)
      try await village.post("open", in: feed, by: "grace")
      #expect(try await resumed.event("message.created")["data.text"] == "open")
    }
  }

  @Test func `a channel that is closed to other readers is its id alone for them`() async throws {
    try await Village.open(.socket) { village in
      let body: [String: Any] = [
        "kind": "channel", "type": "com.example.news", "title": "news", "readers": ["open_to": "users"],
      ]
      let channel = try #require(try await village.expect(201, .post, "/conversations", as: "ada", body)["id"])
      let reader = try village.connect("topics=conversation:\(channel)", as: "linus")
      let owner = try village.connect("topics=conversation:\(channel)", as: "ada")
      for client in [reader, owner] { _ = try await client.event("complete") }
      try await village.expect(200, .patch, "/conversations/\(channel)", as: "ada", ["title": "more news"])
      #expect(try await reader.event("conversation.updated")["data.title"] == "more news")
      #expect(try await owner.event("conversation.updated")["data.title"] == "more news")
      let change: [String: Any] = ["readers": ["open_to": "listed"], "title": "secrets"]
      try await village.expect(200, .patch, "/conversations/\(channel)", as: "ada", change)
      let closed = try await reader.event("conversation.updated")
      #expect(closed["data.id"] == channel && !closed.has("data.title"))
      #expect(try await owner.event("conversation.updated")["data.title"] == "secrets")
      #expect(try await reader.event("notice")["topic"] == "conversation:\(channel)")
    }
  }
}
