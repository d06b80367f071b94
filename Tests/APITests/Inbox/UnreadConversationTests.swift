import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Unread counts of conversations and forums.
@Suite struct UnreadConversationTests {
  /// `kind conversation: unread first-unread new-topics mentions replies`
  private func unread(_ village: Village, of name: String, _ query: String = "") async throws -> [String] {
    let page = try await village.expect(200, .get, "/unread?limit=200\(query)", as: name)
    return (0..<page.count("data")).map { number in
      let path = "data.\(number)"
      let counts = ["new_topics", "mentions", "replies"].map { "\(page.int("\(path).\($0)") ?? -1)" }
      return
        ([
          page["\(path).kind"] ?? "?", page["\(path).conversation_id"] ?? "?",
          "\(page.int("\(path).unread_count") ?? -1)", page["\(path).first_unread"] ?? "-",
        ] + counts)
        .joined(separator: " ")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `unread conversations are listed by urgency with their first unread message`(transport: TestTransport)
    async throws
  {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      #expect(try await unread(village, of: "linus") == [])
      let own = try await village.post("which seeds?", in: group, as: "linus")
      let answer = try await village.post("all", in: group, as: "grace", ["reply_to": own])
      try await village.post("of them", in: group, as: "grace")
      let word = try await village.post("psst", in: direct, as: "grace")
      // A room without a subscription is listed once it has a mention.
      try await village.post("plain", in: room, as: "grace")
      let expected = ["group \(group) 2 \(answer) 0 0 1", "direct \(direct) 1 \(word) 0 0 0"]
      #expect(try await unread(village, of: "linus") == expected)
      try await village.post("@linus", in: room, as: "grace")
      let first = try await village.request(.get, "/unread?limit=1", as: "linus")
      #expect(first["data.0.kind"] == "room" && first.int("data.0.mentions") == 1)
      let next = "&next=\(try #require(first["next"]))"
      #expect(first["data.0.forum_id"] == forum && first.int("data.0.unread_count") == 2)
      #expect(try await unread(village, of: "linus", next) == expected)
      try await village.expect(200, .put, "/conversations/\(group)/read", as: "linus", ["message_id": answer])
      let rest = try await unread(village, of: "linus", next)
      #expect(rest.first?.hasPrefix("direct") == true && rest.last?.hasPrefix("group \(group) 1 ") == true)
      try await village.expect(200, .put, "/conversations/\(group)/level", as: "linus", ["level": "nothing"])
      #expect(try await unread(village, of: "linus", next) == ["direct \(direct) 1 \(word) 0 0 0"])
    }
  }

  @Test func `new topics are listed with their forum until they are opened, muted or old`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden(members: ["grace", "linus"])
      var made: [String] = []
      for title in ["Seeds", "Roses", "Tools"] {
        let topic = try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": title, "text": "look"])
        made.append(try #require(topic["id"]))
      }
      /// The titles in the overview, and those that are new in the list of the forum.
      func new(of name: String = "linus") async throws -> [[String]] {
        let page = try await village.expect(200, .get, "/unread", as: name)
        let overview = (0..<page.count("data.0.topics")).compactMap { page["data.0.topics.\($0).title"] }
        let list = try await village.expect(200, .get, "/forums/\(forum)/conversations", as: name)
        let listed = (0..<list.count("data")).filter { list.bool("data.\($0).is_new") == true }
        return [overview, listed.compactMap { list["data.\($0).title"] }]
      }
      #expect(try await new() == [["Tools", "Roses", "Seeds"], ["Tools", "Roses", "Seeds"]])
      try await village.post("and", in: made[0], as: "grace")
      #expect(try await new() == [["Seeds", "Tools", "Roses"], ["Seeds", "Tools", "Roses"]])
      try await village.expect(200, .put, "/conversations/\(made[0])/level", as: "linus", ["level": "nothing"])
      let messages = try await village.request(.get, "/conversations/\(made[1])/messages", as: "linus")
      let first = try #require(messages["data.0.id"])
      try await village.expect(200, .put, "/conversations/\(made[1])/read", as: "linus", ["message_id": first])
      #expect(try await new() == [["Tools"], ["Tools"]])
      #expect(try await new(of: "grace") == [[], []])
      try await village.expect(204, .put, "/users/\(village.id("grace"))/mute", as: "linus")
      #expect(try await new() == [[], []])
    }
  }

  @Test(arguments: ["mentions", "everything"])
  func `a topic of the millisecond in which its reader joined is new`(level: String) async throws {
    try await Village.open(.inMemory, clock: StoppedClock().read) { village in
      let (forum, _) = try await village.garden(members: ["grace", "linus"])
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": level])
      let topic = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Seeds", "text": "look"])
      let page = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(page["data.0.topics.0.id"] == topic["id"])
      #expect(page.int("data.0.new_topics") == 1 && page.count("data") == 1)
    }
  }

  @Test func `one answer has the first line, the people and everything else that is unread`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", "public", members: ["grace", "linus"])
      let topic = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace",
        ["title": "Frost", "text": "**When** does it\n\ncome? " + String(repeating: "Soon. ", count: 40)])
      let id = try #require(topic["id"])
      try await village.post("in May", in: id, as: "ada")
      let group = try await village.conversation("group", by: "grace", with: ["linus"], ["title": "Bonfire"])
      try await village.post("bring wood", in: group, as: "grace")
      try await village.post("plain", in: room, as: "grace")
      let mention = try await village.post("@linus please", in: room, as: "ada")
      try await village.post("later", in: room, as: "grace")
      try await village.expect(201, .post, "/users/\(village.id("linus"))/warn", as: "ada", ["reason": "Be kind."])

      let page = try await village.expect(200, .get, "/unread?include=users", as: "linus")
      #expect(page.texts("data", "kind") == ["room", "group", "forum"])
      #expect(page.texts("data", "title") == [nil, "Bonfire", nil])
      #expect(page["data.0.message.id"] == mention && page["data.1.message.text"] == "bring wood")
      #expect(page.int("data.0.unread_count") == 3 && page.isNull("data.2.message"))
      let excerpt = try #require(page["data.2.topics.0.excerpt"])
      #expect(excerpt.hasPrefix("When does it come? Soon.") && (130...140).contains(excerpt.unicodeScalars.count))
      #expect(page.texts("included.users", "id").contains(village.id("ada")))
      #expect(page.list("data.2.topics.0.authors") == [village.id("grace"), village.id("ada")])
      #expect(page["data.2.topics.0.last_activity_at"] != page["data.2.topics.0.created_at"])
      #expect(page.texts("notifications", "kind") == ["warning"])
      #expect(page.int("unread.mention") == 1 && page.int("unread.warning") == 1)
      let listed = try await village.expect(200, .get, "/forums/\(forum)/conversations", as: nil)
      #expect(listed["data.0.excerpt"] == excerpt && !listed.has("data.0.is_new"))
    }
  }

  @Test func `an excerpt of a message before the reader's history is empty`() async throws {
    try await Village.open(.inMemory) { village in
      let forum = try await village.garden("garden", "private", members: ["grace"]).forum
      let topic = try await village.expect(
        201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Keys", "text": "under the stone"])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "public", "from": "now"])
      for (name, excerpt) in [("grace", "under the stone"), ("linus", "")] {
        let list = try await village.expect(200, .get, "/forums/\(forum)/conversations", as: name)
        #expect(list["data.0.excerpt"] == excerpt && list.list("data.0.authors") == [village.id("grace")])
      }
      try await village.post("now here", in: try #require(topic["id"]), as: "grace")
      let list = try await village.expect(200, .get, "/forums/\(forum)/conversations", as: "linus")
      #expect(list["data.0.excerpt"] == "now here")
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `everything is marked as read up to an id`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      for number in 1...7 {
        try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": "Topic \(number)", "text": "look"])
      }
      let direct = try await village.conversation("direct", by: "grace", with: ["linus"])
      try await village.post("psst", in: direct, as: "grace")
      try await village.post("@linus", in: room, as: "grace")
      try await village.expect(201, .post, "/users/\(village.id("linus"))/warn", as: "ada", ["reason": "Be kind."])
      let page = try await village.expect(200, .get, "/unread", as: "linus")
      let upTo = try #require(page["up_to"])
      let later = try await village.post("later", in: direct, as: "grace")
      try await village.expect(204, .put, "/unread/read", as: "linus", ["up_to": upTo])
      #expect(try await unread(village, of: "linus") == ["direct \(direct) 1 \(later) 0 0 0"])
      let rest = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(rest.int("unread.all") == 1 && rest.int("unread.direct") == 1 && rest["up_to"] != nil)
      try await village.expect(204, .put, "/unread/read", as: "linus", ["up_to": try #require(rest["up_to"])])
      let none = try await village.expect(200, .get, "/unread", as: "linus")
      #expect(none.count("data") == 0 && none.int("unread.all") == 0 && none.isNull("up_to"))
      #expect(try await unread(village, of: "grace") == [])
      #expect(try await village.request(.put, "/unread/read", as: "linus", [:]).status == 400)
    }
  }

  @Test func `every topic of a forum at level everything counts`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace"])
      func start(_ title: String) async throws -> String {
        let made = try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: "grace", ["title": title, "text": "look"])
        return try #require(made["id"])
      }
      func read(_ topic: String) async throws {
        let messages = try await village.request(.get, "/conversations/\(topic)/messages", as: "linus")
        let newest = try #require(messages["data.0.id"])
        try await village.expect(200, .put, "/conversations/\(topic)/read", as: "linus", ["message_id": newest])
      }
      let (unopened, muted, opened) = (try await start("Old"), try await start("Muted"), try await start("Read"))
      try await village.expect(
        200, .put, "/forums/\(forum)/members/\(village.id("linus"))", as: "ada", ["role": "member"])
      try await read(opened)
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "everything"])
      // No message was posted since linus joined.
      #expect(try await unread(village, of: "linus") == [])
      let first = try await village.post("one", in: unopened, as: "grace")
      try await village.post("two", in: unopened, as: "grace")
      let later = try await village.post("three", in: opened, as: "grace")
      try await village.expect(200, .put, "/conversations/\(muted)/level", as: "linus", ["level": "nothing"])
      try await village.post("four", in: muted, as: "grace")
      let listed = try await unread(village, of: "linus")
      #expect(listed == ["topic \(opened) 1 \(later) 0 0 0", "topic \(unopened) 2 \(first) 0 0 0"])
      // A topic of its own age is one of the forum's new topics until it is opened.
      let new = try await start("New")
      #expect(try await unread(village, of: "linus") == listed + ["forum \(room) 0 - 1 0 0"])
      try await read(new)
      let fifth = try await village.post("five", in: new, as: "grace")
      #expect(try await unread(village, of: "linus").contains("topic \(new) 1 \(fifth) 0 0 0"))
      let page = try await village.expect(200, .get, "/unread", as: "linus")
      let upTo = try #require(page["up_to"])
      try await village.expect(204, .put, "/unread/read", as: "linus", ["up_to": upTo])
      #expect(try await unread(village, of: "linus") == [])
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "mentions"])
      try await village.post("six", in: unopened, as: "grace")
      #expect(try await unread(village, of: "linus") == [])
    }
  }

  @Test func `a subscribed forum counts its new topics`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      func start(_ title: String, as name: String) async throws -> String {
        let made = try await village.expect(
          201, .post, "/forums/\(forum)/conversations", as: name, ["title": title, "text": "look"])
        return try #require(made["id"])
      }
      let topic = try await start("Seeds", as: "grace")
      _ = try await start("Roses", as: "grace")
      _ = try await start("Mine", as: "linus")
      #expect(try await unread(village, of: "linus") == ["forum \(room) 0 - 2 0 0"])
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "nothing"])
      #expect(try await unread(village, of: "linus") == [])
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "everything"])
      #expect(try await unread(village, of: "linus") == ["forum \(room) 0 - 2 0 0"])
      let posted = try await village.post("@linus", in: room, as: "grace")
      #expect(try await unread(village, of: "linus") == ["forum \(room) 1 \(posted) 2 1 0"])
      let messages = try await village.request(.get, "/conversations/\(topic)/messages", as: "linus")
      let message = try #require(messages["data.0.id"])
      try await village.expect(200, .put, "/conversations/\(topic)/read", as: "linus", ["message_id": message])
      #expect(try await unread(village, of: "linus") == ["forum \(room) 1 \(posted) 1 1 0"])
      // Posting in a topic subscribes to it.
      try await village.post("mine", in: topic, as: "linus")
      let later = try await village.post("yours", in: topic, as: "grace")
      #expect(try await unread(village, of: "linus").contains("topic \(topic) 1 \(later) 0 0 0"))
      // A non-member can subscribe, too; a user without access does not see the forum.
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "mira", ["level": "everything"])
      #expect(try await unread(village, of: "mira") == ["forum \(room) 1 \(posted) 3 0 0"])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      #expect(try await unread(village, of: "mira") == [])
    }
  }
}
