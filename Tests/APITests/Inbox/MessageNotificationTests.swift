import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Whom messages ring, and `@room`.
@Suite struct RingTests {
  /// What somebody's message would ring, as `linus mention`, and the forum that it calls.
  private func rings(
    _ village: Village, _ text: String, in conversation: String, by name: String, replyTo: String? = nil,
    isMachineOnly: Bool = false
  ) async throws -> [String] {
    let names = ["ada", "mira", "grace", "linus", "robo", "gus"]
    let byID = Dictionary(names.map { (village.user($0), $0) }, uniquingKeysWith: { one, _ in one })
    let text = try await ParsedText.of(text, Bounds(), canBeEmpty: true)
    let place = ID<Conversation>(Int(conversation) ?? 0)
    let author = village.user(name)
    let found = try await village.community.store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(Caller(user: author, role: .member, scope: .write, session: nil))
      var message = NewMessage(
        conversation: place, author: author, text: try tx.resolvedForPosting(text, in: place, by: caller))
      message.replyTo = replyTo.flatMap { Int($0) }.map { ID($0) }
      message.isMachineOnly = isMachineOnly
      return try tx.recipients(of: message)
    }
    return found.users.map { "\(byID[$0.user] ?? "?") \($0.cause)" } + (found.forum.map { ["forum \($0)"] } ?? [])
  }

  private func level(_ level: String, of name: String, _ place: String, _ village: Village) async throws {
    try await village.expect(200, .put, "\(place)/level", as: name, ["level": level])
  }

  @Test func `whom a message calls and whom it answers are rung, each once`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden("garden", "private", members: ["grace", "linus"])
      let said = try await village.say("seeds?", in: room, as: "linus")
      #expect(try await rings(village, "nobody", in: room, by: "grace") == [])
      #expect(try await rings(village, "@ada @robo @grace", in: room, by: "grace") == ["ada mention"])
      #expect(try await rings(village, "yes", in: room, by: "grace", replyTo: said) == ["linus reply"])
      #expect(try await rings(village, "@linus", in: room, by: "grace", replyTo: said) == ["linus mention"])
      #expect(try await rings(village, "yes", in: room, by: "linus", replyTo: said) == [])
      #expect(try await rings(village, "@ada", in: room, by: "grace", replyTo: said, isMachineOnly: true) == [])
      // Who can't read any longer hears nothing of an answer.
      try await village.expect(204, .delete, "/forums/\(try await forum(of: room, village))/members/@linus", as: "ada")
      #expect(try await rings(village, "yes", in: room, by: "grace", replyTo: said) == [])
    }
  }

  private func forum(of room: String, _ village: Village) async throws -> String {
    try #require(try await village.ask(.get, "/conversations/\(room)", as: "ada")["forum_id"])
  }

  @Test func `in a conversation of two the other is rung, once they have taken it`() async throws {
    try await Village.open(.inMemory) { village in
      let waiting = try await village.talk("direct", by: "grace", with: ["mira"])
      #expect(try await rings(village, "hello", in: waiting, by: "grace") == [])
      try await village.acquaint("grace", "linus", "robo")
      let direct = try await village.talk("direct", by: "grace", with: ["linus"])
      #expect(try await rings(village, "hello", in: direct, by: "grace") == ["linus direct"])
      #expect(try await rings(village, "@linus", in: direct, by: "grace") == ["linus mention"])
      try await level("mentions", of: "linus", "/conversations/\(direct)", village)
      #expect(try await rings(village, "hello", in: direct, by: "grace") == [])
      #expect(try await rings(village, "@linus", in: direct, by: "grace") == ["linus mention"])
      let group = try await village.talk("group", by: "grace", with: ["linus", "robo"])
      #expect(try await rings(village, "@room hello @robo", in: group, by: "grace") == ["robo mention"])
    }
  }

  /// Rows: what linus wants to hear of the forum, and of its room; whether a mention in the room, and in a topic, rings.
  @Test(arguments: [
    (String?.none, String?.none, true, true), ("everything", nil, true, true), ("nothing", nil, false, true),
    ("nothing", "mentions", true, true), ("everything", "nothing", false, true),
  ])
  func `nobody is rung who wants to hear nothing`(
    inForum: String?, inRoom: String?, room: Bool, topic: Bool
  ) async throws {
    try await Village.open(.inMemory) { village in
      let garden = try await village.garden("garden", "members", members: ["grace", "linus"])
      let roses = try await village.topic("roses", in: garden.forum)
      if let inForum { try await level(inForum, of: "linus", "/forums/\(garden.forum)", village) }
      if let inRoom { try await level(inRoom, of: "linus", "/conversations/\(garden.room)", village) }
      #expect(try await rings(village, "@linus", in: garden.room, by: "grace") == (room ? ["linus mention"] : []))
      #expect(try await rings(village, "@linus", in: roses, by: "grace") == (topic ? ["linus mention"] : []))
      try await level("nothing", of: "linus", "/conversations/\(roses)", village)
      #expect(try await rings(village, "@linus", in: roses, by: "grace") == [])
    }
  }

  @Test(arguments: ["mute", "block"]) func `who is not listened to rings nobody`(relation: String) async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      try await village.relate("linus", relation, "grace")
      #expect(try await rings(village, "@linus @ada", in: room, by: "grace") == ["ada mention"])
      #expect(try await rings(village, "@grace", in: room, by: "linus") == ["grace mention"])
    }
  }

  @Test(arguments: Way.allCases)
  func `once in ten minutes at-room calls everyone, and is plain text else`(way: Way) async throws {
    let clock = StoppedClock()
    try await Village.open(way, clock: clock.read) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let path = "/conversations/\(room)/messages"
      func mentions(_ answer: Answer) -> [String] {
        (0..<answer.count("entities.mentions")).map { place in
          let at = "entities.mentions.\(place)"
          let isRoom = answer.bool("\(at).room") == true && answer.isNull("\(at).user_id")
          return "\(answer["\(at).name"] ?? "") \(answer.int("\(at).pos") ?? -1) \(isRoom)"
        }
      }
      // Grace may not.
      #expect(mentions(try await village.ask(.post, path, as: "grace", ["text": "@room rain!"])) == [])
      var said: Answer?
      let events = try await village.events {
        said = try await village.ask(
          .post, path, as: "ada", ["text": "look @Room: @linus, rain @room", "client_id": "r"])
      }
      let first = try #require(said)
      #expect(
        Set(events) == [
          "message.created conversation:\(room) #1", "notification.created user:\(village.id("linus"))",
          "notification.created user:\(village.id("grace"))",
        ])
      #expect(mentions(first) == ["Room 5 true", "linus 12 false", "room 25 true"])
      #expect(mentions(try await village.ask(.post, path, as: "ada", ["text": "@room again"])) == [])
      #expect(mentions(try await village.ask(.post, path, as: "mira", ["text": "@room and I"])) == [])
      // In a topic it is the same forum.
      let topic = ["title": "rain", "text": "@room"]
      let started = try await village.ask(.post, "/forums/\(forum)/conversations", as: "ada", topic)
      let opening = try await village.ask(.get, "/messages/\(started["last_message_id"] ?? "")", as: "ada")
      #expect(opening.status == 200 && mentions(opening) == [])
      clock.add(Int(WriteTransaction.roomMentionInterval))
      // Repeated, it is the same message, and rings nobody again.
      let again = try await village.ask(
        .post, path, as: "ada", ["text": "look @Room: @linus, rain @room", "client_id": "r"])
      #expect(again.status == 200 && again["id"] == first["id"])
      #expect(
        try await village.rows("select '' || room_mentioned_at from forum where id = \(forum)") == ["\(clock.read() - 600_000)"])
      // An edit rings nobody; what has rung stays what it was, and what has not does not become it.
      let id = first["id"] ?? ""
      #expect(
        mentions(try await village.ask(.patch, "/messages/\(id)", as: "ada", ["text": "so @room"])) == ["room 3 true"])
      let plain = try await village.say("rain", in: room, as: "ada")
      #expect(mentions(try await village.ask(.patch, "/messages/\(plain)", as: "ada", ["text": "@room"])) == [])
      let machine: [String: Any] = ["text": "@room", "machine_only": true]
      #expect(mentions(try await village.ask(.post, path, as: "ada", machine)) == [])
      #expect(try await rings(village, "@room", in: room, by: "ada") == ["forum \(forum)"])
    }
  }

  @Test func `the members whom at-room rings are those who want to hear something`() async throws {
    try await Village.open(.inMemory) { village in
      let names = ["mira", "grace", "linus", "robo", "gus"]
      let garden = try await village.garden("garden", "members", members: names)
      let topic = try await village.topic("roses", in: garden.forum)
      try await village.relate("mira", "mute", "ada")
      try await level("nothing", of: "grace", "/forums/\(garden.forum)", village)
      try await level("nothing", of: "linus", "/forums/\(garden.forum)", village)
      try await level("mentions", of: "linus", "/conversations/\(topic)", village)
      try await level("nothing", of: "robo", "/conversations/\(garden.room)", village)
      let (forum, ada) = (ID<Forum>(Int(garden.forum) ?? 0), village.user("ada"))
      func rung(_ place: String, limit: Int) async throws -> [ID<User>] {
        let place = ID<Conversation>(Int(place) ?? 0)
        return try await village.community.store.readInBackground { tx throws(Refusal) in
          var found: [ID<User>] = []
          while true {
            let page = try tx.roomMentionRecipients(of: forum, by: ada, in: place, after: found.last, limit: limit)
            found += page
            if page.count < limit { return found }
          }
        }
      }
      for limit in [1, 2, 10] {
        #expect(try await rung(garden.room, limit: limit) == [village.user("gus")])
        #expect(try await rung(topic, limit: limit) == ["linus", "robo", "gus"].map { village.user($0) })
      }
      try await village.put("gus", in: .disabled)
      #expect(try await rung(garden.room, limit: 10) == [])
    }
  }
}
