import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ConversationTests {
  @Test(arguments: TestTransport.allCases)
  func `a direct conversation is created once, from either side`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus")
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      var made: Answer?
      let body: [String: Any] = ["kind": "direct", "participants": ["@linus"]]
      let events = try await village.events {
        made = try await village.request(.post, "/conversations", as: "grace", body)
      }
      let id = try #require(made?["id"])
      #expect(made?.status == 201 && made?["kind"] == "direct" && made?.isNull("title") == true)
      #expect(made?.texts("participants", "user_id") == [grace, linus] && made?.int("participant_count") == 2)
      #expect(made?["role"] == "member" && made?.bool("request") == false && made?["level"] == "everything")
      #expect(
        events == [
          "conversation.created conversation:\(id) #1", "conversation.created user:\(grace)",
          "conversation.created user:\(linus)",
        ])
      let again = try await village.events {
        for (name, other) in [("grace", linus), ("linus", grace), ("linus", "@GRACE")] {
          let found = try await village.request(
            .post, "/conversations", as: name, ["kind": "direct", "participants": [other]])
          #expect(found.status == 200 && found["id"] == id)
        }
      }
      #expect(again == [])
      try await village.expect(404, .get, "/conversations/\(id)", as: "ada")
      try await village.expect(404, .get, "/conversations/\(id)")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a group is created once per client_id, and a distinct group once per set of users`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus", "mira")
      let body: [String: Any] = [
        "kind": "group", "participants": ["@linus", "@mira", "@linus", "me"], "title": " Seeds ", "client_id": "a",
      ]
      let first = try await village.request(.post, "/conversations", as: "grace", body)
      #expect(first.status == 201 && first["title"] == "Seeds" && first.int("participant_count") == 3)
      #expect(first.texts("participants", "role") == ["member", "admin", "member"])
      let second = try await village.request(.post, "/conversations", as: "grace", body)
      #expect(second.status == 200 && second["id"] == first["id"])
      var distinct: [String: Any] = ["kind": "group", "participants": ["@linus", "@mira"], "distinct": true]
      let one = try await village.request(.post, "/conversations", as: "grace", distinct)
      #expect(one.status == 201 && one.bool("distinct") == true && one["id"] != first["id"])
      distinct["participants"] = ["@mira", "@grace"]
      let same = try await village.request(.post, "/conversations", as: "linus", distinct)
      #expect(same.status == 200 && same["id"] == one["id"])
      distinct["participants"] = ["@mira"]
      try await village.expect(201, .post, "/conversations", as: "linus", distinct)
      for changed in ["kind": "feed", "title": "Weeds", "participants": ["@mira"]] as [String: Any] {
        let other = changed.key == "kind" ? ["client_id": "a"] : body
        let answer = try await village.request(
          .post, "/conversations", as: "grace", other.merging([changed.key: changed.value]) { $1 })
        #expect(answer.code == "client_id_reused", "\(changed.key)")
      }
      try await village.expect(204, .delete, "/conversations/\(first["id"] ?? "")", as: "grace")
      #expect(try await village.request(.post, "/conversations", as: "grace", body).code == "gone")
    }
  }

  @Test func `the last message of a conversation depends on its viewer`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      try await village.conversation("group", by: "grace", with: [])
      let id = try await village.post("hello", in: direct, as: "grace")
      for type in ["like", "star"] {
        _ = try await village.request(.put, "/messages/\(id)/actions/\(type)", as: "linus")
      }
      _ = try await village.request(.put, "/conversations/\(direct)/read", as: "linus", ["message_id": id])
      func last(_ name: String) async throws -> [Answer] {
        [
          try await village.request(.get, "/conversations?kind=direct", as: name),
          try await village.request(.get, "/conversations/\(direct)", as: name),
        ]
      }
      for (answer, path) in zip(try await last("grace"), ["data.0.last_message", "last_message"]) {
        #expect(answer["\(path).status"] == "all_read" && answer.bool("\(path).actions.like.mine") == false)
      }
      for (answer, path) in zip(try await last("linus"), ["data.0.last_message", "last_message"]) {
        #expect(!answer.has("\(path).status") && answer.bool("\(path).actions.like.mine") == true)
        #expect(answer.bool("\(path).actions.star.mine") == true)
      }
      // Conversations without a message are ordered by their creation.
      let all = try await village.request(.get, "/conversations", as: "grace")
      #expect(all.texts("data", "kind").contains("group") && all.count("data") >= 2)
      for index in 0..<all.count("data") {
        #expect(all["data.\(index).last_message.id"] == all["data.\(index).last_message_id"])
      }
      let seen = try #require(try await last("linus").last)
      let read = try OwnConversation(json: JSONValue(parsing: seen.body))
      #expect(read.lastMessage?.mine == ["like", "star"] && read.lastMessage?.message.content?.actions.count == 1)
      var json = JSONWriter()
      json.value(read)
      #expect(json.bytes == seen.body)
    }
  }

  /// The documented pattern for app data in a private channel.
  @Test func `a private channel is found by its type, oldest last, with its readers and writers`()
    async throws
  {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = [
        "kind": "channel", "type": "com.example.todo",
        "annotations": [["type": "com.example.list", "value": ["n": 1]]],
        "writers": ["open_to": "listed", "immutable": true], "readers": ["immutable": false],
      ]
      let made = try await village.request(.post, "/conversations", as: "grace", body)
      let id = try #require(made["id"])
      #expect(made["type"] == "com.example.todo" && made["annotations.0.value"] == nil)
      #expect(made.int("annotations.0.value.n") == 1 && made.bool("writers.immutable") == true)
      #expect(made["readers.open_to"] == "listed" && made["role"] == "admin")
      try await village.conversation("channel", by: "grace", with: [], ["type": "com.example.other"])
      let found = try await village.request(.get, "/conversations?type=com.example.todo", as: "grace")
      #expect(found.texts("data", "id") == [id])
      for change in [["writers": ["open_to": "users"]], ["writers": ["immutable": false]]] {
        try await village.expect(403, .patch, "/conversations/\(id)", as: "grace", change)
      }
      try await village.shareForum("grace", "linus")
      let path = "/conversations/\(id)/participants/@linus"
      try await village.expect(403, .put, path, as: "grace", ["role": "member"])
      try await village.expect(200, .put, path, as: "grace", ["role": "reader"])
      try await village.expect(403, .put, path, as: "grace", ["role": "member"])
      #expect(try await village.request(.get, "/conversations/\(id)", as: "linus")["role"] == "reader")
    }
  }

  private static let faults: [(body: [String: any Sendable], field: String, code: String)] = [
    ([:], "kind", "missing"), (["kind": "room"], "kind", "invalid"), (["kind": "topic"], "kind", "invalid"),
    (["kind": "direct"], "participants", "missing"),
    (["kind": "direct", "participants": [String]()], "participants", "missing"),
    (["kind": "direct", "participants": ["me"]], "participants", "missing"),
    (["kind": "direct", "participants": ["@linus", "@mira"]], "participants", "too_many"),
    (["kind": "direct", "participants": ["@linus"], "title": "x"], "title", "invalid"),
    (["kind": "direct", "participants": ["@unknown"]], "participants[0]", "unknown"),
    (["kind": "group", "participants": ["@linus", "99999"]], "participants[1]", "unknown"),
    (["kind": "group", "participants": ["no name"]], "participants[0]", "invalid"),
    (["kind": "group", "participants": [7]], "participants[0]", "wrong_type"),
    (["kind": "group", "participants": [["user_id": "me", "role": "king"]]], "participants[0].role", "invalid"),
    (
      ["kind": "group", "participants": [["user_id": "me", "who": 1] as [String: any Sendable]]], "participants[0].who",
      "unknown_field"
    ),
    (["kind": "group", "participants": Array(repeating: "me", count: 101)], "participants", "too_many"),
    (["kind": "group", "type": "com.example.x"], "type", "invalid"),
    (["kind": "group", "readers": ["open_to": "users"]], "readers", "invalid"),
    (["kind": "group", "title": "a\u{0}b"], "title", "invalid"),
    (["kind": "group", "title": "  "], "title", "too_short"),
    (["kind": "group", "title": String(repeating: "x", count: 121)], "title", "too_long"),
    (["kind": "channel"], "type", "missing"), (["kind": "channel", "type": "todo"], "type", "invalid"),
    (["kind": "channel", "type": "net.app.core.pm"], "type", "invalid"),
    (["kind": "channel", "type": "com.x", "writers": ["open_to": "anyone"]], "writers.open_to", "invalid"),
    (["kind": "channel", "type": "com.x", "readers": ["open_to": "robots"]], "readers.open_to", "invalid"),
    (["kind": "channel", "type": "com.x", "readers": ["any_user": true]], "readers.any_user", "unknown_field"),
    (["kind": "channel", "type": "com.x", "annotations": ["x"]], "annotations[0]", "wrong_type"),
    (["kind": "channel", "type": "com.x", "annotations": [["type": "com.x"]]], "annotations[0].value", "missing"),
    (
      [
        "kind": "channel", "type": "com.x",
        "annotations": [
          ["type": "com.x", "value": ["s": String(repeating: "x", count: 8_192)]] as [String: any Sendable]
        ],
      ], "annotations", "too_long"
    ),
    (["kind": "feed", "participants": ["@linus"]], "participants", "too_many"),
    (["kind": "group", "client_id": String(repeating: "x", count: 65)], "client_id", "too_long"),
    (["kind": "group", "locked": true], "locked", "unknown_field"),
  ]

  @Test(arguments: faults.indices)
  func `an invalid conversation is refused by field`(row: Int) async throws {
    try await Village.open(.inMemory) { village in
      let (body, field, code) = Self.faults[row]
      let events = try await village.events {
        let answer = try await village.request(.post, "/conversations", as: "grace", body)
        #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
      }
      #expect(events == [])
    }
  }

  @Test func `guests and visitors can't create conversations, bots can`() async throws {
    try await Village.open(.inMemory) { village in
      let body: [String: Any] = ["kind": "group"]
      try await village.expect(401, .post, "/conversations", body)
      try await village.expect(403, .post, "/conversations", as: "gus", body)
      try await village.expect(201, .post, "/conversations", as: "robo", body)
    }
  }

  // MARK: Lists

  @Test(arguments: TestTransport.allCases)
  func `conversations are listed by last activity, page by page, with read positions`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus")
      var ids: [String] = []
      for number in 1...5 {
        ids.append(try await village.conversation("group", by: "grace", with: ["linus"], ["title": "\(number)"]))
      }
      let message = try await village.post("hello", in: ids[1], by: "grace")
      let first = try await village.request(.get, "/conversations?kind=group&limit=2", as: "linus")
      #expect(first.texts("data", "id") == [ids[1], ids[4]] && !first.isNull("next"))
      #expect(first["data.0.last_message.id"] == message && first["data.0.last_message.text"] == "hello")
      #expect(first.int("data.0.unread_count") == 1 && first.int("data.0.read_up_to") == 0)
      #expect(first.int("data.0.last_seq") == 1 && first.int("data.0.last_offset") == 2)
      #expect(first.isNull("data.1.last_message") && first.int("data.1.unread_count") == 0)
      var seen: [String?] = []
      var next = ""
      repeat {
        let page = try await village.request(.get, "/conversations?kind=group&limit=2\(next)", as: "linus")
        seen += page.texts("data", "id")
        next = page["next"].map { "&next=\($0)" } ?? ""
      } while !next.isEmpty
      #expect(seen == [ids[1], ids[4], ids[3], ids[2], ids[0]])
      // The room of the forum is listed, too.
      let all = try await village.request(.get, "/conversations", as: "linus")
      #expect(all.count("data") == 6 && all.texts("data", "kind").contains("room"))
      #expect(try await village.request(.get, "/conversations", as: "mira").count("data") == 0)
      try await village.expect(401, .get, "/conversations")
      for query in ["limit=0", "limit=201", "kind=odd", "next=x", "next=-1", "order=asc"] {
        #expect(try await village.request(.get, "/conversations?\(query)", as: "linus").status == 400, "\(query)")
      }
    }
  }

  @Test func `a forum room without access is not listed`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .private, ["grace", "linus"])
      #expect(try await village.request(.get, "/conversations", as: "linus").count("data") == 1)
      #expect(try await village.request(.get, "/conversations", as: "ada").count("data") == 0)
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in
          try connection.execute("delete from forum_member where forum_id = $1", Int(forum) ?? 0)
        }
      }
      #expect(try await village.request(.get, "/conversations", as: "linus").count("data") == 0)
    }
  }

  @Test func `a client decodes a conversation of the server`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let id = try await village.conversation(
        "channel", by: "grace", with: ["linus"],
        [
          "type": "com.example.a", "readers": ["open_to": "anyone"],
          "annotations": [["type": "com.example.b", "value": ["n": 1.5]]],
        ])
      try await village.post("hello", in: id, by: "grace")
      let own = try await village.request(.get, "/conversations/\(id)", as: "linus").body
      var json = JSONWriter()
      json.value(try OwnConversation(json: JSONValue(parsing: own)))
      #expect(String(decoding: json.bytes, as: UTF8.self) == String(decoding: own, as: UTF8.self))
      let seen = try await village.request(.get, "/conversations/\(id)")
      json = JSONWriter()
      json.value(try Conversation(json: JSONValue(parsing: seen.body)))
      #expect(json.bytes == seen.body)
      // Visitors don't see the participants.
      #expect(!seen.has("participants") && seen.int("participant_count") == 2 && !seen.has("last_message"))
    }
  }

  @Test func `the ETag of a conversation depends on its visible state`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let id = try await village.conversation("group", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      var tags: Set<String> = []
      tags.insert(try #require(try await village.request(.get, path, as: "linus").fields["etag"]))
      let message = try await village.post("hello", in: id, by: "grace")
      tags.insert(try #require(try await village.request(.get, path, as: "linus").fields["etag"]))
      try await village.request(.put, path + "/read", as: "linus", ["message_id": message])
      tags.insert(try #require(try await village.request(.get, path, as: "linus").fields["etag"]))
      try await village.request(.put, path + "/level", as: "linus", ["level": "nothing"])
      tags.insert(try #require(try await village.request(.get, path, as: "linus").fields["etag"]))
      try await village.expect(200, .put, "/messages/\(message)/actions/star", as: "linus")
      let last = try #require(try await village.request(.get, path, as: "linus").fields["etag"])
      tags.insert(last)
      #expect(tags.count == 5)
      #expect(try await village.request(.get, path, as: "linus", fields: ["If-None-Match": last]).status == 304)
    }
  }

  // MARK: Updates

  @Test(arguments: TestTransport.allCases)
  func `group admins update a group, and an update without changes writes nothing`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus")
      let id = try await village.conversation("group", by: "grace", with: ["linus"])
      let path = "/conversations/\(id)"
      let body: [String: Any] = ["title": "Seeds", "slow_seconds": 5, "locked": true, "history_visible": false]
      let events = try await village.events {
        for _ in 1...2 {
          let changed = try await village.request(.patch, path, as: "grace", body)
          #expect(changed.status == 200 && changed["title"] == "Seeds" && changed.int("revision") == 2)
          #expect(changed.bool("locked") == true && changed.int("slow_seconds") == 5)
          #expect(changed.bool("history_visible") == false)
        }
      }
      #expect(events == ["conversation.updated conversation:\(id) #2"])
      let late = try await village.request(.patch, path, as: "grace", ["title": "x", "if_revision": 1])
      #expect(late.status == 409 && late["current.title"] == "Seeds" && late.int("current.revision") == 2)
      #expect(try await village.request(.patch, path, as: "grace", ["title": NSNull()]).isNull("title"))
      try await village.expect(403, .patch, path, as: "linus", body)
      try await village.expect(404, .patch, path, as: "ada", body)
      try await village.expect(401, .patch, path, body)
      for (body, field): ([String: Any], String) in [
        (["slow_seconds": -1], "slow_seconds"), (["slow_seconds": 86_401], "slow_seconds"), (["title": ""], "title"),
        (["readers": ["open_to": "users"]], "readers"), (["writers": [:] as [String: Any]], "writers"),
        (["type": "com.x"], "type"),
      ] {
        let answer = try await village.request(.patch, path, as: "grace", body)
        #expect(answer.status == 400 && answer["errors.0.field"] == field, "\(field)")
      }
    }
  }

  @Test func `a direct conversation can't be updated or deleted`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("grace", "linus")
      let path = "/conversations/\(try await village.conversation("direct", by: "grace", with: ["linus"]))"
      try await village.expect(403, .patch, path, as: "grace", ["title": "x"])
      try await village.expect(403, .delete, path, as: "grace")
      try await village.expect(403, .put, path + "/participants/@mira", as: "grace", [:])
      try await village.expect(403, .delete, path + "/participants/me", as: "grace")
    }
  }

  @Test func `moderators delete topics, and a room is deleted only with its forum`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.forum("garden", .members, ["grace", "linus"])
      let topic = try await village.topic("Roses", in: forum, by: "grace")
      let room = try await village.request(.get, "/conversations?kind=room", as: "linus")["data.0.id"] ?? ""
      let seen = try await village.request(.get, "/conversations/\(topic)", as: "linus")
      #expect(seen["title"] == "Roses" && seen["forum_id"] == forum && seen["level"] == "mentions")
      #expect(!seen.has("participants") && !seen.has("role"))
      try await village.expect(403, .patch, "/conversations/\(room)", as: "mira", ["locked": true])
      try await village.expect(403, .delete, "/conversations/\(room)", as: "mira")
      try await village.expect(403, .delete, "/conversations/\(topic)", as: "linus")
      try await village.expect(403, .put, "/conversations/\(topic)/participants/@linus", as: "mira", [:])
      let gone = try await village.events {
        try await village.expect(204, .delete, "/conversations/\(topic)", as: "mira")
      }
      #expect(
        gone == [
          "conversation.removed conversation:\(topic) #2", "conversation.removed forum:\(forum) #2",
          "conversation.removed user:\(village.id("grace"))",
        ])
      try await village.expect(404, .get, "/conversations/\(topic)", as: "grace")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a deleted group is gone for all participants with an event`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      try await village.shareForum("grace", "linus")
      let body: [String: Any] = ["kind": "group", "participants": ["@linus"], "distinct": true]
      let id = try #require(try await village.request(.post, "/conversations", as: "grace", body)["id"])
      let path = "/conversations/\(id)"
      try await village.expect(403, .delete, path, as: "linus")
      let events = try await village.events {
        try await village.expect(204, .delete, path, as: "grace")
        try await village.expect(404, .delete, path, as: "grace")
      }
      #expect(
        events == [
          "conversation.removed conversation:\(id) #2", "conversation.removed user:\(village.id("grace"))",
          "conversation.removed user:\(village.id("linus"))",
        ])
      for name in ["grace", "linus", "ada"] { try await village.expect(404, .get, path, as: name) }
      #expect(try await village.request(.get, "/conversations?kind=group", as: "linus").count("data") == 0)
      let again = try await village.request(.post, "/conversations", as: "grace", body)
      #expect(again.status == 201 && again["id"] != id)
    }
  }

  /// Earlier messages become readable only on request.
  @Test(arguments: ["now", "beginning"])
  func `an opened channel shows earlier messages on request`(from: String) async throws {
    try await Village.open(.inMemory) { village in
      let id = try await village.conversation("channel", by: "grace", with: [], ["type": "com.example.news"])
      try await village.post("secret", in: id, by: "grace")
      let path = "/conversations/\(id)"
      for name in ["linus", "gus"] { try await village.expect(404, .get, path, as: name) }
      let change: [String: Any] = ["readers": ["open_to": "anyone"], "from": from]
      #expect(try await village.request(.patch, path, as: "grace", change)["readers.open_to"] == "anyone")
      for name in ["linus", "gus"] {
        let seen = try await village.request(.get, path, as: name)
        #expect(seen.isNull("last_message") == (from == "now") && seen.int("unread_count") == (from == "now" ? 0 : 1))
        #expect(!seen.has("role"))
      }
      try await village.expect(200, .get, path)
      #expect(try await village.request(.get, path, as: "grace")["last_message.text"] == "secret")
    }
  }
}
