import CFaultyVFS
import Foundation
import ParleySQLite
import TestSupport

/// Random transactions on a faulty disk, and the expected rows afterwards.
///
/// Each transaction inserts some rows under its own number and sometimes deletes those of an older one. An
/// acknowledged transaction must be present as a whole. A failed one may be present as a whole until the next
/// acknowledged one: the outcome of an interrupted commit is unknown.
struct Workload {
  /// Rows by transaction.
  typealias State = [Int: Int]

  let path: String
  private var random: Seeded
  private(set) var acknowledged: State = [:]
  private(set) var acknowledgements = 0
  private var possible: [State] = []
  private var number = 0

  init(path: String, seed: UInt64) {
    self.path = path
    random = Seeded(seed: seed)
  }

  mutating func prepare(_ connection: Connection) throws {
    try connection.executeScript(
      """
      create table if not exists entry (id integer primary key, part integer not null, bytes blob not null) strict;
      create index if not exists entry_part on entry (part);
      """)
  }

  /// Runs one transaction. Returns false if it was not acknowledged.
  mutating func turn(_ connection: Connection) -> Bool {
    number += 1
    let (part, rows) = (number, Int.random(in: 1...6, using: &random))
    let dropped = Int.random(in: 0..<3, using: &random) == 0 ? acknowledged.keys.sorted().first : nil
    let sizes = (0..<rows).map { _ in Int.random(in: 0...6_000, using: &random) }
    var next = acknowledged
    next[part] = rows
    if let dropped { next[dropped] = nil }
    do {
      try connection.transaction {
        for size in sizes {
          let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: part), count: size)
          try connection.execute("insert into entry (part, bytes) values ($1, $2)", part, bytes)
        }
        if let dropped { try connection.execute("delete from entry where part = $1", dropped) }
      }
    } catch {
      possible.append(next)
      return false
    }
    acknowledged = next
    acknowledgements += 1
    possible = []
    return true
  }

  /// Sometimes runs a checkpoint, or closes and reopens the connection.
  mutating func interlude(_ connection: inout Connection, reopen: () throws -> Connection) throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: try connection.checkpoint(.truncate)
    case 1: try connection.checkpoint(.passive)
    case 2:
      connection.close()
      connection = try reopen()
    default: break
    }
  }

  mutating func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// The fault of the database; nil if it is sound.
  func fault(in connection: Connection) throws -> String? {
    let faults = try connection.integrityFaults()
    guard faults.isEmpty else { return "integrity: \(faults)" }
    guard try connection.int("select count(*) from sqlite_schema where name = 'entry'") == 1 else {
      return acknowledged.isEmpty ? nil : "no table"
    }
    var found: State = [:]
    var isTorn = false
    try connection.each("select part, bytes from entry") { row in
      let part = try row.int(0)
      found[part, default: 0] += 1
      if try row.bytes(1).contains(where: { $0 != UInt8(truncatingIfNeeded: part) }) { isTorn = true }
    }
    if isTorn { return "torn bytes" }
    if found == acknowledged || possible.contains(found) { return nil }
    return "found \(found.sorted { $0 < $1 }), acknowledged \(acknowledged.sorted { $0 < $1 })"
  }
}
