import ParleyCrypto
import ParleyModel
import Testing

@testable import Storage

@Suite struct DigestTests {
  /// The digest as specified by the contract.
  private static func expected(_ lines: [String]) throws -> String {
    Hex.text(try Digest.sha256(of: Array(lines.map { $0 + "\n" }.joined().utf8)))
  }

  private static func digest(_ text: String) throws -> String { Hex.text(try Digest.sha256(of: Array(text.utf8))) }

  /// Five messages with ids from 101: a plain one, a reply with files, a tombstone, an edited one, an empty one.
  private static func plant() throws -> (database: RawDatabase, lines: [String]) {
    let database = try RawDatabase()
    let first = try database.post("seeds")
    let second = try database.post("weeds 🌱\n", replyTo: first)
    try database.attach([72, 71], to: second)
    try database.delete(try database.post("regrets"))
    let fourth = try database.post("rakes")
    try database.connection.execute("update message set revision = 4 where id = $1", fourth.number)
    try database.post("")
    return (
      database,
      [
        "1 101 0 1 0 \(try digest("seeds\0\0"))", "2 102 101 1 0 \(try digest("weeds 🌱\n\0" + "101\0" + "72,71"))",
        "3 103 102 2 1 -", "4 104 103 4 0 \(try digest("rakes\0\0"))", "5 105 104 1 0 \(try digest("\0\0"))",
      ]
    )
  }

  @Test func `a digest covers one line per message`() throws {
    let (database, lines) = try Self.plant()
    let whole = try database.reading.digest(of: RawDatabase.room)
    #expect(whole.digest == (try Self.expected(lines)))
    #expect(whole.lastEvent == 5)
    #expect(whole.parts.map(\.seqs) == [1...1, 2...2, 3...3, 4...4, 5...5])
    #expect(whole.parts.map(\.digest) == (try lines.map { try Self.expected([$0]) }))
    let some = try database.reading.digest(of: RawDatabase.room, fromSeq: 2, toSeq: 4, parts: 2)
    #expect(some.digest == (try Self.expected(Array(lines[1...3]))))
    #expect(some.parts.map(\.seqs) == [2...2, 3...4])
  }

  @Test func `digests are stable across versions`() throws {
    let (database, _) = try Self.plant()
    #expect(
      try database.reading.digest(of: RawDatabase.lawn).digest
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      try database.reading.digest(of: RawDatabase.room, toSeq: 1).digest
        == "2c823dd6bf9f6d0fe3e9bf342df5821f1b541350866f5a3c29cc922aa05511e3")
    #expect(
      try database.reading.digest(of: RawDatabase.room).digest
        == "11809e1283a7741f8d9c8976e750923c7863f49e28569e55e02a83b1d8e4ef72")
  }

  @Test func `digests of parts do not depend on the requested range`() throws {
    let database = try RawDatabase()
    for number in 0..<1_300 { try database.post("message \(number)") }
    let whole = try database.reading.digest(of: RawDatabase.room, parts: 1)
    #expect(whole.parts.map(\.digest) == [whole.digest] && whole.parts.map(\.seqs) == [1...1_300])
    let parts = try database.reading.digest(of: RawDatabase.room, parts: 7).parts
    #expect(parts.map(\.seqs.count).allSatisfy { 185...186 ~= $0 })
    for part in parts {
      let alone = try database.reading.digest(
        of: RawDatabase.room, fromSeq: part.seqs.lowerBound, toSeq: part.seqs.upperBound)
      #expect(alone.digest == part.digest)
    }
  }

  @Test func `a range outside of the viewer's history is refused`() throws {
    let (database, lines) = try Self.plant()
    let tx = database.reading
    for from in [2, 1, 0, -1, 7, Int.min, Int.max] {
      #expect(throws: Refusal.invalid("from_seq", .invalid)) {
        try tx.digest(of: RawDatabase.room, fromSeq: from, historyFrom: 3)
      }
    }
    for to in [1, 6, 0, Int.min, Int.max] {
      #expect(throws: Refusal.invalid("to_seq", .invalid)) {
        try tx.digest(of: RawDatabase.room, fromSeq: 3, toSeq: to, historyFrom: 3)
      }
    }
    for parts in [0, -1, 1_025] {
      #expect(throws: Refusal.invalid("parts", .outOfRange(1...DigestLimits.parts))) {
        try tx.digest(of: RawDatabase.room, parts: parts)
      }
    }
    #expect(throws: Refusal.notFound) { try tx.digest(of: ID(77)) }
    #expect(try tx.digest(of: RawDatabase.room, historyFrom: 3).digest == (try Self.expected(Array(lines[2...]))))
    #expect(try tx.digest(of: RawDatabase.room, historyFrom: 6).parts == [])
  }
}
