import Foundation
import ParleyModel
import Testing

@testable import API

@Suite struct MessageTests {
  // MARK: Posting

  @Test(arguments: TestTransport.allCases)
  func `a message is stored as sent with its entities`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden()
      var answer: Answer?
      let events = try await village.events {
        answer = try await village.request(
          .post, "/conversations/\(room)/messages", as: "grace",
          [
            "text": "🍕 party! #Food @Linus https://example.org @nobody.here", "client_id": "one",
            "sent_at": "2020-01-02T03:04:05.006Z", "annotations": [["type": "com.example.todo", "value": ["done": 1]]],
          ])
      }
      let posted = try #require(answer)
      #expect(posted.status == 201, "\(posted.text)")
      let linus = village.id("linus")
      #expect(events == ["message.created conversation:\(room) #1", "notification.created user:\(linus)"])
      #expect(posted["conversation_id"] == room && posted["author_id"] == village.id("grace"))
      #expect(posted["client_id"] == "one" && posted.int("seq") == 1 && posted.isNull("previous_message"))
      #expect(posted["text"] == "🍕 party! #Food @Linus https://example.org @nobody.here")
      #expect(posted["sent_at"] == "2020-01-02T03:04:05.006Z" && posted["status"] == "delivered")
      #expect(posted.int("revision") == 1 && posted.bool("deleted") == false && posted.isNull("edited_at"))
      #expect(posted.count("entities.mentions") == 1)
      #expect(posted.int("entities.mentions.0.pos") == 15 && posted.int("entities.mentions.0.len") == 6)
      #expect(posted["entities.mentions.0.user_id"] == village.id("linus"))
      #expect(posted["entities.mentions.0.name"] == "Linus")
      #expect(posted.int("entities.hashtags.0.pos") == 9 && posted["entities.hashtags.0.name"] == "Food")
      #expect(posted["entities.links.0.url"] == "https://example.org" && posted.int("entities.links.0.pos") == 22)
      #expect(posted["annotations.0.type"] == "com.example.todo" && posted.int("annotations.0.value.done") == 1)
      let id = try #require(posted["id"])
      #expect(try await village.request(.get, "/messages/\(id)", as: "grace").body == posted.body)
      #expect(try await village.request(.get, "/forums/\(forum)", as: "grace")["last_message_id"] == id)
      let next = try await village.request(.post, "/conversations/\(room)/messages", as: "ada", ["text": "yes"])
      #expect(next.int("seq") == 2 && next["previous_message"] == id)
    }
  }

  @Test func `a repeated send creates one message, and another message under its client_id is refused`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden()
      let other = try await village.garden("kitchen").room
      let file = try await village.upload("a.png", by: "grace")
      let draft: [String: Any] = ["text": "seeds", "client_id": "one"]
      let path = "/conversations/\(room)/messages"
      let first = try await village.request(.post, path, as: "grace", draft)
      for _ in 0..<2 {
        let events = try await village.events {
          let again = try await village.request(.post, path, as: "grace", draft)
          #expect(again.status == 200 && again["id"] == first["id"])
        }
        #expect(events == [])
      }
      let changes: [[String: Any]] = [
        ["text": "weeds"], ["reply_to": first["id"] ?? ""], ["attachments": [file]],
        ["annotations": [["type": "a.b", "value": [:]]]],
      ]
      for change in changes {
        let reused = try await village.request(.post, path, as: "grace", draft.merging(change) { $1 })
        #expect(reused.status == 409 && reused.code == "client_id_reused", "\(change)")
      }
      let elsewhere = try await village.request(.post, "/conversations/\(other)/messages", as: "grace", draft)
      #expect(elsewhere.status == 409 && elsewhere.code == "client_id_reused")
      // A `client_id` is scoped to its author.
      #expect(try await village.request(.post, path, as: "linus", draft).status == 201)
      // After an edit the repeated send is not compared.
      let id = first["id"] ?? ""
      #expect(try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "trees"]).status == 200)
      let after = try await village.request(.post, path, as: "grace", ["text": "else", "client_id": "one"])
      #expect(after.status == 200 && after["id"] == id && after["text"] == "trees")
    }
  }

  @Test func `a repeated send succeeds after a change of permissions`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      let draft: [String: Any] = ["text": "seeds", "client_id": "one"]
      let path = "/conversations/\(room)/messages"
      let first = try await village.request(.post, path, as: "grace", draft)
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", ["locked": true]).status == 200)
      let again = try await village.request(.post, path, as: "grace", draft)
      #expect(again.status == 200 && again["id"] == first["id"])
      let more = try await village.request(.post, path, as: "grace", ["text": "more", "client_id": "two"])
      #expect(more.status == 403 && more.code == "forbidden")
      #expect(try await village.request(.post, path, as: "mira", ["text": "order"]).status == 201)
    }
  }

  @Test func `slow mode limits users but not moderators`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (forum, room) = try await village.garden()
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", ["slow_seconds": 30]).status == 200)
      let path = "/conversations/\(room)/messages"
      let draft: [String: Any] = ["text": "one", "client_id": "one"]
      #expect(try await village.request(.post, path, as: "grace", draft).status == 201)
      clock.add(10_000)
      let early = try await village.request(.post, path, as: "grace", ["text": "two"])
      #expect(early.status == 429 && early.code == "rate_limited" && early.int("params.seconds") == 20)
      #expect(early.fields["retry-after"] == "20" && early.fields["ratelimit-reset"] == "20")
      #expect(early.fields["ratelimit-limit"] == "1" && early.fields["ratelimit-remaining"] == "0")
      // A repeated send is not limited.
      #expect(try await village.request(.post, path, as: "grace", draft).status == 200)
      #expect(try await village.request(.post, path, as: "linus", ["text": "mine"]).status == 201)
      for _ in 0..<2 { #expect(try await village.request(.post, path, as: "mira", ["text": "order"]).status == 201) }
      clock.add(20_000)
      #expect(try await village.request(.post, path, as: "grace", ["text": "two"]).status == 201)
    }
  }

  @Test func `a clock that is set back locks nothing`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let (forum, room) = try await village.garden()
      try await village.expect(
        200, .patch, "/forums/\(forum)", as: "ada", ["slow_seconds": 30, "room_mention": "readers"])
      let path = "/conversations/\(room)/messages"
      #expect(try await village.request(.post, path, as: "grace", ["text": "@room one"]).status == 201)
      clock.add(-7_200_000)
      #expect(try await village.request(.post, path, as: "grace", ["text": "@room two"]).status == 201)
      let mentioned = try await village.rows("select '' || room_mentioned_at from forum where id = \(forum)")
      #expect(mentioned == ["\(clock.read())"])
      #expect(try await village.request(.post, path, as: "grace", ["text": "three"]).status == 429)
    }
  }

  @Test(arguments: [
    ("text", #"{"text":""}"#, "too_short"),
    ("text", #"{}"#, "too_short"),
    ("text", #"{"text":" \n\t\u200b\u00a0"}"#, "too_short"),
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
    ("descriptions", #"{"text":"a","descriptions":["a rose"]}"#, "mismatch"),
    ("descriptions[0]", #"{"text":"a","descriptions":["\#(String(repeating: "x", count: 1_001))"]}"#, "too_long"),
    ("descriptions[0]", #"{"text":"a","descriptions":["a\u0000b"]}"#, "invalid"),
    ("descriptions", #"{"text":"a","descriptions":"a rose"}"#, "wrong_type"),
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
  func `an invalid message is refused by field`(
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

  @Test func `each limit of a message is its last valid value`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
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
        let good = try await village.request(.post, path, as: "grace", fits)
        #expect(good.status == 201, "\(good.text.prefix(200))")
        let bad = try await village.request(.post, path, as: "grace", over)
        #expect(bad.status == 400 && bad.code == "invalid", "\(bad.text.prefix(200))")
      }
    }
  }

  @Test(arguments: [
    "{", "[]", "null", "\u{feff}{}", #"{"text":"a","text":"b"}"#, #"{"text":"\ud800"}"#, #"{"text":"a",}"#,
    #"{"text":"\#u{1}"}"#, String(repeating: "[", count: 100_000),
    #"{"annotations":"# + String(repeating: "[", count: 90),
  ])
  func `a body that is not a message changes nothing`(body: String) async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let events = try await village.events {
        let answer = try await village.send(.post, "/conversations/\(room)/messages", as: "grace", Array(body.utf8))
        #expect(answer.status == 400, "\(answer.text)")
      }
      #expect(events == [])
    }
  }

  @Test func `invalid UTF-8 is refused`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      for bytes: [UInt8] in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]] {
        let body = Array(#"{"text":""#.utf8) + bytes + Array(#""}"#.utf8)
        #expect(try await village.send(.post, "/conversations/\(room)/messages", as: "grace", body).status == 400)
      }
    }
  }

  static let naughty = [
    "x ", "\tx", "x\n", "\r\nx", "undefined", "null", "NaN", "'; drop table message; --", "$1", "%s%n",
    "<script>alert(1)</script>",
    "../../../../etc/passwd", "\u{1}\u{2}\u{7f}\u{85}", "not first: \u{feff}", "\u{200b}\u{200e}\u{202e}rtl",
    "a\u{0301}\u{0301}",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘", "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪", "ﷺ", "田中さん", "한국어", "שלום", "مرحبا", "𝕱𝖗𝖆𝖐𝖙𝖚𝖗",
    "\u{10ffff}\u{fffe}\u{e000}", "\"\\/\u{8}\u{c}", "{\"text\":1}", "@@ada ##tag ```", "[x](javascript:alert(1))",
    "`@ada`",
    "|||", "- [ ]", "ＡＢＣ", "İıſK", "x\u{2028}\u{2029}", "𐐀\u{fe0f}",
  ]

  @Test(arguments: TestTransport.allCases)
  func `difficult texts are returned byte for byte`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      for text in Self.naughty { try await village.post(text, in: room, as: "grace") }
      let page = try await village.request(.get, "/conversations/\(room)/messages?order=asc&html=true", as: "grace")
      let found = page.texts("data", "text")
      #expect(found.count == Self.naughty.count)
      for (text, sent) in zip(found, Self.naughty) { #expect(text.map { Array($0.utf8) } == Array(sent.utf8)) }
    }
  }

  @Test func `authors and mentioned users become participants of a topic, and authors subscribe to it`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "private", members: ["grace", "linus"])
      let topic = try await village.topic("roses", in: forum)
      let first = try await village.events {
        // Robo has no access to this forum, so a mention does not notify it.
        try await village.post("@linus @robo @grace look", in: topic, as: "grace")
      }
      let (grace, linus) = (village.id("grace"), village.id("linus"))
      #expect(
        first == [
          "message.created conversation:\(topic) #1", "participant.joined conversation:\(topic)",
          "conversation.created user:\(grace)", "level.changed user:\(grace)",
          "participant.joined conversation:\(topic)", "conversation.created user:\(linus)",
          "notification.created user:\(linus)",
        ])
      let second = try await village.events { try await village.post("again @linus", in: topic, as: "grace") }
      #expect(second == ["message.created conversation:\(topic) #1", "notification.created user:\(linus)"])
      let mentions = try await village.rows("select '' || user_id from mention group by user_id order by user_id")
      #expect(mentions == [grace, linus])
    }
  }

  @Test func `a mentioned user joins a topic with earlier messages read and readable`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("garden", "members", members: ["grace", "linus", "mira"])
      let topic = try await village.topic("roses", in: forum)
      for number in 1...3 { try await village.post("rose \(number)", in: topic, as: "grace") }
      func unread(_ name: String) async throws -> Int? {
        try await village.request(.get, "/conversations/\(topic)", as: name).int("unread_count")
      }
      // A mentioned user has the message unread; an author does not.
      let mention = try await village.post("@linus which?", in: topic, as: "grace")
      #expect(try await unread("linus") == 1)
      try await village.post("the red one", in: topic, as: "mira")
      #expect(try await unread("mira") == 0)
      #expect(try await unread("linus") == 2)
      // A mention added by an edit counts like an original one.
      _ = try await village.request(.patch, "/messages/\(mention)", as: "grace", ["text": "@linus @robo which?"])
      #expect(try await unread("robo") == 2)
      let page = try await village.request(.get, "/conversations/\(topic)/messages", as: "linus")
      #expect(page.count("data") == 5 && page.count("skipped") == 0)
    }
  }

  @Test func `a machine message may be empty and is refused in a direct conversation`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let posted = try await village.request(
        .post, "/conversations/\(room)/messages", as: "robo", ["machine_only": true])
      #expect(posted.status == 201 && posted.bool("machine_only") == true && posted["text"] == "")
      let direct = try await village.conversation(.direct, ["grace", "linus"])
      let refused = try await village.request(
        .post, "/conversations/\(direct)/messages", as: "grace", ["machine_only": true, "text": "x"])
      #expect(refused.status == 400 && refused["errors.0.field"] == "machine_only")
    }
  }

  @Test func `only own files can be attached, and an attachment needs no text`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      let (own, other) = (
        try await village.upload("a.png", by: "grace"), try await village.upload("b.png", by: "linus")
      )
      let posted = try await village.request(.post, path, as: "grace", ["attachments": [own]])
      #expect(posted.status == 201 && posted["attachments.0"] == own && posted["text"] == "")
      let stolen = try await village.request(.post, path, as: "grace", ["attachments": [other], "text": "mine"])
      #expect(stolen.status == 400 && stolen["errors.0.code"] == "unknown")
      let id = posted["id"] ?? ""
      let empty = try await village.request(.patch, "/messages/\(id)", as: "grace", ["attachments": []])
      #expect(empty.status == 400 && empty["errors.0.code"] == "too_short")
      let blank = try await village.request(
        .patch, "/messages/\(id)", as: "grace", ["text": " \n", "attachments": []])
      #expect(blank.status == 400 && blank["errors.0.code"] == "too_short")
      let words = try await village.request(
        .patch, "/messages/\(id)", as: "grace", ["attachments": [], "text": "gone"])
      #expect(words.status == 200 && words.count("attachments") == 0 && words.int("revision") == 2)
    }
  }

  @Test func `attachments keep their descriptions through edits, a removal and a move`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      var files: [String] = []
      for name in ["a.png", "b.png", "c.png"] { files.append(try await village.upload(name, by: "grace")) }
      let id = try await village.post(
        "look", in: room, as: "grace", ["attachments": files, "descriptions": ["", " A red rose\n", ""]])
      let message = { () async throws in try await village.expect(200, .get, "/messages/\(id)", as: "linus") }
      #expect(try await message().list("descriptions") == ["", "A red rose", ""])

      let path = "/messages/\(id)"
      try await village.expect(200, .patch, path, as: "grace", ["attachments": [files[1], files[2]]])
      #expect(try await message().list("descriptions") == ["A red rose", ""])
      let same = try await village.expect(200, .patch, path, as: "grace", ["descriptions": ["A red rose"]])
      #expect(same.int("revision") == 2)
      let changed = try await village.expect(200, .patch, path, as: "grace", ["descriptions": ["A rose", "A bee"]])
      #expect(changed.int("revision") == 3 && changed.list("descriptions") == ["A rose", "A bee"])
      let more = try await village.request(.patch, path, as: "grace", ["descriptions": ["", "", "a third"]])
      #expect(more.status == 400 && more["errors.0.field"] == "descriptions")

      try await village.expect(200, .post, "\(path)/remove", as: "mira", [:])
      #expect(try await !message().has("descriptions"))
      try await village.expect(200, .post, "\(path)/restore", as: "mira", [:])
      #expect(try await message().list("descriptions") == ["A rose", "A bee"])

      let moved = try await village.expect(201, .post, "\(path)/topic", as: "mira", ["title": "Roses"])
      let copies = try await village.expect(
        200, .get, "/conversations/\(moved["conversation_id"] ?? "")/messages", as: "linus")
      #expect(copies["data.0.descriptions.1"] == "A bee", "\(copies.text)")

      let draft: [String: Any] = ["title": "Bees", "attachments": [files[0]], "descriptions": ["Two bees"]]
      let topic = try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", draft)
      let posts = try await village.expect(200, .get, "/conversations/\(topic["id"] ?? "")/messages", as: "linus")
      #expect(posts["data.0.descriptions.0"] == "Two bees")
      try await village.expect(200, .patch, "/messages/\(posts["data.0.id"] ?? "")", as: "grace", ["descriptions": []])
      let bare = try await village.expect(200, .get, "/conversations/\(topic["id"] ?? "")/messages", as: "linus")
      #expect(!bare.text.contains("descriptions"))
    }
  }

  @Test func `a repeated post with another description reuses its client id`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let file = try await village.upload("a.png", by: "grace")
      let path = "/conversations/\(room)/messages"
      let draft = { (description: String) -> [String: Any] in
        ["text": "look", "client_id": "one", "attachments": [file], "descriptions": [description]]
      }
      try await village.expect(201, .post, path, as: "grace", draft("A rose"))
      try await village.expect(200, .post, path, as: "grace", draft("A rose"))
      #expect(try await village.request(.post, path, as: "grace", draft("A bee")).code == "client_id_reused")
    }
  }

  @Test(arguments: [
    (["net.app.core.geolocation", "net.app.ohai.location", "net.app.core.checkin"], "checkin"),
    (["net.app.core.geolocation", "net.app.ohai.location"], "location"),
    (["net.app.core.geolocation"], "geolocation"),
    (["com.example.geolocation"], nil),
  ])
  func `the location of a message is the first type present`(types: [String], expected: String?) async throws {
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
      try await village.post("here", in: room, as: "grace", ["annotations": annotations])
      #expect(try await village.rows("select name from location") == (expected.map { [$0] } ?? []))
    }
  }

  @Test func `a send returns the messages after the sender's last one`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      let seen = try await village.post("one", in: room)
      try await village.post("two", in: room)
      try await village.post("three", in: room, as: "robo", ["machine_only": true])
      let posted = try await village.request(.post, path, as: "grace", ["text": "four", "catch_up_after": seen])
      #expect(posted.status == 201)
      #expect(posted.texts("catch_up.data", "text") == ["two", "three", "four"])
      #expect(posted.isNull("catch_up.next"))
      for number in 0..<101 { try await village.post("\(number)", in: room) }
      let more = try await village.request(
        .post, path, as: "grace", ["text": "last", "catch_up_after": posted["id"] ?? ""])
      #expect(more.count("catch_up.data") == 100 && !more.isNull("catch_up.next"))
      #expect(more["catch_up.data.0.previous_message"] == posted["id"])
      let other = try await village.post("elsewhere", in: village.garden("kitchen").room)
      let wrong = try await village.request(.post, path, as: "grace", ["text": "x", "catch_up_after": other])
      #expect(wrong.status == 400 && wrong["errors.0.field"] == "catch_up_after")
    }
  }

  // MARK: Editing and deleting

  @Test(arguments: TestTransport.allCases)
  func `an author edits a message, and revisions are kept until its deletion`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (_, room) = try await village.garden()
      let id = try await village.post("one @linus", in: room, as: "grace")
      let edited = try await village.events {
        let answer = try await village.request(
          .patch, "/messages/\(id)", as: "grace", ["text": "two", "if_revision": 1])
        #expect(answer.status == 200 && answer["text"] == "two" && answer.int("revision") == 2)
        #expect(answer["edited_by"] == village.id("grace") && answer.count("entities.mentions") == 0)
      }
      #expect(edited == ["message.edited conversation:\(room) #2"])
      let same = try await village.events {
        let answer = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "two"])
        #expect(answer.status == 200 && answer.int("revision") == 2)
      }
      #expect(same == [])
      let late = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "three", "if_revision": 1])
      #expect(late.status == 409 && late.code == "conflict" && late["current.text"] == "two")
      let revisions = try await village.request(.get, "/messages/\(id)/revisions", as: "grace")
      #expect(revisions.texts("data", "text") == ["one @linus"] && revisions.int("data.0.revision") == 1)
      #expect(try await village.request(.get, "/messages/\(id)/revisions", as: "mira").status == 200)
      #expect(try await village.request(.get, "/messages/\(id)/revisions", as: "linus").status == 403)
      #expect(try await village.request(.delete, "/messages/\(id)/revisions/1", as: "linus").status == 403)
      let forgotten = try await village.events {
        let answer1 = try await village.request(.delete, "/messages/\(id)/revisions/1", as: "grace")
        #expect(answer1.status == 204)
        let answer2 = try await village.request(.delete, "/messages/\(id)/revisions/1", as: "grace")
        #expect(answer2.status == 204)
      }
      #expect(forgotten == ["message.edited conversation:\(room) #3"])
      #expect(try await village.request(.get, "/messages/\(id)/revisions", as: "grace").count("data") == 0)
    }
  }

  @Test func `revisions are public if the forum allows it`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public")
      let id = try await village.post("one", in: room, as: "grace")
      _ = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "two"])
      #expect(try await village.request(.get, "/messages/\(id)/revisions").status == 401)
      _ = try await village.request(.patch, "/forums/\(forum)", as: "ada", ["shows_revisions": true])
      let answer = try await village.request(.get, "/messages/\(id)/revisions")
      #expect(answer.texts("data", "text") == ["one"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a deleted message leaves a permanent tombstone`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let id = try await village.post("oops", in: room, as: "grace", ["client_id": "c"])
      let events = try await village.events {
        for _ in 0..<2 {
          let answer = try await village.request(.delete, "/messages/\(id)", as: "grace")
          #expect(answer.status == 200 && answer.bool("deleted") == true && answer["deletion"] == "author")
          #expect(answer["deleted_by"] == village.id("grace") && answer.int("seq") == 1 && !answer.has("text"))
          for name in ["entities", "annotations", "attachments", "actions", "sent_at", "status", "html"] {
            #expect(!answer.has(name), "\(name)")
          }
        }
      }
      #expect(events == ["message.deleted conversation:\(room) #2"])
      let edit = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "back"])
      #expect(edit.status == 410 && edit.code == "gone")
      #expect(try await village.request(.post, "/messages/\(id)/restore", as: "mira").status == 410)
      let page = try await village.request(.get, "/conversations/\(room)/messages", as: "linus")
      #expect(page.bool("data.0.deleted") == true && !page.text.contains("oops"))
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a moderator removes a message with a reason and restores it`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let id = try await village.post("rude", in: room, as: "grace")
      #expect(try await village.request(.post, "/messages/\(id)/remove", as: "linus").status == 403)
      #expect(try await village.request(.delete, "/messages/\(id)", as: "mira").status == 403)
      let events = try await village.events {
        for _ in 0..<2 {
          let gone = try await village.request(.post, "/messages/\(id)/remove", as: "mira", ["reason": "not here"])
          #expect(gone.status == 200 && gone["deletion"] == "moderator" && gone["reason"] == "not here")
        }
        let answer3 = try await village.request(.post, "/messages/\(id)/restore", as: "grace")
        #expect(answer3.status == 403)
        for _ in 0..<2 {
          let back = try await village.request(.post, "/messages/\(id)/restore", as: "mira")
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

  @Test func `messages by ids return in id order, with repeats, and only readable ones`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let hidden = try await village.garden("secret", "private").room
      let (one, two) = (try await village.post("one", in: room), try await village.post("two", in: room))
      let secret = try await village.post("secret", in: hidden)
      let answer = try await village.request(
        .get, "/messages?ids=\(two),%20\(one),\(secret),999999,\(two)", as: "grace")
      #expect(answer.texts("data", "text") == ["two", "one", "two"])
      #expect(try await village.request(.get, "/messages?ids=\(two),x", as: "grace").status == 400)
      #expect(try await village.request(.get, "/messages", as: "grace")["errors.0.code"] == "missing")
      let many = Array(repeating: one, count: 200).joined(separator: ",")
      #expect(try await village.request(.get, "/messages?ids=\(many)", as: "grace").count("data") == 200)
      let over = try await village.request(.get, "/messages?ids=\(many),\(one)", as: "grace")
      #expect(over.status == 400 && over["errors.0.code"] == "too_many")
    }
  }

  @Test func `replies to a message are paged`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let root = try await village.post("who?", in: room)
      for number in 0..<5 { try await village.post("\(number)", in: room, as: "grace", ["reply_to": root]) }
      try await village.post("aside", in: room)
      let first = try await village.request(.get, "/messages/\(root)/replies?limit=3", as: "linus")
      #expect(first.texts("data", "text") == ["0", "1", "2"] && !first.isNull("next"))
      let rest = try await village.request(
        .get, "/messages/\(root)/replies?limit=3&next=\(first["next"] ?? "")", as: "linus")
      #expect(rest.texts("data", "text") == ["3", "4"] && rest.isNull("next"))
    }
  }

  @Test func `replies to messages are counted as the caller reads them`() async throws {
    try await Village.open(.inMemory) { village in
      let (room, other) = (
        try await village.garden().room, try await village.conversation(.direct, ["grace", "linus"])
      )
      let (root, plain) = (try await village.post("who?", in: room), try await village.post("me", in: room))
      let secret = try await village.post("psst", in: other, as: "grace")
      for name in ["grace", "linus"] { try await village.post("I", in: room, as: name, ["reply_to": root]) }
      let last = try await village.post("no", in: room, as: "linus", ["reply_to": root])
      try await village.post("{}", in: room, as: "linus", ["reply_to": root, "machine_only": true])
      func counts(_ name: String) async throws -> [String] {
        let answer = try await village.request(
          .get, "/messages/reply-counts?ids=\(plain),\(root),\(secret),424242", as: name)
        #expect(answer.isNull("next") && answer.isNull("previous"))
        let found = answer.find("data") as? [[String: Any]] ?? []
        return found.map { "\($0["message_id"] as? String ?? ""):\($0["count"] as? Int ?? -1)" }
      }
      #expect(try await counts("ada") == ["\(plain):0", "\(root):3"])
      #expect(try await counts("grace") == ["\(plain):0", "\(root):3", "\(secret):0"])
      try await village.request(.delete, "/messages/\(last)", as: "linus")
      #expect(try await counts("ada") == ["\(plain):0", "\(root):2"])
      try await village.request(.put, "/users/@linus/mute", as: "ada")
      #expect(try await counts("ada") == ["\(plain):0", "\(root):1"])
      let missing = try await village.request(.get, "/messages/reply-counts", as: "ada")
      #expect(missing.status == 400 && missing["errors.0.field"] == "ids")
      let many = Array(repeating: root, count: ReplyCount.maxMessages + 1).joined(separator: ",")
      let over = try await village.request(.get, "/messages/reply-counts?ids=\(many)", as: "ada")
      #expect(over.status == 400 && over["errors.0.code"] == "too_many")
    }
  }

  @Test func `HTML is returned on request, also for long texts`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let short = try await village.post("*hi* <b>", in: room)
      let long = try await village.post(String(repeating: "**long** ", count: 1_500), in: room)
      let one = try await village.request(.get, "/messages/\(short)?html=true", as: "grace")
      #expect(one["html"] == "<p><em>hi</em> &lt;b&gt;</p>\n")
      #expect(try await village.request(.get, "/messages/\(short)", as: "grace").has("html") == false)
      let many = try await village.request(.get, "/messages?ids=\(short),\(long)&html=1", as: "grace")
      #expect(many["data.0.html"] == one["html"] && many["data.1.html"]?.hasPrefix("<p><strong>long</strong>") == true)
    }
  }

  @Test func `the status of an own message follows the receipts of others`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation(.group, ["grace", "linus", "robo"])
      let id = try await village.post("hello", in: conversation, as: "grace")
      let status = { try await village.request(.get, "/messages/\(id)", as: "grace")["status"] }
      #expect(try await status() == "delivered")
      try await village.read(conversation, as: "grace", upTo: 1)
      #expect(try await status() == "delivered")
      try await village.read(conversation, as: "linus", upTo: 1)
      #expect(try await status() == "some_read")
      let receipts = try await village.request(.get, "/messages/\(id)/receipts", as: "grace")
      #expect(receipts.texts("data", "user_id") == [village.id("linus"), village.id("robo")])
      #expect(receipts.bool("data.0.read") == true && receipts.bool("data.1.read") == false)
      try await village.read(conversation, as: "robo", upTo: 1)
      #expect(try await status() == "all_read")
      #expect(try await village.request(.get, "/messages/\(id)", as: "linus").has("status") == false)
      // A user that hides receipts sees no receipts.
      #expect(try await village.request(.patch, "/me", as: "grace", ["show_receipts": false]).status == 200)
      #expect(try await status() == "delivered")
      #expect(try await village.request(.get, "/messages/\(id)/receipts", as: "grace").count("data") == 0)
      let room = try await village.garden().room
      let posted = try await village.post("hi", in: room, as: "grace")
      #expect(try await village.request(.get, "/messages/\(posted)/receipts", as: "grace").status == 404)
    }
  }

  @Test func `the ETag of a message changes with its visible state`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation(.group, ["grace", "linus"])
      let id = try await village.post("hello", in: conversation, as: "grace")
      var tags: [String] = []
      func look(_ query: String = "", as name: String = "grace") async throws {
        let path = "/messages/\(id)\(query)"
        let tag = try #require(try await village.request(.get, path, as: name).fields["etag"])
        #expect(try await village.request(.get, path, as: name, fields: ["If-None-Match": tag]).status == 304)
        tags.append(tag)
      }
      try await look()
      try await look(as: "linus")
      try await look("?html=true")
      try await village.read(conversation, as: "linus", upTo: 1)
      try await look()
      for (name, type) in [("linus", "like"), ("grace", "like"), ("grace", "star"), ("linus", "reaction:%F0%9F%8C%B1")]
      {
        try await village.request(.put, "/messages/\(id)/actions/\(type)", as: name)
        try await look()
      }
      try await village.request(.delete, "/messages/\(id)/actions/like", as: "linus")
      try await look()
      try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "hullo"])
      try await look()
      try await village.request(.delete, "/messages/\(id)", as: "grace")
      try await look()
      #expect(Set(tags).count == tags.count)
    }
  }

  @Test func `a digest covers the readable messages and changes with them`() async throws {
    try await Village.open(.inMemory) { village in
      let conversation = try await village.conversation(.group, ["grace", "linus", "robo"], fromSeq: ["robo": 3])
      for number in 0..<5 { try await village.post("\(number)", in: conversation, as: "grace") }
      let path = "/conversations/\(conversation)/digest"
      let all = try await village.request(.get, "\(path)?parts=2", as: "grace")
      #expect(all.count("parts") == 2 && all.int("parts.0.from_seq") == 1 && all.int("parts.1.to_seq") == 5)
      #expect(all["digest"]?.utf8.count == 64 && all["cursor"]?.contains(".") == true)
      #expect(try await village.request(.get, "\(path)?parts=2", as: "linus").body == all.body)
      let late = try await village.request(.get, path, as: "robo")
      let same = try await village.request(.get, "\(path)?from_seq=3&to_seq=5", as: "grace")
      #expect(late["digest"] == same["digest"])
      #expect(try await village.request(.get, "\(path)?from_seq=2", as: "robo").status == 400)
      #expect(try await village.request(.get, path, as: "mira").status == 404)
      for bad in ["parts=0", "parts=1025", "to_seq=6", "from_seq=0", "from_seq=x"] {
        #expect(try await village.request(.get, "\(path)?\(bad)", as: "grace").status == 400, "\(bad)")
      }
      let id =
        try await village.request(.get, "/conversations/\(conversation)/messages", as: "grace")["data.0.id"] ?? ""
      _ = try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "other"])
      #expect(try await village.request(.get, "\(path)?parts=2", as: "grace")["digest"] != all["digest"])
    }
  }
}
