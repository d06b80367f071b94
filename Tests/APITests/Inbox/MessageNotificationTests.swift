import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Notifications of messages, and `@room`.
@Suite struct MessageNotificationTests {
  /// Notifications that a message would create, such as `linus mention`, and the forum of `@room`.
  private func notifications(
    _ village: Village, _ text: String, in conversation: String, by name: String, replyTo: String? = nil,
    isMachineOnly: Bool = false
  ) async throws -> [String] {
    let names = ["ada", "mira", "grace", "linus", "robo", "gus"]
    let byID = Dictionary(names.map { (village.user($0), $0) }, uniquingKeysWith: { one, _ in one })
    let text = try await ParsedText.of(text, Bounds(), canBeEmpty: true)
    let scope = ID<Conversation>(Int(conversation) ?? 0)
    let author = village.user(name)
    let found = try await village.community.store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(Caller(user: author, role: .member, scope: .write, session: nil))
      var message = NewMessage(
        conversation: scope, author: author, text: try tx.resolvedForPosting(text, in: scope, by: caller, Bounds()))
      message.replyTo = replyTo.flatMap { Int($0) }.map { ID($0) }
      message.isMachineOnly = isMachineOnly
      guard let kind = try tx.standing(of: author, in: scope)?.kind else { throw .notFound }
      return try tx.recipients(of: message, in: kind)
    }
    return found.users.map { "\(byID[$0.candidate.user] ?? "?") \($0.cause)" }
      + (found.forum.map { ["forum \($0)"] } ?? [])
  }

  private func level(_ level: String, of name: String, _ scope: String, _ village: Village) async throws {
    try await village.expect(200, .put, "\(scope)/level", as: name, ["level": level])
  }

  @Test func `a mentioned user and the author of the replied message are notified once each`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden("garden", "private", members: ["grace", "linus"])
      let posted = try await village.post("seeds?", in: room, as: "linus")
      #expect(try await notifications(village, "nobody", in: room, by: "grace") == [])
      #expect(try await notifications(village, "@ada @robo @grace", in: room, by: "grace") == ["ada mention"])
      #expect(try await notifications(village, "yes", in: room, by: "grace", replyTo: posted) == ["linus reply"])
      #expect(try await notifications(village, "@linus", in: room, by: "grace", replyTo: posted) == ["linus mention"])
      #expect(try await notifications(village, "yes", in: room, by: "linus", replyTo: posted) == [])
      #expect(
        try await notifications(village, "@ada", in: room, by: "grace", replyTo: posted, isMachineOnly: true) == [])
      // A user without access gets no notification of a reply.
      try await village.expect(204, .delete, "/forums/\(try await forum(of: room, village))/members/@linus", as: "ada")
      #expect(try await notifications(village, "yes", in: room, by: "grace", replyTo: posted) == [])
    }
  }

  private func forum(of room: String, _ village: Village) async throws -> String {
    try #require(try await village.request(.get, "/conversations/\(room)", as: "ada")["forum_id"])
  }

  @Test func `a direct message notifies the recipient after they accept the request`() async throws {
    try await Village.open(.inMemory) { village in
      let waiting = try await village.conversation("direct", by: "grace", with: ["mira"])
      #expect(try await notifications(village, "hello", in: waiting, by: "grace") == [])
      try await village.shareForum("grace", "linus", "robo")
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      #expect(try await notifications(village, "hello", in: direct, by: "grace") == ["linus direct"])
      #expect(try await notifications(village, "@linus", in: direct, by: "grace") == ["linus mention"])
      try await level("mentions", of: "linus", "/conversations/\(direct)", village)
      #expect(try await notifications(village, "hello", in: direct, by: "grace") == [])
      #expect(try await notifications(village, "@linus", in: direct, by: "grace") == ["linus mention"])
      let group = try await village.conversation("group", by: "grace", with: ["linus", "robo"])
      #expect(try await notifications(village, "@room hello @robo", in: group, by: "grace") == ["robo mention"])
    }
  }

  /// Rows: linus's level for the forum and for its room; whether a mention in the room and in a topic notifies.
  @Test(arguments: [
    (String?.none, String?.none, true, true), ("everything", nil, true, true), ("nothing", nil, false, true),
    ("nothing", "mentions", true, true), ("everything", "nothing", false, true),
  ])
  func `a user with the level nothing is not notified`(
    inForum: String?, inRoom: String?, room: Bool, topic: Bool
  ) async throws {
    try await Village.open(.inMemory) { village in
      let garden = try await village.garden("garden", "members", members: ["grace", "linus"])
      let roses = try await village.topic("roses", in: garden.forum)
      if let inForum { try await level(inForum, of: "linus", "/forums/\(garden.forum)", village) }
      if let inRoom { try await level(inRoom, of: "linus", "/conversations/\(garden.room)", village) }
      #expect(
        try await notifications(village, "@linus", in: garden.room, by: "grace") == (room ? ["linus mention"] : []))
      #expect(try await notifications(village, "@linus", in: roses, by: "grace") == (topic ? ["linus mention"] : []))
      try await level("nothing", of: "linus", "/conversations/\(roses)", village)
      #expect(try await notifications(village, "@linus", in: roses, by: "grace") == [])
    }
  }

  @Test(arguments: ["mute", "block"]) func `muted and blocked authors don't notify`(relation: String) async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace", "linus"])
      try await village.setRelation("linus", relation, "grace")
      #expect(try await notifications(village, "@linus @ada", in: room, by: "grace") == ["ada mention"])
      #expect(try await notifications(village, "@grace", in: room, by: "linus") == ["grace mention"])
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `@room notifies all once in ten minutes and is plain text otherwise`(transport: TestTransport) async throws {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let path = "/conversations/\(room)/messages"
      func mentions(_ answer: Answer) -> [String] {
        (0..<answer.count("entities.mentions")).map { scope in
          let at = "entities.mentions.\(scope)"
          let isRoom = answer.bool("\(at).room") == true && answer.isNull("\(at).user_id")
          return "\(answer["\(at).name"] ?? "") \(answer.int("\(at).pos") ?? -1) \(isRoom)"
        }
      }
      // Grace lacks the permission.
      #expect(mentions(try await village.request(.post, path, as: "grace", ["text": "@room rain!"])) == [])
      var posted: Answer?
      let events = try await village.events {
        posted = try await village.request(
          .post, path, as: "ada", ["text": "look @Room: @linus, rain @room", "client_id": "r"])
      }
      let first = try #require(posted)
      #expect(
        Set(events) == [
          "message.created conversation:\(room) #1", "notification.created user:\(village.id("linus"))",
          "notification.created user:\(village.id("grace"))",
        ])
      #expect(mentions(first) == ["Room 5 true", "linus 12 false", "room 25 true"])
      #expect(mentions(try await village.request(.post, path, as: "ada", ["text": "@room again"])) == [])
      #expect(mentions(try await village.request(.post, path, as: "mira", ["text": "@room and I"])) == [])
      // A topic shares the rate limit of its forum.
      let topic = ["title": "rain", "text": "@room"]
      let started = try await village.request(.post, "/forums/\(forum)/conversations", as: "ada", topic)
      let opening = try await village.request(.get, "/messages/\(started["last_message_id"] ?? "")", as: "ada")
      #expect(opening.status == 200 && mentions(opening) == [])
      clock.add(Int(WriteTransaction.roomMentionInterval))
      // A repeated send is the same message and notifies once.
      let again = try await village.request(
        .post, path, as: "ada", ["text": "look @Room: @linus, rain @room", "client_id": "r"])
      #expect(again.status == 200 && again["id"] == first["id"])
      #expect(
        try await village.rows("select '' || room_mentioned_at from forum where id = \(forum)") == [
          "\(clock.read() - 600_000)"
        ])
      // An edit does not notify: it neither adds nor removes a room mention.
      let id = first["id"] ?? ""
      #expect(
        mentions(try await village.request(.patch, "/messages/\(id)", as: "ada", ["text": "so @room"])) == [
          "room 3 true"
        ])
      let plain = try await village.post("rain", in: room, as: "ada")
      #expect(mentions(try await village.request(.patch, "/messages/\(plain)", as: "ada", ["text": "@room"])) == [])
      let machine: [String: Any] = ["text": "@room", "machine_only": true]
      #expect(mentions(try await village.request(.post, path, as: "ada", machine)) == [])
      #expect(try await notifications(village, "@room", in: room, by: "ada") == ["forum \(forum)"])
    }
  }

  @Test func `@room skips members with the level nothing`() async throws {
    try await Village.open(.inMemory) { village in
      let names = ["mira", "grace", "linus", "robo", "gus"]
      let garden = try await village.garden("garden", "members", members: names)
      let topic = try await village.topic("roses", in: garden.forum)
      try await village.setRelation("mira", "mute", "ada")
      try await level("nothing", of: "grace", "/forums/\(garden.forum)", village)
      try await level("nothing", of: "linus", "/forums/\(garden.forum)", village)
      try await level("mentions", of: "linus", "/conversations/\(topic)", village)
      try await level("nothing", of: "robo", "/conversations/\(garden.room)", village)
      let (forum, ada) = (ID<Forum>(Int(garden.forum) ?? 0), village.user("ada"))
      func recipients(_ scope: String, limit: Int) async throws -> [ID<User>] {
        let scope = ID<Conversation>(Int(scope) ?? 0)
        return try await village.community.store.readInBackground { tx throws(Refusal) in
          var found: [ID<User>] = []
          while true {
            let page = try tx.roomMentionRecipients(of: forum, by: ada, in: scope, after: found.last, limit: limit)
            found += page
            if page.count < limit { return found }
          }
        }
      }
      for limit in [1, 2, 10] {
        #expect(try await recipients(garden.room, limit: limit) == [village.user("gus")])
        #expect(try await recipients(topic, limit: limit) == ["linus", "robo", "gus"].map { village.user($0) })
      }
      try await village.setState("gus", in: .disabled)
      #expect(try await recipients(garden.room, limit: 10) == [])
    }
  }
}
