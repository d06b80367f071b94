import Foundation
import Testing

@testable import API
@testable import Community

/// The topic `forum:<id>/messages`: every event of every conversation of a forum, logged.
@Suite struct ForumMessagesTests {
  @Test func `a bot that was away receives every message of the forum once, new topics included`() async throws {
    try await Village.open(.socket) { village in
      let (forum, room) = try await village.garden()
      let old = try await village.topic("old", in: forum)
      let topics = "forum:\(forum)/messages"
      let start = try await village.cursor(topics, as: "linus")
      try await village.post("in the room", in: room)
      try await village.post("in a topic", in: old)
      let new = try await village.topic("new", in: forum)
      try await village.post("in a new topic", in: new)
      let (_, elsewhere) = try await village.garden("elsewhere")
      try await village.post("elsewhere", in: elsewhere)
      let missed = try await village.request(.get, "/sync?topics=\(topics)&after=\(start)", as: "linus")
      let texts = ["in the room", "in a topic", "in a new topic"]
      let events = missed.texts("data", "event")
      #expect((0..<events.count).compactMap { missed["data.\($0).data.text"] } == texts)
      // A socket gets the same, and then what follows live, in topics that begin later too.
      let bot = try village.connect("topics=\(topics)&after=\(start)", as: "linus")
      let first = try await bot.events { $0["event"] == "complete" }
      #expect(first.compactMap { $0["data.text"] } == texts)
      try await village.post("live", in: old)
      #expect(try await bot.event("message.created")["data.text"] == "live")
      for number in 0..<3 {
        let latest = try await village.topic("latest \(number)", in: forum)
        try await village.post("first of \(number)", in: latest)
        let event = try await bot.event("message.created")
        #expect(event["data.text"] == "first of \(number)" && event["stream"] == "conversation:\(latest)")
        try await village.post("second of \(number)", in: latest)
        #expect(try await bot.event("message.created")["data.text"] == "second of \(number)")
      }
      try await village.post("end", in: room)
      let rest = try await bot.events { $0["data.text"] == "end" }
      #expect(rest.filter { $0["event"] == "message.created" }.count == 1)
    }
  }

  @Test func `the forum's own events and other forums stay out, and unsubscribing ends it`() async throws {
    try await Village.open(.socket) { village in
      let (forum, room) = try await village.garden()
      let bot = try village.connect("topics=forum:\(forum)/messages", as: "linus")
      _ = try await bot.event("complete")
      _ = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["description": "wool"])
      try await village.post("one", in: room)
      #expect(try await bot.next { $0.has("event") }["data.text"] == "one")
      _ = try await bot.request(["do": "subscribe", "topics": ["conversation:\(room)"]])
      _ = try await bot.request(["do": "unsubscribe", "topics": ["forum:\(forum)/messages"]])
      let topic = try await village.topic("later", in: forum)
      try await village.post("in the topic", in: topic)
      try await village.post("two", in: room)
      #expect(try await bot.next { $0.has("event") }["data.text"] == "two")
    }
  }

  @Test func `a forum that becomes unreadable is lost`() async throws {
    try await Village.open(.socket) { village in
      let (forum, room) = try await village.garden("secret", "private", members: ["grace"])
      let topic = "forum:\(forum)/messages"
      let refused = try await village.request(.get, "/sync?topics=\(topic)", as: "linus")
      #expect(refused["lost.0"] == topic)
      let grace = try village.connect("topics=\(topic)", as: "grace")
      _ = try await grace.event("complete")
      try await village.post("for members", in: room)
      #expect(try await grace.event("message.created")["data.text"] == "for members")
      _ = try await village.request(.delete, "/forums/\(forum)/members/@grace", as: "ada")
      #expect(try await grace.event("notice")["topic"] == topic)
      let (_, open) = try await village.garden("open", "public")
      _ = try await grace.request(["do": "subscribe", "topics": ["conversation:\(open)"]])
      try await village.post("without grace", in: room)
      try await village.post("for all", in: open)
      let rest = try await grace.events { $0["data.text"] == "for all" }
      #expect(!rest.contains { $0["data.text"] == "without grace" })
    }
  }
}
