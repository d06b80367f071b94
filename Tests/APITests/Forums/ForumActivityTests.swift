import ParleyWire
import Testing

@testable import API

/// Facts in lists of forums: activity, topics, counts.
@Suite struct ForumActivityTests {
  @Test(arguments: TestTransport.allCases)
  func `the list has the newest activity, topic and counts of each forum`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let empty = try await village.expect(200, .get, "/forums?query=garden", as: "linus")
      #expect(empty.isNull("data.0.last_activity_at") && empty.isNull("data.0.last_topic"))
      #expect(empty.int("data.0.topic_count") == 0 && empty.int("data.0.member_count") == 3)
      let frost = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Frost", "text": "when?"])
      try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Keys", "text": "where?"])
      let id = try #require(frost["id"])
      try await village.expect(200, .patch, "/conversations/\(id)", as: "ada", ["pinned": true])
      try await village.post("in May", in: id, as: "ada")
      try await village.post("hello", in: room, as: "ada")

      let list = try await village.expect(200, .get, "/forums?query=garden&include=users", as: "linus")
      #expect(list["data.0.last_topic.title"] == "Frost" && list["data.0.last_topic.author_id"] == village.id("ada"))
      #expect(list.int("data.0.topic_count") == 2 && list["data.0.last_activity_at"] != nil)
      #expect(list.int("data.0.unread_count") == 1 && list.int("data.0.new_topics") == 2)
      #expect(list.texts("included.users", "id").contains(village.id("ada")))
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "nothing"])
      let muted = try await village.expect(200, .get, "/forums?query=garden", as: "linus")
      #expect(muted.int("data.0.unread_count") == 0)
      let visitor = try await village.expect(200, .get, "/forums?query=garden")
      #expect(visitor["data.0.last_topic.title"] == "Frost" && visitor.int("data.0.member_count") == 3)
      #expect(!visitor.has("data.0.unread_count") && !visitor.has("data.0.new_topics"))
    }
  }

  @Test func `a deleted topic is no activity of its forum`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public", members: ["grace"])
      let path = "/forums/\(forum)/conversations"
      func topic(_ title: String) async throws -> String {
        try #require(try await village.expect(201, .post, path, as: "grace", ["title": title, "text": "when?"])["id"])
      }
      let (frost, keys) = (try await topic("Frost"), try await topic("Keys"))
      try await village.expect(200, .patch, "/conversations/\(frost)", as: "ada", ["pinned": true])
      let spoken = try await village.post("hello", in: room, as: "grace")
      let answers = [try await village.post("in May", in: frost, as: "ada"), try await village.post("here", in: keys)]
      func newest() async throws -> String? {
        let list = try await village.expect(200, .get, "/forums?query=garden", as: "grace")
        let id = list["data.0.last_message_id"] ?? ""
        let message = try await village.expect(200, .get, "/messages/\(id)", as: "grace")
        #expect(list["data.0.last_activity_at"] == message["created_at"])
        return id
      }
      #expect(try await newest() == answers[1])
      try await village.expect(204, .delete, "/conversations/\(keys)", as: "ada")
      #expect(try await newest() == answers[0])
      try await village.expect(204, .delete, "/conversations/\(frost)", as: "ada")
      #expect(try await newest() == spoken)
    }
  }

  @Test func `a forum that the caller only sees tells no activity`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("shed", "private", members: ["grace"]).forum
      try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Keys", "text": "where?"])
      try await village.expect(204, .delete, "/forums/\(forum)/members/me", as: "ada")
      let list = try await village.expect(200, .get, "/forums?query=shed", as: "ada")
      #expect(list.count("data") == 1 && !list.has("data.0.last_topic") && !list.has("data.0.topic_count"))
      let member = try await village.expect(200, .get, "/forums?query=shed", as: "grace")
      #expect(member["data.0.last_topic.title"] == "Keys")
    }
  }

  @Test func `messages before the reader's history are not the newest activity`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("shed", "private", members: ["grace"]).forum
      let made = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Keys", "text": "where?"])
      try await village.post("there", in: try #require(made["id"]), as: "ada")
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "members", "from": "now"])
      let list = try await village.expect(200, .get, "/forums?query=shed", as: "linus")
      #expect(list.isNull("data.0.last_activity_at"))
      #expect(list["data.0.last_topic.author_id"] == village.id("grace"))
      #expect(list["data.0.last_topic.last_activity_at"] == made["created_at"])
    }
  }

  @Test func `new users join the default forums`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden").forum
      _ = try await village.garden("kitchen")
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "grace", ["is_default": true]).status == 403)
      let changed = try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["is_default": true])
      #expect(changed.bool("is_default") == true)
      try await village.changeSettings(["registration": "open"])
      let lena = try await village.expect(
        201, .post, "/users", ["name": "lena", "password": "lena’s own password"])
      let list = try await village.request(.get, "/forums", fields: Fields(bearer: lena["token"]))
      let joined = (0..<list.count("data")).filter { list["data.\($0).role"] != nil }
      #expect(joined.map { list["data.\($0).title"] } == ["garden"])
      let snapshot = try await village.request(
        .get, "/snapshot", fields: Fields(bearer: lena["token"]))
      #expect(snapshot.texts("conversations", "kind").contains("room"))
    }
  }

  @Test func `an approved user joins the default forums, a guest does not`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "members", members: [], ["is_default": true]).forum
      try await village.changeSettings(["registration": "approval"])
      let waiting = try await village.expect(201, .post, "/users", ["name": "lena", "password": "lena’s own password"])
      let id = try #require(waiting["user.id"])
      func members() async throws -> [String?] {
        let list = try await village.expect(200, .get, "/forums/\(forum)/members", as: "ada")
        return (0..<list.count("data")).map { list["data.\($0).user.id"] }
      }
      #expect(try await !members().contains(id))
      try await village.expect(200, .put, "/users/\(id)/approval", as: "ada")
      #expect(try await members().contains(id))
      let invite = try await village.expect(201, .post, "/invites", as: "ada", ["role": "guest"])
      let guest = try await village.expect(
        201, .post, "/users",
        ["name": "gwen", "password": "gwen’s own password", "invite": try #require(invite["code"])])
      let guestID = try #require(guest["user.id"])
      #expect(try await !members().contains(guestID))
    }
  }

  @Test func `topics are filtered by what the caller has read, started and solved`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace", "linus"])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["solvable": true])
      func start(_ title: String, as name: String) async throws -> String {
        let made = try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: name, ["title": title, "text": "look"])
        return try #require(made["id"])
      }
      let mine = try await start("Mine", as: "linus")
      let roses = try await start("Roses", as: "grace")
      _ = try await start("Seeds", as: "grace")
      let answer = try await village.post("like this", in: mine, as: "grace")
      try await village.expect(200, .patch, "/conversations/\(mine)", as: "linus", ["solved_by": answer])
      func titles(_ filter: String, _ query: String = "") async throws -> [String?] {
        try await village.expect(
          200, .get, "/forums/\(forum)/conversations?filter=\(filter)\(query)", as: "linus"
        ).texts("data", "title")
      }
      #expect(try await titles("new") == ["Seeds", "Roses"])
      #expect(try await titles("unread") == ["Mine"])
      #expect(try await titles("mine") == ["Mine"])
      #expect(try await titles("solved") == ["Mine"])
      #expect(try await titles("unsolved") == ["Seeds", "Roses"])
      try await village.expect(200, .patch, "/conversations/\(roses)", as: "ada", ["pinned": true])
      #expect(try await titles("new") == ["Roses", "Seeds"])
      for filter in ["new", "unsolved"] {
        let first = try await village.expect(
          200, .get, "/forums/\(forum)/conversations?filter=\(filter)&limit=1", as: "linus")
        #expect(first.texts("data", "title") == ["Roses"])
        #expect(try await titles(filter, "&limit=1&next=\(try #require(first["next"]))") == ["Seeds"])
      }
      #expect(try await village.request(.get, "/forums/\(forum)/conversations?filter=mine").status == 401)
      #expect(try await village.request(.get, "/forums/\(forum)/conversations?filter=all", as: "linus").status == 400)
    }
  }

  @Test func `topics are found by a part of the title`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let path = "/forums/\(forum)/conversations"
      var ids: [String] = []
      for (title, name) in [
        ("Wool for socks", "grace"), ("Crème for scones", "linus"), ("A WOOLLY hat", "linus"), ("Seeds", "grace"),
        ("Which wool?", "grace"),
      ] {
        let made = try await village.expect(201, .post, path, as: name, ["title": title, "text": "look #wool"])
        ids.append(try #require(made["id"]))
      }
      try await village.expect(200, .patch, "/conversations/\(ids[0])", as: "ada", ["pinned": true])
      func found(_ query: String, as name: String? = "linus") async throws -> [String?] {
        try await village.expect(200, .get, "\(path)?\(query)", as: name).texts("data", "id")
      }
      let wool = [ids[0], ids[4], ids[2]]
      #expect(try await found("query=WOOL", as: nil) == wool)
      for (query, expected) in [
        ("wool", wool), ("creme", [ids[1]]), ("wool%3F", [ids[4]]), ("velvet", []), ("wool&filter=mine", [ids[2]]),
        ("wool&tag=wool", wool), ("wool&tag=seeds", []), ("seeds&filter=unread", []),
      ] {
        #expect(try await found("query=\(query)") == expected, "\(query)")
      }
      #expect(try await found("query=").count == 5)
      for limit in 1...3 {
        var (pages, next): ([String?], String?) = ([], "")
        while let position = next, pages.count < 10 {
          let page = try await village.expect(200, .get, "\(path)?query=wool&limit=\(limit)\(position)", as: "linus")
          pages += page.texts("data", "id")
          next = page["next"].map { "&next=\($0)" }
        }
        #expect(pages == wool, "\(limit) at a time")
      }
      let long = String(repeating: "w", count: 121)
      let refused = try await village.expect(400, .get, "\(path)?query=\(long)", as: "linus")
      #expect(refused["errors.0.field"] == "query" && refused["errors.0.code"] == "too_long")
    }
  }

  @Test func `topics are listed by creation`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let path = "/forums/\(forum)/conversations"
      var ids: [String] = []
      for (number, name) in ["grace", "linus", "linus", "grace", "linus"].enumerated() {
        let draft = ["title": "Bed \(number)", "text": number == 1 ? "look" : "look #bed"]
        ids.append(try #require(try await village.expect(201, .post, path, as: name, draft)["id"]))
      }
      try await village.expect(200, .patch, "/conversations/\(ids[0])", as: "ada", ["pinned": true])
      try await village.post("here", in: ids[1], as: "grace")
      func found(_ query: String, as name: String? = "linus") async throws -> [String?] {
        try await village.expect(200, .get, "\(path)?order=\(query)", as: name).texts("data", "id")
      }
      #expect(try await found("activity", as: nil) == [ids[0], ids[1], ids[4], ids[3], ids[2]])
      let created = Array(ids.reversed())
      #expect(try await found("created", as: nil) == created)
      for (query, expected) in [
        ("&filter=mine", [4, 2, 1]), ("&tag=bed", [4, 3, 2, 0]), ("&query=bed%202", [2]), ("&filter=unread", [1]),
        ("&filter=solved", []), ("&tag=bed&filter=mine", [4, 2]),
      ] {
        #expect(try await found("created\(query)") == expected.map { ids[$0] }, "\(query)")
      }
      for query in ["", "&tag=bed"] {
        let wanted = query.isEmpty ? created : created.filter { $0 != ids[1] }
        for limit in 1...3 {
          var (pages, next, back): ([String?], String?, String?) = ([], "", nil)
          while let position = next, pages.count < 10 {
            let address = "\(path)?order=created\(query)&limit=\(limit)\(position)"
            let page = try await village.expect(200, .get, address, as: "linus")
            pages += page.texts("data", "id")
            next = page["next"].map { "&next=\($0)" }
            back = page["previous"]
          }
          #expect(pages == wanted, "\(limit) at a time\(query)")
          let previous = try await village.expect(
            200, .get, "\(path)?order=created\(query)&limit=\(limit)&previous=\(try #require(back))", as: "linus")
          let last = (wanted.count - 1) / limit * limit
          #expect(previous.texts("data", "id") == Array(wanted[(last - limit)..<last]), "back by \(limit)\(query)")
        }
      }
      let refused = try await village.expect(400, .get, "\(path)?order=title", as: "linus")
      #expect(refused["errors.0.field"] == "order")
    }
  }

  @Test func `a topic starts with files`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden(members: ["grace", "linus"])
      let file = try await village.upload("bed.png", by: "grace")
      let made = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "My bed", "attachments": [file]])
      let list = try await village.expect(
        200, .get, "/conversations/\(try #require(made["id"]))/messages", as: "linus")
      #expect(list.list("data.0.attachments") == [file] && list["data.0.text"] == "")
      let others = try await village.request(
        .post, "/forums/\(forum)/conversations", as: "linus", ["title": "His bed", "attachments": [file]])
      #expect(others.status == 400 && others["errors.0.field"] == "attachments")
      let twice = try await village.request(
        .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Two", "attachments": [file, file]])
      #expect(twice.status == 400)
    }
  }
}

extension Fields {
  fileprivate init(bearer token: String?) {
    self.init()
    add("authorization", "Bearer \(token ?? "")")
  }
}
