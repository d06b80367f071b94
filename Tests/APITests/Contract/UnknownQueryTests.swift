import ParleyWire
import Testing

@testable import API

/// Unknown query parameters are refused, not ignored.
@Suite struct UnknownQueryTests {
  @Test func `an endpoint refuses an unknown query before any change`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace"])
      let message = try await village.post("x", in: room)
      let rows: [(ParleyWire.Method, String, [String: any Sendable]?)] = [
        (.get, "/server", nil), (.get, "/settings", nil), (.get, "/me", nil), (.get, "/forums/\(forum)", nil),
        (.get, "/conversations/\(room)", nil), (.get, "/users/@grace/avatar", nil), (.head, "/me", nil),
        (.post, "/conversations/\(room)/messages", ["text": "y"]), (.patch, "/messages/\(message)", ["text": "y"]),
        (.put, "/messages/\(message)/actions/like", nil), (.delete, "/messages/\(message)", nil),
        (.delete, "/forums/\(forum)", nil), (.post, "/forums", ["title": "y"]),
      ]
      let events = try await village.events {
        for (method, path, body) in rows {
          let answer = try await village.request(method, path + "?colour=red&colour=blue&x=1", as: "ada", body)
          #expect(answer.status == 400, "\(method.name) \(path)")
          guard method != .head else { continue }
          #expect(answer.code == "unknown_field" && answer.texts("errors", "field") == ["colour", "x"])
        }
      }
      #expect(events == [])
      // A question mark alone is an empty query.
      #expect(try await village.request(.get, "/me?", as: "ada").status == 200)
      #expect(try await village.request(.get, "/messages/\(message)?html=true", as: "ada").status == 200)
      #expect(try await village.request(.get, "/messages/\(message)?html=true&x=1", as: "ada").status == 400)
      #expect(try await village.request(.get, "/me?x=%zz", as: "ada").status == 400)
    }
  }

  @Test func `a query parameter above its documented length is refused`() async throws {
    try await Village.open(.inMemory) { village in
      let description = try #require(Description.shipped)
      var checked = 0
      for (path, item) in description.document["paths"]?.members ?? [:] where !path.contains("{") {
        for (method, operation) in item.members {
          for parameter in try (operation["parameters"]?.items ?? []).map({ try description.resolved($0) }) {
            guard case .string(let name)? = parameter["name"], parameter["in"] == .string("query"),
              case .number(let length)? = try description.resolved(parameter["schema"] ?? .null)["maxLength"]
            else { continue }
            checked += 1
            let text = String(repeating: "a", count: Int(length) + 1)
            let known = path == "/files" ? "name=a&" : ""
            let query = name == "name" ? "" : known
            let answer = try await village.request(
              method == "get" ? .get : .post, "\(path)?\(query)\(name)=\(text)", as: "ada")
            #expect(answer.status == 400 && answer["errors.0.field"] == name, "\(path) \(name): \(answer.text)")
          }
        }
      }
      #expect(checked > 8)
    }
  }
}
