import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct RemovalTests {
  @Test(arguments: TestTransport.allCases)
  func `all messages of an author since a time are removed at once and restored in one call`(transport: TestTransport)
    async throws
  {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      let (_, room) = try await village.garden("garden")
      let (meadow, other) = try await village.garden("meadow")
      let before = try await village.post("hello", in: room, as: "grace")
      clock.add(1_000)
      let since = Timestamp.format(Int(clock.read()))
      let first = try await village.post("buy #this", in: room, as: "grace")
      let second = try await village.post("buy that", in: other, as: "grace")
      let gone = try await village.post("never mind", in: room, as: "grace")
      try await village.expect(200, .delete, "/messages/\(gone)", as: "grace")
      let kept = try await village.post("hm", in: room, as: "linus")
      let secret = try await village.conversation(.direct, ["grace", "linus"])
      let whisper = try await village.post("psst", in: secret, as: "grace")

      let body: [String: Any] = ["author": "@grace", "since": since, "reason": "Spam.", "client_id": "r1"]
      var made: Answer?
      let events = try await village.events {
        made = try await village.expect(201, .post, "/removals", as: "mira", body)
        try await village.expect(200, .post, "/removals", as: "mira", body)
      }
      #expect(events == ["message.deleted conversation:\(other) #2", "message.deleted conversation:\(room) #2"])
      #expect(made?.int("removed") == 2 && made?.isNull("finished_at") == false && made?["reason"] == "Spam.")
      for (id, isThere) in [(before, true), (first, false), (second, false), (kept, true)] {
        #expect(try await village.request(.get, "/messages/\(id)", as: "linus").bool("deleted") == !isThere, "\(id)")
      }
      // Messages the moderator can't read are not removed.
      #expect(try await village.request(.get, "/messages/\(whisper)", as: "linus")["text"] == "psst")
      #expect(try await village.request(.get, "/messages/\(first)", as: "linus")["reason"] == "Spam.")

      // A message restored by hand and one deleted by its author stay as they are.
      try await village.expect(200, .post, "/messages/\(second)/restore", as: "mira")
      let id = try #require(made?["id"])
      let undone = try await village.events {
        for _ in 1...2 {
          let answer = try await village.expect(200, .delete, "/removals/\(id)", as: "mira", ["reason": "My mistake."])
          #expect(answer.int("restored") == 1 && !answer.isNull("undone_at") && !answer.isNull("restored_at"))
        }
      }
      #expect(undone == ["message.restored conversation:\(room) #3"])
      #expect(try await village.request(.get, "/messages/\(first)", as: "linus")["text"] == "buy #this")
      let audit = try await village.expect(200, .get, "/audit?subject=\(id)", as: "mira")
      #expect(audit.texts("data", "kind") == ["removal.undone", "removal.made"])
      #expect(audit.texts("data", "reason") == ["My mistake.", "Spam."])
      #expect(audit.texts("data", "author_id") == [village.id("grace"), village.id("grace")])
      #expect(audit.int("data.0.messages") == 1 && audit.int("data.1.messages") == 2)
      _ = meadow
    }
  }

  @Test func `a large removal runs as a job, and so does its undo`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      for number in 0..<250 { try await village.post("buy \(number)", in: room, by: "grace") }
      let made = try await village.expect(
        201, .post, "/removals", as: "mira", ["author": "@grace", "since": "2020-01-01T00:00:00.000Z"])
      let id = try #require(made["id"])
      await village.community.store.jobs.run()
      let done = try await village.expect(200, .get, "/removals/\(id)", as: "mira")
      #expect(done.int("removed") == 250 && !done.isNull("finished_at"))
      let live = "select cast(count(*) as text) from message where deletion is null"
      #expect(try await village.rows(live) == ["0"])
      try await village.expect(200, .delete, "/removals/\(id)", as: "ada")
      await village.community.store.jobs.run()
      let back = try await village.expect(200, .get, "/removals/\(id)", as: "mira")
      #expect(back.int("restored") == 250 && !back.isNull("restored_at"))
      #expect(try await village.rows(live) == ["250"])
      #expect(try await village.rows("select cast(count(*) as text) from sealed") == ["0"])
    }
  }

  /// Columns: visitor, gus (guest), linus (member), fay (moderator of the forum), mira (moderator), ada (owner).
  @Test(arguments: [
    ("grace", false, "143322"), ("grace", true, "133222"), ("ada", false, "133332"), ("ada", true, "133222"),
    ("nobody", true, "144444"),
  ])
  func `permissions to remove the messages of an author`(author: String, isInForum: Bool, expected: String) async throws
  {
    try await Village.open(.inMemory) { village in
      try await village.addUser("fay")
      let forum = try await village.garden("garden", "public", members: ["fay"]).forum
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      var body: [String: Any] = ["author": "@\(author)", "since": "2020-01-01T00:00:00.000Z"]
      if isInForum { body["forum"] = forum }
      var answers = ""
      for caller in [nil, "gus", "linus", "fay", "mira", "ada"] as [String?] {
        let answer = try await village.request(.post, "/removals", as: caller, body)
        answers += answer.status == 400 ? "4" : answer.status > 400 ? "\(answer.status % 10)" : "2"
        guard let id = answer["id"] else { continue }
        for (viewer, status) in [("linus", 404), ("fay", isInForum ? 200 : 404), ("mira", 200)] {
          try await village.expect(status, .get, "/removals/\(id)", as: viewer)
          try await village.expect(status, .delete, "/removals/\(id)", as: viewer)
        }
      }
      #expect(answers == expected)
    }
  }

  @Test(
    arguments: [
      (["since": "2020-01-01T00:00:00.000Z"], "author"), (["author": "@grace"], "since"),
      (["author": "@grace", "invite": "999", "since": "2020-01-01T00:00:00.000Z"], "invite"),
      (["invite": "999", "since": "2020-01-01T00:00:00.000Z"], "invite"),
      (["author": "@grace", "since": "2020-01-01T00:00:00.000Z", "forum": "999"], "forum"),
    ] as [([String: String], String)])
  func `an invalid removal is refused by field`(body: [String: String], field: String) async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.request(.post, "/removals", as: "mira", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field, "\(answer.text)")
    }
  }
}
