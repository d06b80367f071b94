import Dispatch
import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct SessionTests {
  @Test(arguments: TestTransport.allCases)
  func `a password creates a session that ends at sign-out`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let opened = try await village.request(
        .post, "/sessions", ["name": "Grace", "password": "grace’s password", "device": "laptop"])
      #expect(opened.status == 201)
      #expect(opened["user.id"] == village.id("grace"))
      let token = try #require(opened["token"])
      #expect(token.wholeMatch(of: /parley_[0-9A-Za-z]{49}/) != nil)
      #expect(opened["user.name"] == "grace" && opened["user.state"] == "active")
      let ended = try await village.request(
        .delete, "/sessions/current", fields: ["Authorization": "Bearer \(token)"])
      #expect(ended.status == 204)
      let again = try await village.request(
        .delete, "/sessions/current", fields: ["Authorization": "Bearer \(token)"])
      #expect(again.status == 401 && again.code == "session_ended")
    }
  }

  @Test(arguments: ["Authorization", "Cookie"])
  func `a revoked session is told from an expired one`(field: String) async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      var tokens: [String] = []
      for _ in 0..<3 {
        let opened = try await village.request(
          .post, "/sessions", ["name": "grace", "password": "grace’s password", "device": "laptop"])
        tokens.append(try #require(opened["token"]))
      }
      let code = { (token: String) in
        let value = field == "Cookie" ? "parley=\(token)" : "Bearer \(token)"
        let answer = try await village.request(.get, "/users/me", fields: [field: value])
        return (answer.status, answer.code)
      }
      #expect(try await code(tokens[0]) == (200, nil))
      let id = try #require(
        try await village.request(.get, "/sessions", fields: ["Authorization": "Bearer \(tokens[1])"])["data.1.id"])
      #expect(
        try await village.request(.delete, "/sessions/\(id)", fields: ["Authorization": "Bearer \(tokens[2])"]).status
          == 204)
      let codes = try await [code(tokens[0]), code(tokens[1]), code(tokens[2])].map { "\($0.0) \($0.1 ?? "-")" }
      #expect(Set(codes) == ["200 -", "401 session_ended"])
      clock.add(401 * 86_400_000)
      let later = try await code(tokens[2])
      #expect(later == (401, "unauthenticated"))
      #expect(try await code("parley_unknown") == (401, "unauthenticated"))
      // A visitor's page takes the cookie of an ended session.
      #expect(try await village.request(.get, "/server", fields: ["Cookie": "parley=\(tokens[1])"]).status == 200)
      await Housekeeping(village.community.store).tick()
      let revoked = try #require(Secret(parsing: tokens[codes[0] == "200 -" ? 1 : 0]))
      let isKnown = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.hasEndedSession(withDigest: revoked.digest)
      }
      #expect(!isKnown)
    }
  }

  @Test func `a new password ends the other sessions, and a socket says so`() async throws {
    try await Village.open(.inMemory) { village in
      let other = try #require(
        try await village.request(.post, "/sessions", ["name": "grace", "password": "grace’s password"])["token"])
      try await village.expect(
        204, .put, "/me/password", as: "grace", ["old_password": "grace’s password", "password": "another one 77"])
      let view = village.community.view()
      #expect(throws: Refusal.sessionEnded) { try view.authenticate(other) }
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a wrong password and an unknown name get the same answer`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      for name in ["grace", "nobody-here"] {
        let answer = try await village.request(.post, "/sessions", ["name": name, "password": "guess"])
        #expect(answer.status == 401 && answer.code == "wrong_credentials")
        #expect(answer.fields["www-authenticate"] == "Bearer")
      }
    }
  }

  @Test func `a browser's cookie changes nothing for a page of another origin`() async throws {
    try await Village.open(.socket) { village in
      let body: [String: Any] = ["name": "grace", "password": "grace’s password", "cookie": true]
      // Nor does it sign its visitor in.
      for fields in [[:], ["Origin": "https://evil.example"], ["Origin": "null"]] as [Fields] {
        let refused = try await village.request(.post, "/sessions", body, fields: fields)
        #expect(refused.status == 403 && !refused.fields.has("set-cookie"))
      }
      let opened = try await village.request(
        .post, "/sessions", body, fields: ["Origin": village.origin])
      let cookie = try #require(opened.fields["set-cookie"])
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
      #expect(!opened.has("token"))
      let pair = String(cookie.prefix { $0 != ";" })
      let foreign = try await village.request(
        .delete, "/sessions/current", fields: ["Cookie": pair, "Origin": "https://evil.example"])
      #expect(foreign.status == 403)
      let without = try await village.request(.delete, "/sessions/current", fields: ["Cookie": pair])
      #expect(without.status == 403)
    }
  }

  @Test(arguments: [
    "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp",
    "application/merge-patch+json", "json",
  ])
  func `a body that is not declared as JSON is refused`(type: String) async throws {
    try await Village.open(.inMemory) { village in
      let body = Array(#"{"name":"grace","password":"grace’s password"}"#.utf8)
      let answer = try await village.send(.post, "/sessions", body, fields: ["Content-Type": type])
      #expect(answer.status == 415 && answer.code == "unsupported_media_type")
      let right = try await village.send(
        .post, "/sessions", body, fields: ["Content-Type": "application/json; charset=utf-8"])
      #expect(right.status == 201)
    }
  }

  @Test func `a browser signs in with the cookie of an ended session`() async throws {
    try await Village.open(.inMemory) { village in
      let credentials: [String: Any] = ["name": "grace", "password": "grace’s password", "cookie": true]
      let opened = try await village.request(.post, "/sessions", credentials, fields: ["Origin": village.origin])
      let pair = String(try #require(opened.fields["set-cookie"]).prefix { $0 != ";" })
      let own: Fields = ["Cookie": pair, "Origin": village.origin]
      #expect(try await village.request(.delete, "/sessions/current", fields: own).status == 204)
      // Other changes need a session.
      #expect(try await village.request(.delete, "/sessions/current", fields: own).status == 401)
      #expect(try await village.request(.post, "/sessions", credentials, fields: own).status == 201)
    }
  }

  @Test func `signing out clears the cookie`() async throws {
    try await Village.open(.inMemory) { village in
      let ended = try await village.request(.delete, "/sessions/current", as: "grace")
      #expect(ended.fields["set-cookie"]?.contains("Max-Age=0") == true)
    }
  }

  /// Both hash a password. If no worker is free, both get the same answer.
  @Test func `an unknown name takes the same work as a known one`() async throws {
    try await Village.open(.inMemory) { village in
      let gate = DispatchSemaphore(value: 0)
      let passwords = village.community.passwords
      let waiting = (0..<Passwords.maxQueued).map { _ in Task { try? await passwords.run { gate.wait() } } }
      while passwords.waitingCount < Passwords.maxQueued { await Task.yield() }
      for name in ["grace", "nobody-here"] {
        let answer = try await village.request(.post, "/sessions", ["name": name, "password": "guess"])
        #expect(answer.status == 503 && answer.code == "unavailable")
      }
      for _ in waiting { gate.signal() }
      for task in waiting { await task.value }
    }
  }

  @Test func `a cheap password hash is upgraded at sign-in`() async throws {
    try await Village.open(.inMemory) { village in
      let cheap = Passwords(cost: Scrypt(cost: 2, blockSize: 1, parallelism: 1))
      let hash = try await cheap.hash("grace’s password")
      let grace = ID<User>(try #require(Int(village.id("grace"))))
      try await village.community.store.write { tx throws(Refusal) in try tx.setPassword(hash, of: grace) }
      try await village.signIn("grace", "grace’s password")
      let kept = try await village.community.store.readInBackground { tx throws(Refusal) in
        try tx.password(of: grace)
      }
      #expect(kept?.hasPrefix("scrypt$16$1$1$") == true)
      try await village.signIn("grace", "grace’s password")
    }
  }

  @Test func `signing in reactivates a deactivated user and tells a banned user the reason`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.setState("grace", in: .deactivated)
      #expect(try await village.request(.get, "/me", as: "grace").status == 401)
      let events = try await village.events { try await village.signIn("grace", "grace’s password") }
      #expect(events == ["user.updated site #3", "notification.created user:\(village.id("grace"))"])
      #expect(try await village.request(.get, "/me", as: "grace")["state"] == "active")
      try await village.setState("linus", in: .disabled)
      let refused = try await village.request(.post, "/sessions", ["name": "linus", "password": "linus’s password"])
      #expect(refused.status == 403 && refused.code == "account_disabled")
      let guess = try await village.request(.post, "/sessions", ["name": "linus", "password": "no"])
      #expect(guess.code == "wrong_credentials")
    }
  }

  @Test func `users see and revoke only their own sessions`() async throws {
    try await Village.open(.inMemory) { village in
      let other = try await village.request(
        .post, "/sessions", ["name": "grace", "password": "grace’s password", "device": " phone "])
      let list = try await village.request(.get, "/sessions", as: "grace")
      #expect(list.texts("data", "name") == ["phone", "test"])
      #expect(list.bool("data.0.current") == false && list.bool("data.1.current") == true)
      #expect(!list.text.contains(try #require(other["token"])))
      let first = try await village.request(.get, "/sessions?limit=1", as: "grace")
      #expect(!first.isNull("next"))
      let second = try await village.request(.get, "/sessions?limit=1&next=\(try #require(first["next"]))", as: "grace")
      #expect(second.texts("data", "name") == ["test"] && second.isNull("next"))

      let id = try #require(other["id"])
      // Another user's session answers like an unknown one and is not revoked.
      #expect(try await village.request(.delete, "/sessions/\(id)", as: "linus").status == 204)
      #expect(try await village.request(.get, "/sessions", as: "grace").count("data") == 2)
      for _ in 1...2 { #expect(try await village.request(.delete, "/sessions/\(id)", as: "grace").status == 204) }
      #expect(try await village.request(.get, "/sessions", as: "grace").count("data") == 1)
      #expect(try await village.request(.delete, "/sessions/x", as: "grace").status == 404)
    }
  }

  @Test func `the least recently used session is revoked above the limit`() async throws {
    try await Village.open(.inMemory) { village in
      for number in 1...village.community.bounds.sessions {
        try await village.signIn("grace", "grace’s password", on: "\(number)")
      }
      #expect(try await village.request(.get, "/sessions", as: "grace").status == 401)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a new password requires the old one and revokes the other sessions`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let other = try #require(try await village.signIn("grace", "grace’s password")["token"])
      let wrong = try await village.request(
        .put, "/me/password", as: "grace", ["old_password": "guess", "password": "another one"])
      #expect(wrong.status == 400 && wrong["errors.0.field"] == "old_password")
      let short = try await village.request(
        .put, "/me/password", as: "grace", ["old_password": "grace’s password", "password": "short"])
      let common = try await village.request(
        .put, "/me/password", as: "grace", ["old_password": "grace’s password", "password": "qwertyuiop"])
      #expect(common.status == 400 && common["errors.0.code"] == "too_common")
      #expect(short["errors.0.code"] == "too_short" && short.int("errors.0.params.min") == 8)
      let changed = try await village.request(
        .put, "/users/me/password", as: "grace", ["old_password": "grace’s password", "password": "another one"])
      #expect(changed.status == 204)
      #expect(try await village.request(.get, "/me", as: "grace").status == 200)
      #expect(try await village.request(.get, "/me", fields: ["Authorization": "Bearer \(other)"]).status == 401)
      #expect(
        try await village.request(.post, "/sessions", ["name": "grace", "password": "grace’s password"]).status == 401)
      try await village.signIn("grace", "another one")
    }
  }
}
