import CFaultyVFS
import Foundation
import ParleySQLite
import TestSupport

/// Random transactions against a disk that may fail, and what has to be there afterwards.
///
/// Each transaction inserts some rows under its own number and now and then deletes those of an older one. What was
/// acknowledged must be there, whole. What ended with an error may be there, whole, until the next acknowledged one: that is
/// what nobody knows of a commit that was cut off.
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

  /// One transaction; false when it was not acknowledged.
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

  /// Now and then something else: a checkpoint, or closing and opening again.
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

  /// What is wrong with what the database holds; nil when nothing is.
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
