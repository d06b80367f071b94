import ParleyWire
import Testing

@testable import API

/// `include=users,files` on lists.
@Suite struct IncludedTests {
  @Test(arguments: TestTransport.allCases)
  func `a page includes its users and files, each once`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden("garden", "public", members: ["grace"]).room
      let file = try await village.upload("menu.png", by: "grace")
      for text in ["pizza @linus", "pasta"] {
        try await village.post(text, in: room, as: "grace", ["attachments": [file]])
      }
      let plain = try await village.request(.get, "/conversations/\(room)/messages", as: "ada")
      #expect(!plain.has("included"))
      let page = try await village.request(.get, "/conversations/\(room)/messages?include=users,files", as: "ada")
      let ids = [village.id("grace"), village.id("linus")].sorted { Int($0) ?? 0 < Int($1) ?? 0 }
      #expect(page.texts("included.users", "id") == ids && page.texts("included.files", "id") == [file])
      let users = try await village.request(.get, "/conversations/\(room)/messages?include=users", as: "ada")
      #expect(users.count("included.users") == 2 && !users.has("included.files"))
      let refused = try await village.request(.get, "/conversations/\(room)/messages?include=topics", as: "ada")
      #expect(refused.status == 400 && refused["errors.0.field"] == "include")
    }
  }

  @Test func `visitors and guests get the users that they may see`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public", members: ["grace"]).room
      try await village.post("pizza @linus", in: room, as: "grace")
      for name in [nil, "gus"] {
        let page = try await village.request(.get, "/conversations/\(room)/messages?include=users", as: name)
        #expect(page.texts("included.users", "id") == [village.id("grace")])
      }
    }
  }

  @Test func `every list of messages takes the parameter`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await Stage(village)
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      for (path, user) in [
        ("/messages?ids=\(stage.message)", grace), ("/conversations?", linus),
        ("/forums/\(stage.garden.forum)/conversations?", linus), ("/messages/search?q=pears", grace),
        ("/messages/\(stage.first)/replies?", linus), ("/inbox?", linus), ("/unread?", linus),
      ] {
        let page = try await village.request(.get, "\(path)&include=users,files", as: "grace")
        #expect(page.texts("included.users", "id").contains(user), "\(path) \(page.text)")
        #expect(page.has("included.files"), "\(path)")
      }
      for path in ["/timeline", "/timeline/global", "/me/actions?type=like"] {
        let page = try await village.request(
          .get, path + (path.contains("?") ? "&" : "?") + "include=users", as: "linus")
        #expect(page.status == 200 && page.has("included.users"), "\(page.text)")
      }
      try await village.request(.post, "/reports", as: "linus", ["message_id": stage.message, "reason": "spam"])
      let reports = try await village.request(.get, "/reports?include=users", as: "mira")
      #expect(reports.count("data") == 1 && reports.count("included.users") == 2, "\(reports.text)")
    }
  }

  @Test func `other lists take the parameter, too`() async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await Stage(village)
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      let message = "/messages/\(stage.message)"
      try await village.request(.put, "\(message)/actions/like", as: "linus")
      try await village.request(.patch, message, as: "grace", ["text": "edited @linus"])
      try await village.request(
        .post, "/users/\(linus)/warn", as: "mira", ["reason": "Please calm down."])
      try await village.expect(201, .post, "/invites", as: "ada", ["max_uses": 1])
      _ = try await village.upload("menu.png", by: "grace")
      for (path, name, user) in [
        ("\(message)/actions", "grace", linus), ("\(message)/revisions", "grace", grace), ("/files", "grace", grace),
        ("/invites", "ada", village.id("ada")), ("/users/\(linus)/sanctions", "ada", linus),
        ("/audit", "ada", village.id("mira")),
      ] {
        let page = try await village.expect(200, .get, "\(path)?include=users,files", as: name)
        #expect(page.texts("included.users", "id").contains(user), "\(path) \(page.text)")
        #expect(page.has("included.files"), "\(path)")
        #expect(!(try await village.expect(200, .get, path, as: name)).has("included"), "\(path)")
      }
    }
  }

  @Test func `a single object includes its users and files`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public", members: ["grace"])
      let file = try await village.upload("menu.png", by: "grace")
      let id = try await village.post("pizza @linus", in: room, as: "grace", ["attachments": [file]])
      let message = try await village.expect(200, .get, "/messages/\(id)?include=users,files", as: "ada")
      #expect(message["id"] == id && message.texts("included.files", "id") == [file])
      #expect(Set(message.texts("included.users", "id")) == [village.id("grace"), village.id("linus")])
      let direct = try await village.expect(
        201, .post, "/conversations", as: "ada", ["kind": "direct", "participants": [village.id("grace")]])
      for (path, user) in [
        ("/forums/\(forum)", village.id("ada")), ("/conversations/\(direct["id"] ?? "")", village.id("grace")),
        ("/files/\(file)", village.id("grace")),
      ] {
        let found = try await village.expect(200, .get, "\(path)?include=users", as: "ada")
        #expect(found.texts("included.users", "id").contains(user), "\(path) \(found.text)")
        #expect(!found.has("included.files") && found.has("id"), "\(path)")
      }
      #expect(try await village.request(.get, "/messages/\(id)?include=forums", as: "ada").status == 400)
    }
  }

  @Test func `the tag of an object changes with its included users`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public", members: ["grace"]).room
      let id = try await village.post("pizza", in: room, as: "grace")
      let path = "/messages/\(id)?include=users"
      func tag(_ path: String) async throws -> String? {
        try await village.expect(200, .get, path, as: "ada").fields["etag"]
      }
      let (before, plain) = (try await tag(path), try await tag("/messages/\(id)"))
      #expect(try await tag(path) == before && before != nil && before != plain)
      try await village.expect(200, .patch, "/users/me", as: "grace", ["display_name": "Admiral"])
      #expect(try await tag(path) != before)
      #expect(try await tag("/messages/\(id)") == plain)
    }
  }

  @Test func `a search includes the conversations of its hits`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public", members: ["grace"])
      let talk = try await village.conversation(.direct, ["ada", "grace"])
      let topic = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Pears", "text": "Which ones?"])
      try await village.post("pears", in: room, as: "grace")
      try await village.post("pears for two", in: talk, as: "grace")
      let path = "/messages/search?q=pears&include=conversations"
      let page = try await village.expect(200, .get, path, as: "ada")
      #expect(page.count("data") == 3)
      #expect(Set(page.texts("included.conversations", "id")) == [room, talk, topic["id"] ?? ""])
      #expect(page.text.contains(#""title":"Pears""#) && !page.has("included.users"))
      let open = try await village.expect(200, .get, path, as: nil)
      #expect(Set(open.texts("included.conversations", "id")) == [room, topic["id"] ?? ""])
    }
  }

  @Test func `pages of events include what their events name`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public", members: ["grace"])
      let topics = "topics=forum:\(forum)/messages&include=users,files"
      let start = try await village.expect(200, .get, "/sync?\(topics)", as: "ada")
      #expect(start.count("included.users") == 0 && start.has("included.files"))
      let file = try await village.upload("menu.png", by: "grace")
      let id = try await village.post("pizza @linus", in: room, as: "grace", ["attachments": [file]])
      let after = try #require(start["cursor"])
      let page = try await village.expect(200, .get, "/sync?\(topics)&after=\(after)", as: "ada")
      #expect(page["data.0.data.id"] == id && page.texts("included.files", "id") == [file])
      #expect(Set(page.texts("included.users", "id")) == [village.id("grace"), village.id("linus")])
      // A visitor sees the author of a public message alone.
      let open = try await village.expect(200, .get, "/sync?\(topics)&after=\(after)", as: nil)
      #expect(open.texts("included.users", "id") == [village.id("grace")])
      let stream = try await village.expect(
        200, .get, "/streams/conversation:\(room)/events?include=users", as: "ada")
      #expect(
        Set(stream.texts("included.users", "id")) == [village.id("ada"), village.id("grace"), village.id("linus")])
      #expect(!stream.has("included.files"))
      let gone = try await village.expect(200, .get, "/sync?\(topics)&after=1.1.1", as: "ada")
      #expect(gone["reset"] == "epoch" && gone.count("included.users") == 0)
      #expect(try await village.request(.get, "/sync?topics=me&include=forums", as: "ada").status == 400)
    }
  }

  @Test func `a page position keeps the parameter`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      for number in 0..<3 { try await village.post("\(number)", in: room) }
      let path = "/conversations/\(room)/messages?include=users&limit=2"
      let next = try #require(try await village.request(.get, path, as: "grace")["next"])
      #expect(try await village.request(.get, "\(path)&next=\(next)", as: "grace").count("included.users") == 1)
    }
  }
}
