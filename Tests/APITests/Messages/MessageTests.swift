import Foundation
import ParleyModel
import Testing

@testable import API

@Suite struct MessageTests {
  // MARK: Saying

  @Test(arguments: Way.allCases)
  func `what is said is stored as it was sent, with what it names`(way: Way) async throws {
    try await Village.open(way) { village in
      let (forum, room) = try await village.garden()
      var answer: Answer?
      let events = try await village.events {
        answer = try await village.ask(
          .post, "/conversations/\(room)/messages", as: "grace",
          [
            "text": "🍕 party! #Food @Linus https://example.org @nobody.here", "client_id": "one",
            "sent_at": "2020-01-02T03:04:05.006Z", "annotations": [["type": "com.example.todo", "value": ["done": 1]]],
          ])
      }
      let said = try #require(answer)
      #expect(said.status == 201, "\(said.text)")
      let linus = village.id("linus")
      #expect(events == ["message.created conversation:\(room) #1", "notification.created user:\(linus)"])
      #expect(said["conversation_id"] == room && said["author_id"] == village.id("grace"))
      #expect(said["client_id"] == "one" && said.int("seq") == 1 && said.isNull("previous_message"))
      #expect(said["text"] == "🍕 party! #Food @Linus https://example.org @nobody.here")
      #expect(said["sent_at"] == "2020-01-02T03:04:05.006Z" && said["status"] == "delivered")
      #expect(said.int("revision") == 1 && said.bool("deleted") == false && said.isNull("edited_at"))
      #expect(said.count("entities.mentions") == 1)
      #expect(said.int("entities.mentions.0.pos") == 15 && said.int("entities.mentions.0.len") == 6)
      #expect(said["entities.mentions.0.user_id"] == village.id("linus"))
      #expect(said["entities.mentions.0.name"] == "Linus")
      #expect(said.int("entities.hashtags.0.pos") == 9 && said["entities.hashtags.0.name"] == "Food")
      #expect(said["entities.links.0.url"] == "https://example.org" && said.int("entities.links.0.pos") == 22)
      #expect(said["annotations.0.type"] == "com.example.todo" && said.int("annotations.0.value.done") == 1)
      let id = try #require(said["id"])
      #expect(try await village.ask(.get, "/messages/\(id)", as: "grace").body == said.body)
      #expect(try await village.ask(.get, "/forums/\(forum)", as: "grace")["last_message_id"] == id)
      let next = try await village.ask(.post, "/conversations/\(room)/messages", as: "ada", ["text": "yes"])
      #expect(next.int("seq") == 2 && next["previous_message"] == id)
    }
  }

  @Test func `a send that is repeated is one message, and another send under its name is refused`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden()
      let other = try await village.garden("kitchen").room
      let file = try await village.upload("a.png", by: "grace")
      let draft: [String: Any] = ["text": "seeds", "client_id": "one"]
      let path = "/conversations/\(room)/messages"
      let first = try await village.ask(.post, path, as: "grace", draft)
      for _ in 0..<2 {
        let events = try await village.events {
          let again = try await village.ask(.post, path, as: "grace", draft)
          #expect(again.status == 200 && again["id"] == first["id"])
        }
        #expect(events == [])
      }
      let changes: [[String: Any]] = [
        ["text": "weeds"], ["reply_to": first["id"] ?? ""], ["attachments": [file]],
        ["annotations": [["type": "a.b", "value": [:]]]],
      ]
      for change in changes {
        let reused = try await village.ask(.post, path, as: "grace", draft.merging(change) { $1 })
        #expect(reused.status == 409 && reused.code == "client_id_reused", "\(change)")
      }
      let elsewhere = try await village.ask(.post, "/conversations/\(other)/messages", as: "grace", draft)
      #expect(elsewhere.status == 409 && elsewhere.code == "client_id_reused")
      // Names are each author's own.
      #expect(try await village.ask(.post, path, as: "linus", draft).status == 201)
      // Once it was edited nothing is compared.
      let id = first["id"] ?? ""
      #expect(try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "trees"]).status == 200)
      let after = try await village.ask(.post, path, as: "grace", ["text": "else", "client_id": "one"])
      #expect(after.status == 200 && after["id"] == id && after["text"] == "trees")
    }
  }

  @Test func `a repeated send has arrived, whatever was decided since`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      let draft: [String: Any] = ["text": "seeds", "client_id": "one"]
      let path = "/conversations/\(room)/messages"
      let first = try await village.ask(.post, path, as: "grace", draft)
      #expect(try await village.ask(.patch, "/forums/\(forum)", as: "ada", ["locked": true]).status == 200)
      let again = try await village.ask(.post, path, as: "grace", draft)
      #expect(again.status == 200 && again["id"] == first["id"])
      let more = try await village.ask(.post, path, as: "grace", ["text": "more", "client_id": "two"])
      #expect(more.status == 403 && more.code == "forbidden")
      #expect(try await village.ask(.post, path, as: "mira", ["text": "order"]).status == 201)
    }
  }

  @Test func `where it is slow users wait, those who keep order don’t`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (forum, room) = try await village.garden()
      #expect(try await village.ask(.patch, "/forums/\(forum)", as: "ada", ["slow_seconds": 30]).status == 200)
      let path = "/conversations/\(room)/messages"
      let draft: [String: Any] = ["text": "one", "client_id": "one"]
      #expect(try await village.ask(.post, path, as: "grace", draft).status == 201)
      clock.add(10_000)
      let early = try await village.ask(.post, path, as: "grace", ["text": "two"])
      #expect(early.status == 429 && early.code == "rate_limited" && early.int("params.seconds") == 20)
      #expect(early.fields["retry-after"] == "20" && early.fields["ratelimit-reset"] == "20")
      #expect(early.fields["ratelimit-limit"] == "1" && early.fields["ratelimit-remaining"] == "0")
      // What is only sent again was said already.
      #expect(try await village.ask(.post, path, as: "grace", draft).status == 200)
      #expect(try await village.ask(.post, path, as: "linus", ["text": "mine"]).status == 201)
      for _ in 0..<2 { #expect(try await village.ask(.post, path, as: "mira", ["text": "order"]).status == 201) }
      clock.add(20_000)
      #expect(try await village.ask(.post, path, as: "grace", ["text": "two"]).status == 201)
    }
  }

  @Test(arguments: [
    ("text", #"{"text":""}"#, "too_short"),
    ("text", #"{}"#, "too_short"),
    ("text", #"{"text":"a\u0000b"}"#, "invalid"),
    ("text", #"{"text":7}"#, "wrong_type"),
    ("client_id", #"{"text":"a","client_id":""}"#, "too_short"),
    ("client_id", #"{"text":"a","client_id":"\#(String(repeating: "x", count: 65))"}"#, "too_long"),
    ("client_id", #"{"text":"a","client_id":"\u0000"}"#, "invalid"),
    ("reply_to", #"{"text":"a","reply_to":"999999"}"#, "mismatch"),
    ("reply_to", #"{"text":"a","reply_to":"01"}"#, "invalid"),
    ("reply_to", #"{"text":"a","reply_to":5}"#, "wrong_type"),
    ("catch_up_after", #"{"text":"a","catch_up_after":"999999"}"#, "mismatch"),
    ("attachments", #"{"text":"a","attachments":["999999"]}"#, "unknown"),
    ("attachments", #"{"text":"a","attachments":["9","9"]}"#, "invalid"),
    ("attachments", #"{"text":"a","attachments":"9"}"#, "wrong_type"),
    ("sent_at", #"{"text":"a","sent_at":"yesterday"}"#, "invalid"),
    ("annotations", #"{"text":"a","annotations":{}}"#, "wrong_type"),
    ("annotations[0].value", #"{"text":"a","annotations":[{"type":"a.b"}]}"#, "missing"),
    ("annotations[0].value", #"{"text":"a","annotations":[{"type":"a.b","value":1}]}"#, "wrong_type"),
    ("annotations[0].more", #"{"text":"a","annotations":[{"type":"a.b","value":{},"more":1}]}"#, "unknown_field"),
    ("annotations[0].type", #"{"text":"a","annotations":[{"type":"todo","value":{}}]}"#, "invalid"),
    ("annotations[0].type", #"{"text":"a","annotations":[{"type":"a..b","value":{}}]}"#, "invalid"),
    ("annotations[0].type", #"{"text":"a","annotations":[{"type":"net.app.core.mine","value":{}}]}"#, "invalid"),
    ("annotations[0].type", #"{"text":"a","annotations":[{"type":"io.pnut.core.mine","value":{}}]}"#, "invalid"),
    (
      "annotations[0].value.latitude",
      #"{"text":"a","annotations":[{"type":"net.app.core.geolocation","value":{"latitude":91,"longitude":0}}]}"#,
      "out_of_range"
    ),
    ("colour", #"{"text":"a","colour":"red"}"#, "unknown_field"),
  ])
  func `a send that can’t be taken is refused by the field’s name`(
    field: String, body: String, code: String
  ) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let events = try await village.events {
        let answer = try await village.send(.post, "/conversations/\(room)/messages", as: "grace", Array(body.utf8))
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer["errors.0.field"] == field && answer["errors.0.code"] == code, "\(answer.text)")
      }
      #expect(events == [])
    }
  }

  @Test func `each limit of a message is its last good value`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      try await village.decide(["newcomers": ["days": 0, "messages": 0]])
      let value = String(repeating: "v", count: 8_192 - #"[{"type":"a.b","value":{"k":""}}]"#.utf8.count)
      let rows: [(fits: [String: Any], over: [String: Any])] = [
        (["text": String(repeating: "🍕", count: 16_000)], ["text": String(repeating: "🍕", count: 16_001)]),
        (
          ["text": "a", "annotations": [["type": "a.b", "value": ["k": value]]]],
          ["text": "a", "annotations": [["type": "a.b", "value": ["k": value + "v"]]]]
        ),
        (
          ["text": String(repeating: "#a ", count: 500)], ["text": String(repeating: "#a ", count: 501)]
        ),
        (
          ["text": (0..<50).map { "@n\($0)" }.joined(separator: " ")],
          ["text": (0..<51).map { "@n\($0)" }.joined(separator: " ")]
        ),
      ]
      for (fits, over) in rows {
        let good = try await village.ask(.post, path, as: "grace", fits)
        #expect(good.status == 201, "\(good.text.prefix(200))")
        let bad = try await village.ask(.post, path, as: "grace", over)
        #expect(bad.status == 400 && bad.code == "invalid", "\(bad.text.prefix(200))")
      }
    }
  }

  @Test(arguments: [
    "{", "[]", "null", "\u{feff}{}", #"{"text":"a","text":"b"}"#, #"{"text":"\ud800"}"#, #"{"text":"a",}"#,
    #"{"text":"\#u{1}"}"#, String(repeating: "[", count: 100_000),
    #"{"annotations":"# + String(repeating: "[", count: 90),
  ])
  func `a body that is no message changes nothing`(body: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let events = try await village.events {
        let answer = try await village.send(.post, "/conversations/\(room)/messages", as: "grace", Array(body.utf8))
        #expect(answer.status == 400, "\(answer.text)")
      }
      #expect(events == [])
    }
  }

  @Test func `bytes that are no text are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      for bytes: [UInt8] in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]] {
        let body = Array(#"{"text":""#.utf8) + bytes + Array(#""}"#.utf8)
        #expect(try await village.send(.post, "/conversations/\(room)/messages", as: "grace", body).status == 400)
      }
    }
  }

  static let naughty = [
    " ", "\t", "\n", "\r\n", "undefined", "null", "NaN", "'; drop table message; --", "$1", "%s%n",
    "<script>alert(1)</script>",
    "../../../../etc/passwd", "\u{1}\u{2}\u{7f}\u{85}", "not first: \u{feff}", "\u{200b}\u{200e}\u{202e}rtl",
    "a\u{0301}\u{0301}",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘", "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪", "ﷺ", "田中さん", "한국어", "שלום", "مرحبا", "𝕱𝖗𝖆𝖐𝖙𝖚𝖗",
    "\u{10ffff}\u{fffe}\u{e000}", "\"\\/\u{8}\u{c}", "{\"text\":1}", "@@ada ##tag ```", "[x](javascript:alert(1))",
    "`@ada`",
    "|||", "- [ ]", "ＡＢＣ", "İıſK", "\u{2028}\u{2029}", "𐐀\u{fe0f}",
  ]

  @Test(arguments: Way.allCases)
  func `texts that others trip over come back byte for byte`(way: Way) async throws {
    try await Village.open(way) { village in
      let room = try await village.garden().room
      for text in Self.naughty { try await village.say(text, in: room, as: "grace") }
      let page = try await village.ask(.get, "/conversations/\(room)/messages?order=asc&html=true", as: "grace")
      let found = page.texts("data", "text")
      #expect(found.count == Self.naughty.count)
      for (text, sent) in zip(found, Self.naughty) { #expect(text.map { Array($0.utf8) } == Array(sent.utf8)) }
    }
  }

  @Test func `a topic’s users are who writes in it and whom they call, and who writes follows it`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "private", members: ["grace", "linus"])
      let topic = try await village.topic("roses", in: forum)
      let first = try await village.events {
        // Robo may not read this forum, so calling them rings nobody.
        try await village.say("@linus @robo @grace look", in: topic, as: "grace")
      }
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      #expect(
        first == [
          "message.created conversation:\(topic) #1", "participant.joined conversation:\(topic)",
          "conversation.created user:\(grace)", "level.changed user:\(grace)",
          "participant.joined conversation:\(topic)", "conversation.created user:\(linus)",
          "notification.created user:\(linus)",
        ])
      let second = try await village.events { try await village.say("again @linus", in: topic, as: "grace") }
      #expect(second == ["message.created conversation:\(topic) #1", "notification.created user:\(linus)"])
      let mentions = try await village.rows("select '' || user_id from mention group by user_id order by user_id")
      #expect(mentions == [grace, linus])
    }
  }

  @Test func `who is drawn into a topic has read what was said before, and may read it`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "members", members: ["grace", "linus", "mira"])
      let topic = try await village.topic("roses", in: forum)
      for number in 1...3 { try await village.say("rose \(number)", in: topic, as: "grace") }
      func unread(_ name: String) async throws -> Int? {
        try await village.ask(.get, "/conversations/\(topic)", as: name).int("unread_count")
      }
      // Who was called has that message to read, and who wrote nothing.
      let call = try await village.say("@linus which?", in: topic, as: "grace")
      #expect(try await unread("linus") == 1)
      try await village.say("the red one", in: topic, as: "mira")
      #expect(try await unread("mira") == 0)
      #expect(try await unread("linus") == 2)
      // An edit draws in as though it had been said so at first.
      _ = try await village.ask(.patch, "/messages/\(call)", as: "grace", ["text": "@linus @robo which?"])
      #expect(try await unread("robo") == 2)
      let page = try await village.ask(.get, "/conversations/\(topic)/messages", as: "linus")
      #expect(page.count("data") == 5 && page.count("skipped") == 0)
    }
  }

  @Test func `what is for machines may be empty, and is not said between two users`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let said = try await village.ask(
        .post, "/conversations/\(room)/messages", as: "robo", ["machine_only": true])
      #expect(said.status == 201 && said.bool("machine_only") == true && said["text"] == "")
      let talk = try await village.talk(.direct, ["grace", "linus"])
      let refused = try await village.ask(
        .post, "/conversations/\(talk)/messages", as: "grace", ["machine_only": true, "text": "x"])
      #expect(refused.status == 400 && refused["errors.0.field"] == "machine_only")
    }
  }

  @Test func `only one’s own files can be attached, and a picture needs no words`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      let (own, other) = (
        try await village.upload("a.png", by: "grace"), try await village.upload("b.png", by: "linus")
      )
      let said = try await village.ask(.post, path, as: "grace", ["attachments": [own]])
      #expect(said.status == 201 && said["attachments.0"] == own && said["text"] == "")
      let stolen = try await village.ask(.post, path, as: "grace", ["attachments": [other], "text": "mine"])
      #expect(stolen.status == 400 && stolen["errors.0.code"] == "unknown")
      let id = said["id"] ?? ""
      let empty = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["attachments": []])
      #expect(empty.status == 400 && empty["errors.0.code"] == "too_short")
      let words = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["attachments": [], "text": "gone"])
      #expect(words.status == 200 && words.count("attachments") == 0 && words.int("revision") == 2)
    }
  }

  @Test(arguments: [
    (["net.app.core.geolocation", "net.app.ohai.location", "net.app.core.checkin"], "checkin"),
    (["net.app.core.geolocation", "net.app.ohai.location"], "location"),
    (["net.app.core.geolocation"], "geolocation"),
    (["com.example.geolocation"], nil),
  ])
  func `the place of a message is the first kind that there is`(types: [String], place: String?) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let annotations = types.map { type in
        [
          "type": type,
          "value": [
            "name": type.split(separator: ".").last.map(String.init) ?? "", "latitude": 48.1, "longitude": -0.5,
          ],
        ] as [String: Any]
      }
      try await village.say("here", in: room, as: "grace", ["annotations": annotations])
      #expect(try await village.rows("select name from location") == (place.map { [$0] } ?? []))
    }
  }

  @Test func `a send brings what came after the last message that the sender had`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      let seen = try await village.say("one", in: room)
      try await village.say("two", in: room)
      try await village.say("three", in: room, as: "robo", ["machine_only": true])
      let said = try await village.ask(.post, path, as: "grace", ["text": "four", "catch_up_after": seen])
      #expect(said.status == 201)
      #expect(said.texts("catch_up.data", "text") == ["two", "three", "four"])
      #expect(said.bool("catch_up.more") == false)
      for number in 0..<101 { try await village.say("\(number)", in: room) }
      let more = try await village.ask(.post, path, as: "grace", ["text": "last", "catch_up_after": said["id"] ?? ""])
      #expect(more.count("catch_up.data") == 100 && more.bool("catch_up.more") == true)
      #expect(more["catch_up.data.0.previous_message"] == said["id"])
      let other = try await village.say("elsewhere", in: village.garden("kitchen").room)
      let wrong = try await village.ask(.post, path, as: "grace", ["text": "x", "catch_up_after": other])
      #expect(wrong.status == 400 && wrong["errors.0.field"] == "catch_up_after")
    }
  }

  // MARK: Editing and deleting

  @Test(arguments: Way.allCases)
  func `an author edits, and what was said before is kept until it is deleted`(way: Way) async throws {
    try await Village.open(way) { village in
      let (_, room) = try await village.garden()
      let id = try await village.say("one @linus", in: room, as: "grace")
      let edited = try await village.events {
        let answer = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "two", "if_revision": 1])
        #expect(answer.status == 200 && answer["text"] == "two" && answer.int("revision") == 2)
        #expect(answer["edited_by"] == village.id("grace") && answer.count("entities.mentions") == 0)
      }
      #expect(edited == ["message.edited conversation:\(room) #2"])
      let same = try await village.events {
        let answer = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "two"])
        #expect(answer.status == 200 && answer.int("revision") == 2)
      }
      #expect(same == [])
      let late = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "three", "if_revision": 1])
      #expect(late.status == 409 && late.code == "conflict" && late["current.text"] == "two")
      let revisions = try await village.ask(.get, "/messages/\(id)/revisions", as: "grace")
      #expect(revisions.texts("data", "text") == ["one @linus"] && revisions.int("data.0.revision") == 1)
      #expect(try await village.ask(.get, "/messages/\(id)/revisions", as: "mira").status == 200)
      #expect(try await village.ask(.get, "/messages/\(id)/revisions", as: "linus").status == 403)
      #expect(try await village.ask(.delete, "/messages/\(id)/revisions/1", as: "linus").status == 403)
      let forgotten = try await village.events {
        let answer1 = try await village.ask(.delete, "/messages/\(id)/revisions/1", as: "grace")
        #expect(answer1.status == 204)
        let answer2 = try await village.ask(.delete, "/messages/\(id)/revisions/1", as: "grace")
        #expect(answer2.status == 204)
      }
      #expect(forgotten == ["message.edited conversation:\(room) #3"])
      #expect(try await village.ask(.get, "/messages/\(id)/revisions", as: "grace").count("data") == 0)
    }
  }

  @Test func `earlier texts are everyone’s where the forum says so`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public")
      let id = try await village.say("one", in: room, as: "grace")
      _ = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "two"])
      #expect(try await village.ask(.get, "/messages/\(id)/revisions").status == 401)
      _ = try await village.ask(.patch, "/forums/\(forum)", as: "ada", ["shows_revisions": true])
      let answer = try await village.ask(.get, "/messages/\(id)/revisions")
      #expect(answer.texts("data", "text") == ["one"])
    }
  }

  @Test(arguments: Way.allCases)
  func `a deleted message leaves a tombstone, for good`(way: Way) async throws {
    try await Village.open(way) { village in
      let room = try await village.garden().room
      let id = try await village.say("oops", in: room, as: "grace", ["client_id": "c"])
      let events = try await village.events {
        for _ in 0..<2 {
          let answer = try await village.ask(.delete, "/messages/\(id)", as: "grace")
          #expect(answer.status == 200 && answer.bool("deleted") == true && answer["deletion"] == "author")
          #expect(answer["deleted_by"] == village.id("grace") && answer.int("seq") == 1 && !answer.has("text"))
          for name in ["entities", "annotations", "attachments", "actions", "sent_at", "status", "html"] {
            #expect(!answer.has(name), "\(name)")
          }
        }
      }
      #expect(events == ["message.deleted conversation:\(room) #2"])
      let edit = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "back"])
      #expect(edit.status == 410 && edit.code == "gone")
      #expect(try await village.ask(.post, "/messages/\(id)/restore", as: "mira").status == 410)
      let page = try await village.ask(.get, "/conversations/\(room)/messages", as: "linus")
      #expect(page.bool("data.0.deleted") == true && !page.text.contains("oops"))
    }
  }

  @Test(arguments: Way.allCases)
  func `a moderator removes with a reason, and restores`(way: Way) async throws {
    try await Village.open(way) { village in
      let room = try await village.garden().room
      let id = try await village.say("rude", in: room, as: "grace")
      #expect(try await village.ask(.post, "/messages/\(id)/remove", as: "linus").status == 403)
      #expect(try await village.ask(.delete, "/messages/\(id)", as: "mira").status == 403)
      let events = try await village.events {
        for _ in 0..<2 {
          let gone = try await village.ask(.post, "/messages/\(id)/remove", as: "mira", ["reason": "not here"])
          #expect(gone.status == 200 && gone["deletion"] == "moderator" && gone["reason"] == "not here")
        }
        let answer3 = try await village.ask(.post, "/messages/\(id)/restore", as: "grace")
        #expect(answer3.status == 403)
        for _ in 0..<2 {
          let back = try await village.ask(.post, "/messages/\(id)/restore", as: "mira")
          #expect(back.status == 200 && back["text"] == "rude" && back.int("revision") == 3)
        }
      }
      #expect(events == ["message.deleted conversation:\(room) #2", "message.restored conversation:\(room) #3"])
      #expect(
        try await village.rows("select action || ' ' || coalesce(reason, '-') from audit where subject = \(id)")
          == ["message.removed not here", "message.restored -"])
    }
  }

  // MARK: Reading

  @Test func `messages by their ids come in the order of the ids, as often, and only what one may read`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let hidden = try await village.garden("secret", "private").room
      let (one, two) = (try await village.say("one", in: room), try await village.say("two", in: room))
      let secret = try await village.say("secret", in: hidden)
      let answer = try await village.ask(.get, "/messages?ids=\(two),%20\(one),\(secret),999999,\(two)", as: "grace")
      #expect(answer.texts("data", "text") == ["two", "one", "two"])
      #expect(try await village.ask(.get, "/messages?ids=\(two),x", as: "grace").status == 400)
      #expect(try await village.ask(.get, "/messages", as: "grace")["errors.0.code"] == "missing")
      let many = Array(repeating: one, count: 200).joined(separator: ",")
      #expect(try await village.ask(.get, "/messages?ids=\(many)", as: "grace").count("data") == 200)
      let over = try await village.ask(.get, "/messages?ids=\(many),\(one)", as: "grace")
      #expect(over.status == 400 && over["errors.0.code"] == "too_many")
    }
  }

  @Test func `answers to a message come page by page`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let root = try await village.say("who?", in: room)
      for number in 0..<5 { try await village.say("\(number)", in: room, as: "grace", ["reply_to": root]) }
      try await village.say("aside", in: room)
      let first = try await village.ask(.get, "/messages/\(root)/replies?limit=3", as: "linus")
      #expect(first.texts("data", "text") == ["0", "1", "2"] && first.bool("more") == true)
      let rest = try await village.ask(
        .get, "/messages/\(root)/replies?limit=3&next=\(first["next"] ?? "")", as: "linus")
      #expect(rest.texts("data", "text") == ["3", "4"] && rest.bool("more") == false && rest.isNull("next"))
    }
  }

  @Test func `HTML comes when it is asked for, also of long texts`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let short = try await village.say("*hi* <b>", in: room)
      let long = try await village.say(String(repeating: "**long** ", count: 1_500), in: room)
      let one = try await village.ask(.get, "/messages/\(short)?html=true", as: "grace")
      #expect(one["html"] == "<p><em>hi</em> &lt;b&gt;</p>\n")
      #expect(try await village.ask(.get, "/messages/\(short)", as: "grace").has("html") == false)
      let many = try await village.ask(.get, "/messages?ids=\(short),\(long)&html=1", as: "grace")
      #expect(many["data.0.html"] == one["html"] && many["data.1.html"]?.hasPrefix("<p><strong>long</strong>") == true)
    }
  }

  @Test func `the status of what one wrote follows the others’ marks`() async throws {
    try await Village.open(.inMemory) { village in
      let talk = try await village.talk(.group, ["grace", "linus", "robo"])
      let id = try await village.say("hello", in: talk, as: "grace")
      let status = { try await village.ask(.get, "/messages/\(id)", as: "grace")["status"] }
      #expect(try await status() == "delivered")
      try await village.read(talk, as: "grace", upTo: 1)
      #expect(try await status() == "delivered")
      try await village.read(talk, as: "linus", upTo: 1)
      #expect(try await status() == "some_read")
      let receipts = try await village.ask(.get, "/messages/\(id)/receipts", as: "grace")
      #expect(receipts.texts("data", "user_id") == [village.id("linus"), village.id("robo")])
      #expect(receipts.bool("data.0.read") == true && receipts.bool("data.1.read") == false)
      try await village.read(talk, as: "robo", upTo: 1)
      #expect(try await status() == "all_read")
      #expect(try await village.ask(.get, "/messages/\(id)", as: "linus").has("status") == false)
      // Who shows nothing is shown nothing.
      #expect(try await village.ask(.patch, "/me", as: "grace", ["show_receipts": false]).status == 200)
      #expect(try await status() == "delivered")
      #expect(try await village.ask(.get, "/messages/\(id)/receipts", as: "grace").count("data") == 0)
      let room = try await village.garden().room
      let said = try await village.say("hi", in: room, as: "grace")
      #expect(try await village.ask(.get, "/messages/\(said)/receipts", as: "grace").status == 404)
    }
  }

  @Test func `a message has a tag, and another one whenever it is seen otherwise`() async throws {
    try await Village.open(.inMemory) { village in
      let talk = try await village.talk(.group, ["grace", "linus"])
      let id = try await village.say("hello", in: talk, as: "grace")
      var tags: [String] = []
      func look(_ query: String = "", as name: String = "grace") async throws {
        let path = "/messages/\(id)\(query)"
        let tag = try #require(try await village.ask(.get, path, as: name).fields["etag"])
        #expect(try await village.ask(.get, path, as: name, fields: ["If-None-Match": tag]).status == 304)
        tags.append(tag)
      }
      try await look()
      try await look(as: "linus")
      try await look("?html=true")
      try await village.read(talk, as: "linus", upTo: 1)
      try await look()
      for (name, type) in [("linus", "like"), ("grace", "like"), ("grace", "star"), ("linus", "reaction:%F0%9F%8C%B1")]
      {
        try await village.ask(.put, "/messages/\(id)/actions/\(type)", as: name)
        try await look()
      }
      try await village.ask(.delete, "/messages/\(id)/actions/like", as: "linus")
      try await look()
      try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "hullo"])
      try await look()
      try await village.ask(.delete, "/messages/\(id)", as: "grace")
      try await look()
      #expect(Set(tags).count == tags.count)
    }
  }

  @Test func `a digest is of what one may read, and changes with it`() async throws {
    try await Village.open(.inMemory) { village in
      let talk = try await village.talk(.group, ["grace", "linus", "robo"], fromSeq: ["robo": 3])
      for number in 0..<5 { try await village.say("\(number)", in: talk, as: "grace") }
      let path = "/conversations/\(talk)/digest"
      let all = try await village.ask(.get, "\(path)?parts=2", as: "grace")
      #expect(all.count("parts") == 2 && all.int("parts.0.from_seq") == 1 && all.int("parts.1.to_seq") == 5)
      #expect(all["digest"]?.utf8.count == 64 && all["cursor"]?.contains(".") == true)
      #expect(try await village.ask(.get, "\(path)?parts=2", as: "linus").body == all.body)
      let late = try await village.ask(.get, path, as: "robo")
      let same = try await village.ask(.get, "\(path)?from_seq=3&to_seq=5", as: "grace")
      #expect(late["digest"] == same["digest"])
      #expect(try await village.ask(.get, "\(path)?from_seq=2", as: "robo").status == 400)
      #expect(try await village.ask(.get, path, as: "mira").status == 404)
      for bad in ["parts=0", "parts=1025", "to_seq=6", "from_seq=0", "from_seq=x"] {
        #expect(try await village.ask(.get, "\(path)?\(bad)", as: "grace").status == 400, "\(bad)")
      }
      let id = try await village.ask(.get, "/conversations/\(talk)/messages", as: "grace")["data.0.id"] ?? ""
      _ = try await village.ask(.patch, "/messages/\(id)", as: "grace", ["text": "other"])
      #expect(try await village.ask(.get, "\(path)?parts=2", as: "grace")["digest"] != all["digest"])
    }
  }
}
