import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct PollTests {
  /// Posts a poll of three options by grace and returns its message.
  private static func post(in room: String, _ village: Village, _ more: [String: Any] = [:]) async throws -> String {
    var poll: [String: Any] = ["options": ["park", "lake", "garden"]]
    poll.merge(more) { $1 }
    return try await village.post("Where do we meet?", in: room, as: "grace", ["poll": poll])
  }

  private static func votes(_ answer: Answer) -> [Int?] { (0..<3).map { answer.int("poll.options.\($0).votes") } }

  @Test(arguments: TestTransport.allCases)
  func `a vote counts once, and only its user sees it`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let id = try await Self.post(in: room, village, ["choices": 2])
      let path = "/messages/\(id)/vote"
      let events = try await village.events {
        for options in [[2, 0], [0, 2], [1]] {
          let answer = try await village.expect(200, .put, path, as: "grace", ["options": options])
          #expect(answer.find("poll.mine") as? [Int] == options.sorted())
        }
        try await village.expect(200, .put, path, as: "linus", ["options": [1, 2]])
      }
      let pair = { (name: String) in ["poll.updated conversation:\(room)", "poll.updated user:\(village.id(name))"] }
      #expect(events == pair("grace") + pair("grace") + pair("linus"))
      let other = try await village.expect(200, .get, "/messages/\(id)", as: "mira")
      #expect(Self.votes(other) == [0, 2, 1] && other.int("poll.voters") == 2)
      #expect(other.find("poll.mine") as? [Int] == [])
      let page = try await village.expect(200, .get, "/conversations/\(room)/messages", as: "linus")
      #expect(page.find("data.0.poll.mine") as? [Int] == [1, 2] && page.int("data.0.poll.voters") == 2)
      let list = try await village.expect(200, .get, "/messages/\(id)/votes?option=1", as: "mira")
      #expect(list.texts("data", "user_id") == [village.id("grace"), village.id("linus")])
      let withdrawn = try await village.expect(200, .put, path, as: "linus", ["options": [Int]()])
      #expect(Self.votes(withdrawn) == [0, 1, 0] && withdrawn.int("poll.voters") == 1)
      #expect(try await village.expect(200, .get, "/messages/\(id)/votes", as: "linus").count("data") == 1)
    }
  }

  @Test func `an anonymous poll names no voter, neither in lists nor in events`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let id = try await Self.post(in: room, village, ["anonymous": true])
      let cursor = try await village.cursor("conversation:\(room)", as: "ada")
      try await village.expect(200, .put, "/messages/\(id)/vote", as: "linus", ["options": [0]])
      for name in ["grace", "mira", "ada", "linus"] {
        try await village.expect(403, .get, "/messages/\(id)/votes", as: name)
      }
      let page = try await village.expect(200, .get, "/sync?topics=conversation:\(room)&after=\(cursor)", as: "ada")
      #expect(page["data.0.event"] == "poll.updated" && page.isNull("data.0.actor_id"), "\(page.text)")
      #expect(page.int("data.0.data.poll.options.0.votes") == 1 && !page.has("data.0.data.poll.mine"))
    }
  }

  @Test func `a poll closes at its time, or by its author and moderators`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let end = Timestamp.format(Int(clock.read()) + 60_000)
      let timed = try await Self.post(in: room, village, ["closes_at": end])
      try await village.expect(200, .put, "/messages/\(timed)/vote", as: "linus", ["options": [0]])
      clock.add(60_000)
      let late = try await village.expect(409, .put, "/messages/\(timed)/vote", as: "linus", ["options": [1]])
      #expect(late.code == "poll_closed")
      // A repeated request.
      try await village.expect(200, .put, "/messages/\(timed)/vote", as: "linus", ["options": [0]])
      for closer in ["grace", "mira"] {
        let open = try await Self.post(in: room, village)
        try await village.expect(403, .post, "/messages/\(open)/poll/close", as: "linus")
        let events = try await village.events {
          for _ in 0..<2 {
            let answer = try await village.expect(200, .post, "/messages/\(open)/poll/close", as: closer)
            #expect(answer["poll.closes_at"] == Timestamp.format(Int(clock.read())))
          }
        }
        #expect(events == ["poll.updated conversation:\(room)"])
        try await village.expect(409, .put, "/messages/\(open)/vote", as: "linus", ["options": [1]])
      }
    }
  }

  @Test func `a moderator who closes the poll of another user is in the audit log`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      for (closer, author) in [("grace", "grace"), ("mira", "grace"), ("mira", "mira")] {
        let poll = ["options": ["park", "lake"]]
        let id = try await village.post("Where?", in: room, as: author, ["poll": poll])
        for _ in 0..<2 { try await village.expect(200, .post, "/messages/\(id)/poll/close", as: closer) }
        let found = try await village.expect(200, .get, "/audit?subject=\(id)", as: "ada")
        let isOfAnother = closer != author
        #expect(found.texts("data", "kind") == (isOfAnother ? ["poll.closed"] : []), "\(closer) of \(author)")
        if isOfAnother {
          #expect(found["data.0.actor_id"] == village.id("mira") && found["data.0.forum_id"] == forum)
        }
      }
    }
  }

  @Test func `options are found by the search, also after a move and a removal`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      let id = try await Self.post(in: room, village)
      let found = { (word: String) in
        let answer = try await village.expect(200, .get, "/messages/search?q=\(word)", as: "linus")
        return (0..<answer.count("data")).map { answer["data.\($0).message.id"] }
      }
      for word in ["lake", "meet"] { #expect(try await found(word) == [id]) }
      try await village.expect(200, .post, "/messages/\(id)/remove", as: "mira", ["reason": "noise"])
      #expect(try await found("lake") == [])
      try await village.expect(200, .post, "/messages/\(id)/restore", as: "mira", [:])
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["text": "Which place?"])
      #expect(try await found("lake") == [id])
      #expect(try await found("meet") == [])
      let topic = try await village.expect(201, .post, "/messages/\(id)/topic", as: "ada", ["title": "Meeting"])
      #expect(try await found("lake") == [topic["message_id"]])
      let faults = try village.community.store.reader().read { tx throws(Refusal) in try tx.searchFaults() }
      #expect(faults == [])
    }
  }

  @Test func `wrong polls and votes are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden("den", "private", members: ["grace", "linus"])
      let long = String(repeating: "x", count: 81)
      let polls: [(poll: [String: Any], field: String, code: String)] = [
        (["options": ["a"]], "poll.options", "too_short"),
        (["options": (0..<11).map { "\($0)" }], "poll.options", "too_many"),
        (["options": ["a", " a "]], "poll.options[1]", "taken"),
        (["options": ["a", " "]], "poll.options[1]", "too_short"),
        (["options": ["a", long]], "poll.options[1]", "too_long"),
        (["options": ["a", "b\nc"]], "poll.options[1]", "invalid"),
        (["options": ["a", "b"], "choices": 3], "poll.choices", "out_of_range"),
        (["options": ["a", "b"], "choices": 0], "poll.choices", "out_of_range"),
        (["options": ["a", "b"], "closes_at": "2020-01-01T00:00:00.000Z"], "poll.closes_at", "invalid"),
        (["options": ["a", "b"], "closes_at": "2100-01-01T00:00:00.000Z"], "poll.closes_at", "invalid"),
        (["options": ["a", "b"], "color": 1], "poll.color", "unknown_field"),
      ]
      for (poll, field, code) in polls {
        let body: [String: Any] = ["text": "?", "poll": poll]
        let answer = try await village.expect(400, .post, "/conversations/\(room)/messages", as: "grace", body)
        #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(poll): \(answer.text)")
      }
      let question = ["poll": ["options": ["a", "b"]]]
      try await village.expect(400, .post, "/conversations/\(room)/messages", as: "grace", question)
      let id = try await Self.post(in: room, village, ["choices": 2])
      for (options, field, code) in [
        ([0, 1, 2], "options", "too_many"), ([3], "options[0]", "unknown"), ([-1], "options[0]", "unknown"),
        ([1, 1], "options", "invalid"),
      ] {
        let answer = try await village.expect(400, .put, "/messages/\(id)/vote", as: "grace", ["options": options])
        #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(answer.text)")
      }
      let plain = try await village.post("no poll", in: room, as: "grace")
      let vote = ["options": [0]]
      try await village.expect(404, .put, "/messages/\(plain)/vote", as: "grace", vote)
      try await village.expect(404, .post, "/messages/\(plain)/poll/close", as: "grace")
      try await village.expect(404, .put, "/messages/\(id)/vote", as: "gus", vote)
      try await village.expect(404, .get, "/messages/\(id)/votes", as: "gus")
      try await village.expect(401, .put, "/messages/\(id)/vote", vote)
      try await village.expect(200, .delete, "/messages/\(id)", as: "grace")
      try await village.expect(410, .put, "/messages/\(id)/vote", as: "linus", vote)
    }
  }

  @Test func `a silenced user may not vote`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let id = try await Self.post(in: room, village)
      try await village.expect(200, .put, "/messages/\(id)/vote", as: "linus", ["options": [0]])
      #expect(
        try await village.request(.put, "/users/@linus/silence", as: "mira", ["reason": "noise"]).status < 300)
      let problem = try await village.expect(403, .put, "/messages/\(id)/vote", as: "linus", ["options": [1]])
      #expect(problem.code == "silenced" && problem["params.reason"] == "noise")
      #expect(try await village.expect(403, .put, "/messages/\(id)/actions/like", as: "linus").code == "silenced")
    }
  }

  @Test func `a removed message is restored with its poll, and a moved one takes it along`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      let id = try await Self.post(in: room, village)
      try await village.expect(200, .put, "/messages/\(id)/vote", as: "linus", ["options": [2]])
      let removed = try await village.expect(200, .post, "/messages/\(id)/remove", as: "mira", ["reason": "noise"])
      #expect(!removed.has("poll"))
      try await village.expect(410, .put, "/messages/\(id)/vote", as: "linus", ["options": [1]])
      let restored = try await village.expect(200, .post, "/messages/\(id)/restore", as: "mira", [:])
      #expect(Self.votes(restored) == [0, 0, 1])
      let topic = try await village.expect(201, .post, "/messages/\(id)/topic", as: "ada", ["title": "Meeting"])
      let copy = try await village.expect(200, .get, "/messages/\(topic["message_id"] ?? "")", as: "linus")
      #expect(Self.votes(copy) == [0, 0, 1] && copy.find("poll.mine") as? [Int] == [2])
      #expect(try await !village.expect(200, .get, "/messages/\(id)", as: "linus").has("poll"))
    }
  }

  @Test func `a topic starts with a poll`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden(members: ["grace"]).forum
      var body: [String: Any] = ["title": "Picnic", "poll": ["options": ["park", "lake"]]]
      let refused = try await village.expect(400, .post, "/forums/\(forum)/conversations", as: "grace", body)
      #expect(refused["errors.0.field"] == "text")
      body["text"] = "Where?"
      let made = try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", body)
      let path = "/conversations/\(made["id"] ?? "")/messages"
      #expect(try await village.expect(200, .get, path, as: "grace").count("data.0.poll.options") == 2)
    }
  }

  @Test func `a repeated post compares the poll`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace"]).room
      let path = "/conversations/\(room)/messages"
      var body: [String: Any] = ["text": "?", "client_id": "one", "poll": ["options": ["a", "b"]]]
      try await village.expect(201, .post, path, as: "grace", body)
      try await village.expect(200, .post, path, as: "grace", body)
      body["poll"] = ["options": ["a", "c"]]
      #expect(try await village.expect(409, .post, path, as: "grace", body).code == "client_id_reused")
    }
  }

  @Test func `the votes of a departed user go`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let id = try await Self.post(in: room, village)
      try await village.expect(200, .put, "/messages/\(id)/vote", as: "linus", ["options": [2]])
      let body = ["how": "leave", "password": "linus’s password"]
      #expect(try await village.request(.delete, "/me", as: "linus", body).status < 300)
      await village.community.store.jobs.run()
      let left = try await village.expect(200, .get, "/messages/\(id)", as: "grace")
      #expect(Self.votes(left) == [0, 0, 0] && left.int("poll.voters") == 0)
    }
  }
}
