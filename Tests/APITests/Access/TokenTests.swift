import ParleyCrypto
import ParleyModel
import ParleyWire
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

  /// The checksum is the one of zip and PNG, so that scanners can compute it.
  @Test func `a token has a prefix, 256 bits and a checksum`() throws {
    for _ in 0..<100 {
      let token = try Secret.makeToken()
      let (random, checksum) = (token.text.dropFirst(7).prefix(43), token.text.suffix(6))
      #expect(token.text.hasPrefix("parley_") && token.text.utf8.count == 56)
      let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
      let number = checksum.reduce(0) { $0 * 62 + (digits.firstIndex(of: $1) ?? 1 << 40) }
      #expect(number == Int(CRC32.checksum(Array(random.utf8))))
    }
    #expect(CRC32.checksum(Array("123456789".utf8)) == 0xcbf4_3926)
    #expect(Base62.text([0, 0], count: 3) == "000" && Base62.text([0xf, 0x41], count: 3) == "10z")
    let largest = Base62.text([UInt8](repeating: 0xff, count: 32), count: 44)
    #expect(largest.hasPrefix("0"), "43 digits hold 256 bits")
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
    (Scope.read, [403, 403, 403, 403, 403]), (.write, [201, 201, 403, 403, 403]), (.admin, [201, 201, 403, 204, 204]),
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

  @Test(arguments: TestTransport.allCases)
  func `a token created by a token expires no later`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
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

  @Test(arguments: TestTransport.allCases)
  func `revoking a token revokes the tokens that it created`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      func create(_ name: String, by token: String?) async throws -> (id: String, token: String) {
        let fields: Fields = ["Authorization": Self.bearer(token ?? village.token("grace"))]
        let made = try await village.request(.post, "/me/tokens", ["name": name, "scope": "write"], fields: fields)
        return (try #require(made["id"]), try #require(made["token"]))
      }
      let parent = try await create("parent", by: nil)
      let child = try await create("child", by: parent.token)
      let grandchild = try await create("grandchild", by: child.token)
      let other = try await create("other", by: nil)
      #expect(try await village.request(.delete, "/me/tokens/\(parent.id)", as: "grace").status == 204)
      for (token, status) in [(parent, 401), (child, 401), (grandchild, 401), (other, 200)] {
        let answer = try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(token.token)])
        #expect(answer.status == status)
      }
      // A token that revokes itself takes its tokens along; signing out does not end the tokens of a session.
      let own = try await create("own", by: other.token)
      let byOther: Fields = ["Authorization": Self.bearer(other.token)]
      #expect(try await village.request(.delete, "/sessions/current", fields: byOther).status == 204)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(own.token)]).status == 401)
      let last = try await create("last", by: nil)
      #expect(try await village.request(.delete, "/sessions/current", as: "grace").status == 204)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(last.token)]).status == 200)
    }
  }

  @Test func `a token of scope admin needs the password or a new session`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      func create(_ more: [String: String] = [:], fields: Fields = [:]) async throws -> Answer {
        let body = ["name": "t", "scope": "admin"].merging(more) { $1 }
        return try await village.request(.post, "/me/tokens", as: fields.isEmpty ? "grace" : nil, body, fields: fields)
      }
      clock.add(599_999)
      let token = try #require(try await create()["token"])
      clock.add(1)
      let late = try await create()
      #expect(late.status == 403 && late.code == "step_up_required")
      let wrong = try await create(["password": "guess"])
      #expect(wrong.status == 400 && wrong["errors.0.field"] == "password")
      #expect(try await create(["password": "grace’s password"]).status == 201)
      // A token is not a session, however new.
      let fields: Fields = ["Authorization": Self.bearer(token)]
      #expect(try await create(fields: fields).code == "step_up_required")
      #expect(try await create(["password": "grace’s password"], fields: fields).status == 201)
      let lower = try await village.request(.post, "/me/tokens", as: "grace", ["name": "t", "scope": "write"])
      #expect(lower.status == 201)
    }
  }

  @Test func `a user is notified of each new token`() async throws {
    try await Village.open(.inMemory) { village in
      let body = ["name": "bot", "scope": "write", "client_id": "c1"]
      let events = try await village.events {
        _ = try await village.request(.post, "/me/tokens", as: "grace", body)
        _ = try await village.request(.post, "/me/tokens", as: "grace", body)
      }
      #expect(events == ["notification.created user:\(village.id("grace"))"])
      let inbox = try await village.request(.get, "/inbox", as: "grace")
      #expect(inbox.texts("data", "kind") == ["token"] && inbox.texts("data", "actor_id") == [village.id("grace")])
    }
  }

  /// Rows: the answer to a token afterwards.
  @Test(
    arguments: [([:], 401), (["keep_tokens": false], 401), (["keep_tokens": true], 200)] as [([String: Bool], Int)])
  func `a new password ends tokens unless they are kept`(body: [String: Bool], status: Int) async throws {
    try await Village.open(.inMemory) { village in
      let token = try await village.token("grace", .write)
      var change: [String: Any] = ["old_password": "grace’s password", "password": "another one"]
      change.merge(body) { $1 }
      #expect(try await village.request(.put, "/me/password", as: "grace", change).status == 204)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": Self.bearer(token)]).status == status)
      #expect(try await village.request(.get, "/me", as: "grace").status == 200)
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
