import Foundation
import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct NewcomerTests {
  private static let strict: [String: [String: Int]] = [
    "newcomers": [
      "days": 2, "messages": 3, "messages_per_hour": 4, "links_per_hour": 2, "mentions_per_hour": 1,
    ]
  ]

  @Test(arguments: Way.allCases)
  func `who is new is told which limit it is, and until when`(way: Way) async throws {
    let clock = StoppedClock()
    try await Village.open(way, clock: clock.read) { village in
      try await village.decide(Self.strict)
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      let end = Timestamp.format(Int(clock.read()) + 3_600_000)
      func refused(_ text: String, _ limit: String, _ most: Int, until: String) async throws {
        var answer: Answer?
        let events = try await village.events {
          answer = try await village.expect(429, .post, path, as: "grace", ["text": text])
        }
        #expect(events == [] && answer?.code == "newcomer_limited", "\(text)")
        #expect(answer?["params.limit"] == limit && answer?.int("params.most") == most, "\(text)")
        #expect(answer?["params.until"] == until, "\(text)")
      }
      try await village.say("https://a.example and https://b.example", in: room, as: "grace")
      try await refused("https://c.example", "links", 2, until: end)
      let called = try await village.say("@linus", in: room, as: "grace", ["client_id": "c1"])
      clock.add(1_000)
      try await refused("@mira", "mentions", 1, until: end)
      // A link that an edit brings is one, too.
      let edited = try await village.ask(
        .patch, "/messages/\(called)", as: "grace", ["text": "https://d.example @linus"])
      #expect(edited.status == 429 && edited["params.limit"] == "links")
      for text in ["three", "four"] { try await village.say(text, in: room, as: "grace") }
      try await refused("five", "messages", 4, until: end)
      #expect(try await village.ask(.post, path, as: "grace", ["text": "five"]).fields["retry-after"] == "3599")
      // What has arrived has arrived, and counts once.
      try await village.expect(200, .post, path, as: "grace", ["text": "@linus", "client_id": "c1"])
      clock.add(3_599_000)
      try await village.say("five", in: room, as: "grace")
      // Three at once are too many for any hour: so not before the two days are over.
      let days = Timestamp.format(Int(clock.read()) - 3_600_000 + 2 * 86_400_000)
      let answer = try await village.ask(
        .post, path, as: "grace", ["text": "https://a.example https://b.example https://c.example"])
      #expect(answer.status == 429 && answer["params.until"].map { $0 <= days && $0 > end } == true)
      clock.add(2 * 86_400_000)
      for number in 0..<10 { try await village.say("https://\(number).example @mira @linus", in: room, as: "grace") }
    }
  }

  @Test func `who keeps order, and who was put above others, is never new`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.decide(Self.strict)
      try await village.settle("fay")
      let (forum, room) = try await village.garden(members: ["fay"])
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      for name in ["ada", "mira", "robo", "fay"] {
        for number in 0..<6 { try await village.say("\(number) https://a.example @linus", in: room, as: name) }
      }
      // Elsewhere fay is as new as anybody.
      let other = try await village.garden("meadow").room
      let answer = try await village.ask(
        .post, "/conversations/\(other)/messages", as: "fay",
        ["text": "https://a.example https://b.example https://c.example"])
      #expect(answer.code == "newcomer_limited")
    }
  }

  @Test func `a first message in a topic is counted, and zero is none at all`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.decide(["newcomers": ["links_per_hour": 0]])
      let forum = try await village.garden().forum
      let draft: [String: Any] = ["title": "look", "text": "https://a.example"]
      let refused = try await village.ask(.post, "/forums/\(forum)/conversations", as: "grace", draft)
      #expect(refused.code == "newcomer_limited" && refused.int("params.most") == 0)
      try await village.decide(["newcomers": ["days": 0, "messages": 0]])
      try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", draft)
      #expect(try await village.ask(.get, "/settings").int("newcomers.links_per_hour") == 0)
    }
  }

  @Test func `what can’t be decided about newcomers is refused by its name`() async throws {
    try await Village.open(.inMemory) { village in
      for (name, value) in [("days", 366), ("messages", -1), ("links_per_hour", 10_001)] {
        let answer = try await village.ask(.patch, "/settings", as: "ada", ["newcomers": [name: value]])
        #expect(answer.status == 400 && answer["errors.0.field"] == "newcomers.\(name)", "\(answer.text)")
      }
      let usual = try await village.ask(.get, "/settings")
      #expect(usual.int("newcomers.days") == 1 && usual.int("newcomers.messages_per_hour") == 120)
    }
  }
}
