import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

/// What is new where somebody follows.
@Suite struct UnreadPlaceTests {
  /// `kind conversation: unread first-unread new-topics mentions replies`
  private func unread(_ village: Village, of name: String, _ query: String = "") async throws -> [String] {
    let page = try await village.expect(200, .get, "/unread?limit=200\(query)", as: name)
    return (0..<page.count("data")).map { number in
      let place = "data.\(number)"
      let counts = ["new_topics", "mentions", "replies"].map { "\(page.int("\(place).\($0)") ?? -1)" }
      return
        ([
          page["\(place).kind"] ?? "?", page["\(place).conversation_id"] ?? "?",
          "\(page.int("\(place).unread_count") ?? -1)", page["\(place).first_unread"] ?? "-",
        ] + counts)
        .joined(separator: " ")
    }
  }

  @Test(arguments: Way.allCases)
  func `the most pressing place comes first, with where the first unread is`(way: Way) async throws {
    try await Village.open(way) { village in
      let (forum, room) = try await village.garden(members: ["grace", "linus"])
      let direct = try await village.talk("direct", by: "grace", with: ["linus"])
      let group = try await village.talk("group", by: "grace", with: ["linus"])
      #expect(try await unread(village, of: "linus") == [])
      let own = try await village.say("which seeds?", in: group, as: "linus")
      let answer = try await village.say("all", in: group, as: "grace", ["reply_to": own])
      try await village.say("of them", in: group, as: "grace")
      let word = try await village.say("psst", in: direct, as: "grace")
      // A room that is not followed is not there until one is called in it.
      try await village.say("plain", in: room, as: "grace")
      let expected = ["group \(group) 2 \(answer) 0 0 1", "direct \(direct) 1 \(word) 0 0 0"]
      #expect(try await unread(village, of: "linus") == expected)
      try await village.say("@linus", in: room, as: "grace")
      let first = try await village.ask(.get, "/unread?limit=1", as: "linus")
      #expect(first["data.0.kind"] == "room" && first.int("data.0.mentions") == 1 && first["next"] == "1")
      #expect(first["data.0.forum_id"] == forum && first.int("data.0.unread_count") == 2)
      #expect(try await unread(village, of: "linus", "&next=1") == expected)
      try await village.expect(200, .put, "/conversations/\(group)/read", as: "linus", ["message_id": answer])
      let rest = try await unread(village, of: "linus", "&next=1")
      #expect(rest.first?.hasPrefix("direct") == true && rest.last?.hasPrefix("group \(group) 1 ") == true)
      try await village.expect(200, .put, "/conversations/\(group)/level", as: "linus", ["level": "nothing"])
      #expect(try await unread(village, of: "linus", "&next=1") == ["direct \(direct) 1 \(word) 0 0 0"])
    }
  }

  @Test func `a forum that is followed says how many topics are new`() async throws {
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
      #expect(try await unread(village, of: "linus") == [])
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "linus", ["level": "everything"])
      #expect(try await unread(village, of: "linus") == ["forum \(room) 0 - 2 0 0"])
      let said = try await village.say("@linus", in: room, as: "grace")
      #expect(try await unread(village, of: "linus") == ["forum \(room) 1 \(said) 2 1 0"])
      let messages = try await village.ask(.get, "/conversations/\(topic)/messages", as: "linus")
      let message = try #require(messages["data.0.id"])
      try await village.expect(200, .put, "/conversations/\(topic)/read", as: "linus", ["message_id": message])
      #expect(try await unread(village, of: "linus") == ["forum \(room) 1 \(said) 1 1 0"])
      // Who takes part in a topic by writing follows it.
      try await village.say("mine", in: topic, as: "linus")
      let later = try await village.say("yours", in: topic, as: "grace")
      #expect(try await unread(village, of: "linus").contains("topic \(topic) 1 \(later) 0 0 0"))
      // Somebody who is no member follows it, too; and who can't read it any longer sees nothing of it.
      try await village.expect(200, .put, "/forums/\(forum)/level", as: "mira", ["level": "everything"])
      #expect(try await unread(village, of: "mira") == ["forum \(room) 1 \(said) 3 0 0"])
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["visibility": "private"])
      #expect(try await unread(village, of: "mira") == [])
    }
  }
}
