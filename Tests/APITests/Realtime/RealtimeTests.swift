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
  @Test func `with topics in the address events flow without a command`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let old = try await village.say("before", in: room)
      let grace = try village.follow("topics=conversation:\(room)", as: "grace")
      #expect(try await grace.event("complete")["cursor"] != nil)
      let id = try await village.say("hello", in: room, as: "linus")
      let event = try await grace.event("message.created")
      #expect(event["data.id"] == id && event["data.text"] == "hello" && event["data.previous_message"] == old)
      #expect(event["stream"] == "conversation:\(room)" && event["actor_id"] == village.id("linus"))
      let page = try await village.ask(.get, "/streams/conversation:\(room)/events", as: "grace")
      #expect(page["data.\(page.count("data") - 1).id"] == event["id"])
      #expect(page.int("last_offset") == event.int("offset"))
    }
  }

  @Test(arguments: [0, 1, 199, 200, 201, 401])
  func `who was away is told everything, however much it was`(count: Int) async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let cursor = try await village.cursor("conversation:\(room)", as: "grace")
      for number in 0..<count { try await village.say("\(number)", in: room) }
      let grace = try village.follow("topics=conversation:\(room)&after=\(cursor)", as: "grace")
      let events = try await grace.events { $0["event"] == "complete" }.dropLast()
      #expect(events.map { $0["data.text"] } == (0..<count).map { "\($0)" })
      // By asking, the same.
      var (place, seen): (String, [String?]) = (cursor, [])
      while true {
        let page = try await village.ask(.get, "/sync?topics=conversation:\(room)&after=\(place)", as: "grace")
        #expect(page.isNull("reset"))
        seen += page.texts("data", "id")
        place = page["cursor"] ?? ""
        guard page.bool("more") == true else { break }
      }
      #expect(seen == events.map { $0["id"] })
      let live = try await village.say("live", in: room)
      #expect(try await grace.event("message.created")["data.id"] == live)
    }
  }

  @Test func `what can't be told is said to be reset, and never short`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      for number in 0..<5 { try await village.say("\(number)", in: room) }
      let head = try await village.cursor("conversation:\(room)", as: "grace")
      let epoch = village.community.store.epoch
      let last = try #require(Int(head.dropFirst(epoch.count + 1)))
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("delete from event where id <= $1", last - 2) }
      }
      for (cursor, reason) in [
        ("0123456789abcdef01234567.1", "epoch"), ("garbage", "epoch"), ("\(epoch).-1", "epoch"),
        ("\(epoch).01", "epoch"),
        ("\(epoch).\(last + 1)", "ahead"), ("\(epoch).0", "trimmed"), ("\(epoch).\(last - 3)", "trimmed"),
      ] {
        let query = "topics=conversation:\(room)&after=\(cursor)"
        let told = try await village.follow(query, as: "grace").next { $0.has("event") }
        #expect(
          told["event"] == "reset" && told["reason"] == reason && told["cursor"] == head, "\(cursor) \(told.text)")
        let asked = try await village.ask(.get, "/sync?\(query)", as: "grace")
        #expect(asked["reset"] == reason && asked["cursor"] == head && asked.count("data") == 0)
      }
      // The first that the log still tells all after.
      let edge = try village.follow("topics=conversation:\(room)&after=\(epoch).\(last - 2)", as: "grace")
      let events = try await edge.events { $0["event"] == "complete" }
      #expect(events.map { $0["data.text"] } == ["3", "4", nil])
    }
  }

  @Test func `a user’s topic has their own stream, the site’s, and every conversation of theirs`() async throws {
    try await Village.open(.socket) { village in
      let talk = try await village.talk(.group, ["ada", "grace"])
      let other = try await village.talk(.group, ["ada", "linus"])
      let grace = try village.follow(as: "grace")
      let hello = try await grace.ask(["do": "hello", "topics": ["me"]])
      #expect(hello.bool("ok") == true && hello["user_id"] == village.id("grace") && hello.bool("complete") == true)
      try await village.say("not for her", in: other)
      let id = try await village.say("for her", in: talk)
      #expect(try await grace.event("message.created")["data.id"] == id)
      _ = try await village.ask(.put, "/messages/\(id)/actions/star", as: "grace")
      #expect(try await grace.next()["stream"] == "user:\(village.id("grace"))")
      _ = try await village.ask(.patch, "/users/\(village.id("linus"))", as: "linus", ["bio": "I knit."])
      #expect(try await grace.next()["stream"] == "site")
    }
  }

  @Test func `what one is added to is followed at once, and what one loses is not`() async throws {
    try await Village.open(.socket) { village in
      let made = try await village.ask(
        .post, "/conversations", as: "ada",
        ["kind": "group", "title": "plans", "participants": [village.id("linus")], "history_visible": false])
      let talk = try #require(made["id"], "\(made.text)")
      try await village.say("before her", in: talk)
      let grace = try village.follow("topics=me", as: "grace")
      _ = try await grace.event("complete")
      let path = "/conversations/\(talk)/participants/\(village.id("grace"))"
      #expect(try await village.ask(.put, path, as: "ada", [:]).status == 200)
      let created = try await grace.next { $0["event"] == "conversation.created" }
      #expect(created["stream"] == "user:\(village.id("grace"))")
      let first = try await village.say("with her", in: talk)
      #expect(try await grace.event("message.created")["data.id"] == first)
      #expect(try await village.ask(.delete, path, as: "ada").status == 204)
      _ = try await grace.event("conversation.removed")
      try await village.say("after her", in: talk)
      let cursor = try #require(first.isEmpty ? nil : created["id"])
      #expect(try await village.ask(.put, path, as: "ada", [:]).status == 200)
      _ = try await grace.event("conversation.created")
      let again = try await village.say("with her again", in: talk)
      #expect(try await grace.event("message.created")["data.id"] == again)
      // Who was away meanwhile learns the same, and nothing of what was said without them.
      let epoch = village.community.store.epoch
      let later = try village.follow("topics=me&after=\(epoch).\(cursor)", as: "grace")
      let events = try await later.events { $0["event"] == "complete" }
      #expect(!events.contains { $0.text.contains("after her") || $0.text.contains("before her") })
      #expect(events.compactMap { $0["data.text"] } == ["with her again"])
      #expect(events.count { $0["event"] == "conversation.removed" } == 1)
    }
  }

  @Test func `a forum that is closed is silent for who does not belong to it`() async throws {
    try await Village.open(.socket) { village in
      let (forum, room) = try await village.garden("garden", "members", members: ["linus"])
      let grace = try village.follow("topics=conversation:\(room),forum:\(forum)", as: "grace")
      let linus = try village.follow("topics=conversation:\(room)", as: "linus")
      _ = try await grace.event("complete")
      _ = try await linus.event("complete")
      try await village.say("open", in: room)
      #expect(try await grace.event("message.created")["data.text"] == "open")
      #expect(try await village.ask(.patch, "/forums/\(forum)", as: "ada", ["visibility": "private"]).status == 200)
      try await village.say("secret", in: room)
      #expect(try await linus.next { $0["data.text"] == "secret" }["event"] == "message.created")
      let lost = [try await grace.event("notice"), try await grace.event("notice")]
      #expect(Set(lost.map { $0["topic"] }) == ["conversation:\(room)", "forum:\(forum)"])
      #expect(try await grace.ask(["do": "ping"]).bool("ok") == true)
      let rest = try await grace.ask(["do": "subscribe", "topics": ["conversation:\(room)"]])
      #expect(rest["problem.code"] == "not_found" && !rest.text.contains("secret"))
      while grace.waitingCount > 0 { #expect(try await !grace.next().text.contains("secret")) }
    }
  }

  @Test func `what was said before one’s history is hidden, also when something is done to it`() async throws {
    try await Village.open(.socket) { village in
      let talk = try await village.talk(.group, ["grace", "linus"], fromSeq: ["linus": 2])
      let old = try await village.say("old words", in: talk, as: "grace")
      let linus = try village.follow("topics=me", as: "linus")
      _ = try await linus.event("complete")
      _ = try await village.ask(.patch, "/messages/\(old)", as: "grace", ["text": "old but new words"])
      _ = try await village.ask(.put, "/messages/\(old)/actions/like", as: "grace")
      let new = try await village.say("now", in: talk, as: "grace")
      let events = try await linus.events { $0["data.id"] == new }
      #expect(events.map { $0["event"] } == ["hidden", "hidden", "message.created"])
      #expect(events.map { $0.int("offset") } == [2, 3, 4] && !events.contains { $0.text.contains("old") })
    }
  }

  // MARK: Commands

  @Test func `commands follow the rules of the endpoints`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let grace = try village.follow(as: "grace")
      let sent = try await grace.ask(
        ["do": "send", "conversation_id": room, "text": "hello *all*", "client_id": "one"])
      let id = try #require(sent["message.id"], "\(sent.text)")
      #expect(sent.bool("created") == true && sent["message.text"] == "hello *all*")
      // The same send over another transport is the same message.
      let again = try await village.ask(
        .post, "/conversations/\(room)/messages", as: "grace", ["text": "hello *all*", "client_id": "one"])
      #expect(again.status == 200 && again["id"] == id)
      let other = try await grace.ask(["do": "send", "conversation_id": room, "text": "other", "client_id": "one"])
      #expect(other["problem.code"] == "client_id_reused" && other.int("problem.status") == 409)
      #expect(try await grace.ask(["do": "edit", "message_id": id, "text": "hi"])["message.text"] == "hi")
      #expect(
        try await grace.ask(["do": "edit", "message_id": id, "text": "x", "if_revision": 1])["problem.code"]
          == "conflict")
      let liked = try await grace.ask(["do": "set_action", "message_id": id, "type": "like"])
      #expect(liked.bool("message.actions.like.mine") == true)
      #expect(try await grace.ask(["do": "remove_action", "message_id": id, "type": "like"]).bool("ok") == true)
      let read = try await grace.ask(["do": "read", "conversation_id": room, "message_id": id])
      #expect(read.bool("ok") == true && read.has("read_position"))
      #expect(try await grace.ask(["do": "delete", "message_id": id]).bool("message.deleted") == true)
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
        let answer = try await grace.ask(command)
        #expect(answer["problem.code"] == code, "\(command) \(answer.text)")
      }
      #expect(try await grace.ask(["do": "ping"]).has("now"))
    }
  }

  @Test func `many commands at once are carried out and answered in their order`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      // Who is new is held to fewer an hour.
      let ada = try village.follow(as: "ada")
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

  @Test func `what is no command ends the socket, and a stranger’s ends by itself`() async throws {
    try await Village.open(.socket) { village in
      for text in ["", "{", "[]", "{\"do\":\"ping\"}", "{\"id\":null,\"do\":\"ping\"}", "{\"id\":{},\"do\":\"ping\"}"] {
        let grace = try village.follow(as: "grace")
        grace.send(text)
        #expect(try await grace.closed().code == 4502, "\(text)")
      }
      let began = village.now
      let nobody = try village.follow(as: nil)
      #expect(try await nobody.ask(["do": "ping"]).bool("ok") == true)
      #expect(try await nobody.ask(["do": "hello", "topics": ["me"]])["problem.code"] == "unauthenticated")
      village.pass(9, since: began)
      #expect(try await nobody.ask(["do": "ping"]).bool("ok") == true)
      village.pass(12)
      #expect(try await nobody.closed().code == 4500)
    }
  }

  @Test func `who comes in later says who they are`() async throws {
    try await Village.open(.socket) { village in
      let room = try await village.garden().room
      let socket = try village.follow(as: nil)
      let hello = try await socket.ask(
        ["do": "hello", "token": village.token("grace"), "topics": ["conversation:\(room)"]])
      #expect(hello.bool("complete") == true && hello["user_id"] == village.id("grace"))
      let id = try await village.say("hello", in: room)
      #expect(try await socket.event("message.created")["data.id"] == id)
      village.pass(30)
      #expect(try await socket.ask(["do": "ping"]).bool("ok") == true)
      let other = try await socket.ask(["do": "hello", "token": village.token("linus")])
      #expect(other["problem.code"] == "conflict")
    }
  }

  // MARK: Ways in

  @Test func `a page of another origin can’t use the cookie, and a token that writes has no place in the address`()
    async throws
  {
    try await Village.open(.inMemory) { village in
      let cookie = "parley=\(village.token("grace"))"
      for (origin, status) in [("https://evil.example", 403), ("", 403)] {
        var fields = Fields(["Cookie": cookie])
        if !origin.isEmpty { fields.add("Origin", origin) }
        #expect(try await village.ask(.get, "/realtime", fields: fields).status == status)
      }
      let token = "parley.v1, parley.token.\(village.token("grace"))"
      #expect(
        try await village.ask(.get, "/realtime", fields: ["Sec-WebSocket-Protocol": token]).status == 401)
      let made = try await village.ask(.post, "/me/tokens", as: "grace", ["name": "reader", "scope": "read"])
      let reader = try #require(made["token"], "\(made.text)")
      #expect(
        try await village.ask(
          .get, "/realtime", fields: ["Sec-WebSocket-Protocol": "parley.v1, parley.token.\(reader)"]
        )
        .status == 101)
      #expect(try await village.ask(.get, "/realtime?topics=all", as: "grace").status == 400)
      #expect(try await village.ask(.get, "/realtime", fields: ["Authorization": "Bearer x"]).status == 401)
    }
  }

  @Test func `a way in that has ended ends its sockets, and no other`() async throws {
    try await Village.open(.socket) { village in
      let made = try await village.ask(.post, "/me/tokens", as: "grace", ["name": "program", "scope": "write"])
      let (token, id) = (try #require(made["token"]), try #require(made["id"]))
      let program = try village.follow("topics=me", as: nil, fields: ["Authorization": "Bearer \(token)"])
      let grace = try village.follow("topics=me", as: "grace")
      let linus = try village.follow("topics=me", as: "linus")
      for client in [program, grace, linus] { _ = try await client.event("complete") }
      #expect(try await village.ask(.delete, "/me/tokens/\(id)", as: "grace").status == 204)
      #expect(try await program.closed().code == 4501)
      #expect(try await grace.ask(["do": "ping"]).bool("ok") == true)
      #expect(try await village.ask(.delete, "/sessions/current", as: "grace").status == 204)
      #expect(try await grace.closed().code == 4501)
      #expect(
        try await village.ask(.patch, "/users/\(village.id("linus"))", as: "ada", ["disabled": true]).status == 200)
      #expect(try await linus.closed().code == 4501)
    }
  }

  // MARK: What passes

  @Test func `that somebody writes is told to the others, and ends by itself`() async throws {
    try await Village.open(.socket) { village in
      let talk = try await village.talk(.group, ["ada", "grace", "linus"])
      let (grace, linus) = (try village.follow("topics=me", as: "grace"), try village.follow("topics=me", as: "linus"))
      _ = try await grace.event("complete")
      _ = try await linus.event("complete")
      for _ in 0..<3 {
        #expect(try await grace.ask(["do": "typing", "conversation_id": talk]).bool("ok") == true)
      }
      let typing = try await linus.next()
      #expect(typing["event"] == "typing" && typing["data.user_id"] == village.id("grace"))
      #expect(typing.bool("data.typing") == true && typing["data.conversation_id"] == talk && !typing.has("offset"))
      village.pass(60)
      #expect(try await linus.next().bool("data.typing") == false)
      #expect(try await village.ask(.post, "/conversations/\(talk)/typing", as: "grace").status == 204)
      #expect(try await linus.event("typing").bool("data.typing") == true)
      try await village.say("done", in: talk, as: "grace")
      let ends = [try await linus.next(), try await linus.next()]
      #expect(Set(ends.map { $0["event"] }) == ["typing", "message.created"])
      #expect(try await grace.event("message.created")["data.text"] == "done" && grace.waitingCount == 0)
      let gus = try village.follow(as: "gus")
      #expect(try await gus.ask(["do": "typing", "conversation_id": talk])["problem.code"] == "not_found")
    }
  }

  @Test func `programs tell each other what nobody keeps`() async throws {
    try await Village.open(.socket) { village in
      let (grace, linus) = (try village.follow(as: "grace"), try village.follow(as: "linus"))
      #expect(try await linus.ask(["do": "subscribe", "topics": ["app:chess", "presence"]]).bool("complete") == true)
      let told = try await grace.ask(["do": "publish", "topic": "app:chess", "data": ["move": "e4"]])
      #expect(told.bool("ok") == true, "\(told.text)")
      let event = try await linus.event("app")
      #expect(event["topic"] == "app:chess" && event["data.data.move"] == "e4")
      #expect(event["data.user_id"] == village.id("grace"))
      #expect(try await linus.ask(["do": "unsubscribe", "topics": ["app:chess"]]).bool("ok") == true)
      _ = try await grace.ask(["do": "publish", "topic": "app:chess", "data": 2])
      let large = try await grace.ask(
        ["do": "publish", "topic": "app:chess", "data": String(repeating: "x", count: 20_000)])
      #expect(large["problem.errors.0.code"] == "too_long")
      #expect(
        try await village.follow(as: "gus").ask(["do": "publish", "topic": "app:x", "data": 1])["problem.code"]
          == "forbidden")
      #expect(try await linus.ask(["do": "ping"]).bool("ok") == true)
      #expect(try await linus.next { $0["event"] == "app" || $0["event"] == "presence" }["event"] == "presence")
    }
  }

  @Test func `who is here is seen, unless they do not want to be`() async throws {
    try await Village.open(.socket) { village in
      let linus = try village.follow("topics=presence", as: "linus")
      _ = try await linus.event("complete")
      func seen(_ name: String) -> (Answer) -> Bool {
        let id = village.id(name)
        return { $0["event"] == "presence" && $0["data.user_id"] == id }
      }
      #expect(try await linus.next(seen("linus"))["data.presence"] == "online")
      let grace = try village.follow(as: "grace")
      #expect(try await linus.next(seen("grace"))["data.presence"] == "online")
      #expect(try await grace.ask(["do": "presence", "state": "away"]).bool("ok") == true)
      #expect(try await linus.next(seen("grace"))["data.presence"] == "away")
      #expect(try await village.ask(.patch, "/me", as: "grace", ["show_presence": false]).status == 200)
      #expect(try await linus.next(seen("grace"))["data.presence"] == "offline")
      #expect(try await grace.ask(["do": "presence", "state": "online"]).bool("ok") == true)
      let mira = try village.follow("topics=presence", as: "mira")
      #expect(try await linus.next(seen("mira"))["data.presence"] == "online")
      _ = try await mira.event("complete")
      mira.leave()
      // That she has left is noticed when her loop comes to it.
      var told: Answer?
      for _ in 1...2_000 where told == nil {
        village.pass(3_600)
        told = try? await linus.next(within: 0.1, seen("mira"))
      }
      let gone = try #require(told)
      #expect(gone["data.presence"] == "offline" && gone["data.last_seen_at"] != nil)
      #expect(linus.waitingCount == 0)
    }
  }

  @Test func `who follows a forum hears where somebody writes, and not what`() async throws {
    try await Village.open(.socket) { village in
      let (forum, _) = try await village.garden("garden", "public")
      let grace = try village.follow("topics=forum:\(forum)", as: "grace")
      _ = try await grace.event("complete")
      let topic = try await village.topic("seeds", in: forum)
      #expect(try await grace.event("conversation.created")["stream"] == "forum:\(forum)")
      let id = try await village.say("which?", in: topic)
      let activity = try await grace.event("forum.activity")
      #expect(activity["data.conversation_id"] == topic && activity["data.last_message_id"] == id)
      #expect(!activity.text.contains("which?"))
    }
  }

  // MARK: The slow

  @Test func `who takes nothing is told where they lag, and holds up nobody`() async throws {
    try await Village.open(.socket) { village in
      let talk = try await village.talk(.group, ["ada", "grace", "linus"])
      let (slow, quick) = (try village.follow("topics=me", as: "grace"), try village.follow("topics=me", as: "linus"))
      _ = try await slow.event("complete")
      _ = try await quick.event("complete")
      slow.pause()
      let text = String(repeating: "a long story. ", count: 1_100)
      var ids: [String] = []
      for _ in 0..<700 { ids.append(try await village.say(text, in: talk)) }
      for id in ids { #expect(try await quick.event("message.created")["data.id"] == id) }
      slow.resume()
      let lagging = try await slow.event("lagging")
      #expect(lagging["stream"] == "conversation:\(talk)")
      // What it has is the beginning, and the rest is there to be asked for.
      let offset = try #require(lagging.int("last_offset"))
      var had: [Int] = []
      while slow.waitingCount > 0 { had.append(try await slow.next().int("offset") ?? 0) }
      #expect(had.last == offset && had == Array((had.first ?? 0)...offset))
      let cursor = try await village.cursor(as: "grace")
      let epoch = village.community.store.epoch
      let page = try await village.ask(
        .get, "/streams/conversation:\(talk)/events?after_offset=\(offset - 1)&limit=1", as: "grace")
      let from = try #require(page["data.0.id"])
      slow.send(
        #"{"id":"again","do":"subscribe","topics":[{"topic":"conversation:\#(talk)","cursor":"\#(epoch).\#(from)"}]}"#)
      let rest = try await slow.events { $0["data.id"] == ids.last }
      #expect(rest.map { $0.int("offset") } == Array((offset + 1)...(offset + rest.count)).map(Optional.some))
      let done = try await slow.next { $0["re"] == "again" }
      #expect(done["cursor"] == cursor)
      let live = try await village.say("live", in: talk)
      #expect(try await slow.event("message.created")["data.id"] == live)
    }
  }

  @Test func `who takes nothing for long is sent away, to come back`() async throws {
    // So that the server waits for as long as it takes until the last word is heard.
    let stopped = ParleyNetworking.Clock.monotonic()
    try await Village.open(.socket, loops: { stopped }) { village in
      let talk = try await village.talk(.group, ["ada", "grace"])
      let slow = try village.follow("topics=me", as: "grace")
      _ = try await slow.event("complete")
      slow.pause()
      let text = String(repeating: "a long story. ", count: 1_100)
      for _ in 0..<700 { try await village.say(text, in: talk) }
      // New connections go where there are fewest, so there is one on each loop, to say what it has heard of the time.
      let others = try (0..<4).map { _ in try village.follow(as: "linus") }
      var second = 0
      for _ in 0..<20 {
        second += 40
        let time = village.pass(second)
        for other in others {
          while try await other.ask(["do": "ping"])["now"] ?? "" < Timestamp.format(Int(time)) {
            second += 1
            village.pass(second)
            try await Task.sleep(for: .milliseconds(5))
          }
        }
      }
      slow.resume()
      #expect(try await slow.closed().code == 4000)
    }
  }

  /// `PARLEY_STAMPEDE` sets how many.
  @Test func `when all come back at once each is told everything`() async throws {
    _ = DescriptorLimit.raise()
    let count = ProcessInfo.processInfo.environment["PARLEY_STAMPEDE"].flatMap { Int($0) } ?? 1_000
    try await Village.open(.socket) { village in
      let room = try await village.garden("garden", "public").room
      let cursor = try await village.cursor("conversation:\(room)", as: nil)
      let before = try (0..<count).map { _ in
        try village.follow("topics=conversation:\(room)&after=\(cursor)", as: "grace")
      }
      for client in before { _ = try await client.next(within: 120) { $0["event"] == "complete" } }
      for client in before { client.leave() }
      var ids: [String] = []
      for number in 0..<20 { ids.append(try await village.say("\(number)", in: room)) }
      let began = ContinuousClock.now
      let clients = try (0..<count).map { _ in
        try village.follow("topics=conversation:\(room)&after=\(cursor)", as: "grace")
      }
      for client in clients {
        _ = try await client.next(within: 120) { $0["event"] == "complete" }
        var got: [String?] = []
        while client.waitingCount > 0 { got.append(try await client.next()["data.id"]) }
        #expect(got == ids)
      }
      let time = ContinuousClock.now - began
      let live = try await village.say("live", in: room)
      for client in clients { #expect(try await client.event("message.created")["data.id"] == live) }
      print("\(count) clients came back and had 20 events each after \(time)")
    }
  }
}
