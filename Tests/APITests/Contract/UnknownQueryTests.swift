import ParleyWire
import Testing

@testable import API

/// A query parameter that means nothing must not look as though it did.
@Suite struct StrayQueryTests {
  @Test func `an endpoint refuses a query that is not for it, before it does anything`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace"])
      let message = try await village.say("x", in: room)
      let rows: [(ParleyWire.Method, String, [String: any Sendable]?)] = [
        (.get, "/server", nil), (.get, "/settings", nil), (.get, "/me", nil), (.get, "/forums/\(forum)", nil),
        (.get, "/conversations/\(room)", nil), (.get, "/users/@grace/avatar", nil), (.head, "/me", nil),
        (.post, "/conversations/\(room)/messages", ["text": "y"]), (.patch, "/messages/\(message)", ["text": "y"]),
        (.put, "/messages/\(message)/actions/like", nil), (.delete, "/messages/\(message)", nil),
        (.delete, "/forums/\(forum)", nil), (.post, "/forums", ["title": "y"]),
      ]
      let events = try await village.events {
        for (method, path, body) in rows {
          let answer = try await village.ask(method, path + "?colour=red&colour=blue&x=1", as: "ada", body)
          #expect(answer.status == 400, "\(method.name) \(path)")
          guard method != .head else { continue }
          #expect(answer.code == "unknown_field" && answer.texts("errors", "field") == ["colour", "x"])
        }
      }
      #expect(events == [])
      // A lone question mark asks nothing.
      #expect(try await village.ask(.get, "/me?", as: "ada").status == 200)
      #expect(try await village.ask(.get, "/messages/\(message)?html=true", as: "ada").status == 200)
      #expect(try await village.ask(.get, "/messages/\(message)?html=true&x=1", as: "ada").status == 400)
      #expect(try await village.ask(.get, "/me?x=%zz", as: "ada").status == 400)
    }
  }
}
