import Foundation
import ParleyJSON
import ParleyModel
import ParleyNetworking
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct RealtimeTests {
  @Test func `topics in the address subscribe without a command`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let old = try await village.post("before", in: room)
      let grace = try village.connect("topics=conversation:\(room)", as: "grace")
      #expect(try await grace.event("complete")["cursor"] != nil)
      let id = try await village.post("hello", in: room, as: "linus")
      let event = try await grace.event("message.created")
      #expect(event["data.id"] == id && event["data.text"] == "hello" && event["data.previous_message"] == old)
      #expect(event["stream"] == "conversation:\(room)" && event["actor_id"] == village.id("linus"))
      let page = try await village.request(.get, "/streams/conversation:\(room)/events", as: "grace")
      #expect(page["data.\(page.count("data") - 1).id"] == event["id"])
      #expect(page.int("last_offset") == event.int("offset"))
    }
  }

  @Test(arguments: [0, 1, 199, 200, 201, 401])
  func `a reconnecting client receives every missed event`(count: Int) async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let cursor = try await village.cursor("conversation:\(room)", as: "grace")
      for number in 0..<count { try await village.post("\(number)", in: room) }
      let grace = try village.connect("topics=conversation:\(room)&after=\(cursor)", as: "grace")
      let events = try await grace.events { $0["event"] == "complete" }.dropLast()
      #expect(events.map { $0["data.text"] } == (0..<count).map { "\($0)" })
      // Polling returns the same.
      var (position, seen): (String, [String?]) = (cursor, [])
      while true {
        let page = try await village.request(.get, "/sync?topics=conversation:\(room)&after=\(position)", as: "grace")
        #expect(page.isNull("reset"))
        seen += page.texts("data", "id")
        position = page["cursor"] ?? ""
        guard page.bool("more") == true else { break }
      }
      #expect(seen == events.map { $0["id"] })
      let live = try await village.post("live", in: room)
      #expect(try await grace.event("message.created")["data.id"] == live)
    }
  }

  @Test func `an unavailable cursor resets the stream without a partial catch-up`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      for number in 0..<5 { try await village.post("\(number)", in: room) }
      let head = try await village.cursor("conversation:\(room)", as: "grace")
      let epoch = village.community.store.epoch
      let start = "\(epoch).\(village.community.store.starts.current)"
      let last = try #require(EventCursor(head)?.event)
      #expect(head == "\(start).\(last)")
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("delete from event where id <= $1", last - 2) }
      }
      for (cursor, reason) in [
        ("0123456789abcdef01234567.1", "epoch"), ("garbage", "epoch"), ("\(start).-1", "epoch"),
        ("\(start).01", "epoch"), ("\(start).1.1", "epoch"), ("\(epoch)..\(last)", "epoch"),
        ("\(epoch).\(last)", "rewound"), ("\(epoch).1.\(last)", "rewound"), ("\(epoch).1.\(last + 1)", "rewound"),
        ("\(start).\(last + 1)", "ahead"), ("\(start).0", "trimmed"), ("\(start).\(last - 3)", "trimmed"),
      ] {
        let query = "topics=conversation:\(room)&after=\(cursor)"
        let received = try await village.connect(query, as: "grace").next { $0.has("event") }
        #expect(
          received["event"] == "reset" && received["reason"] == reason && received["cursor"] == head,
          "\(cursor) \(received.text)")
        let asked = try await village.request(.get, "/sync?\(query)", as: "grace")
        #expect(asked["reset"] == reason && asked["cursor"] == head && asked.count("data") == 0)
      }
      // The oldest cursor that the log still covers.
      let edge = try village.connect("topics=conversation:\(room)&after=\(start).\(last - 2)", as: "grace")
      let events = try await edge.events { $0["event"] == "complete" }
      #expect(events.map { $0["data.text"] } == ["3", "4", nil])
    }
  }

  @Test func `a resume after a restart tells the new start before the events`() async throws {
    try await Village.open(.socket, isRestarted: true) { village in
      let store = village.community.store
      let earlier = try #require(
        try await store.write { tx throws(Refusal) in
          try tx.run { connection in
            try connection.first("select number from start order by ordinal") { row in try row.int(0) }
          }
        })
      let cursor = "\(store.epoch).\(String(UInt(bitPattern: earlier), radix: 36)).0"
      let room = try await village.garden().room
      let id = try await village.post("seeds", in: room)
      let topic = "conversation:\(room)"
      let now = try await village.cursor(topic, as: "grace")
      let restarted = ["restarted", store.cursor(at: 0)]
      // By the URL, by a command, and not again with a cursor of the current start.
      let opened = try village.connect("topics=\(topic)&after=\(cursor)", as: "grace")
      let frames = try await opened.events { $0["event"] == "complete" }
      #expect([frames.first?["event"], frames.first?["cursor"]] == restarted)
      #expect(frames.contains { $0["data.id"] == id } && frames.last?["cursor"] == now)
      let resumed = try village.connect(as: "grace")
      resumed.send(#"{"id":1,"do":"hello","cursor":"\#(cursor)","topics":["\#(topic)"]}"#)
      let first = try await resumed.next()
      #expect([first["event"], first["cursor"]] == restarted)
      #expect(try await resumed.next { $0.int("re") == 1 }["cursor"] == now)
      let again = try village.connect("topics=\(topic)&after=\(store.cursor(at: 0))", as: "grace")
      #expect(try await again.events { $0["event"] == "complete" }.allSatisfy { $0["event"] != "restarted" })
      let page = try await village.request(.get, "/sync?topics=\(topic)&after=\(cursor)", as: "grace")
      #expect(page["cursor"] == now && page.isNull("reset") && page.text.contains("\"id\":\"\(id)\""))
      // The earlier start ended without an event.
      let beyond = cursor.dropLast() + "1"
      let reset = try await village.connect("topics=\(topic)&after=\(beyond)", as: "grace").next()
      #expect(reset["reason"] == "rewound" && reset["cursor"] == now)
    }
  }

  @Test func `a user's topic covers their own stream, the site's and every conversation of theirs`() async throws {
    try await Village.open(.socket) { village in
      let group = try await village.conversation(.group, ["ada", "grace"])
      let other = try await village.conversation(.group, ["ada", "linus"])
      let grace = try village.connect(as: "grace")
      let hello = try await grace.request(["do": "hello", "topics": ["me"]])
      #expect(hello.bool("ok") == true && hello["user_id"] == village.id("grace") && hello.bool("complete") == true)
      try await village.post("not for her", in: other)
      let id = try await village.post("for her", in: group)
      #expect(try await grace.event("message.created")["data.id"] == id)
      _ = try await village.request(.put, "/messages/\(id)/actions/star", as: "grace")
      #expect(try await grace.next()["stream"] == "user:\(village.id("grace"))")
      _ = try await village.request(.patch, "/users/\(village.id("linus"))", as: "linus", ["bio": "I knit."])
      #expect(try await grace.next()["stream"] == "site")
    }
  }

  @Test func `a new conversation is subscribed at once, and a lost one is not`() async throws {
    try await Village.open(.socket) { village in
      let made = try await village.request(
        .post, "/conversations", as: "ada",
        ["kind": "group", "title": "plans", "participants": [village.id("linus")], "history_visible": false])
      let direct = try #require(made["id"], "\(made.text)")
      try await village.post("before her", in: direct)
      let grace = try village.connect("topics=me", as: "grace")
      _ = try await grace.event("complete")
      let path = "/conversations/\(direct)/participants/\(village.id("grace"))"
      #expect(try await village.request(.put, path, as: "ada", [:]).status == 200)
      let created = try await grace.next { $0["event"] == "conversation.created" }
      #expect(created["stream"] == "user:\(village.id("grace"))")
      let first = try await village.post("with her", in: direct)
      #expect(try await grace.event("message.created")["data.id"] == first)
      #expect(try await village.request(.delete, path, as: "ada").status == 204)
      _ = try await grace.event("conversation.removed")
      try await village.post("after her", in: direct)
      let cursor = try #require(first.isEmpty ? nil : created["id"])
      #expect(try await village.request(.put, path, as: "ada", [:]).status == 200)
      _ = try await grace.event("conversation.created")
      let again = try await village.post("with her again", in: direct)
      #expect(try await grace.event("message.created")["data.id"] == again)
      // A client that reconnects gets the same events, and no message from the time without access.
      let after = village.community.store.cursor(at: try #require(Int(cursor)))
      let later = try village.connect("topics=me&after=\(after)", as: "grace")
      let events = try await later.events { $0["event"] == "complete" }
      #expect(!events.contains { $0.text.contains("after her") || $0.text.contains("before her") })
      #expect(events.compactMap { $0["data.text"] } == ["with her again"])
      #expect(events.count { $0["event"] == "conversation.removed" } == 1)
    }
  }

  @Test func `a forum made private sends nothing to non-members`() async throws {
    try await Village.open(.socket) { village in
      let (forum, room) = try await village.garden("garden", "members", members: ["linus"])
      let grace = try village.connect("topics=conversation:\(room),forum:\(forum)", as: "grace")
      let linus = try village.connect("topics=conversation:\(room)", as: "linus")
      _ = try await grace.event("complete")
      _ = try await linus.event("complete")
      try await village.post("open", in: room)
      #expect(try await grace.event("message.created")["data.text"] == "open")
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", ["visibility": "private"]).status == 200)
      try await village.post("secret", in: room)
      #expect(try await linus.next { $0["data.text"] == "secret" }["event"] == "message.created")
      let lost = [try await grace.event("notice"), try await grace.event("notice")]
      #expect(Set(lost.map { $0["topic"] }) == ["conversation:\(room)", "forum:\(forum)"])
      #expect(try await grace.request(["do": "ping"]).bool("ok") == true)
      let rest = try await grace.request(["do": "subscribe", "topics": ["conversation:\(room)"]])
      #expect(rest["problem.code"] == "not_found" && !rest.text.contains("secret"))
      while grace.waitingCount > 0 { #expect(try await !grace.next().text.contains("secret")) }
    }
  }

  @Test func `messages before a participant's history are hidden, also in later events`() async throws {
    try await Village.open(.socket) { village in
      let conversation = try await village.conversation(.group, ["grace", "linus"], fromSeq: ["linus": 2])
      let old = try await village.post("old words", in: conversation, as: "grace")
      let linus = try village.connect("topics=me", as: "linus")
      _ = try await linus.event("complete")
      _ = try await village.request(.patch, "/messages/\(old)", as: "grace", ["text": "old but new words"])
      _ = try await village.request(.put, "/messages/\(old)/actions/like", as: "grace")
      let new = try await village.post("now", in: conversation, as: "grace")
      let events = try await linus.events { $0["data.id"] == new }
      #expect(events.map { $0["event"] } == ["hidden", "hidden", "message.created"])
      #expect(events.map { $0.int("offset") } == [2, 3, 4] && !events.contains { $0.text.contains("old") })
    }
  }

  // MARK: Commands

  @Test func `commands follow the rules of the endpoints`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let grace = try village.connect(as: "grace")
      let sent = try await grace.request(
        ["do": "send", "conversation_id": room, "text": "hello *all*", "client_id": "one"])
      let id = try #require(sent["message.id"], "\(sent.text)")
      #expect(sent.bool("created") == true && sent["message.text"] == "hello *all*")
      // A send repeated over another transport is the same message.
      let again = try await village.request(
        .post, "/conversations/\(room)/messages", as: "grace", ["text": "hello *all*", "client_id": "one"])
      #expect(again.status == 200 && again["id"] == id)
      let other = try await grace.request(["do": "send", "conversation_id": room, "text": "other", "client_id": "one"])
      #expect(other["problem.code"] == "client_id_reused" && other.int("problem.status") == 409)
      #expect(try await grace.request(["do": "edit", "message_id": id, "text": "hi"])["message.text"] == "hi")
      #expect(
        try await grace.request(["do": "edit", "message_id": id, "text": "x", "if_revision": 1])["problem.code"]
          == "conflict")
      let liked = try await grace.request(["do": "set_action", "message_id": id, "type": "like"])
      #expect(liked.bool("message.actions.like.mine") == true)
      #expect(try await grace.request(["do": "remove_action", "message_id": id, "type": "like"]).bool("ok") == true)
      let read = try await grace.request(["do": "read", "conversation_id": room, "message_id": id])
      #expect(read.bool("ok") == true && read.has("read_position"))
      #expect(try await grace.request(["do": "delete", "message_id": id]).bool("message.deleted") == true)
      for (command, code) in [
        (["do": "send", "conversation_id": "999999", "text": "x"], "not_found"),
        (["do": "send", "conversation_id": room, "text": ""], "invalid"),
        (["do": "send", "conversation_id": room, "text": "x", "colour": "red"], "unknown_field"),
        (["do": "dance"], "invalid"), (["do": "edit", "message_id": "zero"], "invalid"),
        (["do": "hello", "token": "wrong"], "unauthenticated"),
        (["do": "subscribe", "topics": ["everything"]], "invalid"),
        (["do": "subscribe", "topics": ["conversation:999999"]], "not_found"),
        (["do": "publish", "topic": "me", "data": 1], "invalid"), ([:], "invalid"),
      ] as [([String: Any], String)] {
        let answer = try await grace.request(command)
        #expect(answer["problem.code"] == code, "\(command) \(answer.text)")
      }
      #expect(try await grace.request(["do": "ping"]).has("now"))
    }
  }

  @Test func `many commands at once are executed and answered in order`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      // Probation has a lower hourly limit.
      let ada = try village.connect(as: "ada")
      let long = String(repeating: "word ", count: 3_000)
      for number in 0..<200 {
        let text = number % 7 == 0 ? "\(number) \(long)" : "\(number)"
        ada.send(#"{"id":\#(number),"do":"send","conversation_id":"\#(room)","text":"\#(text)"}"#)
      }
      var seqs: [Int] = []
      for number in 0..<200 {
        let answer = try await ada.next()
        #expect(answer.int("re") == number, "\(answer.text.prefix(200))")
        seqs.append(answer.int("message.seq") ?? 0)
      }
      #expect(seqs == Array(1...200))
    }
  }

  private static let unreadable = [
    "", "{", "[]", "{\"do\":\"ping\"}", "{\"id\":null,\"do\":\"ping\"}", "{\"id\":{},\"do\":\"ping\"}",
  ]

  @Test func `a command without a readable id gets a problem, in its turn`() async throws {
    try await Village.open(.socket) { village in
      let grace = try village.connect(as: "grace")
      for text in Self.unreadable {
        grace.send(text)
        let answer = try await grace.next()
        #expect(answer.isNull("re") && answer["problem.code"] == "invalid", "\(text): \(answer.text)")
      }
      grace.send(binary: Array(#"{"id":1,"do":"ping"}"#.utf8))
      #expect(try await grace.next().isNull("re"))
      grace.send(#"{"id":7,"do":"dance"}"#)
      #expect(try await grace.next { $0.int("re") == 7 }["problem.code"] == "invalid")
      #expect(try await grace.request(["do": "ping"]).bool("ok") == true)
    }
  }

  @Test func `a refused command has every wrong field and the allowed values`() async throws {
    try await Village.open(.socket) { village in
      let grace = try village.connect(as: "grace")
      func faults(_ command: [String: Any]) async throws -> [String] {
        let answer = try await grace.request(command)
        #expect(answer["problem.code"] == "invalid", "\(answer.text)")
        let (fields, codes) = (answer.texts("problem.errors", "field"), answer.texts("problem.errors", "code"))
        return zip(fields, codes).map { "\($0 ?? "") \($1 ?? "")" }.sorted()
      }
      #expect(
        try await faults(["do": "send", "conversation_id": 5, "text": 7, "colour": "red", "attachments": "x"])
          == ["attachments wrong_type", "colour unknown_field", "conversation_id wrong_type", "text wrong_type"])
      // The limits of texts, too.
      let long = String(repeating: "x", count: 70_000)
      #expect(
        try await faults(["do": "send", "conversation_id": "x", "text": long, "client_id": ""]).map { $0.prefix(9) }
          == ["client_id", "conversat", "text too_"])
      #expect(
        try await faults(["do": "set_action", "type": "…", "x": 1])
          == ["message_id missing", "type invalid", "x unknown_field"])
      #expect(
        try await faults(["do": "subscribe", "topics": ["forest:1", "me", ["topic": 5, "y": 2]]])
          == ["topics[0] invalid", "topics[2].topic wrong_type", "topics[2].y unknown_field"])
      #expect(
        try await faults(["do": "publish", "topic": "me", "z": 1]) == [
          "data missing", "topic invalid", "z unknown_field",
        ])
      let presence = try await grace.request(["do": "presence", "state": "asleep", "x": 1])
      #expect(presence.list("problem.errors.0.params.allowed") == ["online", "away"], "\(presence.text)")
      #expect(presence.texts("problem.errors", "field") == ["state", "x"])
      for (shown, fault) in [(["x"] as Any, "conversation_ids[0] invalid"), ("12", "conversation_ids wrong_type")] {
        #expect(try await faults(["do": "presence", "state": "online", "conversation_ids": shown]) == [fault])
      }
      let many = (1...RealtimeLimits.shownConversations + 1).map { "\($0)" }
      var presenceOf: [String: Any] = ["do": "presence", "state": "online", "conversation_ids": many]
      #expect(try await faults(presenceOf) == ["conversation_ids invalid"])
      presenceOf["conversation_ids"] = Array(many.dropLast())
      #expect(try await grace.request(presenceOf).bool("ok") == true)
      let unknown = try await grace.request(["do": "sing"])
      #expect(unknown.list("problem.errors.0.params.allowed").contains("set_action"), "\(unknown.text)")
    }
  }

  @Test func `a client that goes on with malformed commands is disconnected, and may return`() async throws {
    try await Village.open(.socket) { village in
      let grace = try village.connect(as: "grace")
      let limit = RealtimeLimits.refusedCommands
      for number in 1..<limit {
        grace.send(Self.unreadable[number % Self.unreadable.count])
        #expect(try await grace.next().isNull("re"))
      }
      // A minute later they are forgotten.
      village.advanceClock(61)
      #expect(try await grace.request(["do": "ping"]).bool("ok") == true)
      for number in 1...limit {
        grace.send(#"{"id":\#(number),"do":"dance"}"#)
        #expect(try await grace.next { $0.int("re") == number }["problem.code"] == "invalid")
      }
      #expect(try await grace.closed().code == 1008)
      #expect(try await village.connect(as: "grace").request(["do": "ping"]).bool("ok") == true)
    }
  }

  @Test func `a client sends short messages until it is identified`() async throws {
    try await Village.open(.socket) { village in
      func ping(_ id: Int, _ bytes: Int) -> String {
        #"{"id":\#(id),"do":"ping"}"# + String(repeating: " ", count: bytes)
      }
      let visitor = try village.connect(as: nil)
      visitor.send(ping(1, 4_000))
      #expect(try await visitor.next { $0.int("re") == 1 }.bool("ok") == true)
      visitor.send(ping(2, 4_096))
      #expect(try await visitor.closed().code == 1009)
      // By `hello`, and by the handshake.
      let late = try village.connect(as: nil)
      #expect(try await late.request(["do": "hello", "token": village.token("grace")]).bool("ok") == true)
      for grace in [late, try village.connect(as: "grace")] {
        grace.send(ping(1, 200_000))
        #expect(try await grace.next { $0.int("re") == 1 }.bool("ok") == true)
        grace.send(ping(2, 300_000))
        #expect(try await grace.closed().code == 1009)
      }
    }
  }

  @Test func `typing lasts although no client was connected before`() async throws {
    try await Village.open(.socket) { village in
      let conversation = try await village.conversation(.group, ["ada", "grace", "linus"])
      let early = try village.connect("topics=me", as: "linus")
      _ = try await early.event("complete")
      early.leave()
      let end = ContinuousClock.now + .seconds(60)
      while village.community.hub.hasAudience(.stream(.user(village.user("linus")))), .now < end {
        try await Task.sleep(for: .milliseconds(2))
      }
      let quiet = village.advanceClock(15)
      let linus = try village.connect("topics=conversation:\(conversation)", as: "linus")
      let grace = try village.connect("topics=conversation:\(conversation)", as: "grace")
      _ = try await linus.event("complete")
      #expect(try await grace.request(["do": "typing", "conversation_id": conversation]).bool("ok") == true)
      #expect(try await linus.event("typing").bool("data.typing") == true)
      village.advanceClock(1, since: quiet)
      let id = try await village.post("still typing", in: conversation, as: "linus")
      let next = try await linus.next()
      #expect(next["data.id"] == id, "\(next.text)")
    }
  }

  @Test func `an anonymous socket times out`() async throws {
    try await Village.open(.socket) { village in
      let began = village.now
      let anonymous = try village.connect(as: nil)
      #expect(try await anonymous.request(["do": "ping"]).bool("ok") == true)
      #expect(try await anonymous.request(["do": "hello", "topics": ["me"]])["problem.code"] == "unauthenticated")
      village.advanceClock(9, since: began)
      #expect(try await anonymous.request(["do": "ping"]).bool("ok") == true)
      village.advanceClock(12)
      #expect(try await anonymous.closed().code == 4500)
    }
  }

  @Test func `a socket can authenticate after it opened`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let socket = try village.connect(as: nil)
      let hello = try await socket.request(
        ["do": "hello", "token": village.token("grace"), "topics": ["conversation:\(room)"]])
      #expect(hello.bool("complete") == true && hello["user_id"] == village.id("grace"))
      let id = try await village.post("hello", in: room)
      #expect(try await socket.event("message.created")["data.id"] == id)
      village.advanceClock(30)
      #expect(try await socket.request(["do": "ping"]).bool("ok") == true)
      let other = try await socket.request(["do": "hello", "token": village.token("linus")])
      #expect(other["problem.code"] == "conflict")
    }
  }

  // MARK: Sessions

  @Test func `a page of another origin can't use the cookie, and a write token is refused in the address`()
    async throws
  {
    try await Village.open(.inMemory) { village in
      let cookie = "parley=\(village.token("grace"))"
      for (origin, status) in [("https://evil.example", 403), ("", 403)] {
        var fields = Fields(["Cookie": cookie])
        if !origin.isEmpty { fields.add("Origin", origin) }
        #expect(try await village.request(.get, "/realtime", fields: fields).status == status)
      }
      let token = "parley.v1, parley.token.\(village.token("grace"))"
      #expect(
        try await village.request(.get, "/realtime", fields: ["Sec-WebSocket-Protocol": token]).status == 401)
      let made = try await village.request(.post, "/me/tokens", as: "grace", ["name": "reader", "scope": "read"])
      let reader = try #require(made["token"], "\(made.text)")
      #expect(
        try await village.request(
          .get, "/realtime", fields: ["Sec-WebSocket-Protocol": "parley.v1, parley.token.\(reader)"]
        )
        .status == 101)
      #expect(try await village.request(.get, "/realtime?topics=all", as: "grace").status == 400)
      #expect(try await village.request(.get, "/realtime", fields: ["Authorization": "Bearer x"]).status == 401)
    }
  }

  @Test func `a read-only token sets no presence`() async throws {
    try await Village.open(.socket) { village in
      let made = try await village.request(.post, "/me/tokens", as: "grace", ["name": "reader", "scope": "read"])
      let fields = Fields(["Authorization": "Bearer \(try #require(made["token"]))"])
      let reader = try village.connect("topics=me", as: nil, fields: fields)
      _ = try await reader.event("complete")
      let answer = try await reader.request(["do": "presence", "state": "away"])
      #expect(answer["problem.code"] == "forbidden", "\(answer.text)")
    }
  }

  @Test func `a revoked session closes its sockets and no others`() async throws {
    try await Village.open(.socket) { village in
      let made = try await village.request(.post, "/me/tokens", as: "grace", ["name": "program", "scope": "write"])
      let (token, id) = (try #require(made["token"]), try #require(made["id"]))
      let program = try village.connect("topics=me", as: nil, fields: ["Authorization": "Bearer \(token)"])
      let grace = try village.connect("topics=me", as: "grace")
      let linus = try village.connect("topics=me", as: "linus")
      for client in [program, grace, linus] { _ = try await client.event("complete") }
      #expect(try await village.request(.delete, "/me/tokens/\(id)", as: "grace").status == 204)
      #expect(try await program.closed().code == 4501)
      #expect(try await grace.request(["do": "ping"]).bool("ok") == true)
      #expect(try await village.request(.delete, "/sessions/current", as: "grace").status == 204)
      #expect(try await grace.closed().code == 4501)
      #expect(
        try await village.request(.patch, "/users/\(village.id("linus"))", as: "ada", ["disabled": true]).status == 200)
      #expect(try await linus.closed().code == 4501)
    }
  }

  @Test func `a banned user learns the end and the reason on each socket`() async throws {
    try await Village.open(.socket) { village in
      let grace = try village.connect("topics=me", as: "grace")
      let linus = try village.connect("topics=me", as: "linus")
      for client in [grace, linus] { _ = try await client.event("complete") }
      let until = "2099-01-01T00:00:00.000Z"
      try await village.expect(200, .put, "/users/@grace/ban", as: "mira", ["until": until, "reason": "Spam."])
      let banned = try await grace.event("banned")
      #expect(banned["until"] == until && banned["reason"] == "Spam.")
      #expect(try await grace.closed().code == 4501)
      try await village.expect(200, .put, "/users/@linus/ban", as: "mira", [:])
      let permanent = try await linus.event("banned")
      #expect(permanent.isNull("until") && permanent.isNull("reason"))
      #expect(try await linus.closed().code == 4501)
    }
  }

  // MARK: Signals

  @Test func `a typing signal is sent to others and expires`() async throws {
    try await Village.open(.socket) { village in
      let conversation = try await village.conversation(.group, ["ada", "grace", "linus"])
      let (grace, linus) = (
        try village.connect("topics=me", as: "grace"), try village.connect("topics=me", as: "linus")
      )
      _ = try await grace.event("complete")
      _ = try await linus.event("complete")
      for _ in 0..<3 {
        #expect(try await grace.request(["do": "typing", "conversation_id": conversation]).bool("ok") == true)
      }
      let typing = try await linus.next()
      #expect(typing["event"] == "typing" && typing["data.user_id"] == village.id("grace"))
      #expect(
        typing.bool("data.typing") == true && typing["data.conversation_id"] == conversation && !typing.has("offset"))
      village.advanceClock(60)
      #expect(try await linus.next().bool("data.typing") == false)
      #expect(try await village.request(.post, "/conversations/\(conversation)/typing", as: "grace").status == 204)
      #expect(try await linus.event("typing").bool("data.typing") == true)
      try await village.post("done", in: conversation, as: "grace")
      let ends = [try await linus.next(), try await linus.next()]
      #expect(Set(ends.map { $0["event"] }) == ["typing", "message.created"])
      #expect(try await grace.event("message.created")["data.text"] == "done" && grace.waitingCount == 0)
      let gus = try village.connect(as: "gus")
      #expect(try await gus.request(["do": "typing", "conversation_id": conversation])["problem.code"] == "not_found")
    }
  }

  @Test func `apps publish messages that are not stored`() async throws {
    try await Village.open(.socket) { village in
      let (grace, linus) = (try village.connect(as: "grace"), try village.connect(as: "linus"))
      #expect(
        try await linus.request(["do": "subscribe", "topics": ["app:chess", "presence"]]).bool("complete") == true)
      let received = try await grace.request(["do": "publish", "topic": "app:chess", "data": ["move": "e4"]])
      #expect(received.bool("ok") == true, "\(received.text)")
      let event = try await linus.event("app")
      #expect(event["topic"] == "app:chess" && event["data.data.move"] == "e4")
      #expect(event["data.user_id"] == village.id("grace"))
      #expect(try await linus.request(["do": "unsubscribe", "topics": ["app:chess"]]).bool("ok") == true)
      _ = try await grace.request(["do": "publish", "topic": "app:chess", "data": 2])
      let large = try await grace.request(
        ["do": "publish", "topic": "app:chess", "data": String(repeating: "x", count: 20_000)])
      #expect(large["problem.errors.0.code"] == "too_long")
      #expect(
        try await village.connect(as: "gus").request(["do": "publish", "topic": "app:x", "data": 1])["problem.code"]
          == "forbidden")
      #expect(try await linus.request(["do": "ping"]).bool("ok") == true)
      #expect(try await linus.next { $0["event"] == "app" || $0["event"] == "presence" }["event"] == "presence")
    }
  }

  @Test func `a command that writes is a use of the session`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let grace = try village.connect(as: "grace")
      #expect(try await grace.request(["do": "ping"]).bool("ok") == true)
      @Sendable func lastSeen() async throws -> Int {
        try await village.community.store.write { tx throws(Refusal) in
          try tx.run { connection in
            try connection.first("select last_seen_at from account where name = 'grace'") { row in try row.int(0) }
          } ?? 0
        }
      }
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("update account set last_seen_at = 1 where name = 'grace'") }
      }
      village.advanceClock(301)
      #expect(try await grace.request(["do": "ping"]).bool("ok") == true)
      #expect(try await lastSeen() == 1)
      let send: [String: Any] = ["do": "send", "conversation_id": room, "text": "hello"]
      #expect(try await grace.request(send).bool("ok") == true)
      // Stored in the background.
      try await waitUntil { try await lastSeen() > 1 }
    }
  }

  @Test func `presence is visible unless the user hides it`() async throws {
    try await Village.open(.socket) { village in
      let linus = try village.connect("topics=presence", as: "linus")
      _ = try await linus.event("complete")
      func seen(_ name: String) -> (Answer) -> Bool {
        let id = village.id(name)
        return { $0["event"] == "presence" && $0["data.user_id"] == id }
      }
      #expect(try await linus.next(seen("linus"))["data.presence"] == "online")
      let grace = try village.connect(as: "grace")
      #expect(try await linus.next(seen("grace"))["data.presence"] == "online")
      #expect(try await grace.request(["do": "presence", "state": "away"]).bool("ok") == true)
      #expect(try await linus.next(seen("grace"))["data.presence"] == "away")
      #expect(try await village.request(.patch, "/me", as: "grace", ["show_presence": false]).status == 200)
      #expect(try await linus.next(seen("grace"))["data.presence"] == "offline")
      #expect(try await grace.request(["do": "presence", "state": "online"]).bool("ok") == true)
      let mira = try village.connect("topics=presence", as: "mira")
      #expect(try await linus.next(seen("mira"))["data.presence"] == "online")
      _ = try await mira.event("complete")
      mira.leave()
      // Her event loop detects the closed socket on its next turn.
      var received: Answer?
      for _ in 1...2_000 where received == nil {
        village.advanceClock(3_600)
        received = try? await linus.next(within: 0.1, seen("mira"))
      }
      let gone = try #require(received)
      #expect(gone["data.presence"] == "offline" && gone["data.last_seen_at"] != nil)
      #expect(linus.waitingCount == 0)
    }
  }

  @Test func `a forum subscriber receives the activity but not the text`() async throws {
    try await Village.open(.socket) { village in
      let (forum, _) = try await village.garden("garden", "public")
      let grace = try village.connect("topics=forum:\(forum)", as: "grace")
      _ = try await grace.event("complete")
      let topic = try await village.topic("seeds", in: forum)
      #expect(try await grace.event("conversation.created")["stream"] == "forum:\(forum)")
      let id = try await village.post("which?", in: topic)
      let activity = try await grace.event("forum.activity")
      #expect(activity["data.conversation_id"] == topic && activity["data.last_message_id"] == id)
      #expect(!activity.text.contains("which?"))
    }
  }

  // MARK: Slow consumers

  @Test func `a slow consumer receives its lag and delays no other client`() async throws {
    try await Village.open(.socket) { village in
      let conversation = try await village.conversation(.group, ["ada", "grace", "linus"])
      let (slow, quick) = (try village.connect("topics=me", as: "grace"), try village.connect("topics=me", as: "linus"))
      _ = try await slow.event("complete")
      _ = try await quick.event("complete")
      slow.pause()
      let text = String(repeating: "a long story. ", count: 1_100)
      var ids: [String] = []
      for _ in 0..<700 { ids.append(try await village.post(text, in: conversation)) }
      for id in ids { #expect(try await quick.event("message.created")["data.id"] == id) }
      slow.resume()
      let lagging = try await slow.event("lagging")
      #expect(lagging["stream"] == "conversation:\(conversation)")
      // The slow client received a prefix; the rest can be requested.
      let offset = try #require(lagging.int("last_offset"))
      var had: [Int] = []
      while slow.waitingCount > 0 { had.append(try await slow.next().int("offset") ?? 0) }
      #expect(had.last == offset && had == Array((had.first ?? 0)...offset))
      let cursor = try await village.cursor(as: "grace")
      let page = try await village.request(
        .get, "/streams/conversation:\(conversation)/events?after_offset=\(offset - 1)&limit=1", as: "grace")
      let from = village.community.store.cursor(at: try #require(page["data.0.id"].flatMap { Int($0) }))
      slow.send(
        #"{"id":"again","do":"subscribe","topics":[{"topic":"conversation:\#(conversation)","cursor":"\#(from)"}]}"#)
      let rest = try await slow.events { $0["data.id"] == ids.last }
      #expect(rest.map { $0.int("offset") } == Array((offset + 1)...(offset + rest.count)).map(Optional.some))
      let done = try await slow.next { $0["re"] == "again" }
      #expect(done["cursor"] == cursor)
      let live = try await village.post("live", in: conversation)
      #expect(try await slow.event("message.created")["data.id"] == live)
    }
  }

  @Test func `a slow consumer is disconnected with a reconnect code after the timeout`() async throws {
    // Stopped, so that the server never times out.
    let stopped = ParleyNetworking.Clock.monotonic()
    try await Village.open(.socket, loops: { stopped }) { village in
      let conversation = try await village.conversation(.group, ["ada", "grace"])
      let slow = try village.connect("topics=me", as: "grace")
      _ = try await slow.event("complete")
      slow.pause()
      let text = String(repeating: "a long story. ", count: 1_100)
      for _ in 0..<700 { try await village.post(text, in: conversation) }
      // New connections go to the loop with the fewest, so each loop has one to report its time.
      let others = try (0..<4).map { _ in try village.connect(as: "linus") }
      var second = 0
      for _ in 0..<20 {
        second += 40
        let time = village.advanceClock(second)
        for other in others {
          while try await other.request(["do": "ping"])["now"] ?? "" < Timestamp.format(Int(time)) {
            second += 1
            village.advanceClock(second)
            try await Task.sleep(for: .milliseconds(5))
          }
        }
      }
      slow.resume()
      #expect(try await slow.closed().code == 4000)
    }
  }

  /// `PARLEY_STAMPEDE` sets the number of clients.
  @Test func `every client receives every event when all reconnect at once`() async throws {
    _ = DescriptorLimit.raise()
    let count = ProcessInfo.processInfo.environment["PARLEY_STAMPEDE"].flatMap { Int($0) } ?? 1_000
    try await Village.open(.socket) { village in
      let room = try await village.garden("garden", "public").room
      let cursor = try await village.cursor("conversation:\(room)", as: nil)
      let before = try (0..<count).map { _ in
        try village.connect("topics=conversation:\(room)&after=\(cursor)", as: "grace")
      }
      for client in before { _ = try await client.next(within: 120) { $0["event"] == "complete" } }
      for client in before { client.leave() }
      var ids: [String] = []
      for number in 0..<20 { ids.append(try await village.post("\(number)", in: room)) }
      let began = ContinuousClock.now
      let clients = try (0..<count).map { _ in
        try village.connect("topics=conversation:\(room)&after=\(cursor)", as: "grace")
      }
      for client in clients {
        _ = try await client.next(within: 120) { $0["event"] == "complete" }
        var got: [String?] = []
        while client.waitingCount > 0 { got.append(try await client.next()["data.id"]) }
        #expect(got == ids)
      }
      let time = ContinuousClock.now - began
      let live = try await village.post("live", in: room)
      for client in clients { #expect(try await client.event("message.created")["data.id"] == live) }
      print("\(count) clients reconnected and received 20 events each in \(time)")
    }
  }
}
