import Foundation
import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct ProbationTests {
  private static let strict: [String: [String: Int]] = [
    "newcomers": [
      "days": 2, "messages": 3, "messages_per_hour": 4, "links_per_hour": 2, "mentions_per_hour": 1,
    ]
  ]

  @Test(arguments: TestTransport.allCases)
  func `a limit of probation is named in the refusal with its end`(transport: TestTransport) async throws {
    let clock = StoppedClock()
    try await Village.open(transport, clock: clock.read) { village in
      try await village.changeSettings(Self.strict)
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages"
      let end = Timestamp.format(Int(clock.read()) + 3_600_000)
      func refused(_ text: String, _ limit: String, _ maximum: Int, until: String) async throws {
        var answer: Answer?
        let events = try await village.events {
          answer = try await village.expect(429, .post, path, as: "grace", ["text": text])
        }
        #expect(events == [] && answer?.code == "newcomer_limited", "\(text)")
        #expect(answer?["params.limit"] == limit && answer?.int("params.max_per_hour") == maximum, "\(text)")
        #expect(answer?["params.until"] == until, "\(text)")
      }
      try await village.post("https://a.example and https://b.example", in: room, as: "grace")
      try await refused("https://c.example", "links", 2, until: end)
      let called = try await village.post("@linus", in: room, as: "grace", ["client_id": "c1"])
      clock.add(1_000)
      try await refused("@mira", "mentions", 1, until: end)
      // A link added by an edit counts, too.
      let edited = try await village.request(
        .patch, "/messages/\(called)", as: "grace", ["text": "https://d.example @linus"])
      #expect(edited.status == 429 && edited["params.limit"] == "links")
      for text in ["three", "four"] { try await village.post(text, in: room, as: "grace") }
      try await refused("five", "messages", 4, until: end)
      #expect(try await village.request(.post, path, as: "grace", ["text": "five"]).fields["retry-after"] == "3599")
      // A repeated send succeeds and counts once.
      try await village.expect(200, .post, path, as: "grace", ["text": "@linus", "client_id": "c1"])
      clock.add(3_599_000)
      try await village.post("five", in: room, as: "grace")
      // Three links exceed the hourly limit in any hour: retry only after the two days of probation.
      let days = Timestamp.format(Int(clock.read()) - 3_600_000 + 2 * 86_400_000)
      let answer = try await village.request(
        .post, path, as: "grace", ["text": "https://a.example https://b.example https://c.example"])
      #expect(answer.status == 429 && answer["params.until"].map { $0 <= days && $0 > end } == true)
      clock.add(2 * 86_400_000)
      for number in 0..<10 { try await village.post("https://\(number).example @mira @linus", in: room, as: "grace") }
    }
  }

  @Test func `messages that only their author reads count towards no limit`() async throws {
    var rates = Village.unlimited
    rates.sending = Allowance(burst: 2, perMinute: 1)
    try await Village.open(.inMemory, rates: rates) { village in
      try await village.changeSettings(Self.strict)
      let rows = try await village.conversation(
        "channel", by: "grace", with: [], ["type": "com.example.expenses", "readers": ["open_to": "listed"]])
      let path = "/conversations/\(rows)/messages"
      for number in 0..<9 {
        try await village.expect(201, .post, path, as: "grace", ["text": "https://\(number).example"])
      }
      // With a second reader they count.
      try await village.expect(200, .put, "/conversations/\(rows)/participants/@linus", as: "grace", ["role": "reader"])
      var codes: [String?] = []
      for number in 0..<3 {
        codes.append(try await village.request(.post, path, as: "grace", ["text": "row \(number)"]).code)
      }
      #expect(codes == [nil, nil, "rate_limited"])
    }
  }

  @Test func `moderators, bots and staff are never on probation`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(Self.strict)
      try await village.addUser("fay")
      let (forum, room) = try await village.garden(members: ["fay"])
      try await village.expect(200, .put, "/forums/\(forum)/members/@fay", as: "ada", ["role": "moderator"])
      for name in ["ada", "mira", "robo", "fay"] {
        for number in 0..<6 { try await village.post("\(number) https://a.example @linus", in: room, as: name) }
      }
      // In another forum fay is on probation.
      let other = try await village.garden("meadow").room
      let answer = try await village.request(
        .post, "/conversations/\(other)/messages", as: "fay",
        ["text": "https://a.example https://b.example https://c.example"])
      #expect(answer.code == "newcomer_limited")
    }
  }

  @Test func `the first message of a topic counts, and a limit of zero allows none`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["newcomers": ["links_per_hour": 0]])
      let forum = try await village.garden().forum
      let draft: [String: Any] = ["title": "look", "text": "https://a.example"]
      let refused = try await village.request(.post, "/forums/\(forum)/conversations", as: "grace", draft)
      #expect(refused.code == "newcomer_limited" && refused.int("params.max_per_hour") == 0)
      try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]])
      try await village.expect(201, .post, "/forums/\(forum)/conversations", as: "grace", draft)
      #expect(try await village.request(.get, "/settings").int("newcomers.links_per_hour") == 0)
    }
  }

  @Test func `a topic without a message counts, also one made from a message`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["newcomers": ["messages_per_hour": 3]])
      let (forum, room) = try await village.garden()
      let topics = "/forums/\(forum)/conversations"
      let id = try await village.post("roses", in: room, as: "grace")
      try await village.expect(201, .post, topics, as: "grace", ["title": "one"])
      try await village.expect(201, .post, "/messages/\(id)/topic", as: "grace", ["title": "two"])
      let refused = try await village.expect(429, .post, topics, as: "grace", ["title": "three"])
      #expect(refused.code == "newcomer_limited" && refused["params.limit"] == "messages")
    }
  }

  @Test func `a pause refuses titles, forums, groups and other participants`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.shareForum("grace", "linus", "mira")
      try await village.changeSettings(["may_create_forums": "users"])
      let (forum, room) = try await village.garden()
      let topics = "/forums/\(forum)/conversations"
      let id = try await village.post("roses", in: room, as: "grace")
      let topic = try #require(try await village.expect(201, .post, topics, as: "grace", ["title": "one"])["id"])
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      let end = Timestamp.format(Int(clock.read()) + 600_000)
      try await village.changeSettings(["newcomers_paused_until": end])
      let requests: [(Method, String, [String: Any])] = [
        (.post, topics, ["title": "two"]), (.patch, "/conversations/\(topic)", ["title": "two"]),
        (.post, "/messages/\(id)/topic", ["title": "two"]), (.post, "/forums", ["title": "two"]),
        (.post, "/conversations", ["kind": "group", "participants": ["@mira"], "title": "two"]),
        (.patch, "/conversations/\(group)", ["title": "two"]),
        (.put, "/conversations/\(group)/participants/@mira", [:]),
      ]
      for (method, path, body) in requests {
        let answer = try await village.expect(429, method, path, as: "grace", body)
        #expect(answer.code == "newcomer_limited" && answer["params.limit"] == "pause", "\(path)")
      }
      // A conversation of the user alone is not published.
      let own: [String: Any] = ["kind": "channel", "type": "com.example.notes"]
      try await village.expect(201, .post, "/conversations", as: "grace", own)
    }
  }

  @Test func `an invalid probation setting is refused by field`() async throws {
    try await Village.open(.inMemory) { village in
      for (name, value) in [("days", 366), ("messages", -1), ("links_per_hour", 10_001)] {
        let answer = try await village.request(.patch, "/settings", as: "ada", ["newcomers": [name: value]])
        #expect(answer.status == 400 && answer["errors.0.field"] == "newcomers.\(name)", "\(answer.text)")
      }
      let usual = try await village.request(.get, "/settings")
      #expect(usual.int("newcomers.days") == 1 && usual.int("newcomers.messages_per_hour") == 120)
    }
  }
}
