import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct LinkTests {
  @Test(arguments: TestTransport.allCases)
  func `the setup link creates the first owner once`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      #expect(try await village.community.createSetupLink() == nil)
      try await village.setState("ada", in: .left)
      #expect(try await village.request(.get, "/server").bool("set_up") == false)
      let earlier = try #require(try await village.community.createSetupLink())
      let code = try #require(try await village.community.createSetupLink())
      // Each start prints a new link and voids the previous one.
      #expect(try await village.request(.get, "/links/\(earlier)").status == 404)
      let purpose = try await village.request(.get, "/links/\(code)")
      #expect(purpose["kind"] == "setup" && purpose.isNull("user") && purpose.isNull("expires_at"))

      let unnamed = try await village.request(.post, "/links/\(code)", ["password": "olga’s password"])
      #expect(unnamed["errors.0.field"] == "name")
      let taken = try await village.request(.post, "/links/\(code)", ["name": "Grace", "password": "olga’s password"])
      #expect(taken["errors.0.code"] == "taken")
      let events = try await village.events {
        let owner = try await village.request(.post, "/links/\(code)", ["name": "olga", "password": "olga’s password"])
        #expect(owner.status == 201 && owner["user.role"] == "owner" && owner["token"]?.hasPrefix("parley_") == true)
      }
      #expect(events == ["user.updated site #1"])
      #expect(try await village.request(.get, "/links/\(code)").code == "gone")
      let second = try await village.request(
        .post, "/links/\(code)", ["name": "oscar", "password": "oscar’s password"])
      #expect(second.status == 410)
      #expect(try await village.community.createSetupLink() == nil)
      #expect(try await village.request(.get, "/server").bool("set_up") == true)
    }
  }

  @Test func `a page of another origin gets no cookie for a link`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.setState("ada", in: .left)
      let code = try #require(try await village.community.createSetupLink())
      let body: [String: Any] = ["name": "olga", "password": "olga’s password", "cookie": true]
      let foreign = try await village.request(
        .post, "/links/\(code)", body, fields: ["Origin": "https://evil.example"])
      #expect(foreign.status == 403 && !foreign.fields.has("set-cookie"))
      let used = try await village.request(.post, "/links/\(code)", body, fields: ["Origin": village.origin])
      #expect(used.fields["set-cookie"]?.hasPrefix("parley=") == true && !used.has("token"))
    }
  }

  @Test func `a setup link is void once there is an owner`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.setState("ada", in: .deactivated)
      let code = try #require(try await village.community.createSetupLink())
      try await village.signIn("ada", "ada’s password")
      let late = try await village.request(.post, "/links/\(code)", ["name": "olga", "password": "olga’s password"])
      #expect(late.status == 410)
    }
  }

  @Test func `an imported owner without a credential does not block setup`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.setState("ada", in: .left)
      try await village.community.store.write { tx throws(Refusal) in
        var user = NewUser(name: "emil", role: .owner)
        user.isImported = true
        _ = try tx.add(user)
      }
      #expect(try await village.community.createSetupLink() != nil)
    }
  }

  @Test func `a password reset link works once and revokes all credentials`() async throws {
    try await Village.open(.inMemory) { village in
      let token = try #require(
        try await village.request(.post, "/me/tokens", as: "grace", ["name": "t", "scope": "read"])["token"])
      let void = try #require(try await village.request(.post, "/users/@grace/reset", as: "ada")["code"])
      let made = try await village.request(.post, "/users/@grace/reset", as: "ada")
      let code = try #require(made["code"])
      #expect(made.status == 201 && made["url"]?.hasSuffix("/reset/\(code)") == true)
      #expect(try await village.request(.get, "/links/\(void)").status == 404)
      let purpose = try await village.request(.get, "/links/\(code)")
      #expect(purpose["kind"] == "reset" && purpose["user.name"] == "grace" && purpose.has("expires_at"))
      let named = try await village.request(.post, "/links/\(code)", ["name": "gracia", "password": "another one"])
      #expect(named["errors.0.code"] == "unknown_field")
      let used = try await village.request(.post, "/links/\(code)", ["password": "another one"])
      #expect(used.status == 201 && used["user.name"] == "grace")
      #expect(try await village.request(.get, "/me", as: "grace").status == 401)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(token)"]).status == 401)
      try await village.signIn("grace", "another one")
      #expect(try await village.request(.post, "/links/\(code)", ["password": "a third one"]).status == 410)
    }
  }

  @Test func `a password reset link expires after a day`() async throws {
    try await Village.open(.inMemory) { village in
      let code = String(repeating: "ab", count: 32)
      let secret = try #require(Secret(parsing: code))
      let grace = ID<User>(try #require(Int(village.id("grace"))))
      try await village.community.store.write { tx throws(Refusal) in
        try tx.addLink(.reset, for: grace, digest: secret.digest, expiresAt: tx.now - 1)
      }
      #expect(try await village.request(.get, "/links/\(code)").status == 410)
      #expect(try await village.request(.post, "/links/\(code)", ["password": "another one"]).status == 410)
      let made = try await village.request(.post, "/users/@grace/reset", as: "ada")
      let ends = try #require(made["expires_at"].flatMap { Timestamp.parse($0) })
      let now = try await village.community.store.readInBackground { tx throws(Refusal) in Int(tx.now) }
      #expect((86_300_000...86_400_000).contains(ends - now))
    }
  }

  @Test(arguments: [
    (nil, "grace", 401), ("gus", "grace", 404), ("linus", "grace", 403), ("mira", "grace", 403),
    ("grace", "grace", 403),
    ("alma", "grace", 201), ("alma", "ada", 403), ("ada", "alma", 201), ("ada", "ada", 403),
  ])
  func `permissions to create password reset links`(caller: String?, target: String, status: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      #expect(try await village.request(.post, "/users/@\(target)/reset", as: caller).status == status)
    }
  }

  @Test(arguments: ["x", "%00", String(repeating: "a", count: 64), String(repeating: "a", count: 500)])
  func `an unknown link is not found`(code: String) async throws {
    try await Village.open(.inMemory) { village in
      let seen = try await village.request(.get, "/links/\(code)")
      let used = try await village.request(.post, "/links/\(code)", ["password": "long enough"])
      #expect(seen.status == 404 && used.status == 404)
    }
  }
}
