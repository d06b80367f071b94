import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct TokenTests {
  private static func bearer(_ token: String?) -> String { "Bearer \(token ?? "")" }

  @Test(arguments: TestTransport.allCases)
  func `a token is shown once and valid until it is revoked`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let made = try await village.request(.post, "/me/tokens", as: "grace", ["name": "feed reader", "scope": "read"])
      #expect(made.status == 201 && made["name"] == "feed reader" && made["scope"] == "read")
      let token = try #require(made["token"])
      let list = try await village.request(.get, "/users/me/tokens", as: "grace")
      #expect(list.texts("data", "name") == ["feed reader"] && !list.text.contains(token))
      #expect(try await village.request(.get, "/sessions", as: "grace").texts("data", "name") == ["test"])
      let me = try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(token)])
      #expect(me["name"] == "grace")
      let id = try #require(made["id"])
      #expect(try await village.request(.delete, "/me/tokens/\(id)", as: "linus").status == 204)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(token)]).status == 200)
      for _ in 1...2 { #expect(try await village.request(.delete, "/me/tokens/\(id)", as: "grace").status == 204) }
      #expect(try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(token)]).status == 401)
    }
  }

  @Test func `a repeated request creates one token and does not repeat its secret`() async throws {
    try await Village.open(.inMemory) { village in
      let body = ["name": "bot", "scope": "write", "client_id": "c1"]
      let first = try await village.request(.post, "/me/tokens", as: "grace", body)
      let again = try await village.request(.post, "/me/tokens", as: "grace", body)
      #expect(first.status == 201 && again.status == 200 && again["id"] == first["id"] && !again.has("token"))
      let other = try await village.request(
        .post, "/me/tokens", as: "grace", ["name": "bot", "scope": "read", "client_id": "c1"])
      #expect(other.status == 409 && other.code == "client_id_reused")
      // A `client_id` is scoped to its user.
      #expect(try await village.request(.post, "/me/tokens", as: "linus", body).status == 201)
    }
  }

  /// Rows: the scope of the token. Columns: creates read, write, admin; changes the password; ends a session.
  @Test(arguments: [
    (Scope.read, [403, 403, 403, 403, 403]), (.write, [201, 201, 403, 403, 403]), (.admin, [201, 201, 201, 204, 204]),
  ])
  func `a token is limited to its scope`(scope: Scope, expected: [Int]) async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.request(.post, "/me/tokens", as: "grace", ["name": "t", "scope": scope.rawValue])
      let session = try #require(try await village.signIn("grace", "grace’s password")["id"])
      let authorization = Self.bearer(made["token"])
      var found: [Int] = []
      for asked in ["read", "write", "admin"] {
        found.append(
          try await village.request(
            .post, "/me/tokens", ["name": asked, "scope": asked], fields: ["Authorization": authorization]
          ).status)
      }
      found.append(
        try await village.request(
          .put, "/me/password", ["old_password": "grace’s password", "password": "another one"],
          fields: ["Authorization": authorization]
        ).status)
      found.append(
        try await village.request(.delete, "/sessions/\(session)", fields: ["Authorization": authorization]).status)
      #expect(found == expected)
      // Every token may revoke itself.
      #expect(
        try await village.request(.delete, "/sessions/current", fields: ["Authorization": authorization]).status == 204)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": authorization]).status == 401)
    }
  }

  @Test func `a token created by a token expires no later`() async throws {
    try await Village.open(.inMemory) { village in
      let end = "2100-01-01T00:00:00.000Z"
      let made = try await village.request(
        .post, "/me/tokens", as: "grace", ["name": "t", "scope": "write", "expires_at": end])
      #expect(made["expires_at"] == end)
      let child = try await village.request(
        .post, "/me/tokens", ["name": "child", "scope": "read", "expires_at": "2101-01-01T00:00:00.000Z"],
        fields: ["Authorization": Self.bearer(made["token"])])
      #expect(child.status == 201 && child["expires_at"] == end)
      let past = try await village.request(
        .post, "/me/tokens", as: "grace", ["name": "t", "scope": "read", "expires_at": "2020-01-01T00:00:00Z"])
      #expect(past["errors.0.field"] == "expires_at")
    }
  }

  @Test(arguments: [
    (["scope": "read"], "name", "missing"), (["name": "t"], "scope", "missing"),
    (["name": "t", "scope": "root"], "scope", "invalid"), (["name": "", "scope": "read"], "name", "too_short"),
    (["name": "a\u{0}b", "scope": "read"], "name", "invalid"),
    (["name": String(repeating: "x", count: 101), "scope": "read"], "name", "too_long"),
    (["name": "t", "scope": "read", "client_id": ""], "client_id", "too_short"),
    (["name": "t", "scope": "read", "client_id": String(repeating: "é", count: 33)], "client_id", "too_long"),
    (["name": "t", "scope": "read", "owner": "ada"], "owner", "unknown_field"),
  ])
  func `an invalid token request is refused by field`(body: [String: String], field: String, code: String) async throws
  {
    try await Village.open(.inMemory) { village in
      let answer = try await village.request(.post, "/me/tokens", as: "grace", body)
      #expect(answer.status == 400 && answer["errors.0.field"] == field && answer["errors.0.code"] == code)
    }
  }

  @Test func `the number of tokens is limited`() async throws {
    try await Village.open(.inMemory) { village in
      for number in 1...village.community.bounds.tokens {
        #expect(
          try await village.request(.post, "/me/tokens", as: "grace", ["name": "\(number)", "scope": "read"]).status
            == 201)
      }
      let more = try await village.request(.post, "/me/tokens", as: "grace", ["name": "more", "scope": "read"])
      #expect(more.status == 409 && more.code == "too_many")
    }
  }
}
