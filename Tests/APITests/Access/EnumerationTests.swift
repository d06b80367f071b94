import ParleyModel
import ParleyWire
import Testing
import Web

@testable import API
@testable import Community
@testable import Storage

@Suite struct EnumerationTests {
  /// Names of all kinds, to sign in with a wrong password.
  private static let names = [
    "grace", "GRACE", "nobody.here", "linus", "mira", "gus", "lena", "emil", "zoe", "robo", "olga", "twostep",
  ]

  private static func prepare(_ village: Village, _ clock: StoppedClock) async throws {
    for name in ["lena", "zoe", "olga", "twostep"] { try await village.addUser(name) }
    try await village.setState("linus", in: .disabled)
    try await village.expect(200, .put, "/users/@gus/ban", as: "ada", ["reason": "spam"])
    try await village.setState("mira", in: .deactivated)
    try await village.setState("zoe", in: .pending)
    for (name, how) in [("lena", "leave"), ("olga", "erase")] {
      try await village.expect(200, .delete, "/users/me", as: name, ["how": how, "password": "\(name)’s password"])
    }
    _ = try await AuthenticatorApp(village, clock, for: "twostep")
    try await village.community.store.write { tx throws(Refusal) in
      var user = NewUser(name: "emil", role: .member)
      user.isImported = true
      _ = try tx.add(user)
    }
  }

  /// The fields that count requests.
  private static let varying = ["x-request-id", "date", "ratelimit-remaining", "ratelimit-reset"]

  /// The status, fields and text of an answer, without the number of the request.
  private static func visible(_ answer: Answer) -> [String] {
    (0..<answer.fields.count).map { "\(answer.fields.name(at: $0)): \(answer.fields.value(at: $0))" }
      .filter { field in !varying.contains { field.lowercased().hasPrefix($0) } }
      + [String(answer.status), answer.text.replacing(#/"request":"[^"]*"/#, with: "")]
  }

  @Test func `a wrong password gets the same answer and work for every kind of name`() async throws {
    let clock = StoppedClock()
    try await Village.open(.inMemory, clock: clock.read) { village in
      try await Self.prepare(village, clock)
      var answers: Set<[String]> = []
      for name in Self.names {
        let before = village.community.passwords.hashCount
        let answer = try await village.request(.post, "/sessions", ["name": name, "password": "guess"])
        #expect(answer.status == 401, "\(name)")
        #expect(village.community.passwords.hashCount == before + 1, "\(name)")
        answers.insert(Self.visible(answer))
      }
      #expect(answers.count == 1, "\(answers)")
    }
  }

  @Test func `guesses are limited alike for every kind of name`() async throws {
    let clock = StoppedClock()
    var rates = Village.unlimited
    rates.guessing = Allowance(burst: 3, perDay: 24)
    try await Village.open(.inMemory, rates: rates, clock: clock.read) { village in
      try await Self.prepare(village, clock)
      for (number, name) in Self.names.enumerated() where name != "GRACE" {
        // The guesses of a network at all names have a limit, too.
        await village.move(to: IPAddress("10.0.\(number).1"))
        var statuses: [Int] = []
        for _ in 1...4 {
          statuses.append(
            try await village.request(.post, "/sessions", ["name": name, "password": "guess"]).status)
        }
        #expect(statuses == [401, 401, 401, 429], "\(name)")
      }
    }
  }
}
