import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The cost of a call must not grow with unrelated rows. SQLite counts the steps of its virtual machine, so that no
/// clock is needed.
@Suite struct GrowthTests {
  private static let query = MessageQuery(Meadow.room, limit: 20)

  /// A conversation with this many users and messages.
  private static func meadow(users: Int = 2, messages: Int = 30) throws -> Meadow {
    let meadow = try Meadow()
    for user in 1000..<1000 + users {
      try meadow.connection.execute(
        """
        insert into account (id, name, name_key, role, state, created_at)
        values ($1, $2, $2, 'member', 'active', 0)
        """, user, "user\(user)")
      try meadow.join(ID(user), Meadow.room)
    }
    try meadow.join(Meadow.ada, Meadow.room)
    for number in 0..<messages { try meadow.post("message \(number)") }
    return meadow
  }

  /// The steps of a call with prepared statements.
  private static func steps(in meadow: Meadow, _ call: (Meadow) throws -> Void) throws -> Int {
    try call(meadow)
    let before = meadow.connection.cachedStatementSteps
    try call(meadow)
    return meadow.connection.cachedStatementSteps - before
  }

  private static func ratio(
    of large: Meadow, to small: Meadow, _ call: (Meadow) throws -> Void
  ) throws -> Double {
    Double(try steps(in: large, call)) / Double(try steps(in: small, call))
  }

  private static let calls: [(name: String, call: @Sendable (Meadow) throws -> Void)] = [
    ("a post", { meadow in try meadow.post("one more") }),
    ("what one may do", { meadow in _ = try meadow.reading.standing(of: Meadow.ada, in: Meadow.room) }),
    ("a page", { meadow in _ = try meadow.reading.messages(query) }),
    (
      "a page for somebody",
      { meadow in
        var query = query
        query.viewer = Meadow.ada
        _ = try meadow.reading.messages(query)
      }
    ),
  ]

  @Test(arguments: calls.indices) func `a thousand users cost as much as two`(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let ratio = try Self.ratio(of: Self.meadow(users: 1_000), to: Self.meadow(), call)
    #expect(ratio < 1.2, "\(name)")
  }

  @Test(arguments: calls.indices) func `three thousand messages cost as much as thirty`(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let ratio = try Self.ratio(of: Self.meadow(messages: 3_000), to: Self.meadow(), call)
    #expect(ratio < 1.2, "\(name)")
  }

  @Test func `readers of large conversations are not queried`() throws {
    let ask: (Meadow) throws -> Void = { meadow in
      _ = try meadow.reading.readingParticipants(of: [Meadow.room], max: 50)
    }
    #expect(try Self.ratio(of: Self.meadow(users: 1_000), to: Self.meadow(users: 49), ask) < 0.5)
    #expect(try Self.ratio(of: Self.meadow(users: 1_000), to: Self.meadow(users: 100), ask) < 1.1)
    let (few, many) = (try Self.meadow(users: 49), try Self.meadow(users: 50))
    let readers = try [few, many].map {
      try $0.reading.readingParticipants(of: [Meadow.room], max: 50)[Meadow.room]?.count
    }
    #expect(readers == [50, nil])
  }
}
