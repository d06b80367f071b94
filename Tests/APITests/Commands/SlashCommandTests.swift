import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Slash commands as resources: rights, fields, limits, secrets; the commands of a conversation.
@Suite struct SlashCommandTests {
  static func draft(_ more: [String: Any] = [:], in village: Village) -> [String: Any] {
    let draft: [String: Any] = [
      "name": "weather", "description": "The weather of a place", "usage": "<city>", "bot_id": village.id("robo"),
      "url": "https://example.org/a?b=c",
    ]
    return draft.merging(more) { $1 }
  }

  /// Creates a command as the owner.
  @discardableResult
  static func create(
    _ more: [String: Any] = [:], as name: String = "ada", in village: Village
  ) async throws -> (id: String, secret: String) {
    let made = try await village.expect(201, .post, "/commands", as: name, draft(more, in: village))
    return (try #require(made["id"]), try #require(made["secret"]))
  }

  static func names(in conversation: String, as name: String, _ village: Village) async throws -> [String?] {
    let path = "/conversations/\(conversation)/commands"
    return try await village.expect(200, .get, path, as: name).texts("data", "name")
  }

  @Test func `staff create commands, and others don't`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/commands", as: "ada", Self.draft(in: village))
      #expect(made["name"] == "weather" && made["usage"] == "<city>" && made["bot_id"] == village.id("robo"))
      #expect(made.isNull("forums") && made.bool("enabled") == true && made["owner_id"] == village.id("ada"))
      let secret = try #require(made["secret"])
      #expect(secret.hasPrefix("whsec_") && Base64.decode(String(secret.dropFirst(6)))?.count == 32)
      let read = try await village.expect(200, .get, "/commands/\(made["id"] ?? "")?include=users", as: "ada")
      #expect(read["name"] == "weather" && read["secret"] == nil && read.count("included.users") == 2)
      for name in ["mira", "grace", "robo", "gus"] {
        #expect(try await village.request(.post, "/commands", as: name, Self.draft(in: village)).status == 403)
        #expect(try await village.request(.get, "/commands", as: name).status == 403)
      }
      let audit = try await village.request(.get, "/audit", as: "ada").text
      #expect(audit.contains("command.created") && !audit.contains(secret))
    }
  }

  @Test func `a repeated request creates no second command and returns no secret`() async throws {
    try await Village.open(.inMemory) { village in
      let draft = Self.draft(["client_id": "one"], in: village)
      let first = try await village.expect(201, .post, "/commands", as: "ada", draft)
      let second = try await village.expect(200, .post, "/commands", as: "ada", draft)
      #expect(first["id"] == second["id"] && second["secret"] == nil)
      let other = draft.merging(["name": "other"]) { $1 }
      #expect(try await village.request(.post, "/commands", as: "ada", other).code == "client_id_reused")
      try await village.expect(204, .delete, "/commands/\(first["id"] ?? "")", as: "ada")
      try await village.expect(204, .delete, "/commands/\(first["id"] ?? "")", as: "ada")
      try await village.expect(410, .post, "/commands", as: "ada", draft)
    }
  }

  @Test func `wrong fields are refused`() async throws {
    var bounds = Bounds()
    bounds.commandForums = 2
    try await Village.open(.inMemory, bounds: bounds) { village in
      let hook = try await village.garden()
      let webhook = try await village.expect(
        201, .post, "/webhooks", as: "ada", ["conversation_id": hook.room, "name": "hook"])
      let rows: [(String, Any, String)] = [
        ("name", "", "too_short"), ("name", "Weather", "invalid"), ("name", "a b", "invalid"),
        ("name", "/a", "invalid"),
        ("name", "é", "invalid"), ("name", String(repeating: "a", count: 33), "too_long"),
        ("description", "a\nb", "invalid"), ("description", String(repeating: "a", count: 101), "too_long"),
        ("usage", String(repeating: "a", count: 101), "too_long"), ("bot_id", village.id("grace"), "unknown"),
        ("bot_id", "999999", "unknown"), ("bot_id", webhook["bot_id"] ?? "", "invalid"),
        ("url", "http://example.org/", "invalid"), ("url", "https://127.0.0.1/", "invalid"),
        ("url", "https://10.0.0.7/x", "invalid"), ("url", "", "too_short"), ("forums", [String](), "too_short"),
        ("forums", ["999999"], "unknown"), ("forums", ["1", "2", "3"], "too_many"),
      ]
      let id = try await Self.create(["name": "first"], in: village).id
      for (field, value, code) in rows {
        let draft = Self.draft([field: value], in: village)
        for refused in [
          try await village.request(.post, "/commands", as: "ada", draft),
          try await village.request(.patch, "/commands/\(id)", as: "ada", [field: value]),
        ] {
          #expect(refused.status == 400 && refused["errors.0.field"] == field, "\(value): \(refused.text)")
          #expect(refused["errors.0.code"] == code, "\(value): \(refused.text)")
        }
      }
      let taken = try await village.request(.post, "/commands", as: "ada", Self.draft(["name": "first"], in: village))
      #expect(taken.status == 409 && taken.code == "taken" && taken["errors.0.field"] == "name")
      try await Self.create(["name": "second"], in: village)
      #expect(try await village.request(.patch, "/commands/\(id)", as: "ada", ["name": "second"]).code == "taken")
      #expect(try await village.request(.get, "/commands", as: "ada").count("data") == 2)
    }
  }

  @Test func `the commands of a site are limited`() async throws {
    var bounds = Bounds()
    bounds.commands = 1
    try await Village.open(.inMemory, bounds: bounds) { village in
      try await Self.create(in: village)
      let more = try await village.request(.post, "/commands", as: "ada", Self.draft(["name": "more"], in: village))
      #expect(more.status == 409 && more.code == "too_many" && more.int("params.limit") == 1)
    }
  }

  @Test func `other staff see and stop a command, and only its owner changes it`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let forum = try await village.garden().forum
      let path = "/commands/\(try await Self.create(as: "alma", in: village).id)"
      #expect(try await village.request(.get, path, as: "ada")["url"] == "https://example.org")
      #expect(try await village.request(.get, "/commands", as: "ada")["data.0.url"] == "https://example.org")
      for change in [["name": "x"], ["url": "https://example.com/"], ["forums": [forum]]] as [[String: Any]] {
        try await village.expect(403, .patch, path, as: "ada", change)
      }
      try await village.expect(403, .post, path + "/secret", as: "ada")
      let stopped = try await village.expect(200, .patch, path, as: "ada", ["enabled": false])
      #expect(stopped["disabled_reason"] == "request")
      try await village.expect(403, .patch, path, as: "ada", ["enabled": true])
      let changed = try await village.expect(
        200, .patch, path, as: "alma",
        ["enabled": true, "forums": [forum], "if_revision": stopped.int("revision") ?? 0])
      #expect(changed.bool("enabled") == true && changed.list("forums") == [forum])
      #expect(changed["url"] == "https://example.org/a?b=c")
      try await village.expect(409, .patch, path, as: "alma", ["usage": "x", "if_revision": 1])
      let all = try await village.expect(200, .patch, path, as: "alma", ["forums": NSNull(), "description": ""])
      #expect(all.isNull("forums") && all["description"] == "")
      let renewed = try await village.expect(200, .post, path + "/secret", as: "alma")
      #expect(renewed["secret"]?.hasPrefix("whsec_") == true && renewed["previous_secret_until"] != nil)
      try await village.expect(204, .delete, path, as: "ada")
      try await village.expect(404, .get, path, as: "ada")
    }
  }

  @Test func `a command is listed where its user may write and its bot may read`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, room) = try await village.garden(members: ["grace", "robo"])
      let other = try await village.garden("kitchen", "private", members: ["grace"])
      let shared = try await village.conversation("group", by: "grace", with: ["robo"])
      let alone = try await village.conversation("group", by: "grace", with: ["linus"])
      try await Self.create(["name": "everywhere"], in: village)
      try await Self.create(["name": "here", "forums": [forum]], in: village)
      let unused = try await Self.create(["name": "unused"], in: village).id
      try await village.expect(200, .patch, "/commands/\(unused)", as: "ada", ["enabled": false])
      func names(_ conversation: String, _ name: String) async throws -> [String?] {
        try await Self.names(in: conversation, as: name, village)
      }
      #expect(try await names(room, "grace") == ["everywhere", "here"])
      #expect(try await names(shared, "grace") == ["everywhere"])
      for hidden in [alone, other.room] { #expect(try await names(hidden, "grace") == []) }
      #expect(try await names(room, "robo") == [])
      #expect(try await village.request(.get, "/conversations/\(alone)/commands", as: "mira").status == 404)
      #expect(try await village.request(.get, "/conversations/\(room)/commands").status == 401)
      try await village.expect(200, .patch, "/forums/\(forum)", as: "ada", ["locked": true])
      #expect(try await names(room, "grace") == [])
      try await village.setState("robo", in: .disabled)
      #expect(try await names(shared, "grace") == [])
    }
  }

  @Test func `a command ends with the owner's role, the token and the bot`() async throws {
    try await Village.open(.inMemory) { village in
      for name in ["alma", "ben"] { try await village.addUser(name, .admin) }
      let (_, room) = try await village.garden(members: ["grace", "robo"])
      let first = try await Self.create(["name": "first"], as: "alma", in: village).id
      let second = try await village.send(
        .post, "/commands",
        try Array(JSONSerialization.data(withJSONObject: Self.draft(["name": "second"], in: village))),
        fields: ["Authorization": "Bearer \(try await village.token("ben", .admin))"])
      #expect(second.status == 201, "\(second.text)")
      #expect(try await Self.names(in: room, as: "grace", village) == ["first", "second"])
      try await village.expect(200, .patch, "/users/@alma", as: "ada", ["role": "member", "end_sessions": false])
      let tokens = try await village.expect(200, .get, "/me/tokens", as: "ben")
      try await village.expect(204, .delete, "/me/tokens/\(tokens["data.0.id"] ?? "")", as: "ben")
      #expect(try await Self.names(in: room, as: "grace", village) == [])
      let reasons = try await village.expect(200, .get, "/commands", as: "ada").texts("data", "disabled_reason")
      #expect(reasons == ["owner_inactive", "token_revoked"])
      try await village.expect(404, .post, "/commands/\(first)x/secret", as: "ada")
    }
  }
}
