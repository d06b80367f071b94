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
}
