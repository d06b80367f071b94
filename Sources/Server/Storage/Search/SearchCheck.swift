// Check of the full-text index. FTS5's own integrity check does not cover a contentless table, but fts5vocab lists its
// terms with message, column and offset. The check builds the same list from the texts, in a temporary table with the
// same tokenizer, and compares. (FTS5's prefix index for `begin*` is not checked.)
//
// A million messages have twenty million terms, and the two lists differ in order. So the hashes of the terms are
// summed per message, those of the index positive and those of the texts negative, in 65,536 sums that messages share:
// memory does not grow with the database. For a sum other than zero, a second pass examines its messages individually.

import ParleyJSON
public import ParleyModel
import ParleySQLite

extension ReadTransaction {
  /// Messages, and topics for their titles, with wrong index entries, up to `limit`. Reads everything: half a minute for a million messages.
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
  /// Number of messages indexed between two reads of their terms.
  private static let chunk = 5_000

  init(_ connection: Connection) { self.connection = connection }

  func faults(limit: Int) throws -> [Int] {
    try makeTables()
    let unequal = Set(try unequalSums().prefix(limit))
    let faults = unequal.isEmpty ? [] : try unequalMessages(unequal).prefix(limit)
    try dropTables()
    return Array(faults)
  }

  /// A rollback removes them too.
  private func makeTables() throws {
    try connection.execute("create virtual table temp.found_word using fts5vocab ('main', 'search', 'instance')")
    try connection.execute(
      """
      create virtual table temp.due using fts5 (
        words, scope, location, content = '', columnsize = 0,
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
    try eachIndexed { message, hash in sums[message & (Self.sums - 1)] &+= hash }
    try eachExpected(of: { _ in true }) { message, hash in sums[message & (Self.sums - 1)] &-= hash }
    return sums.indices.filter { sums[$0] != 0 }
  }

  private func unequalMessages(_ unequal: Set<Int>) throws -> [Int] {
    var sums: [Int: UInt64] = [:]
    try eachIndexed { message, hash in
      if unequal.contains(message & (Self.sums - 1)) { sums[message, default: 0] &+= hash }
    }
    try eachExpected(of: { unequal.contains($0 & (Self.sums - 1)) }) { message, hash in
      sums[message, default: 0] &-= hash
    }
    return sums.filter { $0.value != 0 }.keys.sorted()
  }

  private func eachIndexed(_ body: (Int, UInt64) -> Void) throws {
    try connection.each("select term, doc, col, offset from temp.found_word") { row in
      body(try row.int(1), try Self.hash(row))
    }
  }

  private func eachExpected(of isIncluded: (Int) -> Bool, _ body: (Int, UInt64) -> Void) throws {
    var count = 0
    func index(_ entry: SearchEntry) throws {
      guard isIncluded(entry.id) else { return }
      try connection.execute(
        "insert into temp.due (rowid, words, scope, location) values ($1, $2, $3, $4)", entry.id,
        SearchText.prepare(entry.words), entry.scope, SearchText.prepare(entry.locationName))
      count += 1
      if count.isMultiple(of: Self.chunk) { try readExpected(body) }
    }
    try SearchIndex.eachEntry(connection, index)
    try SearchIndex.eachTitle(connection, index)
    try readExpected(body)
  }

  private func readExpected(_ body: (Int, UInt64) -> Void) throws {
    try connection.each("select term, doc, col, offset from temp.due_word") { row in
      body(try row.int(1), try Self.hash(row))
    }
    try connection.execute("insert into temp.due (due) values ('delete-all')")
  }

  /// Hash of term, message, column and offset, finalized by the mixer of SplitMix64, since sums need every bit.
  private static func hash(_ row: borrowing Row) throws -> UInt64 {
    var fingerprint = Fingerprint()
    func take(_ bytes: Span<UInt8>) {
      for index in bytes.indices { fingerprint.take(UInt64(bytes[index])) }
      fingerprint.take(0x100)
    }
    try row.withBytes(0) { take($0) }
    try row.withBytes(2) { take($0) }
    fingerprint.take(UInt64(bitPattern: Int64(try row.int(1))))
    fingerprint.take(UInt64(bitPattern: Int64(try row.int(3))))
    var hash = fingerprint.sum
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    return hash ^ (hash >> 31)
  }
}
