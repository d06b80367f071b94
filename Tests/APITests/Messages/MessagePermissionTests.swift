import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API

/// Permissions of messages, tested over the API. Columns: visitor, gus (guest), robo (bot), grace (member), mira
/// (moderator), ada (owner and admin of the forum).
@Suite struct MessagePermissionTests {
  private static let users: [String?] = [nil, "gus", "robo", "grace", "mira", "ada"]

  /// r reads, w writes, l likes, s stars, p pins, x removes; `-` where the room is not found.
  private static func letters(_ village: Village, _ room: String, _ id: String, as name: String?) async throws -> String
  {
    var letters = ""
    let rows: [(Character, Method, String, [String: Any]?)] = [
      ("r", .get, "/conversations/\(room)/messages", nil),
      ("w", .post, "/conversations/\(room)/messages", ["text": "x"]),
      ("l", .put, "/messages/\(id)/actions/like", nil), ("s", .put, "/messages/\(id)/actions/star", nil),
      ("p", .put, "/messages/\(id)/actions/pin", nil), ("x", .post, "/messages/\(id)/remove", nil),
    ]
    for (letter, method, path, body) in rows {
      let answer = try await village.request(method, path, as: name, body)
      switch answer.status {
      case 200, 201: letters.append(letter)
      case 404: #expect(!letters.contains("r"), "\(path) is hidden from a reader")
      case 401: #expect(name == nil)
      default: #expect(answer.status == 403 && letters.contains("r"), "\(path): \(answer.text)")
      }
      if letter == "x", answer.status == 200 {
        _ = try await village.request(.post, "/messages/\(id)/restore", as: "ada")
      }
      if letter == "p", answer.status == 200 {
        _ = try await village.request(.delete, "/messages/\(id)/actions/pin", as: "ada")
      }
    }
    let shown = try await village.request(.get, "/messages/\(id)", as: name)
    #expect(shown.status == (letters.contains("r") ? 200 : 404))
    return letters.isEmpty ? "-" : letters
  }

  @Test(
    arguments: [
      ("public", [:], "r rs rwls rwls rwlspx rwlspx"),
      ("members", [:], "- - rwls rwls rwlspx rwlspx"),
      ("private", [:], "- - - - - rwlspx"),
      ("public", ["write": "members"], "r rs rls rls rwlspx rwlspx"),
      ("members", ["write": "moderators"], "- - rls rls rwlspx rwlspx"),
      ("members", ["locked": "true"], "- - rs rs rwlspx rwlspx"),
      ("members", ["archived": "true"], "- - rs rs rspx rspx"),
    ] as [(String, [String: String], String)])
  func `message permissions in a room`(visibility: String, more: [String: String], row: String) async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden("garden", visibility)
      let id = try await village.post("roses", in: room)
      let change: [String: Any] = more.mapValues { $0 == "true" ? true : $0 as Any }
      if !change.isEmpty {
        #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", change).status == 200)
      }
      for (name, expected) in zip(Self.users, row.split(separator: " ")) {
        let found = try await Self.letters(village, room, id, as: name)
        #expect(found == expected, "\(name ?? "nobody")")
      }
    }
  }

  @Test(arguments: [Conversation.Kind.direct, .group])
  func `a conversation is hidden from non-participants, even the owner`(kind: Conversation.Kind) async throws {
    try await Village.open(.inMemory) { village in
      let direct = try await village.conversation(kind, ["grace", "linus"])
      let id = try await village.post("between us", in: direct, as: "grace")
      for name in [nil, "gus", "robo", "mira", "ada"] as [String?] {
        #expect(try await Self.letters(village, direct, id, as: name) == "-", "\(name ?? "nobody")")
        for path in ["/conversations/\(direct)/digest", "/messages/\(id)/replies", "/messages/\(id)/revisions"] {
          #expect(try await village.request(.get, path, as: name).status == 404)
        }
        guard let name else { continue }
        for (method, path, body) in [
          (.patch, "/messages/\(id)", ["text": "mine"]), (.delete, "/messages/\(id)", nil),
          (.post, "/messages/\(id)/restore", nil), (.delete, "/messages/\(id)/revisions/1", nil),
          (.delete, "/messages/\(id)/actions/like", nil),
        ] as [(Method, String, [String: Any]?)] {
          #expect(try await village.request(method, path, as: name, body).status == 404, "\(method) \(path)")
        }
      }
      #expect(try await Self.letters(village, direct, id, as: "linus") == "rwls")
    }
  }

  @Test func `only the author edits or deletes a message, and not while silenced`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden()
      let id = try await village.post("mine", in: room, as: "grace")
      for name in ["linus", "mira", "ada"] {
        #expect(try await village.request(.patch, "/messages/\(id)", as: name, ["text": "x"]).status == 403)
        #expect(try await village.request(.delete, "/messages/\(id)", as: name).status == 403)
      }
      #expect(try await village.request(.patch, "/forums/\(forum)", as: "ada", ["locked": true]).status == 200)
      #expect(try await village.request(.patch, "/messages/\(id)", as: "grace", ["text": "x"]).status == 403)
      #expect(try await village.request(.delete, "/messages/\(id)", as: "grace").status == 200)
    }
  }

  @Test func `a read-only token can't post`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden().room
      let id = try await village.post("x", in: room, as: "grace")
      let token = try await village.request(.post, "/me/tokens", as: "grace", ["name": "feed", "scope": "read"])[
        "token"]
      let fields: Fields = ["Authorization": "Bearer \(token ?? "")"]
      #expect(try await village.request(.get, "/conversations/\(room)/messages", fields: fields).status == 200)
      for (method, path) in [
        (.post, "/conversations/\(room)/messages"), (.patch, "/messages/\(id)"), (.delete, "/messages/\(id)"),
        (.put, "/messages/\(id)/actions/star"),
      ] as [(Method, String)] {
        #expect(try await village.request(method, path, ["text": "x"], fields: fields).status == 403)
      }
    }
  }
}
