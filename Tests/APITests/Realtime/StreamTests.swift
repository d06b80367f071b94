import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct StreamTests {
  @Test(arguments: TestTransport.allCases)
  func `a stream is read from any offset in its current state`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let start =
        try await village.request(.get, "/streams/conversation:\(room)/events", as: "grace").int("last_offset") ?? 0
      let id = try await village.post("one", in: room, as: "grace")
      _ = try await village.request(.put, "/messages/\(id)/actions/like", as: "linus")
      _ = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "two"])
      let path = "/streams/conversation:\(room)/events"
      let page = try await village.request(.get, "\(path)?after_offset=\(start)", as: "linus")
      #expect(page.texts("data", "event") == ["message.created", "action.added", "message.edited"])
      #expect((0..<3).map { page.int("data.\($0).offset") } == [start + 1, start + 2, start + 3])
      #expect(page["data.0.stream"] == "conversation:\(room)" && page["data.0.data.text"] == "two")
      #expect(page["data.0.actor_id"] == village.id("grace") && !page.has("data.0.data.actions.like.mine"))
      #expect(page["data.1.data.message_id"] == id && page.int("data.1.data.actions.like.count") == 1)
      #expect(page.isNull("next") && page.int("last_offset") == start + 3)
      #expect(page["cursor"]?.hasSuffix(".\(page["data.2.id"] ?? "")") == true)
      // Pages of one event return the same.
      var (next, seen): (String, [String?]) = ("", [])
      while true {
        let part = try await village.request(.get, "\(path)?after_offset=\(start)&limit=1\(next)", as: "linus")
        seen += part.texts("data", "event")
        guard let position = part["next"] else { break }
        next = "&next=\(position)"
      }
      #expect(seen == page.texts("data", "event"))
      let over = try await village.request(.get, "\(path)?after_offset=\(start + 4)", as: "linus")
      #expect(over.status == 400 && over["errors.0.code"] == "out_of_range")
    }
  }

  @Test func `deleted messages and earlier history are not readable in a stream`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation(.group, ["grace", "linus"], fromSeq: ["linus": 2])
      let old = try await village.post("old words", in: conversation, as: "grace")
      let gone = try await village.post("gone words", in: conversation, as: "grace")
      _ = try await village.request(.put, "/messages/\(old)/actions/like", as: "grace")
      _ = try await village.request(.delete, "/messages/\(gone)", as: "grace")
      let path = "/streams/conversation:\(conversation)/events"
      let page = try await village.request(.get, path, as: "linus")
      #expect(page.texts("data", "event") == ["hidden", "message.created", "hidden", "message.deleted"])
      #expect(!page.has("data.0.data") && !page.has("data.0.at") && !page.has("data.0.actor_id"))
      #expect((0..<4).map { page.int("data.\($0).offset") } == [1, 2, 3, 4])
      #expect(!page.text.contains("words"))
      let own = try await village.request(.get, path, as: "grace")
      #expect(own["data.0.data.text"] == "old words" && !own.text.contains("gone words"))
    }
  }

  @Test func `an unreadable stream is not found`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation(.direct, ["grace", "linus"])
      let (secret, room) = try await village.garden("secret", "private")
      for (stream, readers) in [
        ("conversation:\(conversation)", ["grace", "linus"]), ("conversation:\(room)", ["ada"]),
        ("forum:\(secret)", ["ada"]),
        ("user:\(village.id("grace"))", ["grace"]), ("site", ["gus", "grace", "linus", "mira", "ada"]),
        ("conversation:999999", []), ("forum:999999", []), ("conversation:\(secret)", []), ("room:1", []),
        ("site:1", []),
      ] {
        for name in ["gus", "grace", "linus", "mira", "ada"] {
          let answer = try await village.request(.get, "/streams/\(stream)/events", as: name)
          let found = answer.status == 200
          #expect(found == readers.contains(name), "\(stream) \(name): \(answer.text)")
          // Staff can see that a private forum exists.
          #expect(found || answer.status == (stream == "forum:\(secret)" && name == "ada" ? 403 : 404))
        }
      }
      #expect(try await village.request(.get, "/streams/site/events").status == 401)
    }
  }

  @Test func `a star is sent to its owner's devices`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.post("x", in: village.garden().room)
      let path = "/streams/user:\(village.id("grace"))/events"
      let start = try await village.request(.get, path, as: "grace").int("last_offset") ?? 0
      _ = try await village.request(.put, "/messages/\(id)/actions/star", as: "grace")
      let page = try await village.request(.get, "\(path)?after_offset=\(start)", as: "grace")
      #expect(page.texts("data", "event") == ["action.added"])
      #expect(page["data.0.data.message_id"] == id && page.int("data.0.data.actions.star.count") == 1)
    }
  }

  @Test func `events purged from the log return gone`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      try await village.post("one", in: room)
      try await village.post("two", in: room)
      let stream = EventStream.conversation(ID(Int(room) ?? 0)).number
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute("delete from event where stream = $1 and stream_offset <= 2", stream)
        }
      }
      #expect(try await village.request(.get, "/streams/conversation:\(room)/events", as: "grace").status == 410)
      let rest = try await village.request(.get, "/streams/conversation:\(room)/events?after_offset=2", as: "grace")
      #expect(rest.status == 200 && rest.int("data.0.offset") == 3)
    }
  }

  @Test func `events before the participant's history are hidden`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let group = try await village.conversation("group", by: "grace", with: ["mira"], ["history_visible": false])
      try await village.post("secret", in: group, as: "grace")
      try await village.expect(204, .delete, "/conversations/\(group)/participants/@mira", as: "grace")
      try await village.expect(200, .put, "/conversations/\(group)/participants/@linus", as: "grace", [:])
      let own = try await village.expect(200, .get, "/conversations/\(group)", as: "linus")
      let from = try #require(own.int("from_offset"))
      let page = try await village.expect(200, .get, "/streams/conversation:\(group)/events", as: "linus")
      let events = page.texts("data", "event")
      #expect(events.prefix(from - 1).allSatisfy { $0 == "hidden" } && events.count >= from)
      #expect(!events.suffix(from: from - 1).contains("hidden"))
      let whole = try await village.expect(200, .get, "/streams/conversation:\(group)/events", as: "grace")
      #expect(!whole.texts("data", "event").contains("hidden"))
    }
  }
}
