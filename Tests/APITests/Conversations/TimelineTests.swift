import Testing

@testable import API
@testable import Community
@testable import Storage

/// The posts of feeds: replies, the timeline and its live topic.
@Suite struct TimelineTests {
  @Test func `the timeline lists posts of followed users, newest first, page by page`() async throws {
    try await Village.open(.inMemory) { village in
      var feeds: [String: String] = [:]
      for name in ["grace", "mira", "robo"] {
        let feed = try await village.request(.post, "/conversations", as: name, ["kind": "feed"])
        feeds[name] = feed["id"]
      }
      for name in ["grace", "mira"] { try await village.setRelation("linus", "follow", name) }
      var expected: [String] = []
      for number in 1...7 {
        let name = number % 3 == 0 ? "grace" : "mira"
        expected.insert(try await village.post("\(number)", in: feeds[name] ?? "", by: name), at: 0)
        try await village.post("not followed", in: feeds["robo"] ?? "", by: "robo")
      }
      var seen: [String?] = []
      var next = ""
      repeat {
        let page = try await village.request(.get, "/timeline?limit=2\(next)", as: "linus")
        seen += page.texts("data", "id")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(seen == expected)
      try await village.request(.put, "/messages/\(expected[0])/actions/like", as: "linus")
      try await village.request(.put, "/messages/\(expected[1])/actions/like", as: "mira")
      let marked = try await village.request(.get, "/timeline", as: "linus")
      #expect(marked.bool("data.0.actions.like.mine") == true && marked.bool("data.1.actions.like.mine") == false)
      try await village.setRelation("linus", "mute", "grace")
      #expect(try await village.request(.get, "/timeline", as: "linus").count("data") == 5)
      let change: [String: Any] = ["readers": ["open_to": "listed"]]
      try await village.request(.patch, "/conversations/\(feeds["mira"] ?? "")", as: "mira", change)
      #expect(try await village.request(.get, "/timeline", as: "linus").count("data") == 0)
      try await village.expect(401, .get, "/timeline")
      try await village.expect(400, .get, "/timeline?next=x", as: "linus")
    }
  }

  @Test func `readers reply to posts, and post nothing else`() async throws {
    try await Village.open(.inMemory) { village in
      let feed = try await village.feed(of: "grace")
      let post = try await village.post("socks", in: feed, by: "grace")
      let path = "/conversations/\(feed)/messages"
      let missing = try await village.expect(400, .post, path, as: "linus", ["text": "mine"])
      #expect(missing["errors.0.field"] == "reply_to" && missing["errors.0.code"] == "missing")
      let reply = try await village.expect(201, .post, path, as: "linus", ["text": "warm", "reply_to": post])
      #expect(reply["reply_to"] == post)
      let id = try #require(reply["id"])
      #expect(try await village.expect(200, .get, "/inbox", as: "grace").texts("data", "kind") == ["reply"])
      #expect(try await village.expect(200, .get, "/messages/\(post)/replies", as: "mira").texts("data", "id") == [id])
      try await village.expect(200, .patch, "/messages/\(id)", as: "linus", ["text": "very warm"])
      // Guests and visitors read, or not even that.
      try await village.expect(401, .post, path, ["text": "hi", "reply_to": post])
      // A block either way ends replies, and so does the lock.
      try await village.relate("grace", "block", "linus")
      try await village.expect(403, .post, path, as: "linus", ["text": "why?", "reply_to": post])
      try await village.endRelation("grace", "block", "linus")
      try await village.relate("linus", "block", "grace")
      try await village.expect(403, .post, path, as: "linus", ["text": "why?", "reply_to": post])
      try await village.endRelation("linus", "block", "grace")
      try await village.expect(201, .post, path, as: "linus", ["text": "again", "reply_to": id])
      try await village.expect(200, .patch, "/conversations/\(feed)", as: "grace", ["locked": true])
      try await village.expect(403, .post, path, as: "linus", ["text": "late", "reply_to": post])
      try await village.expect(403, .patch, "/messages/\(id)", as: "linus", ["text": "late"])
      try await village.expect(201, .post, path, as: "grace", ["text": "closed", "reply_to": post])
      // The owner moderates.
      try await village.expect(200, .post, "/messages/\(id)/remove", as: "grace", ["reason": "rude"])
      try await village.expect(403, .post, "/messages/\(post)/remove", as: "linus", ["reason": "rude"])
    }
  }

  @Test func `a silenced member does not reply`() async throws {
    try await Village.open(.inMemory) { village in
      let feed = try await village.feed(of: "grace")
      let post = try await village.post("socks", in: feed, by: "grace")
      try await village.expect(200, .put, "/users/@linus/silence", as: "ada", ["reason": "noise"])
      let refused = try await village.expect(
        403, .post, "/conversations/\(feed)/messages", as: "linus", ["text": "warm", "reply_to": post])
      #expect(refused["code"] == "silenced")
    }
  }

  @Test func `the timeline has own posts and no replies`() async throws {
    try await Village.open(.inMemory) { village in
      let (grace, linus) = (try await village.feed(of: "grace"), try await village.feed(of: "linus"))
      try await village.relate("linus", "follow", "grace")
      let first = try await village.post("socks", in: grace, by: "grace")
      let own = try await village.post("gloves", in: linus, by: "linus")
      for name in ["linus", "grace"] {
        try await village.expect(
          201, .post, "/conversations/\(grace)/messages", as: name, ["text": "warm", "reply_to": first])
      }
      #expect(try await village.expect(200, .get, "/timeline", as: "linus").texts("data", "id") == [own, first])
      #expect(try await village.expect(200, .get, "/timeline", as: "grace").texts("data", "id") == [first])
      // The own posts stay, also in a feed without readers.
      try await village.expect(
        200, .patch, "/conversations/\(linus)", as: "linus", ["readers": ["open_to": "listed"]])
      #expect(try await village.expect(200, .get, "/timeline", as: "linus").texts("data", "id") == [own, first])
    }
  }

  @Test func `the global timeline has the posts of all readable feeds`() async throws {
    try await Village.open(.inMemory) { village in
      var posts: [String: String] = [:]
      for (name, readers) in [("grace", "users"), ("linus", "listed"), ("mira", "anyone")] {
        let feed = try await village.feed(of: name, readers: readers)
        posts[name] = try await village.post("by \(name)", in: feed, by: name)
        try await village.expect(
          201, .post, "/conversations/\(feed)/messages", as: name, ["text": "more", "reply_to": posts[name] ?? ""])
      }
      func texts(_ name: String?) async throws -> [String] {
        try await village.expect(200, .get, "/timeline/global", as: name).texts("data", "text").compactMap(\.self)
      }
      #expect(try await texts(nil) == ["by mira"])
      #expect(try await texts("ada") == ["by mira", "by grace"])
      #expect(try await texts("linus") == ["by mira", "by linus", "by grace"])
      try await village.relate("ada", "mute", "mira")
      #expect(try await texts("ada") == ["by grace"])
      let page = try await village.expect(200, .get, "/timeline/global?limit=1", as: "linus")
      let next = try #require(page["next"])
      let second = try await village.expect(200, .get, "/timeline/global?limit=1&next=\(next)", as: "linus")
      #expect(second.texts("data", "text") == ["by linus"])
    }
  }

  @Test func `the topic follows the feeds of followed users, live and after a while`() async throws {
    try await Village.open(.socket) { village in
      let grace = try await village.feed(of: "grace")
      let mira = try await village.feed(of: "mira", readers: "listed")
      for name in ["grace", "robo"] { try await village.relate("linus", "follow", name) }
      let start = try await village.cursor("timeline", as: "linus")
      try await village.post("one", in: grace, by: "grace")
      try await village.post("not followed", in: mira, by: "mira")
      let reader = try village.connect("topics=timeline&after=\(start)", as: "linus")
      let missed = try await reader.events { $0["event"] == "complete" }
      #expect(missed.compactMap { $0["data.text"] } == ["one"])
      try await village.post("two", in: grace, by: "grace")
      #expect(try await reader.event("message.created")["data.text"] == "two")
      // A followed user begins a feed.
      let robo = try await village.feed(of: "robo")
      try await village.post("beep", in: robo, by: "robo")
      #expect(try await reader.event("message.created")["data.text"] == "beep")
      // A feed that opens later, of a user who is followed later.
      try await village.relate("linus", "follow", "mira")
      try await village.expect(200, .patch, "/conversations/\(mira)", as: "mira", ["readers": ["open_to": "users"]])
      try await village.post("open", in: mira, by: "mira")
      #expect(try await reader.event("message.created")["data.text"] == "open")
      // The own feed.
      let own = try await village.feed(of: "linus")
      try await village.post("mine", in: own, by: "linus")
      #expect(try await reader.event("message.created")["data.text"] == "mine")
      // An end of following ends the events at once.
      try await village.endRelation("linus", "follow", "grace")
      try await village.relate("linus", "mute", "robo")
      try await village.post("unseen", in: grace, by: "grace")
      try await village.post("unheard", in: robo, by: "robo")
      try await village.post("last", in: mira, by: "mira")
      let rest = try await reader.events { $0["data.text"] == "last" }
      #expect(rest.filter { $0["event"] == "message.created" }.compactMap { $0["data.text"] } == ["last"])
      // A feed that closes.
      try await village.expect(200, .patch, "/conversations/\(mira)", as: "mira", ["readers": ["open_to": "listed"]])
      try await village.post("closed", in: mira, by: "mira")
      try await village.post("end", in: own, by: "linus")
      let end = try await reader.events { $0["data.text"] == "end" }
      #expect(end.filter { $0["event"] == "message.created" }.compactMap { $0["data.text"] } == ["end"])
    }
  }

  @Test func `a visitor has no timeline`() async throws {
    try await Village.open(.inMemory) { village in
      let page = try await village.request(.get, "/sync?topics=timeline")
      #expect(page["lost.0"] == "timeline")
    }
  }
}

extension Village {
  func relate(_ name: String, _ kind: String, _ other: String) async throws {
    try await expect(204, .put, "/users/@\(other)/\(kind)", as: name)
  }

  func endRelation(_ name: String, _ kind: String, _ other: String) async throws {
    try await expect(204, .delete, "/users/@\(other)/\(kind)", as: name)
  }

  /// Creates the feed of a user.
  func feed(of name: String, readers: String = "users") async throws -> String {
    let body: [String: Any] = ["kind": "feed", "readers": ["open_to": readers]]
    return try #require(try await expect(201, .post, "/conversations", as: name, body)["id"])
  }
}
