// Whether the index holds what it should. FTS5's own check can't say that of a table without texts, but fts5vocab gives its
// words, each with message, column and place. The same is made again from the texts, in a temporary table with the same
// tokenizer, and compared. (What stays unseen is the list of beginnings that FTS5 keeps beside the words for `begin*`.)
//
// A million messages have twenty million words, in one order here and in another there. So hashes of the words are added
// up per message, those of the index with plus and those of the text with minus, and messages share 65,536 sums: memory
// does not grow with the database. Where a sum is not zero, a second pass looks at its messages one by one.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Messages of which the index holds something else than it should, some of them if there are many. Reads everything:
  /// half a minute for a million messages.
  public func searchFaults(limit: Int = 100) throws(Refusal) -> [ID<Message>] {
    try run { connection in
      try connection.allowingTemporaryTables {
        try SearchCheck(connection).faults(limit: limit).map { ID($0) }
      }
    }
  }
}

struct SearchCheck {
  private let connection: Connection

  /// A power of two.
  private static let sums = 65_536
  /// How many messages are split into words before these are read.
  private static let chunk = 5_000

  init(_ connection: Connection) { self.connection = connection }

  func faults(limit: Int) throws -> [Int] {
    try makeTables()
    let unequal = Set(try unequalSums().prefix(limit))
    let faults = unequal.isEmpty ? [] : try unequalMessages(unequal).prefix(limit)
    try dropTables()
    return Array(faults)
  }

  /// They are gone, too, when the transaction is rolled back.
  private func makeTables() throws {
    try connection.execute("create virtual table temp.found_word using fts5vocab ('main', 'search', 'instance')")
    try connection.execute(
      """
      create virtual table temp.due using fts5 (
        words, scope, place, content = '', columnsize = 0,
        tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
      )
      """)
    try connection.execute("create virtual table temp.due_word using fts5vocab ('temp', 'due', 'instance')")
  }

  private func dropTables() throws {
    try connection.execute("drop table temp.due_word")
    try connection.execute("drop table temp.due")
    try connection.execute("drop table temp.found_word")
  }

  private func unequalSums() throws -> [Int] {
    var sums = [UInt64](repeating: 0, count: Self.sums)
    try eachFound { message, hash in sums[message & (Self.sums - 1)] &+= hash }
    try eachDue(of: { _ in true }) { message, hash in sums[message & (Self.sums - 1)] &-= hash }
    return sums.indices.filter { sums[$0] != 0 }
  }

  private func unequalMessages(_ unequal: Set<Int>) throws -> [Int] {
    var sums: [Int: UInt64] = [:]
    try eachFound { message, hash in
      if unequal.contains(message & (Self.sums - 1)) { sums[message, default: 0] &+= hash }
    }
    try eachDue(of: { unequal.contains($0 & (Self.sums - 1)) }) { message, hash in sums[message, default: 0] &-= hash }
    return sums.filter { $0.value != 0 }.keys.sorted()
  }

  private func eachFound(_ body: (Int, UInt64) -> Void) throws {
    try connection.each("select term, doc, col, offset from temp.found_word") { row in
      body(try row.int(1), try Self.hash(row))
    }
  }

  private func eachDue(of isWanted: (Int) -> Bool, _ body: (Int, UInt64) -> Void) throws {
    var count = 0
    try SearchIndex.eachEntry(connection) { entry in
      guard isWanted(entry.message) else { return }
      try connection.execute(
        "insert into temp.due (rowid, words, scope, place) values ($1, $2, $3, $4)", entry.message,
        SearchText.prepare(entry.words), entry.scope, SearchText.prepare(entry.place))
      count += 1
      if count.isMultiple(of: Self.chunk) { try readDue(body) }
    }
    try readDue(body)
  }

  private func readDue(_ body: (Int, UInt64) -> Void) throws {
    try connection.each("select term, doc, col, offset from temp.due_word") { row in
      body(try row.int(1), try Self.hash(row))
    }
    try connection.execute("insert into temp.due (due) values ('delete-all')")
  }

  /// Over word, message, column and place, and a last mix, since sums want every bit (that of SplitMix64).
  private static func hash(_ row: borrowing Row) throws -> UInt64 {
    var place = Fingerprint()
    func take(_ bytes: Span<UInt8>) {
      for index in bytes.indices { place.take(UInt64(bytes[index])) }
      place.take(0x100)
    }
    try row.withBytes(0) { take($0) }
    try row.withBytes(2) { take($0) }
    place.take(UInt64(bitPattern: Int64(try row.int(1))))
    place.take(UInt64(bitPattern: Int64(try row.int(3))))
    var hash = place.sum
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    return hash ^ (hash >> 31)
  }
}
