import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// The cost of a call must not grow with unrelated rows. SQLite counts the steps of its virtual machine, so that no
/// clock is needed.
@Suite struct GrowthTests {
  private static let query = MessageQuery(RawDatabase.room, limit: 20)

  /// A conversation with this many users and messages.
  private static func database(users: Int = 2, messages: Int = 30) throws -> RawDatabase {
    let database = try RawDatabase()
    for user in 1000..<1000 + users {
      try database.connection.execute(
        """
        insert into account (id, name, name_key, role, state, created_at)
        values ($1, $2, $2, 'member', 'active', 0)
        """, user, "user\(user)")
      try database.join(ID(user), RawDatabase.room)
    }
    try database.join(RawDatabase.ada, RawDatabase.room)
    for number in 0..<messages { try database.post("message \(number)") }
    return database
  }

  /// The steps of a call with prepared statements.
  private static func steps(in database: RawDatabase, _ call: (RawDatabase) throws -> Void) throws -> Int {
    try call(database)
    let before = database.connection.cachedStatementSteps
    try call(database)
    return database.connection.cachedStatementSteps - before
  }

  private static func ratio(
    of large: RawDatabase, to small: RawDatabase, _ call: (RawDatabase) throws -> Void
  ) throws -> Double {
    Double(try steps(in: large, call)) / Double(try steps(in: small, call))
  }

  private static let calls: [(name: String, call: @Sendable (RawDatabase) throws -> Void)] = [
    ("a post", { database in try database.post("one more") }),
    ("what one may do", { database in _ = try database.reading.standing(of: RawDatabase.ada, in: RawDatabase.room) }),
    ("a page", { database in _ = try database.reading.messages(query) }),
    (
      "a page for somebody",
      { database in
        var query = query
        query.viewer = RawDatabase.ada
        _ = try database.reading.messages(query)
      }
    ),
  ]

  @Test(arguments: calls.indices) func `a thousand users cost as much as two`(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let ratio = try Self.ratio(of: Self.database(users: 1_000), to: Self.database(), call)
    #expect(ratio < 1.2, "\(name)")
  }

  @Test(arguments: calls.indices) func `three thousand messages cost as much as thirty`(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let ratio = try Self.ratio(of: Self.database(messages: 3_000), to: Self.database(), call)
    #expect(ratio < 1.2, "\(name)")
  }

  @Test func `readers of large conversations are not queried`() throws {
    let ask: (RawDatabase) throws -> Void = { database in
      _ = try database.reading.readingParticipants(of: [RawDatabase.room], max: 50)
    }
    #expect(try Self.ratio(of: Self.database(users: 1_000), to: Self.database(users: 49), ask) < 0.5)
    #expect(try Self.ratio(of: Self.database(users: 1_000), to: Self.database(users: 100), ask) < 1.1)
    let (few, many) = (try Self.database(users: 49), try Self.database(users: 50))
    let readers = try [few, many].map {
      try $0.reading.readingParticipants(of: [RawDatabase.room], max: 50)[RawDatabase.room]?.count
    }
    #expect(readers == [50, nil])
  }
}
