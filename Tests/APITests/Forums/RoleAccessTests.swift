import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Access to forums by the role on the site.
@Suite struct RoleAccessTests {
  @Test func `a user who becomes a guest loses the forums of the members`() async throws {
    try await Village.open(.inMemory) { village in
      let (open, _) = try await village.garden("open", "public")
      let (own, _) = try await village.garden("own", "members", members: ["linus"])
      let (lost, _) = try await village.garden("lost", "members")
      var topics: [String: String] = [:]
      for forum in [open, own, lost] {
        topics[forum] = try await village.topic("weeds", in: forum, by: "linus")
        try await village.post("hello", in: topics[forum] ?? "", as: "linus")
      }
      let start = try await village.cursor(as: "linus")
      let (linus, topic) = (village.id("linus"), topics[lost] ?? "")
      let events = try await village.events { () async throws in
        try await village.expect(200, .patch, "/users/@linus", as: "ada", ["role": "guest", "end_sessions": false])
        await village.community.store.jobs.run()
      }
      #expect(
        events.filter { !$0.hasPrefix("user.updated site") } == [
          "participant.left conversation:\(topic)", "conversation.removed user:\(linus)",
          "forum.updated user:\(linus)",
        ])
      let page = try await village.expect(200, .get, "/sync?topics=me&after=\(start)", as: "linus")
      #expect(page.texts("data", "event") == ["user.updated", "conversation.removed", "forum.updated"])
      #expect(page["data.1.data.id"] == topic && page["data.2.data.id"] == lost)
      let participants = try await village.expect(200, .get, "/conversations/\(topic)/participants", as: "ada")
      #expect(participants.count("data") == 0)
      for forum in [open, own] {
        let kept = try await village.expect(
          200, .get, "/conversations/\(topics[forum] ?? "")/participants", as: "linus")
        #expect(kept.texts("data", "user_id") == [linus])
      }
    }
  }

  @Test func `a guest who becomes a member gains the forums of the members`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await village.garden("open", "public")
      _ = try await village.garden("own", "members", members: ["gus"])
      _ = try await village.garden("den", "private")
      let (gained, _) = try await village.garden("gained", "members")
      let start = try await village.cursor(as: "gus")
      try await village.expect(200, .patch, "/users/@gus", as: "ada", ["role": "member", "end_sessions": false])
      await village.community.store.jobs.run()
      let page = try await village.expect(200, .get, "/sync?topics=me&after=\(start)", as: "gus")
      #expect(page.texts("data", "event") == ["user.updated", "forum.updated"] && page["data.1.data.id"] == gained)
      // Other roles read the same forums.
      let events = try await village.events { () async throws in
        try await village.expect(200, .patch, "/users/@gus", as: "ada", ["role": "moderator", "end_sessions": false])
        await village.community.store.jobs.run()
      }
      #expect(events.allSatisfy { $0.hasPrefix("user.updated site") })
    }
  }

  @Test func `many topics and forums are left in chunks`() async throws {
    try await Village.open(.inMemory) { village in
      let (first, _) = try await village.garden("first", "members")
      let (linus, forum) = (village.userID("linus"), ID<Forum>(Int(first) ?? 0))
      for number in 0..<210 { try await village.forum("forum \(number)", .members, ["ada"]) }
      try await village.community.store.write { tx throws(Refusal) in
        for number in 0..<450 {
          let topic = try tx.addTopic("topic \(number)", in: forum, by: linus)
          try tx.takePart(linus, inTopic: topic, since: 1, by: linus)
        }
      }
      let events = try await village.events { () async throws in
        try await village.expect(200, .patch, "/users/@linus", as: "ada", ["role": "guest", "end_sessions": false])
        await village.community.store.jobs.run()
      }
      #expect(events.filter { $0 == "conversation.removed user:\(linus)" }.count == 450)
      #expect(events.filter { $0 == "forum.updated user:\(linus)" }.count == 211)
    }
  }
}
