import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Outgoing webhooks as resources: rights, fields, limits, secrets.
@Suite struct WebhookEndpointTests {
  static func draft(_ topics: [String] = ["me"], _ more: [String: Any] = [:]) -> [String: Any] {
    ["name": "Index", "url": "https://example.org/a?b=c", "topics": topics].merging(more) { $1 }
  }

  /// Creates an endpoint as the owner.
  static func create(
    _ topics: [String] = ["me"], _ more: [String: Any] = [:], as name: String = "ada", in village: Village
  ) async throws -> (id: String, secret: String) {
    let made = try await village.expect(201, .post, "/webhook-endpoints", as: name, draft(topics, more))
    return (try #require(made["id"]), try #require(made["secret"]))
  }

  @Test func `staff create outgoing webhooks, and others don't`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(
        201, .post, "/webhook-endpoints", as: "ada", Self.draft(["me"], ["events": ["message.created"]]))
      #expect(made["name"] == "Index" && made["url"] == "https://example.org/a?b=c" && made.bool("enabled") == true)
      #expect(made.list("events") == ["message.created"] && made.list("topics") == ["me"])
      let secret = try #require(made["secret"])
      #expect(secret.hasPrefix("whsec_") && Base64.decode(String(secret.dropFirst(6)))?.count == 32)
      let read = try await village.request(.get, "/webhook-endpoints/\(made["id"] ?? "")", as: "ada")
      #expect(read["name"] == "Index" && read["secret"] == nil)
      for name in ["mira", "grace", "robo", "gus"] {
        #expect(try await village.request(.post, "/webhook-endpoints", as: name, Self.draft()).status == 403)
        #expect(try await village.request(.get, "/webhook-endpoints", as: name).status == 403)
      }
      #expect(try await village.request(.get, "/audit", as: "ada").text.contains("endpoint.created"))
      #expect(try await !village.request(.get, "/audit", as: "ada").text.contains(secret))
    }
  }

  @Test func `a repeated request creates no second endpoint and returns no secret`() async throws {
    try await Village.open(.inMemory) { village in
      let draft = Self.draft(["me"], ["client_id": "one"])
      let first = try await village.expect(201, .post, "/webhook-endpoints", as: "ada", draft)
      let second = try await village.expect(200, .post, "/webhook-endpoints", as: "ada", draft)
      #expect(first["id"] == second["id"] && second["secret"] == nil)
      let other = draft.merging(["name": "Other"]) { $1 }
      #expect(try await village.request(.post, "/webhook-endpoints", as: "ada", other).code == "client_id_reused")
    }
  }

  @Test func `wrong fields are refused`() async throws {
    try await Village.open(.inMemory) { village in
      let group = try await village.conversation("group", by: "grace", with: ["linus"])
      let rows: [(String, Any, String)] = [
        ("url", "http://example.org/", "invalid"), ("url", "https://127.0.0.1/", "invalid"),
        ("url", "https://localhost/", "invalid"), ("url", "https://10.0.0.7/x", "invalid"),
        ("url", "https://example.org:25/", "invalid"), ("url", "ftp://example.org/", "invalid"),
        ("url", "https://[::1]/", "invalid"), ("url", "example.org", "invalid"), ("url", "", "too_short"),
        ("url", "https://example.org/" + String(repeating: "x", count: 2_048), "too_long"),
        ("topics", [String](), "too_short"), ("topics", ["presence"], "invalid"), ("topics", ["app:x"], "invalid"),
        ("topics", ["conversation:\(group)"], "unknown"), ("topics", ["forum:999999"], "unknown"),
        ("topics", (1...21).map { "conversation:\($0)" }, "too_many"),
        ("events", ["message.liked"], "invalid"), ("name", "", "too_short"), ("name", "a\nb", "invalid"),
      ]
      for (field, value, code) in rows {
        let refused = try await village.request(
          .post, "/webhook-endpoints", as: "ada", Self.draft(["me"], [field: value]))
        #expect(refused.status == 400 && refused["errors.0.field"] == field, "\(value): \(refused.text)")
        #expect(refused["errors.0.code"] == code, "\(value): \(refused.text)")
        if field == "url", code == "invalid" {
          #expect(refused["detail"]?.contains("public addresses") == true, "\(value): \(refused.text)")
        }
      }
      let id = try await Self.create(in: village).id
      for (field, value, code) in rows {
        let refused = try await village.request(.patch, "/webhook-endpoints/\(id)", as: "ada", [field: value])
        #expect(refused.status == 400 && refused["errors.0.code"] == code, "\(value): \(refused.text)")
      }
      #expect(try await village.request(.get, "/webhook-endpoints", as: "ada").count("data") == 1)
    }
  }

  @Test func `the endpoints of a user and of the site are limited`() async throws {
    var bounds = Bounds()
    (bounds.webhookEndpoints, bounds.userWebhookEndpoints) = (3, 2)
    try await Village.open(.inMemory, bounds: bounds) { village in
      try await village.addUser("alma", .admin)
      func create(_ name: String) async throws -> Answer {
        try await village.request(.post, "/webhook-endpoints", as: name, Self.draft())
      }
      let first = try await create("ada")
      #expect(try await create("ada").status == 201)
      let third = try await create("ada")
      #expect(third.status == 409 && third.code == "too_many" && third.int("params.limit") == 2)
      #expect(try await create("alma").status == 201)
      #expect(try await create("alma").int("params.limit") == 3)
      try await village.expect(204, .delete, "/webhook-endpoints/\(first["id"] ?? "")", as: "ada")
      try await village.expect(204, .delete, "/webhook-endpoints/\(first["id"] ?? "")", as: "ada")
      #expect(try await create("alma").status == 201)
    }
  }

  @Test func `other staff see and stop an endpoint, and only its owner changes it`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let id = try await Self.create(as: "alma", in: village).id
      let path = "/webhook-endpoints/\(id)"
      #expect(try await village.request(.get, path, as: "ada")["url"] == "https://example.org")
      #expect(try await village.request(.get, "/webhook-endpoints", as: "ada")["data.0.url"] == "https://example.org")
      #expect(try await village.request(.get, path, as: "alma")["url"] == "https://example.org/a?b=c")
      for change in [["name": "x"], ["url": "https://example.com/"], ["topics": ["me", "forum:1"]], ["events": []]]
        as [[String: Any]]
      {
        let status = try await village.request(.patch, path, as: "ada", change).status
        // A forum that is unknown is refused first; no events are what it has.
        #expect([400, 403, 200].contains(status))
        if change["name"] != nil || change["url"] != nil { #expect(status == 403) }
      }
      #expect(try await village.request(.post, path + "/secret", as: "ada").status == 403)
      #expect(try await village.request(.get, path + "/deliveries", as: "ada").status == 403)
      let stopped = try await village.expect(200, .patch, path, as: "ada", ["enabled": false])
      #expect(stopped.bool("enabled") == false && stopped["disabled_reason"] == "request")
      #expect(try await village.request(.patch, path, as: "ada", ["enabled": true]).status == 403)
      let started = try await village.expect(200, .patch, path, as: "alma", ["enabled": true, "name": "New"])
      #expect(started.bool("enabled") == true && started["disabled_reason"] == nil && started["name"] == "New")
      let kinds = try await village.request(.get, "/audit", as: "ada").texts("data", "kind")
      #expect(Array(kinds.prefix(3)) == ["endpoint.enabled", "endpoint.changed", "endpoint.disabled"])
      let stale = try await village.request(.patch, path, as: "alma", ["name": "y", "if_revision": 1])
      #expect(stale.status == 409 && stale["current.name"] == "New")
      try await village.expect(204, .delete, path, as: "ada")
      #expect(try await village.request(.get, path, as: "alma").status == 404)
    }
  }

  @Test(
    arguments: [
      (Scope.read, "https://example.org"), (.write, "https://example.org"), (.admin, "https://example.org/a?b=c"),
    ])
  func `a token sees the URL only if it may change it`(scope: Scope, url: String) async throws {
    try await Village.open(.inMemory) { village in
      let id = try await Self.create(in: village).id
      let fields: Fields = ["Authorization": "Bearer \(try await village.token("ada", scope))"]
      #expect(try await village.request(.get, "/webhook-endpoints/\(id)", fields: fields)["url"] == url)
      #expect(try await village.request(.get, "/webhook-endpoints", fields: fields)["data.0.url"] == url)
    }
  }

  /// Rows: how the owner loses the right.
  @Test(arguments: ["ban", "disable", "demote", "erase"])
  func `the endpoints of an owner that leaves the staff are disabled`(way: String) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      let id = try await Self.create(as: "alma", in: village).id
      switch way {
      case "ban": try await village.expect(200, .put, "/users/@alma/ban", as: "ada", ["reason": "x"])
      case "disable": try await village.expect(200, .patch, "/users/@alma", as: "ada", ["disabled": true])
      case "demote":
        try await village.expect(200, .patch, "/users/@alma", as: "ada", ["role": "member", "end_sessions": false])
      default: try await village.expect(200, .delete, "/users/@alma", as: "ada", ["how": "erase", "reason": "x"])
      }
      let ended = try await village.request(.get, "/webhook-endpoints/\(id)", as: "ada")
      #expect(ended.bool("enabled") == false && ended["disabled_reason"] == "owner_inactive")
      #expect(try await village.community.enabledWebhookEndpoints(after: ID(0), limit: 10).isEmpty)
    }
  }

  @Test func `an endpoint ends with the token that made it`() async throws {
    try await Village.open(.inMemory) { village in
      let token = try await village.token("ada", .admin)
      let fields: Fields = ["Authorization": "Bearer \(token)"]
      let made = try await village.request(.post, "/webhook-endpoints", Self.draft(), fields: fields)
      let id = try #require(made["id"], "\(made.text)")
      let tokens = try await village.request(.get, "/me/tokens", as: "ada")
      try await village.expect(204, .delete, "/me/tokens/\(tokens["data.0.id"] ?? "")", as: "ada")
      let ended = try await village.request(.get, "/webhook-endpoints/\(id)", as: "ada")
      #expect(ended.bool("enabled") == false && ended["disabled_reason"] == "token_revoked")
      // Its owner enables it by a session.
      try await village.expect(200, .patch, "/webhook-endpoints/\(id)", as: "ada", ["enabled": true])
    }
  }

  @Test func `secrets are stored sealed`() async throws {
    try await Village.open(.inMemory) { village in
      let (id, secret) = try await Self.create(in: village)
      let bytes = try #require(Base64.decode(String(secret.dropFirst(6))))
      let stored = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.storedWebhookEndpoint(ID(Int(id) ?? 0))?.secrets ?? []
      }
      #expect(stored.count == 1 && stored[0].count > 32 && !stored[0].contains(bytes))
      let ready = try #require(try await village.community.readyWebhookEndpoint(ID(Int(id) ?? 0)))
      #expect(ready.secrets == [bytes])
    }
  }

  @Test func `an endpoint whose secret can't be opened is disabled, and its owner notified`() async throws {
    try await Village.open(.inMemory) { village in
      let id = try await Self.create(in: village).id
      try await village.community.store.write { tx throws(Refusal) in
        try tx.run { connection in try connection.execute("update webhook_endpoint set secret = x'01'") }
      }
      #expect(try await village.community.readyWebhookEndpoint(ID(Int(id) ?? 0)) == nil)
      let ended = try await village.request(.get, "/webhook-endpoints/\(id)", as: "ada")
      #expect(ended["disabled_reason"] == "secret_lost")
      #expect(try await village.request(.get, "/inbox", as: "ada")["data.0.kind"] == "endpoint_disabled")
      try await village.expect(200, .post, "/webhook-endpoints/\(id)/secret", as: "ada")
      try await village.expect(200, .patch, "/webhook-endpoints/\(id)", as: "ada", ["enabled": true])
      #expect(try await village.community.readyWebhookEndpoint(ID(Int(id) ?? 0)) != nil)
    }
  }
}
