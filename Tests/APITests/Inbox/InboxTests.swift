import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// The inbox: entries are created with their cause, read with their conversation and removed with their message.
@Suite struct InboxTests {
  /// Inbox entries, such as `mention 17`, newest first; read entries in parentheses.
  private func inbox(_ village: Village, of name: String, _ query: String = "") async throws -> [String] {
    let page = try await village.expect(200, .get, "/inbox?limit=200\(query)", as: name)
    return (0..<page.count("data")).map { index in
      let subject = page["data.\(index).message_id"] ?? page["data.\(index).conversation_id"] ?? "?"
      let entry = "\(page["data.\(index).kind"] ?? "?") \(subject)"
      return page.isNull("data.\(index).read_at") ? entry : "(\(entry))"
    }
  }

  private func unread(_ village: Village, of name: String) async throws -> Int? {
    try await village.expect(200, .get, "/inbox", as: name).int("unread.all")
  }

  // MARK: Notifications

  @Test(arguments: TestTransport.allCases)
  func `mentions, replies and direct messages notify their recipients`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let (ada, linus) = (village.id("ada"), village.id("linus"))
      var ids: [String] = []
      let events = try await village.events {
        ids.append(try await village.post("@linus @grace seeds?", in: room, as: "grace"))
        ids.append(try await village.post("which?", in: room, as: "linus", ["reply_to": ids[0]]))
        ids.append(try await village.post("plain", in: room, as: "grace"))
      }
      #expect(
        events == [
          "message.created conversation:\(room) #1", "notification.created user:\(linus)",
          "message.created conversation:\(room) #1", "notification.created user:\(village.id("grace"))",
          "message.created conversation:\(room) #1",
        ])
      #expect(try await inbox(village, of: "linus") == ["mention \(ids[0])"])
      #expect(try await inbox(village, of: "grace") == ["reply \(ids[1])"])
      let page = try await village.expect(200, .get, "/inbox?html=true", as: "linus")
      #expect(page["data.0.message.text"] == "@linus @grace seeds?" && page.has("data.0.message.html"))
      #expect(page["data.0.actor_id"] == village.id("grace") && page["data.0.conversation_id"] == room)
      #expect(page.int("unread.mention") == 1 && page.int("unread.reply") == 0 && page.int("unread.all") == 1)
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      let posted = try await village.events { ids.append(try await village.post("psst", in: direct, as: "linus")) }
      #expect(
        posted == ["message.created conversation:\(direct) #1", "notification.created user:\(village.id("grace"))"])
      #expect(try await inbox(village, of: "grace") == ["direct \(ids[3])", "reply \(ids[1])"])
      let group = try await village.conversation("group", by: "grace", with: ["linus", "ada"])
      let quiet = try await village.events { try await village.post("to all", in: group, as: "grace") }
      #expect(quiet == ["message.created conversation:\(group) #1"])
      #expect(try await inbox(village, of: "ada") == [] && ada != linus)
      // The event carries the entry in its current state.
      let stream = try await village.expect(200, .get, "/streams/user:\(linus)/events?limit=200", as: "linus")
      let added = (0..<stream.count("data")).filter { stream["data.\($0).event"] == "notification.created" }
      #expect(added.count == 1 && stream["data.\(added.first ?? 0).data.message_id"] == ids[0])
    }
  }

  @Test func `the first message of a topic notifies, and a mention adds the participant first`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden(members: ["grace", "linus"]).forum
      let linus = village.id("linus")
      let events = try await village.events {
        try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Seeds", "text": "@linus look"])
      }
      #expect(
        events.suffix(2) == ["conversation.created user:\(linus)", "notification.created user:\(linus)"], "\(events)")
      #expect(try await inbox(village, of: "linus").count == 1)
    }
  }

  @Test func `muted and blocked authors, machine messages, repeats and edits don't notify`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus", "robo"]).room
      for (name, relation) in [("linus", "mute"), ("robo", "block")] {
        try await village.expect(204, .put, "/users/@grace/\(relation)", as: name)
      }
      let id = try await village.post("@linus @robo", in: room, as: "grace", ["client_id": "one"])
      let again = try await village.request(
        .post, "/conversations/\(room)/messages", as: "ada", ["text": "@mira", "client_id": "two"])
      let events = try await village.events {
        try await village.request(
          .post, "/conversations/\(room)/messages", as: "ada", ["text": "@mira", "client_id": "two"])
        try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "@ada"])
        try await village.post("@ada", in: room, as: "grace", ["machine_only": true])
      }
      #expect(events.filter { $0.hasPrefix("inbox") } == [])
      for name in ["linus", "robo", "ada"] { #expect(try await inbox(village, of: name) == []) }
      #expect(try await inbox(village, of: "mira") == ["mention \(again["id"] ?? "")"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a room mention notifies each member once`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      var id = ""
      let events = try await village.events { id = try await village.post("@room @linus water!", in: room) }
      #expect(
        events == [
          "message.created conversation:\(room) #1", "notification.created user:\(village.id("linus"))",
          "notification.created user:\(village.id("grace"))",
        ])
      #expect(try await inbox(village, of: "linus") == ["mention \(id)"])
      #expect(try await inbox(village, of: "grace") == ["room \(id)"])
      #expect(try await inbox(village, of: "mira") == [])
    }
  }

  @Test func `many members are notified by a job, and removing the message removes every entry`()
    async throws
  {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      let count = WriteTransaction.notificationChunk * 2 + 5
      let forumID = ID<Forum>(Int(forum) ?? 0)
      for part in 0..<3 {
        try await village.community.store.write { tx throws(Refusal) in
          for number in 0..<count where number % 3 == part {
            let id = try tx.add(NewUser(name: "member\(number)", role: .member, password: nil))
            _ = try tx.setMember(id, .member, of: forumID, by: id)
          }
        }
      }
      func rows() async throws -> Int {
        Int(try await village.rows("select cast(count(*) as text) from notification").first ?? "") ?? -1
      }
      let id = try await village.post("@room", in: room)
      await village.community.store.jobs.run()
      #expect(try await rows() == count)
      let events = try await village.events {
        try await village.expect(200, .post, "/messages/\(id)/remove", as: "mira")
        await village.community.store.jobs.run()
      }
      #expect(try await rows() == 0)
      #expect(events.filter { $0.hasPrefix("notification.read") }.count == count)
    }
  }

  // MARK: Requests

  @Test(arguments: TestTransport.allCases)
  func `a request stays in the inbox until it is answered`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      for (answer, method) in [("taken", "PUT"), ("refused", "DELETE")] {
        let kind = answer == "taken" ? "direct" : "group"
        var direct = ""
        let events = try await village.events {
          direct = try await village.conversation(kind, by: "grace", with: ["linus"])
          try await village.post("hello", in: direct, as: "grace")
        }
        #expect(
          events == [
            "conversation.created conversation:\(direct) #1", "conversation.created user:\(grace)",
            "conversation.created user:\(linus)", "notification.created user:\(linus)",
            "message.created conversation:\(direct) #1",
          ], "\(answer)")
        #expect(try await inbox(village, of: "linus", "&kind=request") == ["request \(direct)"])
        let answered = try await village.events {
          let path = "/conversations/\(direct)/request"
          try await village.request(method == "PUT" ? .put : .delete, path, as: "linus")
        }
        #expect(answered.contains("notification.read user:\(linus)"), "\(answered)")
        #expect(try await inbox(village, of: "linus", "&kind=request") == [])
        // They share no conversation any more.
        try await village.community.store.write { tx throws(Refusal) in
          try tx.run { connection in try connection.execute("delete from participant") }
        }
      }
    }
  }

  @Test func `a request of a muted user does not notify`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.expect(204, .put, "/users/@grace/mute", as: "linus")
      let conversation = try await village.conversation("direct", by: "grace", with: ["linus"])
      #expect(try await inbox(village, of: "linus") == [])
      #expect(try await village.request(.get, "/conversations/\(conversation)", as: "linus").status == 200)
    }
  }

  // MARK: Reading

  @Test(arguments: TestTransport.allCases)
  func `reading up to an entry or its conversation marks entries read`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let other = try await village.garden("orchard", members: ["grace", "linus"]).room
      var ids: [String] = []
      for index in [room, other, room, room] { ids.append(try await village.post("@linus", in: index, as: "grace")) }
      let linus = village.id("linus")
      let moved = try await village.events {
        for _ in 1...2 {
          try await village.expect(
            200, .put, "/conversations/\(room)/read", as: "linus", ["message_id": ids[2]])
        }
      }
      #expect(moved == ["read_position.updated user:\(linus)", "notification.read user:\(linus)"])
      let expected = ["mention \(ids[3])", "(mention \(ids[2]))", "mention \(ids[1])", "(mention \(ids[0]))"]
      #expect(try await inbox(village, of: "linus") == expected)
      #expect(try await inbox(village, of: "linus", "&unread=true") == ["mention \(ids[3])", "mention \(ids[1])"])
      let got = try await village.events {
        try await village.request(.put, "/conversations/\(other)/delivered", as: "linus", ["message_id": ids[1]])
      }
      #expect(got == ["read_position.updated user:\(linus)"])
      let page = try await village.request(.get, "/inbox", as: "linus")
      let second = try #require(page["data.2.id"])
      let read = try await village.events {
        for _ in 1...2 {
          let answer = try await village.expect(200, .put, "/inbox/read", as: "linus", ["up_to": second])
          #expect(answer.int("unread.mention") == 1 && answer.int("unread.all") == 1)
        }
      }
      #expect(read == ["notification.read user:\(linus)"])
      try await village.expect(200, .put, "/inbox/read", as: "linus", ["up_to": "9007199254740991"])
      #expect(try await unread(village, of: "linus") == 0)
      #expect(try await village.request(.get, "/unread", as: "linus").count("data") == 0)
    }
  }

  @Test func `inbox pages continue by id and filter by kind`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let own = try await village.post("seeds", in: room, as: "linus")
      var expected: [String] = []
      for number in 0..<7 {
        let more: [String: Any] = number % 2 == 0 ? [:] : ["reply_to": own]
        let id = try await village.post(number % 2 == 0 ? "@linus" : "yes", in: room, as: "grace", more)
        expected.insert("\(number % 2 == 0 ? "mention" : "reply") \(id)", at: 0)
      }
      var seen: [String?] = []
      var next = ""
      repeat {
        let page = try await village.expect(200, .get, "/inbox?limit=2\(next)", as: "linus")
        seen += page.texts("data", "message_id")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(seen == expected.map { String($0.split(separator: " ")[1]) })
      let replies = expected.filter { $0.hasPrefix("reply") }
      #expect(try await inbox(village, of: "linus", "&kind=reply") == replies)
    }
  }

  // MARK: Removed entries

  @Test func `an entry is removed and restored with its message`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "linus"]).room
      let linus = village.id("linus")
      let id = try await village.post("@linus", in: room, as: "grace")
      let removed = try await village.events {
        try await village.expect(200, .post, "/messages/\(id)/remove", as: "mira")
      }
      #expect(removed == ["notification.read user:\(linus)", "message.deleted conversation:\(room) #2"])
      #expect(try await inbox(village, of: "linus") == [])
      let restored = try await village.events {
        try await village.expect(200, .post, "/messages/\(id)/restore", as: "mira")
      }
      #expect(restored == ["notification.created user:\(linus)", "message.restored conversation:\(room) #3"])
      #expect(try await inbox(village, of: "linus") == ["mention \(id)"])
      try await village.expect(200, .delete, "/messages/\(id)", as: "grace")
      #expect(try await inbox(village, of: "linus") == [])
      #expect(try await village.rows("select kind from notification") == [])
      let stream = try await village.expect(200, .get, "/streams/user:\(linus)/events?limit=200", as: "linus")
      let added = (0..<stream.count("data")).filter { stream["data.\($0).event"] == "notification.created" }
      #expect(added.count == 2 && stream.has("data.\(added.first ?? 0).data.kind") == false)
    }
  }

  @Test func `a restored entry is read with its position, and unknown to users without access`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "private", members: ["grace", "linus", "robo"])
      let id = try await village.post("@linus @robo", in: room, as: "grace")
      let later = try await village.post("later", in: room, as: "grace")
      let removal = try await village.expect(
        201, .post, "/removals", as: "ada", ["author": "@grace", "forum": forum, "since": "2000-01-01T00:00:00Z"])
      try await village.expect(204, .delete, "/forums/\(forum)/members/@robo", as: "ada")
      try await village.expect(200, .put, "/conversations/\(room)/read", as: "linus", ["message_id": later])
      func restore(_ method: ParleyWire.Method, _ path: String) async throws {
        let events = try await village.events { try await village.expect(200, method, path, as: "ada") }
        #expect(events.filter { $0.hasPrefix("notification.") } == ["notification.created user:\(village.id("linus"))"])
        #expect(try await unread(village, of: "linus") == 0)
        #expect(try await inbox(village, of: "linus") == ["(mention \(id))"])
        #expect(try await inbox(village, of: "robo") == [])
      }
      try await restore(.delete, "/removals/\(try #require(removal["id"]))")
      try await village.expect(200, .post, "/messages/\(id)/remove", as: "ada")
      try await restore(.post, "/messages/\(id)/restore")
      // The restored message is as before its removal: a new member finds the earlier entry.
      try await village.expect(200, .put, "/forums/\(forum)/members/@robo", as: "ada")
      #expect(try await inbox(village, of: "robo") == ["mention \(id)"])
    }
  }

  @Test func `entries without access are omitted`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "private", members: ["grace", "linus"])
      let open = try await village.garden("orchard", members: ["grace", "linus"]).room
      try await village.post("@linus", in: room, as: "grace")
      let id = try await village.post("@linus", in: open, as: "grace")
      for _ in 0..<3 { try await village.post("@linus", in: room, as: "grace") }
      #expect(try await inbox(village, of: "linus").count == 5)
      try await village.expect(204, .delete, "/forums/\(forum)/members/@linus", as: "ada")
      let page = try await village.expect(200, .get, "/inbox?limit=1", as: "linus")
      #expect(page.texts("data", "message_id") == [id] && page.isNull("next") && page.int("unread.all") == 1)
    }
  }

  @Test func `users see only their own inbox, and invalid requests are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden(members: ["grace", "gus"]).room
      for name in ["gus", "robo", "grace", "mira", "ada"] {
        try await village.expect(200, .get, "/inbox", as: name)
        try await village.expect(200, .get, "/unread", as: name)
        try await village.expect(200, .put, "/inbox/read", as: name, ["up_to": "1"])
      }
      let id = try await village.post("@gus", in: room, as: "grace")
      #expect(try await inbox(village, of: "gus") == ["mention \(id)"])
      #expect(try await inbox(village, of: "ada") == [])
      try await village.expect(401, .get, "/inbox")
      try await village.expect(401, .get, "/unread")
      try await village.expect(401, .put, "/inbox/read", ["up_to": "1"])
      for query in ["kind=x", "unread=2", "next=x", "limit=0", "x=1"] {
        try await village.expect(400, .get, "/inbox?\(query)", as: "gus")
      }
      for query in ["next=x", "next=-1", "limit=201", "x=1"] {
        try await village.expect(400, .get, "/unread?\(query)", as: "gus")
      }
      for body: [String: Any] in [[:], ["up_to": 1], ["up_to": "x"], ["up_to": "1", "x": 1]] {
        try await village.expect(400, .put, "/inbox/read", as: "gus", body)
      }
      let token = try await village.request(.post, "/me/tokens", as: "grace", ["name": "feed", "scope": "read"])[
        "token"]
      let reading = try await village.request(
        .put, "/inbox/read", ["up_to": "1"], fields: ["Authorization": "Bearer \(token ?? "")"])
      #expect(reading.status == 403)
    }
  }

  @Test func `a notification about a message before the readable history is hidden`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus", "mira")
      let group = try await village.conversation("group", by: "grace", with: ["linus", "mira"])
      let id = try await village.post("hi @linus", in: group, as: "grace")
      #expect(try await inbox(village, of: "linus") == ["mention \(id)"])
      let linus = "/conversations/\(group)/participants/\(village.id("linus"))"
      try await village.expect(200, .patch, "/conversations/\(group)", as: "grace", ["history_visible": false])
      try await village.expect(204, .delete, linus, as: "grace")
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["text": "@linus leaves"])
      try await village.expect(200, .put, linus, as: "grace", [:])
      try await village.expect(404, .get, "/messages/\(id)", as: "linus")
      #expect(try await inbox(village, of: "linus") == [])
      #expect(try await unread(village, of: "linus") == 0)
      let unread = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(!unread.text.contains("leaves") && unread.int("data.0.mentions") ?? 0 == 0)
      let seen = try await village.post("welcome back @linus", in: group, as: "grace")
      #expect(try await inbox(village, of: "linus") == ["mention \(seen)"])
    }
  }
}
