import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct ReceiptTests {
  private static let start: Int64 = 1_800_000_000_000

  private func kinds(_ database: RawDatabase) throws -> [Int] {
    try database.connection.all("select kind from event order by id") { try $0.int(0) }
  }

  @Test func `read receipts are sent at most once a second, and never lost`() throws {
    let database = try RawDatabase()
    for user in [RawDatabase.ada, RawDatabase.grace] { try database.join(user, RawDatabase.room) }
    for number in 1...5 { try database.post("message \(number)") }
    let before = try kinds(database).count
    let moves: [(Int64, Int)] = [(0, 1), (400, 2), (999, 3), (1_000, 4), (1_500, 5), (1_600, 5)]
    for (later, seq) in moves {
      try database.write(at: Self.start + later) { tx in
        _ = try tx.move(.read, of: RawDatabase.grace, in: RawDatabase.room, to: seq)
      }
    }
    let (moved, received) = (Event.Kind.readPositionUpdated.rawValue, Event.Kind.receiptUpdated.rawValue)
    #expect(try kinds(database).dropFirst(before) == [moved, received, moved, moved, moved, received, moved])
    // Receipts within the second are sent once, a second after the last one.
    for later: Int64 in [1_999, 2_000, 5_000] {
      let isMore = try database.write(at: Self.start + later) { tx in try tx.sendPendingReceipts(limit: 10) }
      #expect(!isMore)
      #expect(try kinds(database).count { $0 == received } == (later < 2_000 ? 2 : 3))
    }
    #expect(
      try database.reading.readPosition(of: RawDatabase.grace, in: RawDatabase.room)
        == ReadPosition(readSeq: 5, deliveredSeq: 5))
  }

  @Test func `pending receipts of a user with receipts disabled are dropped`() throws {
    let database = try RawDatabase()
    for user in [RawDatabase.ada, RawDatabase.grace] { try database.join(user, RawDatabase.room) }
    for number in 1...2 { try database.post("message \(number)") }
    for seq in 1...2 {
      try database.write(at: Self.start) { tx in
        _ = try tx.move(.read, of: RawDatabase.grace, in: RawDatabase.room, to: seq)
      }
    }
    try database.connection.execute("update account set shows_receipts = 0 where id = 2")
    let count = try kinds(database).count
    try database.write(at: Self.start + 9_000) { tx in _ = try tx.sendPendingReceipts(limit: 10) }
    #expect(try kinds(database).count == count)
    #expect(try database.connection.first("select sum(receipt_pending) from read_position") { try $0.int(0) } == 0)
  }

  /// Rows written: none per participant.
  @Test func `posting to and reading a conversation of a thousand costs as much as one of two`() throws {
    var costs: [[Int]] = []
    for count in [2, 1_000] {
      let database = try RawDatabase()
      try database.connection.execute(
        """
        with recursive n (i) as (select 10 union all select i + 1 from n where i < 9 + $1)
        insert into account (id, name, name_key, role, state, created_at)
        select i, 'p' || i, 'p' || i, 'member', 'active', 0 from n
        """, count)
      try database.connection.execute(
        """
        insert into participant (conversation_id, user_id, joined_at)
        select $1, id, 0 from account where id >= 10
        """, RawDatabase.room.number)
      var cost: [Int] = []
      let posted = database.connection.totalChanges
      try database.post("hello", by: ID(10))
      cost.append(database.connection.totalChanges - posted)
      let marked = database.connection.totalChanges
      try database.write { tx in _ = try tx.move(.read, of: ID(11), in: RawDatabase.room, to: 1) }
      cost.append(database.connection.totalChanges - marked)
      // In a conversation of two the other user is notified, which writes two more rows.
      if count == 2 { cost[1] -= 2 }
      costs.append(cost)
    }
    #expect(costs[0] == costs[1])
  }
}
