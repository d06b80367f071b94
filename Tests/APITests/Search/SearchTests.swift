import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Message search: queries, filters and permissions.
@Suite struct SearchTests {
  private func found(_ village: Village, _ query: String, as name: String? = "ada") async throws -> [String] {
    let answer = try await village.expect(200, .get, "/messages/search?limit=200&\(query)", as: name)
    return (0..<answer.count("data")).compactMap { answer["data.\($0).message.id"] }
  }

  private func location(_ type: String, _ latitude: Double, _ longitude: Double, _ name: String? = nil) -> [String: Any]
  {
    var value: [String: Any] = ["latitude": latitude, "longitude": longitude]
    value["name"] = name
    return ["type": type, "value": value]
  }

  // MARK: Queries

  @Test(arguments: TestTransport.allCases)
  func `a hit has the message and a snippet around the match`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden(members: ["grace"])
      let id = try await village.post("Crème brûlée with roses", in: room, as: "grace")
      try await village.post("nothing of it", in: room)
      var answer: Answer?
      let events = try await village.events {
        answer = try await village.expect(200, .get, "/messages/search?q=roses%20creme&html=true", as: "ada")
      }
      #expect(events == [])
      #expect(answer?.count("data") == 1 && answer?["data.0.message.id"] == id && answer?.isNull("next") == true)
      #expect(answer?.has("data.0.message.html") == true && answer?["data.0.forum_id"] == forum)
      #expect(
        answer?.texts("data.0.snippet.pieces", "text") == ["Crème", " brûlée with ", "roses"]
          && answer?.bool("data.0.snippet.pieces.0.hit") == true
          && answer?.bool("data.0.snippet.pieces.1.hit") == false)
      #expect(answer?.bool("data.0.snippet.cut_before") == false && answer?.bool("data.0.snippet.cut_after") == false)
      let tagged = try await village.expect(200, .get, "/messages/search?author=@grace&forum=\(forum)", as: "ada")
      #expect(tagged.texts("data.0.snippet.pieces", "text") == ["Crème brûlée with roses"])
      #expect(tagged.bool("data.0.snippet.pieces.0.hit") == false)
    }
  }

  @Test func `in a known language the other forms of a word are found`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace"]).room
      let one = try await village.post("One ripe tomato", in: room, as: "grace")
      let two = try await village.post("Two tomatoes", in: room, as: "grace")
      #expect(try await found(village, "q=tomato") == [one])
      #expect(try await found(village, "q=tomato&language=en") == [two, one])
      #expect(try await found(village, "q=tomatoes&language=en-GB") == [two, one])
      #expect(try await found(village, "q=%22tomato%22&language=en") == [one])
      #expect(try await found(village, "q=tomato&language=tlh") == [one])
      let answer = try await village.expect(200, .get, "/messages/search?q=tomato&language=en", as: "ada")
      #expect(answer.texts("data.0.snippet.pieces", "text") == ["Two ", "tomatoes"])
    }
  }

  @Test func `a snippet has no markup, and the options of a poll apart`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace"]).room
      try await village.post("# **Roses** from [our shop](https://example.com/roses)", in: room, as: "grace")
      let poll: [String: Any] = ["options": ["Tulips", "Lilies"]]
      try await village.expect(
        201, .post, "/conversations/\(room)/messages", as: "grace", ["text": "Which *one*?", "poll": poll])
      let roses = try await village.expect(200, .get, "/messages/search?q=roses", as: "ada")
      #expect(roses.texts("data.0.snippet.pieces", "text") == ["Roses", " from our shop"])
      let lilies = try await village.expect(200, .get, "/messages/search?q=lilies", as: "ada")
      #expect(lilies.texts("data.0.snippet.pieces", "text") == ["Which one? · Tulips · ", "Lilies"])
    }
  }

  /// The titles of the topics that were found.
  private func titles(_ village: Village, _ query: String, as name: String? = "grace") async throws -> [String?] {
    let answer = try await village.expect(200, .get, "/messages/search?\(query)", as: name)
    return (0..<answer.count("data")).filter { answer.isNull("data.\($0).message") }.map { answer["data.\($0).title"] }
  }

  @Test(arguments: TestTransport.allCases)
  func `a topic is found by its title`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let topic = try #require(
        try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "linus", ["title": "Rösti with butter", "text": "how?"])[
            "id"])
      let path = "/conversations/\(topic)"
      let answer = try await village.expect(200, .get, "/messages/search?q=rosti", as: "grace")
      #expect(answer.count("data") == 1 && answer.isNull("data.0.message") && answer["data.0.conversation_id"] == topic)
      #expect(answer["data.0.title"] == "Rösti with butter" && answer["data.0.forum_id"] == forum)
      #expect(answer.texts("data.0.snippet.pieces", "text") == ["Rösti", " with butter"])
      // Beside messages, newest first, page by page.
      let message = try await village.post("rosti!", in: room)
      let both = try await village.expect(200, .get, "/messages/search?q=rosti&limit=1", as: "grace")
      #expect(
        both["data.0.message.id"] == message && both["data.0.conversation_id"] == room && both.isNull("data.0.title"))
      let second = try await village.expect(
        200, .get, "/messages/search?q=rosti&limit=1&next=\(both["next"] ?? "")", as: "grace")
      #expect(second["data.0.title"] == "Rösti with butter" && second.isNull("next"))
      #expect(try await titles(village, "q=rosti&order=best") == ["Rösti with butter"])
      #expect(try await titles(village, "q=rosti&author=@linus") == ["Rösti with butter"])
      for query in [
        "q=rosti&author=@grace", "author=@linus", "q=rosti&has=link", "q=rosti%20how", "q=rosti&conversation=\(topic)",
        "q=rosti&after=\(topic)", "q=rosti&before=\(topic)", "q=-rosti%20x",
      ] { #expect(try await titles(village, query) == [], "\(query)") }
      #expect(try await titles(village, "q=rosti&forum=\(forum)") == ["Rösti with butter"])
      // The deletion of the first message does not hide it; a new title replaces the old one.
      let first = try #require(try await village.expect(200, .get, "\(path)/messages", as: "linus")["data.0.id"])
      try await village.expect(200, .delete, "/messages/\(first)", as: "linus")
      #expect(try await titles(village, "q=butter") == ["Rösti with butter"])
      try await village.expect(200, .patch, path, as: "linus", ["title": "Fondue"])
      #expect(try await titles(village, "q=butter") == [])
      #expect(try await titles(village, "q=fondue") == ["Fondue"])
      // The readers of the forum find it, without the users that muted its author.
      #expect(try await titles(village, "q=fondue", as: "gus") == [])
      try await village.expect(204, .put, "/users/@linus/mute", as: "grace")
      #expect(try await titles(village, "q=fondue") == [])
      try await village.expect(204, .delete, "/users/@linus/mute", as: "grace")
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      #expect(try await titles(village, "q=fondue") == ["Fondue"])
      #expect(try await titles(village, "q=fondue", as: "mira") == [])
      try await village.expect(204, .delete, "/forums/\(forum)/members/@grace", as: "ada")
      #expect(try await titles(village, "q=fondue") == [])
      #expect(try await titles(village, "q=fondue", as: nil) == [])
      try await village.expect(200, .delete, "/forums/\(forum)", as: "ada")
      #expect(try await titles(village, "q=fondue", as: "linus") == [])
    }
  }

  @Test func `a message is found by the names of its files`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace"]).room
      let plan = try await village.upload("harvest-plan_2026.png", by: "grace")
      let id = try await village.post("Please read", in: room, as: "grace", ["attachments": [plan]])
      let silent = try await village.post("", in: room, as: "grace", ["attachments": [plan]])
      for query in [
        "q=harvest", "q=HARVEST%20plan", "q=harvest-plan_2026.png", "q=plan&has=image", "q=2026&author=@grace",
      ] {
        #expect(try await found(village, query) == [silent, id], "\(query)")
      }
      #expect(try await found(village, "q=harvest%20read") == [id])
      let answer = try await village.expect(200, .get, "/messages/search?q=plan", as: "ada")
      #expect(answer.texts("data.0.snippet.pieces", "text") == ["harvest-", "plan", "_2026.png"])
      #expect(answer.texts("data.1.snippet.pieces", "text") == ["Please read · harvest-", "plan", "_2026.png"])
      // Without the file, and after a removal, the name is found no more.
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["attachments": [String]()])
      #expect(try await found(village, "q=harvest") == [silent])
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["attachments": [plan]])
      #expect(try await found(village, "q=harvest") == [silent, id])
      try await village.expect(200, .post, "/messages/\(id)/remove", as: "mira")
      try await village.expect(200, .delete, "/messages/\(silent)", as: "grace")
      #expect(try await found(village, "q=harvest") == [])
      try await village.expect(200, .post, "/messages/\(id)/restore", as: "mira")
      #expect(try await found(village, "q=harvest") == [id])
      #expect(try await village.community.store.readInBackground { tx throws(Refusal) in try tx.searchFaults() } == [])
    }
  }

  @Test func `hits are filtered and counted by kind`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let hidden = try await village.garden("orchard", "private", members: ["linus"])
      for title in ["Rösti with butter", "Rösti for two"] {
        try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "linus", ["title": title, "text": "how?"])
      }
      try await village.expect(
        201, .post, "/forums/\(hidden.forum)/conversations", as: "linus", ["title": "Secret rösti", "text": "?"])
      let message = try await village.post("rosti!", in: room, as: "grace")
      try await village.post("rosti", in: hidden.room, as: "linus")
      let both = try await village.expect(200, .get, "/messages/search?q=rosti&counts=true", as: "grace")
      #expect(both.count("data") == 3 && both.int("counts.topics") == 2 && both.int("counts.messages") == 1)
      let first = try await village.expect(200, .get, "/messages/search?q=rosti&counts=true&limit=2", as: "grace")
      let next = try await village.expect(
        200, .get, "/messages/search?q=rosti&counts=true&limit=2&next=\(first["next"] ?? "")", as: "grace")
      #expect(first.int("counts.topics") == 2 && next.count("data") == 1 && !next.has("counts"))
      let best = try await village.expect(
        200, .get, "/messages/search?q=rosti&counts=true&order=best&limit=1", as: "grace")
      #expect(best.count("data") == 1 && best.int("counts.topics") == 2 && best.int("counts.messages") == 1)
      #expect(try await titles(village, "q=rosti&kind=topic") == ["Rösti for two", "Rösti with butter"])
      #expect(try await titles(village, "author=@linus&kind=topic") == ["Rösti for two", "Rösti with butter"])
      #expect(try await titles(village, "author=@linus&kind=topic&limit=1") == ["Rösti for two"])
      #expect(try await titles(village, "author=@grace&kind=topic") == [])
      #expect(try await titles(village, "action=like&kind=topic") == [])
      #expect(try await found(village, "q=rosti&kind=message", as: "grace") == [message])
      let topics = try await village.expect(200, .get, "/messages/search?q=rosti&kind=topic&counts=true", as: "grace")
      #expect(topics.int("counts.topics") == 2 && topics.int("counts.messages") == 0)
      let plain = try await village.expect(200, .get, "/messages/search?q=rosti", as: "grace")
      #expect(!plain.has("counts"))
      for query in ["kind=topic", "q=rosti&kind=file", "q=rosti&counts=perhaps"] {
        #expect(try await village.request(.get, "/messages/search?\(query)", as: "grace").status == 400, "\(query)")
      }
    }
  }

  @Test(arguments: [
    ("我喜欢玫瑰花", "玫"), ("我喜欢玫瑰花", "玫瑰"), ("桜の花が咲く", "花が咲"), ("장미를 좋아해요", "장미"), ("pizza 🍕 now", "🍕"),
    ("the red rose", "ros*"), ("the red rose", "\"red rose\""), ("the red rose", "rose -blue"),
    ("Ångström", "angstrom"),
  ])
  func `queries match any language, prefixes, phrases and exclusions`(text: String, query: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let id = try await village.post(text, in: room)
      try await village.post("the blue rose, a rose", in: room)
      let typed = try #require(query.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      #expect(try await found(village, "q=\(typed)").contains(id))
    }
  }

  @Test func `each filter works alone and combined`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let other = try await village.garden("orchard", members: ["grace"]).room
      let picture = try await village.upload("rose.png", by: "grace")
      let plain = try await village.post("plain rose", in: room)
      let tag = try await village.post("rose #Food", in: room)
      let mention = try await village.post("rose for @linus", in: room)
      let link = try await village.post("rose https://example.org", in: room)
      let file = try await village.post("rose", in: room, as: "grace", ["attachments": [picture]])
      let todo = try await village.post(
        "rose", in: room, ["annotations": [["type": "com.example.todo", "value": [:]] as [String: Any]]])
      let elsewhere = try await village.post("rose", in: other)
      for name in ["linus", "grace"] { try await village.request(.put, "/messages/\(plain)/actions/like", as: name) }
      try await village.request(.put, "/messages/\(tag)/actions/star", as: "ada")
      try await village.request(.put, "/messages/\(link)/actions/star", as: "linus")
      let rows: [(String, [String])] = [
        ("hashtag=food", [tag]), ("hashtag=%23FOOD", [tag]), ("hashtag=drink", []), ("mention=@linus", [mention]),
        ("mention=\(village.id("linus"))", [mention]), ("mention=me", []), ("has=link", [link]), ("has=file", [file]),
        ("has=image", [file]), ("has=image,link", []), ("author=@grace", [file]),
        ("annotation=com.example.todo", [todo]), ("annotation=com.example.other", []), ("action=like", [plain]),
        ("action=star", [tag]), ("action=pin", []), ("q=rose&action=like", [plain]), ("q=rose&action=star", [tag]),
        ("q=rose&conversation=\(other)", [elsewhere]), ("action=like&conversation=\(other)", []),
        ("q=rose&forum=\(forum)&has=link", [link]), ("q=thorn&hashtag=food", []),
        ("q=rose&before=\(mention)", [tag, plain]), ("q=rose&after=\(file)", [elsewhere, todo]),
        ("q=rose&author=me&after=\(tag)&before=\(file)", [link, mention]),
        ("q=plain&author=@ada&action=like&forum=\(forum)&conversation=\(room)", [plain]),
      ]
      for (query, expected) in rows { #expect(try await found(village, query) == expected, "\(query)") }
      let time = try #require(try await village.request(.get, "/messages/\(mention)", as: "ada")["created_at"])
      #expect(try await found(village, "q=rose&before_time=\(time)") == [tag, plain])
      #expect(try await found(village, "q=rose&after_time=\(time)").count == 4)
      #expect(try await found(village, "action=like&after_time=\(time)") == [])
    }
  }

  @Test func `locations are found by name and by distance`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      func post(_ annotations: [[String: Any]]) async throws -> String {
        try await village.post("here", in: room, ["annotations": annotations])
      }
      let marienplatz = try await post([location("net.app.core.checkin", 48.1374, 11.5755, "Café am Marienplatz")])
      let station = try await post([location("net.app.core.geolocation", 48.1402, 11.5600)])
      let paris = try await post([location("net.app.ohai.location", 48.8566, 2.3522, "Paris")])
      let fiji = try await post([location("net.app.core.geolocation", -17.0, 179.9999)])
      let tonga = try await post([location("net.app.core.geolocation", -17.0, -179.9999)])
      let pole = try await post([location("net.app.core.geolocation", 89.99, 10)])
      // A check-in takes precedence over the position of the device.
      let both = try await post([
        location("net.app.core.geolocation", 0, 0), location("net.app.core.checkin", 48.1374, 11.5756, "Marienplatz"),
      ])
      let rows: [(String, [String])] = [
        ("location=cafe", [marienplatz]), ("location=marien*", [both, marienplatz]), ("location=here", []),
        ("q=cafe", [marienplatz]), ("near=48.1374,11.5755&within=50", [both, marienplatz]),
        ("near=48.1374,11.5755&within=1100", [both, marienplatz]),
        ("near=48.1374,11.5755&within=1300", [both, station, marienplatz]),
        ("near=48.1374,11.5755&within=680000", [both, station, marienplatz]),
        ("near=48.1374,11.5755&within=700000", [both, paris, station, marienplatz]),
        ("near=-17,180&within=20", [tonga, fiji]), ("near=-17,-180&within=20", [tonga, fiji]),
        ("near=-17,179.9999&within=5", [fiji]), ("near=90,0&within=2000", [pole]),
        ("near=89.99,-170&within=3000", [pole]), ("near=0,0&within=1000", []),
        ("near=48.1374,11.5755&within=50&location=cafe&q=here", [marienplatz]),
      ]
      for (query, expected) in rows { #expect(try await found(village, query) == expected, "\(query)") }
    }
  }

  @Test func `pages continue in both directions`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      var ids: [String] = []
      for number in 0..<11 { ids.append(try await village.post("rose \(number) #rose", in: room)) }
      for filter in ["q=rose", "hashtag=rose", "q=rose&after=\(ids[2])", "q=rose&before=\(ids[8])"] {
        var seen: [String] = []
        var next = ""
        let isAscending = filter.contains("after")
        repeat {
          let page = try await village.expect(200, .get, "/messages/search?\(filter)&limit=3\(next)", as: "ada")
          let part = (0..<page.count("data")).compactMap { page["data.\($0).message.id"] }
          seen = isAscending ? part + seen : seen + part
          next = page["next"].map { "&next=\($0)" } ?? ""
        } while !next.isEmpty
        let expected = isAscending ? Array(ids[3...]) : filter.contains("before") ? Array(ids[..<8]) : ids
        #expect(seen == expected.reversed(), "\(filter)")
      }
      try await village.post("rose rose rose", in: room)
      let best = try await village.expect(200, .get, "/messages/search?q=rose&order=best&limit=2", as: "ada")
      #expect(best["data.0.message.text"] == "rose rose rose" && best.isNull("next"))
    }
  }

  @Test func `edited and deleted text leaves the index at once`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace"])
      let picture = try await village.upload("rose.png", by: "ada")
      let id = try await village.post("rose #rose https://example.org", in: room, ["attachments": [picture]])
      let edited = try await village.request(
        .patch, "/messages/\(id)", as: "ada", ["text": "thorn", "attachments": [String]()])
      #expect(edited.status == 200)
      for query in ["q=rose", "hashtag=rose", "has=link", "has=file", "has=image"] {
        #expect(try await found(village, query) == [], "\(query)")
      }
      #expect(try await found(village, "q=thorn") == [id])
      try await village.expect(200, .patch, "/messages/\(id)", as: "ada", ["attachments": [picture]])
      #expect(try await found(village, "q=thorn&has=image") == [id])
      try await village.expect(200, .post, "/messages/\(id)/remove", as: "mira")
      for query in ["q=thorn", "has=image"] { #expect(try await found(village, query) == [], "\(query)") }
      try await village.expect(200, .post, "/messages/\(id)/restore", as: "mira")
      #expect(try await found(village, "q=thorn&has=image") == [id])
      try await village.expect(200, .delete, "/messages/\(id)", as: "ada")
      #expect(try await found(village, "q=thorn") == [])
      // Deleting a topic or a forum removes its messages from the index at once.
      let topic = try await village.topic("Roses", in: forum)
      try await village.post("petal #petal", in: topic)
      let last = try await village.post("leaf", in: room)
      #expect(try await found(village, "q=petal").count == 1)
      try await village.expect(204, .delete, "/conversations/\(topic)", as: "ada")
      for query in ["q=petal", "hashtag=petal"] { #expect(try await found(village, query) == [], "\(query)") }
      #expect(try await found(village, "q=leaf") == [last])
      #expect(try await village.request(.delete, "/forums/\(forum)", as: "ada").status < 300)
      #expect(try await found(village, "q=leaf") == [])
      #expect(try await village.community.store.readInBackground { tx throws(Refusal) in try tx.searchFaults() } == [])
    }
  }

  @Test func `a branch converted to a topic is found in the topic`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden()
      let id = try await village.post(
        "rose #rose https://example.org", in: room,
        ["annotations": [location("net.app.core.checkin", 1, 1, "garden gate")]])
      let made = try await village.expect(201, .post, "/messages/\(id)/topic", as: "ada", ["title": "Roses"])
      let copy = try #require(made["message_id"])
      for query in ["q=rose", "hashtag=rose", "has=link", "location=gate", "near=1,1&within=10"] {
        #expect(try await found(village, query).first == copy, "\(query)")
        #expect(try await !found(village, query).contains(id), "\(query)")
      }
      #expect(try await village.community.store.readInBackground { tx throws(Refusal) in try tx.searchFaults() } == [])
    }
  }

  // MARK: Permissions

  /// Columns: visitor, gus (guest), robo (bot), grace (member), mira (moderator), ada (owner).
  @Test func `search returns only readable messages`() async throws {
    try await Village.open(.inMemory) { village in
      let users: [String?] = [nil, "gus", "robo", "grace", "mira", "ada"]
      var rows: [(id: String, finders: String)] = []
      for (visibility, finders) in [("public", "xxxxxx"), ("members", "--xxxx"), ("private", "-----x")] {
        let room = try await village.garden(visibility, visibility).room
        rows.append((try await village.post("rose", in: room), finders))
      }
      let guests = try await village.garden("guests", "private", members: ["gus"]).room
      rows.append((try await village.post("rose", in: guests), "-x---x"))
      let direct = try await village.conversation(.direct, ["grace", "linus"])
      rows.append((try await village.post("rose", in: direct, as: "grace"), "---x--"))
      let group = try await village.conversation(.group, ["mira", "gus"])
      rows.append((try await village.post("rose", in: group, as: "mira"), "-x--x-"))
      for (readers, finders) in [("anyone", "xxxxxx"), ("users", "--xxxx"), ("listed", "---x--")] {
        let made = try await village.request(
          .post, "/conversations", as: "grace",
          ["kind": "channel", "type": "com.example.\(readers)", "readers": ["open_to": readers]])
        rows.append((try await village.post("rose", in: try #require(made["id"]), as: "grace"), finders))
      }
      let feed = try await village.request(.post, "/conversations", as: "mira", ["kind": "feed"])
      rows.append((try await village.post("rose", in: try #require(feed["id"]), as: "mira"), "--xxxx"))
      for (id, _) in rows {
        let like = try await village.community.store.write { tx throws(Refusal) in
          try tx.run { connection in
            try connection.execute(
              """
              insert into action (message_id, type, user_id, created_at, message_at)
              select id, 'like', 1, 1, created_at
              from message
              where id = $1
              """, Int(id) ?? 0)
          }
        }
        #expect(like == 1)
      }
      for (column, name) in users.enumerated() {
        let expected = rows.filter { Array($0.finders)[column] == "x" }.map(\.id)
        for query in ["q=rose", "q=rose&order=best", "action=like", "q=rose&action=like"] {
          #expect(try await Set(found(village, query, as: name)) == Set(expected), "\(name ?? "nobody") \(query)")
        }
        for (id, _) in rows {
          let status = try await village.request(.get, "/messages/\(id)", as: name).status
          #expect((status == 200) == expected.contains(id))
        }
      }
      for (where_, statuses) in [("conversation=\(direct)", [404, 404, 404, 200, 404, 404])] {
        for (name, status) in zip(users, statuses) {
          try await village.expect(status, .get, "/messages/search?q=rose&\(where_)", as: name)
        }
      }
    }
  }

  @Test func `searchable history begins with readable history`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "private")
      let topic = try await village.topic("Roses", in: forum)
      try await village.post("rose early", in: room)
      try await village.post("rose early", in: topic)
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "members", "from": "now"])
      let late = [
        try await village.post("rose late", in: room), try await village.post("rose late", in: topic),
      ]
      #expect(try await found(village, "q=rose", as: "grace") == late.reversed())
      #expect(try await found(village, "q=rose&forum=\(forum)", as: "grace") == late.reversed())
      #expect(try await found(village, "q=rose&conversation=\(topic)", as: "grace") == [late[1]])
      #expect(try await found(village, "q=rose").count == 4)
      let group = try await village.conversation(.group, ["ada", "linus"], fromSeq: ["linus": 2])
      try await village.post("thorn", in: group)
      let second = try await village.post("thorn", in: group)
      #expect(try await found(village, "q=thorn", as: "linus") == [second])
      #expect(try await found(village, "q=thorn&conversation=\(group)", as: "linus") == [second])
    }
  }

  @Test func `muted and blocked authors are excluded unless requested`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let id = try await village.post("rose", in: room, as: "grace")
      try await village.request(.put, "/messages/\(id)/actions/like", as: "grace")
      for relation in ["mute", "block"] {
        try await village.expect(204, .put, "/users/@grace/\(relation)", as: "linus")
        for query in ["q=rose", "action=like"] { #expect(try await found(village, query, as: "linus") == []) }
        #expect(try await found(village, "q=rose&author=@grace", as: "linus") == [id])
        try await village.expect(204, .delete, "/users/@grace/\(relation)", as: "linus")
      }
      #expect(try await found(village, "q=rose", as: "linus") == [id])
    }
  }

  @Test func `an invalid query is refused by field`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden()
      let other = try await village.garden("orchard").room
      let long = String(repeating: "x", count: 1_001)
      for (query, field, code) in [
        ("", "q", "missing"), ("forum=\(forum)", "q", "missing"), ("q=", "q", "too_short"), ("q=-rose", "q", "invalid"),
        ("q=\(long)", "q", "too_long"), ("q=a*%20b*%20c*%20d*%20e*%20f*%20g*%20h*%20i*", "q", "too_many"),
        ("q=x&word=y", "word", "unknown_field"), ("author=@nobody.here", "author", "unknown"),
        ("author=x%20y", "author", "invalid"), ("author=me", "", ""), ("hashtag=", "hashtag", "too_short"),
        ("annotation=x", "annotation", "invalid"), ("action=x", "action", "invalid"), ("has=paper", "has", "invalid"),
        ("has=", "has", "invalid"), ("near=1,1", "within", "missing"), ("within=5&q=x", "near", "missing"),
        ("near=91,0&within=5", "near", "invalid"), ("near=nan,0&within=5", "near", "invalid"),
        ("near=1&within=5", "near", "invalid"), ("near=1,1&within=0", "within", "out_of_range"),
        ("near=1,1&within=1000001", "within", "out_of_range"), ("q=x&limit=201", "limit", "out_of_range"),
        ("q=x&next=5", "next", "invalid"), ("q=x&before=0x1", "before", "invalid"),
        ("hashtag=x&order=best", "order", "mismatch"), ("q=x&order=worst", "order", "invalid"),
        ("q=x&order=best&next=b5", "next", "invalid"), ("q=x&previous=a5", "previous", "invalid"),
        ("q=x&forum=\(forum)&conversation=\(other)", "conversation", "mismatch"),
      ] {
        let answer = try await village.request(.get, "/messages/search?\(query)", as: "ada")
        #expect(answer.status == (field.isEmpty ? 200 : 400), "\(query): \(answer.text)")
        guard !field.isEmpty else { continue }
        #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(query): \(answer.text)")
      }
      try await village.expect(401, .get, "/messages/search?author=me")
      try await village.expect(404, .get, "/messages/search?q=x&conversation=1", as: "ada")
      try await village.expect(404, .get, "/messages/search?q=x&forum=1", as: "ada")
    }
  }

  @Test func `a filter answers alike for a user that the caller may not see and for none`() async throws {
    try await Village.open(.inMemory) { village in
      _ = try await village.garden("garden", "public")
      for name in ["@grace", "@missing"] {
        for filter in ["author", "mention"] {
          let answer = try await village.expect(400, .get, "/messages/search?\(filter)=\(name)")
          #expect(answer["errors.0.code"] == "unknown", "\(filter) \(name)")
        }
      }
      try await village.expect(200, .get, "/messages/search?author=@grace", as: "linus")
    }
  }
}
