import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct TopicTagTests {
  private static func start(
    _ village: Village, _ text: String, in forum: String, as name: String = "grace"
  ) async throws -> String {
    let made = try await village.expect(
      201, .post, "/forums/\(forum)/conversations", as: name, ["title": "Topic", "text": text])
    return try #require(made["id"])
  }

  private static func tags(_ answer: Answer, _ path: String = "tags") -> [String?] {
    (0..<answer.count(path)).map { answer["\(path).\($0)"] }
  }

  @Test(arguments: TestTransport.allCases)
  func `every answer with a topic has its tags`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let path = "/forums/\(forum)/conversations"
      let body: [String: Any] = ["title": "Frost", "text": "Cover it #Frost #garlic, #FROST", "client_id": "t1"]
      let made = try await village.expect(201, .post, path, as: "grace", body)
      let topic = try #require(made["id"])
      #expect(Self.tags(made) == ["frost", "garlic"] && made.int("revision") == 1)
      #expect(Self.tags(try await village.expect(200, .post, path, as: "grace", body)) == ["frost", "garlic"])
      let list = try await village.expect(200, .get, path)
      #expect(Self.tags(list, "data.0.tags") == ["frost", "garlic"])
      for name in [nil, "grace", "linus"] {
        let found = try await village.expect(200, .get, "/conversations/\(topic)", as: name)
        #expect(Self.tags(found) == ["frost", "garlic"])
      }
      let renamed = try await village.expect(
        200, .patch, "/conversations/\(topic)", as: "grace", ["title": "Frost dates"])
      #expect(Self.tags(renamed) == ["frost", "garlic"])
      let snapshot = try await village.expect(200, .get, "/snapshot", as: "grace")
      let places = 0..<snapshot.count("conversations")
      let own = try #require(places.first { snapshot["conversations.\($0).id"] == topic })
      #expect(Self.tags(snapshot, "conversations.\(own).tags") == ["frost", "garlic"])
      #expect(try await village.request(.patch, "/conversations/\(topic)", as: "grace", ["tags": ["x"]]).status == 400)
    }
  }

  @Test func `an edit of the first post sends the new tags to the forum's subscribers`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let topic = try await Self.start(village, "Cover it #frost", in: forum)
      let first = try await village.expect(200, .get, "/conversations/\(topic)/messages", as: "grace")
      let cursor = try await village.expect(200, .get, "/sync?topics=forum:\(forum)", as: "linus")["cursor"]
      let events = try await village.events {
        try await village.expect(
          200, .patch, "/messages/\(first["data.0.id"] ?? "")", as: "grace", ["text": "Cover it #frost #fleece"])
      }
      #expect(
        events == [
          "conversation.updated conversation:\(topic) #2", "conversation.updated forum:\(forum) #2",
          "message.edited conversation:\(topic) #2",
        ])
      let page = try await village.expect(
        200, .get, "/sync?topics=forum:\(forum)&after=\(try #require(cursor))", as: "linus")
      #expect(page.texts("data", "event") == ["conversation.updated"])
      #expect(Self.tags(page, "data.0.data.tags") == ["frost", "fleece"])
      // A reply has no part in them.
      let reply = try await village.events { try await village.post("And #garlic", in: topic, as: "linus") }
      #expect(!reply.contains { $0.hasPrefix("conversation.updated") })
      let found = try await village.expect(200, .get, "/conversations/\(topic)", as: "linus")
      #expect(Self.tags(found) == ["frost", "fleece"])
    }
  }

  @Test func `a message that becomes a topic brings its tags`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let root = try await village.post("Who has #Roses?", in: room, as: "grace")
      try await village.post("#me", in: room, as: "linus", ["reply_to": root])
      let made = try await village.expect(201, .post, "/messages/\(root)/topic", as: "grace", ["title": "Roses"])
      let list = try await village.expect(200, .get, "/forums/\(forum)/conversations?tag=roses", as: "linus")
      #expect(list.texts("data", "id") == [made["conversation_id"]])
      #expect(Self.tags(list, "data.0.tags") == ["roses"] && list.int("data.0.revision") == 1)
    }
  }

  @Test func `topics are listed by tag, with and without a filter, each once`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let other = try await village.garden("kitchen", "public", members: ["grace"]).forum
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["solvable": true])
      _ = try await Self.start(village, "Elsewhere #garlic", in: other)
      var ids: [String] = []
      for number in 0..<6 {
        ids.append(try await Self.start(village, "\(number) #Garlic", in: forum, as: number < 2 ? "linus" : "grace"))
        _ = try await Self.start(village, "\(number) #leek", in: forum)
      }
      try await village.expect(200, .patch, "/conversations/\(ids[2])", as: "ada", ["pinned": true])
      let answer = try await village.post("So!", in: ids[0], as: "grace")
      try await village.expect(200, .patch, "/conversations/\(ids[0])", as: "linus", ["solved_by": answer])
      let path = "/forums/\(forum)/conversations"
      func list(_ query: String, as name: String? = nil) async throws -> [String?] {
        try await village.expect(200, .get, "\(path)?\(query)", as: name).texts("data", "id")
      }
      let expected = [2, 0, 5, 4, 3, 1].map { ids[$0] }
      for tag in ["garlic", "GARLIC", "%23garlic"] { #expect(try await list("tag=\(tag)") == expected, "\(tag)") }
      for limit in 1...6 {
        var (found, next): ([String?], String?) = ([], "")
        while let position = next, found.count < 20 {
          let page = try await village.expect(200, .get, "\(path)?tag=garlic&limit=\(limit)\(position)")
          found += page.texts("data", "id")
          next = page["next"].map { "&next=\($0)" }
        }
        #expect(found == expected, "\(limit) at a time")
      }
      #expect(try await list("tag=garlic&filter=mine", as: "linus") == [ids[0], ids[1]])
      #expect(try await list("tag=garlic&filter=solved") == [ids[0]])
      #expect(try await list("tag=garlic&filter=unsolved") == [2, 5, 4, 3, 1].map { ids[$0] })
      #expect(try await list("tag=garlic&filter=new", as: "linus") == [2, 5, 4, 3].map { ids[$0] })
      #expect(try await list("tag=chives") == [])
      for tag in ["", "%23"] {
        let refused = try await village.expect(400, .get, "\(path)?tag=\(tag)")
        #expect(refused["errors.0.field"] == "tag" && refused["errors.0.code"] == "too_short")
      }
      // A position of one tag is refused with another.
      let next = try #require(try await village.expect(200, .get, "\(path)?tag=garlic&limit=1")["next"])
      for query in ["tag=leek&next=\(next)", "next=\(next)"] {
        #expect(try await village.request(.get, "\(path)?limit=1&\(query)").status == 400, "\(query)")
      }
    }
  }

  @Test func `the most used tags are listed with their counts`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace"])
      for number in 0..<12 { _ = try await Self.start(village, "#tag\(number) #all", in: forum) }
      _ = try await Self.start(village, "#tag7", in: forum)
      let found = try await village.expect(200, .get, "/forums/\(forum)/tags")
      #expect(found.count("data") == 10 && found.isNull("next") && found.isNull("previous"))
      #expect(found["data.0.tag"] == "all" && found.int("data.0.count") == 12)
      #expect(found["data.1.tag"] == "tag7" && found.int("data.1.count") == 2)
      #expect(found["data.2.tag"] == "tag0" && found.int("data.2.count") == 1)
    }
  }

  @Test func `subscribers learn of the tags that a later start of history hides`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("attic", "private", members: ["grace"])
      var topics: [String] = []
      for _ in 0..<201 { topics.append(try await Self.start(village, "Old #secret", in: forum, as: "ada")) }
      let topic = "/conversations/\(topics[0])"
      let events = try await village.events {
        try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "members", "from": "now"])
        await village.community.store.jobs.run()
      }
      #expect(events.contains("conversation.updated conversation:\(topics[0]) #2"))
      #expect(events.filter { $0.hasPrefix("conversation.updated forum:\(forum)") }.count == topics.count)
      let hidden = try await village.expect(200, .get, topic, as: "grace")
      #expect(Self.tags(hidden) == [] && hidden.int("revision") == 2)
      // A wider visibility from the beginning shows them again.
      let wider = ["visibility": "public", "from": "beginning"]
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", wider)
      await village.community.store.jobs.run()
      let shown = try await village.expect(200, .get, topic, as: "grace")
      #expect(Self.tags(shown) == ["secret"] && shown.int("revision") == 3)
    }
  }

  @Test func `tags are as secret as their forum and its history`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("attic", "private", members: ["grace"])
      let old = try await Self.start(village, "Old #secret #garlic", in: forum)
      for name in [nil, "gus", "linus"] {
        for path in ["/forums/\(forum)/tags", "/forums/\(forum)/conversations?tag=secret"] {
          #expect(try await village.request(.get, path, as: name).status == 404, "\(path)")
        }
      }
      #expect(try await village.expect(200, .get, "/forums/\(forum)/tags", as: "grace").count("data") == 2)
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "public", "from": "now"])
      let cursor = try await village.expect(200, .get, "/sync?topics=forum:\(forum)")["cursor"]
      let new = try await Self.start(village, "New #garlic", in: forum)
      let first = try await village.expect(200, .get, "/conversations/\(old)/messages", as: "grace")
      try await village.expect(
        200, .patch, "/messages/\(first["data.0.id"] ?? "")", as: "grace", ["text": "Old #secret #hidden"])
      for name in [nil, "gus", "linus"] {
        let counts = try await village.expect(200, .get, "/forums/\(forum)/tags", as: name)
        #expect(counts.texts("data", "tag") == ["garlic"] && counts.int("data.0.count") == 1)
        let secret = try await village.expect(200, .get, "/forums/\(forum)/conversations?tag=secret", as: name)
        #expect(secret.count("data") == 0)
        let found = try await village.expect(200, .get, "/forums/\(forum)/conversations?tag=garlic", as: name)
        #expect(found.texts("data", "id") == [new])
        for path in ["/forums/\(forum)/conversations", "/conversations/\(old)"] {
          let answer = try await village.expect(200, .get, path, as: name)
          #expect(!answer.text.contains("secret") && !answer.text.contains("hidden"), "\(answer.text)")
        }
      }
      let page = try await village.expect(
        200, .get, "/sync?topics=forum:\(forum)&after=\(try #require(cursor))")
      #expect(page.texts("data", "event").contains("conversation.updated"))
      #expect(!page.text.contains("secret") && !page.text.contains("hidden"), "\(page.text)")
    }
  }

  @Test func `a held post shows its tags once it is published`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace"])
      let rule: [String: Any] = ["name": "seeds", "words": ["seeds"], "action": "hold", "enabled": true]
      try await village.expect(201, .post, "/moderation-rules", as: "ada", rule)
      let held = try await village.request(
        .post, "/forums/\(forum)/conversations", as: "linus", ["title": "Swap", "text": "My seeds #swap"])
      #expect(held.code == "held_for_review", "\(held.text)")
      #expect(try await village.expect(200, .get, "/forums/\(forum)/tags", as: "linus").count("data") == 0)
      let reports = try await village.expect(200, .get, "/reports", as: "ada")
      try await village.expect(
        200, .patch, "/reports/\(reports["data.0.id"] ?? "")", as: "ada", ["state": "dismissed"])
      let tags = try await village.expect(200, .get, "/forums/\(forum)/tags", as: "linus")
      #expect(tags.texts("data", "tag") == ["swap"])
    }
  }
}
