import ParleyWire
import Testing

@testable import API

/// An error lists every wrong field of the body or the query, and the allowed values of each.
@Suite struct WrongFieldTests {
  private static func faults(_ answer: Answer) -> [String] {
    (0..<answer.count("errors")).map { "\(answer["errors.\($0).field"] ?? "") \(answer["errors.\($0).code"] ?? "")" }
  }

  @Test func `every wrong member of a body is reported, limits of texts included`() async throws {
    try await Village.open(.inMemory) { village in
      let answer = try await village.request(
        .post, "/forums", as: "ada",
        ["title": "", "visibility": "nope", "position": -1, "client_id": "", "section": 7, "titel": 1])
      #expect(answer.status == 400 && answer["code"] == "invalid")
      #expect(
        Set(Self.faults(answer)) == [
          "title too_short", "visibility invalid", "position out_of_range", "client_id too_short", "section wrong_type",
          "titel unknown_field",
        ])
      let visibility = try #require((0..<6).first { answer["errors.\($0).field"] == "visibility" })
      #expect(answer["errors.\(visibility).params.allowed.0"] == "public")
      #expect(answer.count("errors.\(visibility).params.allowed") == 3)
      // No forum was created.
      #expect(try await village.request(.get, "/forums", as: "ada").count("data") == 0)
    }
  }

  private struct Request: Sendable {
    let path: String
    let body: String
    let expected: Set<String>

    init(_ path: String, _ body: String, _ expected: Set<String>) {
      (self.path, self.body, self.expected) = (path, body, expected)
    }
  }

  private static let requests: [Request] = [
    Request("/forums", #"{"titel":"x"}"#, ["title missing", "titel unknown_field"]),
    Request("/sessions", #"{"username":"ada"}"#, ["name missing", "password missing", "username unknown_field"]),
    Request("/users", #"{"name":"a b","password":1}"#, ["name invalid", "password wrong_type"]),
    Request(
      "/users", #"{"name":"zora","password":1,"display_name":"","nick":"z"}"#,
      ["password wrong_type", "nick unknown_field", "display_name too_short"]),
    Request(
      "/me/tokens", #"{"scope":"all","expires_at":"soon"}"#,
      ["name missing", "scope invalid", "expires_at invalid"]),
    Request(
      "/bots", #"{"scope":"all","forums":["x"],"password":"p"}"#,
      ["name missing", "scope invalid", "forums[0] invalid", "password unknown_field"]),
    Request(
      "/webhooks", #"{"conversation_id":7,"avatar":"x","url":"p"}"#,
      ["name missing", "conversation_id wrong_type", "avatar invalid", "url unknown_field"]),
    Request(
      "/webhook-endpoints", #"{"topics":["me","x"],"events":7,"secret":"x"}"#,
      ["name missing", "url missing", "topics[1] invalid", "events wrong_type", "secret unknown_field"]),
    Request(
      "/commands", #"{"name":"A","url":7,"forums":["1","x"],"secret":"x"}"#,
      ["bot_id missing", "name invalid", "url wrong_type", "forums[1] invalid", "secret unknown_field"]),
    Request(
      "/apps", #"{"website":7,"redirect_uris":["https://example.org/",7],"scope":"all","secret":"x"}"#,
      ["name missing", "website wrong_type", "redirect_uris[1] wrong_type", "scope invalid", "secret unknown_field"]),
    Request(
      "/reports", #"{"message_id":"x","why":1}"#, ["reason missing", "message_id invalid", "why unknown_field"]),
    Request("/invites", #"{"role":"king","max_uses":"1"}"#, ["role invalid", "max_uses wrong_type"]),
    Request("/conversations", #"{"kind":"club","distinct":7}"#, ["kind invalid", "distinct wrong_type"]),
    Request(
      "/conversations", #"{"kind":"group","annotations":[{"type":"com.x.y","value":{"n":1e400}}]}"#,
      ["annotations[0].value.n out_of_range"]),
    Request("/forums", #"{"title":"\u200b"}"#, ["title too_short"]),
  ]

  @Test func `a required member hides no other fault`() async throws {
    try await Village.open(.inMemory) { village in
      for request in Self.requests {
        // Sends the text: `JSONSerialization` refuses some of the bodies.
        let answer = try await village.send(.post, request.path, as: "ada", Array(request.body.utf8))
        #expect(answer.status == 400)
        let faults = Self.faults(answer)
        #expect(Set(faults) == request.expected && faults.count == request.expected.count, "\(answer.text)")
      }
    }
  }

  @Test func `limits of several texts are reported together`() async throws {
    try await Village.open(.inMemory) { village in
      let long = String(repeating: "x", count: 20_000)
      let answer = try await village.request(
        .patch, "/me", as: "ada", ["display_name": long, "bio": long, "name": "?"])
      #expect(
        Self.faults(answer).sorted() == ["bio too_long", "display_name too_long", "name invalid"], "\(answer.text)")
    }
  }

  @Test func `every wrong parameter of a query is reported`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let path = "/conversations/\(room)/messages?limit=0&order=up&html=maybe&around=x&include=things&ordre=asc"
      let answer = try await village.request(.get, path, as: "ada")
      #expect(
        Self.faults(answer).sorted() == [
          "around invalid", "html invalid", "include invalid", "limit out_of_range", "order invalid",
          "ordre unknown_field",
        ], "\(answer.text)")
      let order = try #require((0..<6).first { answer["errors.\($0).field"] == "order" })
      #expect(
        answer["errors.\(order).params.allowed.0"] == "asc" && answer["errors.\(order).params.allowed.1"] == "desc")
    }
  }

  @Test func `an unknown action names the accepted ones`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let id = try await village.post("seeds", in: room)
      let answer = try await village.request(.put, "/messages/\(id)/actions/thumbsup", as: "ada")
      #expect(answer.status == 400 && answer["errors.0.field"] == "type")
      #expect(answer.text.contains("reaction:<emoji>"))
    }
  }
}
