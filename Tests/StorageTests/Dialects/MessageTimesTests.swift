import ParleyModel
import ParleySQLite
import TestSupport
import Testing

@testable import Storage

/// Times in microseconds, by which clients of dialects ask for newer messages.
@Suite struct MessageTimesTests {
  private static func times(in garden: Garden) async throws -> [Int] {
    try await garden.store.readInBackground { tx throws(Refusal) in
      let ids = try tx.run { connection in
        try connection.all("select id from message order by seq") { row in ID<Message>(try row.int(0)) }
      }
      var times: [Int] = []
      // Pages of a list.
      for start in stride(from: 0, to: ids.count, by: 150) {
        let page = try tx.messages(Array(ids[start..<min(start + 150, ids.count)]))
        let found = try tx.microseconds(of: page)
        times += ids[start..<min(start + 150, ids.count)].map { found[$0] ?? -1 }
      }
      return times
    }
  }

  private static func post(_ count: Int, in garden: Garden) async throws {
    for start in stride(from: 0, to: count, by: 100) {
      try await garden.store.write { tx throws(Refusal) in
        for _ in start..<min(start + 100, count) {
          _ = try tx.post(NewMessage(conversation: Garden.room, author: Garden.ada, clientID: nil, text: "wool"))
        }
      }
    }
  }

  @Test func `times grow after the clock was set back`() async throws {
    let garden = try await Garden()
    let now = Int(garden.clock.now)
    try await Self.post(2, in: garden)
    garden.clock.pass(seconds: -3_600)
    try await Self.post(2, in: garden)
    garden.clock.pass(seconds: 3_601)
    try await Self.post(1, in: garden)
    let start = now * 1_000
    #expect(try await Self.times(in: garden) == [start, start + 1, start + 2, start + 3, start + 1_000_000])
    await garden.store.close()
  }

  @Test func `messages beyond a thousand of a millisecond reach into the next ones`() async throws {
    let garden = try await Garden()
    let start = Int(garden.clock.now) * 1_000
    try await Self.post(2_105, in: garden)
    try await garden.store.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute("update message set created_at = created_at + seq - 2100 where seq > 2100")
      }
    }
    let later = [2_100, 2_101, 3_000, 4_000, 5_000]
    #expect(try await Self.times(in: garden) == (Array(0..<2_100) + later).map { start + $0 })
    await garden.store.close()
  }
}
