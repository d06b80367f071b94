import ParleyModel
import ParleySQLite
import Testing

@testable import Community
@testable import Storage

/// The number of SQL statements of the writer for one post, `begin` and `commit` included.
@Suite struct PostCostTests {
  private static func runs(_ village: Village) async throws -> [String: Int] {
    try await village.community.store.write { tx throws(Refusal) in
      try tx.run { connection in connection.cachedStatementRuns }
    }
  }

  /// Statements of one request. Reading the counts is a transaction, too.
  private static func statements(_ village: Village, _ request: () async throws -> Void) async throws -> [String] {
    let before = try await runs(village)
    try await request()
    var counts = try await runs(village)
    for text in ["begin immediate", "commit"] { counts[text, default: 0] -= 1 }
    return counts.flatMap { sql, runs in Array(repeating: sql, count: runs - before[sql, default: 0]) }.sorted()
  }

  /// A direct message also creates a notification. Devices of its user cost nothing: the worker of push messages queues it later. A
  /// member on probation has counters.
  @Test(arguments: [(Target.room, 11), (.topic, 12), (.direct, 14)], [false, true])
  func `a post takes this many statements`(_ expected: (target: Target, statements: Int), isNew: Bool) async throws {
    try await Village.open(.inMemory) { village in
      if !isNew { try await village.changeSettings(["newcomers": ["days": 0, "messages": 0]]) }
      let conversation = try await expected.target.conversation(in: village)
      for user in ["grace", "linus"] { _ = try await village.subscribe(user) }
      let path = "/conversations/\(conversation)/messages"
      func post(_ text: String) async throws {
        let answer = try await village.request(.post, path, as: "grace", ["text": text, "client_id": text])
        #expect(answer.status == 201, "\(answer.text)")
      }
      // Fills the statement cache and joins the topic.
      try await post("one")
      let statements = try await Self.statements(village) { try await post("two") }
      #expect(statements.count == expected.statements + (isNew ? 1 : 0), "\(statements.joined(separator: "; "))")
    }
  }

  enum Target {
    case room, topic, direct

    func conversation(in village: Village) async throws -> String {
      switch self {
      case .room: try await village.garden().room
      case .topic: try await village.topic("seeds", in: try await village.garden().forum)
      case .direct: try await village.conversation(.direct, ["grace", "linus"])
      }
    }
  }
}
