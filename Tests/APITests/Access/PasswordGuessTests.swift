import ParleyCrypto
import ParleyModel
import ParleyWire
import Testing
import Web

@testable import API
@testable import Community
@testable import Storage

/// Guesses of passwords and codes by a thief of a credential, or of the password.
@Suite struct PasswordGuessTests {
  private static let rates: RateLimits = {
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    return rates
  }()

  /// An operation that takes the password of the caller.
  struct Guess: Sendable {
    let method: ParleyWire.Method
    let path: String
    /// The member with the password.
    let field: String
    let more: [String: String]

    func body(_ password: String) -> [String: Any] { more.merging([field: password]) { $1 } }
  }

  private static let guesses = [
    Guess(method: .post, path: "/sessions/current/proof", field: "password", more: [:]),
    Guess(method: .post, path: "/me/tokens", field: "password", more: ["name": "t", "scope": "admin"]),
    Guess(method: .put, path: "/me/password", field: "old_password", more: ["password": "another one"]),
    Guess(method: .delete, path: "/users/me", field: "password", more: ["how": "deactivate"]),
    Guess(method: .post, path: "/sessions", field: "password", more: ["name": "grace"]),
  ]

  @Test(arguments: guesses)
  func `a wrong password counts as a guess of the session`(guess: Guess) async throws {
    try await Village.open(.inMemory, rates: Self.rates) { village in
      func status(_ password: String) async throws -> Int {
        try await village.request(guess.method, guess.path, as: "grace", guess.body(password)).status
      }
      for _ in 1...3 {
        let wrong = try await status("guess")
        #expect(wrong == 400 || wrong == 401)
      }
      #expect(try await status("grace’s password") == 429)
      try await village.renewSession(of: "grace")
      #expect(try await status("grace’s password") < 300)
    }
  }

  @Test(arguments: guesses.dropFirst())
  func `the tokens of a user guess together`(guess: Guess) async throws {
    try await Village.open(.inMemory, rates: Self.rates) { village in
      func status(_ password: String, _ token: String) async throws -> Int {
        let fields: Fields = ["Authorization": "Bearer \(token)"]
        return try await village.request(guess.method, guess.path, guess.body(password), fields: fields).status
      }
      for _ in 1...3 {
        let wrong = try await status("guess", try await village.token("grace", .admin))
        #expect(wrong == 400 || wrong == 401)
      }
      #expect(try await status("grace’s password", try await village.token("grace", .admin)) == 429)
      #expect(try await village.request(guess.method, guess.path, as: "grace", guess.body("guess")).status != 429)
    }
  }

  @Test func `faults other than the password are no guesses`() async throws {
    try await Village.open(.inMemory, rates: Self.rates) { village in
      for _ in 1...4 {
        let body = ["name": "", "scope": "admin", "password": "grace’s password"]
        #expect(try await village.request(.post, "/me/tokens", as: "grace", body)["errors.0.field"] == "name")
        let change = ["old_password": "grace’s password", "password": "short"]
        #expect(try await village.request(.put, "/me/password", as: "grace", change)["errors.0.field"] == "password")
        // Staff gives no password for another user.
        let other = try await village.request(.delete, "/users/@gus", as: "ada", ["password": "guess", "reason": "x"])
        #expect(other["errors.0.code"] == "unknown_field")
      }
      #expect(
        try await village.request(.post, "/sessions/current/proof", as: "grace", ["password": "grace’s password"])
          .status
          == 204)
    }
  }

  @Test func `a token learns nothing about the password from a proof`() async throws {
    try await Village.open(.inMemory) { village in
      let fields: Fields = ["Authorization": "Bearer \(try await village.token("grace", .admin))"]
      for password in ["grace’s password", "guess", String(repeating: "x", count: 5_000)] {
        let answer = try await village.request(
          .post, "/sessions/current/proof", ["password": password], fields: fields)
        #expect(answer.status == 403 && answer.code == "forbidden")
      }
    }
  }

  @Test func `a device has guesses of codes of its own once it has passed the present second step`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, rates: Self.rates, clock: clock.read) { village in
      func answer(_ path: String, _ body: [String: Any], _ cookie: String? = nil) async throws -> Answer {
        var fields: Fields = ["Origin": village.origin]
        if let cookie { fields.add("Cookie", cookie) }
        return try await village.request(.post, path, body.merging(["cookie": true]) { $1 }, fields: fields)
      }
      func cookie(_ answer: Answer) throws -> String {
        let cookie = try #require(answer.fields.all("set-cookie").first { $0.hasPrefix("parley-device=") })
        return String(cookie.prefix { $0 != ";" })
      }
      let password = ["name": "grace", "password": "grace’s password"]
      // A thief of the password collects cookies before the app is set up.
      var stolen: [String] = []
      for _ in 1...3 { stolen.append(try cookie(try await answer("/sessions", password))) }
      let app = try await AuthenticatorApp(village, clock, for: "grace")
      let challenge = try await app.challenge()
      func confirm(_ code: String, _ cookie: String?) async throws -> Answer {
        try await answer("/sessions/second-factor", ["challenge": challenge, "code": code], cookie)
      }
      let known = try cookie(try await confirm(app.recoveryCodes[0], nil))
      for index in 0..<3 { #expect(try await confirm("000000", stolen[index]).status == 400) }
      for other in stolen + [nil] { #expect(try await confirm(app.recoveryCodes[1], other).status == 429) }
      #expect(try await confirm(app.recoveryCodes[1], known).status == 201)
      // The cookie counts for passwords as before.
      for _ in 1...4 { _ = try await answer("/sessions", ["name": "grace", "password": "guess"]) }
      #expect(try await answer("/sessions", password).status == 429)
      #expect(try await answer("/sessions", password, known).code == "second_factor_required")
      // Another app.
      clock.add(60_000)
      try await village.expect(204, .delete, "/me/second-factor", as: "grace")
      let next = try await AuthenticatorApp(village, clock, for: "grace")
      let other = try #require(try await answer("/sessions", password, known)["params.challenge"])
      let body = ["challenge": other, "code": next.recoveryCodes[0]]
      #expect(try await answer("/sessions/second-factor", body, known).status == 429)
    }
  }
}
