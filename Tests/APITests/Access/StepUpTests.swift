import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct StepUpTests {
  /// Rows: an operation of the owner that needs a proof.
  private static var operations: [(Method, String, [String: Any]?)] {
    [
      (.post, "/me/tokens", ["name": "t", "scope": "admin"]), (.post, "/me/second-factor", nil),
      (.put, "/me/second-factor", ["code": "000000"]), (.delete, "/me/second-factor", nil),
      (.post, "/me/second-factor/recovery-codes", nil), (.post, "/me/passkeys/options", nil),
      (.delete, "/me/passkeys/1", nil), (.post, "/me/identities", ["issuer": "work"]),
      (.delete, "/me/identities/1", nil), (.patch, "/users/@grace", ["role": "moderator", "end_sessions": false]),
      (.patch, "/users/@ben", ["disabled": true]), (.put, "/users/@ben/ban", ["reason": "x"]),
      (.post, "/users/@grace/reset", nil), (.post, "/users/@grace/reset-second-factor", nil), (.post, "/backups", nil),
      (.post, "/me/export", nil), (.get, "/me/export/content", nil),
      (.post, "/users/@grace/recover", nil),
      (.delete, "/backups/1", nil), (.get, "/backups/1/content", nil),
      (.patch, "/settings", ["require_second_factor": "staff"]),
      (.post, "/invites", ["role": "moderator"]), (.post, "/bots", ["name": "dice", "scope": "read"]),
      (.post, "/bots/@robo/tokens", ["name": "t", "scope": "read"]),
      (.delete, "/users/@grace", ["reason": "x"]), (.post, "/webhooks", ["conversation_id": "1", "name": "x"]),
      (.post, "/webhook-endpoints", ["name": "x", "url": "https://example.org/", "topics": ["me"]]),
      (.post, "/commands", ["name": "x", "url": "https://example.org/", "bot_id": "1"]),
      (.post, "/apps", ["name": "x", "redirect_uris": ["https://example.org/"]]),
      (.patch, "/settings", ["app_registration": true]),
      (.post, "/destructions", ["user": "@grace", "reason": "x"]),
      (.patch, "/users/@grace", ["end_sessions": true]),
    ]
  }

  @Test func `sensitive operations need a proof of the last ten minutes`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.addUser("ben", .admin)
      clock.add(600_000)
      for (method, path, body) in Self.operations {
        let answer = try await village.request(method, path, as: "ada", body)
        #expect(answer.status == 403 && answer.code == "step_up_required", "\(method) \(path): \(answer.text)")
        #expect(answer.list("params.methods") == ["password"])
      }
      // These need none.
      #expect(try await village.request(.patch, "/users/@grace", as: "ada", ["disabled": true]).status == 200)
      #expect(try await village.request(.put, "/users/@linus/ban", as: "ada", ["reason": "x"]).status == 200)
      #expect(try await village.request(.patch, "/settings", as: "ada", ["name": "Club"]).status == 200)
      #expect(try await village.request(.post, "/me/tokens", as: "ada", ["name": "t", "scope": "write"]).status == 201)
      #expect(try await village.request(.post, "/invites", as: "ada", ["role": "member"]).status == 201)
      let proof = ["password": "ada’s password"]
      #expect(try await village.request(.post, "/sessions/current/proof", as: "ada", proof).status == 204)
      clock.add(599_999)
      #expect(
        try await village.request(.patch, "/users/@ben", as: "ada", ["role": "member", "end_sessions": false]).status
          == 200)
      clock.add(1)
      #expect(
        try await village.request(.patch, "/users/@ben", as: "ada", ["role": "admin", "end_sessions": false]).status
          == 403)
    }
  }

  @Test func `a token of scope admin was proved when it was created`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let token = try await village.token("ada", .admin)
      clock.add(3_600_000)
      let fields: Fields = ["Authorization": "Bearer \(token)"]
      let changed = try await village.request(
        .patch, "/users/@grace", ["role": "moderator", "end_sessions": false], fields: fields)
      #expect(changed.status == 200)
      let proof = try await village.request(
        .post, "/sessions/current/proof", ["password": "ada’s password"], fields: fields)
      #expect(proof.status == 403 && proof.code == "forbidden")
      let another = try await village.request(.post, "/me/tokens", ["name": "t", "scope": "admin"], fields: fields)
      #expect(another.code == "step_up_required")
      // A stolen token neither turns off the second step nor sets up another app.
      for method in [Method.post, .delete] {
        let refused = try await village.request(method, "/me/second-factor", fields: fields)
        #expect(refused.status == 403 && refused.code == "forbidden", "\(method)")
      }
    }
  }

  @Test func `a token resets nothing of the staff, and no user resets their own`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.addUser("ben", .admin)
      _ = try await AuthenticatorApp(village, clock, for: "ada")
      let fields: Fields = ["Authorization": "Bearer \(try await village.token("ada", .admin))"]
      for reset in ["reset", "reset-second-factor", "recover"] {
        for user in ["me", "@ada", "@ben"] {
          let byToken = try await village.request(.post, "/users/\(user)/\(reset)", fields: fields)
          #expect(byToken.status == 403 && byToken.code == "forbidden", "\(user) \(reset)")
        }
        for user in ["me", "@ada"] {
          let bySession = try await village.request(.post, "/users/\(user)/\(reset)", as: "ada")
          #expect(bySession.status == 403 && bySession.code == "forbidden", "\(user) \(reset)")
        }
        #expect(try await village.request(.post, "/users/@ben/\(reset)", as: "ada").status < 300)
        #expect(try await village.request(.post, "/users/@grace/\(reset)", fields: fields).status < 300)
      }
      #expect(try await village.request(.get, "/me/second-factor", as: "ada").isNull("enabled_at") == false)
    }
  }

  @Test func `wrong codes in proofs are counted for all sessions of a user`() async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    let clock = StoppedClock()
    try await Village.open(.inMemory, rates: rates, clock: clock.read) { village in
      var sessions: [String] = []
      for _ in 0...4 { sessions.append(try #require(try await village.signIn("grace", "grace’s password")["token"])) }
      let app = try await AuthenticatorApp(village, clock, for: "grace", ["keep_sessions": true])
      app.nextStep()
      func prove(_ session: Int, _ code: String, _ password: String = "grace’s password") async throws -> Int {
        try await village.request(
          .post, "/sessions/current/proof", ["password": password, "code": code],
          fields: ["Authorization": "Bearer \(sessions[session])"]
        ).status
      }
      // A wrong password is no guess of a code.
      #expect(try await prove(0, "000000", "guess") == 400)
      for session in 1...3 { #expect(try await prove(session, "000000") == 400) }
      #expect(try await prove(4, try app.code()) == 429)
      // The sign-in has a count of its own.
      #expect(try await app.result(try app.code()) == "201")
    }
  }

  @Test func `a user with a second factor proves with a code, too`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let setup = try await village.request(.post, "/me/second-factor", as: "ada")
      let secret = try #require(Base32.bytes(setup["secret"] ?? ""))
      func code() throws -> String {
        try OneTimePassword.code(secret, step: OneTimePassword.step(at: clock.read()))
      }
      func prove(_ more: [String: String]) async throws -> Answer {
        let body = ["password": "ada’s password"].merging(more) { $1 }
        return try await village.request(.post, "/sessions/current/proof", as: "ada", body)
      }
      #expect(try await prove(["code": "000000"])["errors.0.code"] == "unknown_field")
      #expect(try await village.request(.put, "/me/second-factor", as: "ada", ["code": try code()]).status == 200)
      clock.add(600_000)
      for (method, path, body) in Self.operations where path != "/users/@ben" && path != "/users/@ben/ban" {
        let answer = try await village.request(method, path, as: "ada", body)
        #expect(answer.list("params.methods") == ["password_and_code"], "\(method) \(path): \(answer.text)")
      }
      let withPassword: [String: Any] = ["name": "t", "scope": "admin", "password": "ada’s password"]
      #expect(try await village.request(.post, "/me/tokens", as: "ada", withPassword).code == "step_up_required")
      let change = ["old_password": "ada’s password", "password": "another one"]
      #expect(try await village.request(.put, "/me/password", as: "ada", change).code == "step_up_required")
      #expect(try await prove([:])["errors.0.code"] == "missing")
      #expect(try await prove(["password": "guess", "code": try code()])["errors.0.field"] == "password")
      #expect(try await prove(["code": "000000"])["errors.0.field"] == "code")
      #expect(try await prove(["code": try code()]).status == 204)
      #expect(try await prove(["code": try code()])["errors.0.code"] == "used")
      #expect(try await village.request(.put, "/me/password", as: "ada", change).status == 204)
    }
  }

  @Test func `wrong proofs are limited by session`() async throws {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    try await Village.open(.inMemory, rates: rates) { village in
      func prove(_ password: String, as name: String = "grace") async throws -> Int {
        try await village.request(.post, "/sessions/current/proof", as: name, ["password": password]).status
      }
      for _ in 1...5 { #expect(try await prove("grace’s password") == 204) }
      for _ in 1...3 { #expect(try await prove("guess") == 400) }
      #expect(try await prove("grace’s password") == 429)
      #expect(try await prove("linus’s password", as: "linus") == 204)
      try await village.renewSession(of: "grace")
      #expect(try await prove("grace’s password") == 204)
    }
  }
}

@Suite struct RequiredSecondFactorTests {
  private static let week = 7 * 86_400_000

  @Test func `after seven days a user without one can only read and set it up`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      let forum = try await village.forum("Plants", .public, ["ada", "grace"])
      #expect(
        try await village.request(.patch, "/settings", as: "ada", ["require_second_factor": "staff"]).status == 200)
      let due = try await village.request(.get, "/me/second-factor", as: "ada")
      #expect(due.bool("required") == true && due["due_at"] == "2027-01-22T08:00:00.000Z")
      let other = try await village.request(.get, "/me/second-factor", as: "grace")
      #expect(other.bool("required") == false && other.isNull("due_at"))
      clock.add(Self.week - 1)
      func write(_ name: String) async throws -> String? {
        let answer = try await village.request(.put, "/forums/\(forum)/level", as: name, ["level": "mentions"])
        return answer.status < 300 ? "done" : answer.code
      }
      #expect(try await write("ada") == "done")
      clock.add(1)
      #expect(try await write("ada") == "second_factor_missing")
      #expect(try await write("grace") == "done")
      let token = try await village.token("ada", .admin)
      let byToken = try await village.request(
        .patch, "/me", ["bio": "x"], fields: ["Authorization": "Bearer \(token)"])
      #expect(byToken.code == "second_factor_missing")
      #expect(try await village.request(.get, "/forums", as: "ada").status == 200)
      try await village.renewSession(of: "ada")
      let setup = try await village.request(.post, "/me/second-factor", as: "ada")
      let secret = try #require(Base32.bytes(setup["secret"] ?? ""))
      let code = try OneTimePassword.code(secret, step: OneTimePassword.step(at: clock.read()))
      #expect(try await village.request(.put, "/me/second-factor", as: "ada", ["code": code]).status == 200)
      #expect(try await write("ada") == "done")
    }
  }

  @Test func `the days count from the widest of setting, sign-up and role`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      func due(_ name: String) async throws -> String? {
        try await village.request(.get, "/me/second-factor", as: name)["due_at"]
      }
      func require(_ circle: String) async throws {
        let answer = try await village.request(
          .patch, "/settings", as: "ada", ["require_second_factor": circle])
        #expect(answer.status == 200 && answer["require_second_factor"] == circle)
      }
      try await require("staff")
      clock.add(300_000)
      try await village.addUser("ben", .admin)
      #expect(try await due("ben") == "2027-01-22T08:05:00.000Z")
      clock.add(60_000)
      #expect(
        try await village.request(.patch, "/users/@grace", as: "ada", ["role": "admin", "end_sessions": false]).status
          == 200)
      #expect(try await due("grace") == "2027-01-22T08:06:00.000Z")
      #expect(try await due("linus") == nil)
      clock.add(60_000)
      try await require("all")
      #expect(try await due("linus") == "2027-01-22T08:07:00.000Z")
      clock.add(60_000)
      // A narrower circle does not begin anew.
      try await require("staff")
      #expect(try await due("ada") == "2027-01-22T08:07:00.000Z")
      try await require("none")
      #expect(try await due("ada") == nil)
      // Bots have no password.
      try await require("all")
      clock.add(Self.week)
      let robo = try await village.token("robo", .write)
      let answer = try await village.request(.patch, "/me", ["bio": "x"], fields: ["Authorization": "Bearer \(robo)"])
      #expect(answer.status == 200)
    }
  }

  @Test func `an open connection follows the rule and the user's factor`() async throws {
    let clock = StoppedClock()
    try await Village.open(.socket, clock: clock.read) { village in
      let room = try await village.garden().room
      let grace = try village.connect(as: "grace")
      func write() async throws -> String? {
        let answer = try await grace.request(["do": "send", "conversation_id": room, "text": "x"])
        return answer.bool("ok") == true ? "done" : answer["problem.code"]
      }
      func type() async throws -> String? {
        let answer = try await grace.request(["do": "typing", "conversation_id": room])
        return answer.bool("ok") == true ? "done" : answer["problem.code"]
      }
      #expect(try await write() == "done")
      try await village.changeSettings(["require_second_factor": "all"])
      clock.add(Self.week - 1)
      #expect(try await write() == "done")
      clock.add(1)
      #expect(try await write() == "second_factor_missing")
      #expect(try await type() == "second_factor_missing")
      let publish = try await grace.request(["do": "publish", "topic": "app:x", "data": [:] as [String: String]])
      #expect(publish["problem.code"] == "second_factor_missing")
      // The proof is older than ten minutes.
      try await village.expect(
        204, .post, "/sessions/current/proof", as: "grace", ["password": "grace’s password"])
      _ = try await AuthenticatorApp(village, clock, for: "grace")
      #expect(try await write() == "done")
      #expect(try await type() == "done")
      try await village.expect(204, .delete, "/me/second-factor", as: "grace")
      #expect(try await write() == "second_factor_missing")
      try await village.renewSession(of: "ada")
      let setup = try await village.expect(201, .post, "/me/second-factor", as: "ada")
      let secret = try #require(Base32.bytes(setup["secret"] ?? ""))
      let code = try OneTimePassword.code(secret, step: OneTimePassword.step(at: clock.read()))
      try await village.expect(200, .put, "/me/second-factor", as: "ada", ["code": code])
      try await village.changeSettings(["require_second_factor": "none"])
      #expect(try await write() == "done")
    }
  }

  @Test func `a change of role gives the seven days once`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await village.addUser("ben", .admin)
      func due(_ name: String) async throws -> String? {
        try await village.request(.get, "/me/second-factor", as: name)["due_at"]
      }
      func become(_ role: String, _ name: String) async throws {
        clock.add(60_000)
        try await village.expect(200, .patch, "/users/@\(name)", as: "ada", ["role": role, "end_sessions": false])
      }
      try await village.changeSettings(["require_second_factor": "staff"])
      for role in ["owner", "admin"] {
        try await become(role, "ben")
        #expect(try await due("ben") == "2027-01-22T08:00:00.000Z")
      }
      try await become("moderator", "grace")
      #expect(try await due("grace") == nil)
      try await become("admin", "grace")
      let first = "2027-01-22T08:04:00.000Z"
      #expect(try await due("grace") == first)
      try await become("owner", "grace")
      #expect(try await due("grace") == first)
      try await become("member", "grace")
      try await become("admin", "grace")
      #expect(try await due("grace") == first)
      try await village.renewSession(of: "ada")
      try await village.changeSettings(["require_second_factor": "all"])
      #expect(try await due("linus") == "2027-01-22T08:07:00.000Z")
      for role in ["moderator", "admin", "member"] {
        try await become(role, "linus")
        #expect(try await due("linus") == "2027-01-22T08:07:00.000Z")
      }
    }
  }
}
