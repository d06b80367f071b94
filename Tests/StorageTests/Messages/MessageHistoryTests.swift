import Foundation
import ParleyModel
import ParleySQLite
import TestSupport
import Testing

@testable import Storage

/// After any sequence of changes the index contains the words of live messages only, and the event log matches the
/// state.
@Suite struct MessageHistoryTests {
  /// The expected state of a message.
  private struct Expected {
    var seq: Int
    var previous: ID<Message>?
    var text: String
    var revision = 1
    var deletion: Deletion?
    var isSealed = false
    var earlier: [Int: String] = [:]
    var events = ["messageCreated"]

    mutating func raise(_ event: String) {
      revision += 1
      events.append(event)
    }

    mutating func entomb(_ deletion: Deletion) {
      self.deletion = deletion
      raise("messageDeleted")
    }
  }

  private static let words = ["tulip", "rose", "daisy", "lily", "iris", "poppy", "violet", "aster"]

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `index, log and chain agree with the messages after every change`(seed: UInt64) async throws {
    var random = Seeded(seed: seed)
    let garden = try await Garden()
    let fresh = try await FreshIndex()
    var expected: [ID<Message>: Expected] = [:]
    for _ in 0..<200 {
      try await Self.change(&expected, in: garden, &random)
      try await fresh.compare(with: garden)
      try Self.compare(expected, with: garden)
    }
    #expect(try Garden.faults(in: garden.folder) == [])
    // The run contains every final state.
    #expect(Set(expected.values.map { $0.deletion?.rawValue ?? "live" }) == ["live", "author", "moderator"])
    #expect(expected.values.contains { $0.events.contains("messageRestored") })
  }

  private static func change(
    _ expected: inout [ID<Message>: Expected], in garden: Garden, _ random: inout Seeded
  ) async throws {
    let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
      .joined(separator: " ")
    let choice = Int.random(in: 0..<14, using: &random)
    guard choice > 2, expected.count > 2, let id = expected.keys.sorted().randomElement(using: &random),
      var message = expected[id]
    else {
      var new = NewMessage(conversation: Garden.room, author: Garden.ada, text: text)
      new.isMachineOnly = choice == 0
      new.annotations = MessageAnnotations(
        json: "[]", types: [], location: Location(name: words.randomElement(using: &random), latitude: 1, longitude: 2))
      let sent = new
      let stored = try await garden.write { tx throws(Refusal) in try tx.post(sent) }
      expected[stored.id] = Expected(seq: stored.seq, previous: stored.previous, text: text)
      return
    }
    let isLive = message.deletion == nil
    switch choice {
    case 3...6:
      let revision = await attempt(garden) { tx throws(Refusal) in
        try tx.edit(id, to: MessageText(text), by: Garden.ada)
      }
      if isLive, message.text != text {
        message.earlier[message.revision] = message.text
        message.text = text
        message.raise("messageEdited")
      }
      #expect(revision == (isLive ? .success(message.revision) : .failure(.gone)))
    case 7:
      let revision = await attempt(garden) { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
      if isLive { message.entomb(.author) }
      message.isSealed = false
      message.earlier = message.deletion == nil ? message.earlier : [:]
      #expect(revision == .success(message.revision))
    case 8, 9:
      let revision = await attempt(garden) { tx throws(Refusal) in try tx.remove(id, by: Garden.grace, reason: nil) }
      if isLive {
        message.entomb(.moderator)
        message.isSealed = true
      }
      #expect(revision == .success(message.revision))
    case 10, 11, 12:
      let revision = await attempt(garden) { tx throws(Refusal) in try tx.restore(id, by: Garden.grace) }
      if message.isSealed {
        message.deletion = nil
        message.isSealed = false
        message.raise("messageRestored")
      }
      #expect(revision == (message.deletion == nil ? .success(message.revision) : .failure(.gone)))
    default:
      let number = message.earlier.keys.sorted().randomElement(using: &random) ?? message.revision
      let revision = await attempt(garden) { tx throws(Refusal) in
        try tx.deleteRevision(number, of: id, by: Garden.grace)
      }
      if isLive, message.earlier.removeValue(forKey: number) != nil {
        message.raise("messageEdited")
        #expect(revision == .success(message.revision))
      } else {
        #expect(revision == .failure(isLive ? .notFound : .gone))
      }
    }
    expected[id] = message
  }

  private static func attempt(
    _ garden: Garden, _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Int
  ) async -> Result<Int, Refusal> {
    do throws(Refusal) { return .success(try await garden.write(rule)) } catch { return .failure(error) }
  }

  private static func compare(_ expected: [ID<Message>: Expected], with garden: Garden) throws {
    let connection = try Connection.reader(garden.folder + "/parley.db")
    defer { connection.close() }
    var count = 0
    try connection.each(
      "select id, seq, previous_message, text, revision, deletion from message"
    ) { row in
      count += 1
      let id = ID<Message>(try row.int(0))
      let message = try #require(expected[id])
      #expect(try row.int(1) == message.seq)
      #expect(try row.optionalInt(2) == message.previous?.number)
      #expect(try row.optionalText(3) == (message.deletion == nil ? message.text : nil))
      #expect(try row.int(4) == message.revision)
      #expect(try row.optionalText(5) == message.deletion?.rawValue)
      let events = garden.delivered.all.filter { $0.subject == id.number }
      #expect(events.map { "\($0.kind)" } == message.events)
      #expect(events.map(\.revision) == Array(1...message.revision))
      let earlier = try connection.all("select revision, text from revision where message_id = $1", id.number) { row in
        (try row.int(0), try row.text(1))
      }
      #expect(Dictionary(uniqueKeysWithValues: earlier) == (message.deletion == nil ? message.earlier : [:]))
    }
    #expect(count == expected.count)
  }
}

/// A reference index, rebuilt from the current messages each time.
private struct FreshIndex {
  private let garden: Garden

  init() async throws { garden = try await Garden() }

  private static let words = "select term, doc, col, offset from temp.word order by doc, col, offset, term"

  /// FTS5 lists every word of an index with its position (sqlite.org/fts5.html §7.3).
  private static func words(_ tx: WriteTransaction) throws(Refusal) -> [String] {
    try tx.run { connection in
      try connection.execute("create virtual table if not exists temp.word using fts5vocab(main, search, instance)")
      try connection.execute("insert into search (search) values ('integrity-check')")
      return try connection.all(SQL(words)) { row in
        "\(try row.int(1)) \(try row.text(2)) \(try row.int(3)) \(try row.text(0))"
      }
    }
  }

  func compare(with other: Garden) async throws {
    let (indexed, entries) = try await other.write { tx throws(Refusal) in
      let ids = try tx.run { connection in try connection.all("select id from message") { ID<Message>(try $0.int(0)) } }
      var entries: [SearchEntry] = []
      for id in ids { if let entry = try tx.searchEntry(of: id) { entries.append(entry) } }
      return (try Self.words(tx), entries)
    }
    try await garden.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("insert into search (search) values ('delete-all')") }
      tx.searchChanges = entries.map { .add($0) }
    }
    let fresh = try await garden.write { tx throws(Refusal) in try Self.words(tx) }
    #expect(indexed == fresh)
  }
}
