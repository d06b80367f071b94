import Foundation
import ParleyModel
import ParleySQLite
import TestSupport
import Testing

@testable import Storage

/// The tables of the dialects against the job that erases a user.
@Suite struct DialectErasureTests {
  /// The tables of the migrations of dialects.
  private static var tables: Set<String> {
    get throws {
      let files = try FileManager.default.contentsOfDirectory(atPath: Garden.migrations).filter {
        $0.contains("dialect")
      }
      let statement = try Regex(#"(?m)^create table (\w+)"#)
      return Set(
        try files.flatMap { file in
          try String(contentsOfFile: "\(Garden.migrations)/\(file)", encoding: .utf8).matches(of: statement)
            .compactMap { $0.output[1].substring.map(String.init) }
        })
    }
  }

  private static func count(_ table: String, of user: ID<User>, in garden: Garden) async throws -> Int {
    try await garden.store.readInBackground { tx throws(Refusal) in
      try tx.run { connection in
        try connection.first(SQL("select count(*) from \(table) where user_id = $1"), user.number) { row in
          try row.int(0)
        }
          ?? -1
      }
    }
  }

  private static func fill(_ garden: Garden, by user: ID<User>) async throws {
    let message = try await garden.post("seeds", by: user).id
    try await garden.store.write { tx throws(Refusal) in
      let forum = try tx.add(ForumDraft(title: "Forum of \(user)", visibility: .public), by: user)
      try tx.supply("A-\(user)", for: .forum, forum.id.number, by: user)
      try tx.supply("B-\(user)", for: .message, message.number, by: user)
      try tx.set(DialectProfile(locale: "de", timezone: "Europe/Berlin"), of: user)
      try tx.set(
        DialectMarker(
          name: "global", message: message, lastRead: message, percentage: 0, updatedAt: tx.now, version: 1),
        of: user)
      try tx.add(
        MorMessagesSubscription(
          id: "C-\(user)", user: user, forum: forum.id, topic: "\(forum.id)",
          expiresAt: tx.now + MorMessagesSubscription.lifetime))
    }
  }

  @Test func `no table of a dialect has rows of an erased user`() async throws {
    let garden = try await Garden(jobs: [.departure])
    try await Self.fill(garden, by: Garden.ada)
    try await Self.fill(garden, by: Garden.grace)
    let tables = try Self.tables
    #expect(tables.count >= 2)
    for table in tables {
      #expect(try await Self.count(table, of: Garden.ada, in: garden) > 0, "\(table) is not filled")
    }
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.depart(Garden.ada, as: .erased, by: Garden.grace)
    }
    await garden.store.jobs.run()
    for table in tables {
      #expect(try await Self.count(table, of: Garden.ada, in: garden) == 0, "\(table) keeps rows")
      #expect(try await Self.count(table, of: Garden.grace, in: garden) > 0, "\(table) lost rows")
    }
    await garden.store.close()
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a user who leaves keeps the UUIDs of the messages that stay`() async throws {
    let garden = try await Garden(jobs: [.departure])
    try await Self.fill(garden, by: Garden.ada)
    try await garden.store.write { tx throws(Refusal) in
      _ = try tx.depart(Garden.ada, as: .left, by: Garden.grace)
    }
    await garden.store.jobs.run()
    #expect(try await Self.count("supplied_uuid", of: Garden.ada, in: garden) == 2)
    #expect(try await Self.count("mormessages_subscription", of: Garden.ada, in: garden) == 0)
    await garden.store.close()
  }

  @Test func `the oldest marker is the one with the earliest change`() async throws {
    let garden = try await Garden()
    let names = ["a", "b", "c"]
    let left = try await garden.store.write { tx throws(Refusal) in
      for (name, at) in zip(names, [5, 3, 4] as [Int64]) {
        let marker = DialectMarker(
          name: name, message: ID(7), lastRead: ID(7), percentage: 0, updatedAt: at, version: 1)
        for user in [Garden.ada, Garden.grace] { try tx.set(marker, of: user) }
      }
      try tx.removeOldestDialectMarker(of: Garden.ada)
      var left: [[String]] = []
      for user in [Garden.ada, Garden.grace] {
        var found: [String] = []
        for name in names where try tx.dialectMarker(name, of: user) != nil { found.append(name) }
        left.append(found)
      }
      return left
    }
    #expect(left == [["a", "c"], names])
    await garden.store.close()
  }

  @Test func `expired subscriptions are removed`() async throws {
    let garden = try await Garden()
    try await Self.fill(garden, by: Garden.ada)
    let housekeeping = Housekeeping(garden.store)
    await housekeeping.tick()
    #expect(try await Self.count("mormessages_subscription", of: Garden.ada, in: garden) == 1)
    garden.clock.pass(seconds: 3_600)
    await housekeeping.tick()
    #expect(try await Self.count("mormessages_subscription", of: Garden.ada, in: garden) == 0)
    await garden.store.close()
  }

  @Test func `changes of forums have increasing times`() async throws {
    let garden = try await Garden()
    let made = try await garden.store.write { tx throws(Refusal) in
      var made: [ID<Forum>] = []
      for number in 0..<5 {
        made.append(try tx.add(ForumDraft(title: "\(number)", visibility: .public), by: Garden.ada).id)
      }
      guard let first = try tx.forum(made[0]) else { throw .notFound }
      var changed = first
      changed.title = "changed"
      _ = try tx.change(first, to: changed, by: Garden.grace)
      return made
    }
    let changes = try await garden.store.readInBackground { tx throws(Refusal) in try tx.lastChanges(of: made) }
    let order = made.sorted { (changes[$0]?.at ?? 0) < (changes[$1]?.at ?? 0) }
    #expect(order == Array(made.dropFirst()) + [made[0]])
    #expect(Set(changes.values.map(\.at)).count == 5)
    #expect(changes[made[0]]?.by == Garden.grace && changes[made[1]]?.by == Garden.ada)
    await garden.store.close()
  }
}
