import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct MessageDeletionTests {
  /// A message with a history, a file, an action, a notification and a report.
  private static func plant(_ garden: Garden, _ word: String) async throws -> (message: ID<Message>, file: ID<File>) {
    let file = try await garden.upload()
    let id = try await garden.post(Garden.message(saying: word, files: [file], as: word))
    try await garden.write { tx throws(Refusal) in
      try tx.edit(id, to: Garden.text(saying: word + "s"), by: Garden.ada)
      try tx.edit(id, to: Garden.text(saying: word + "bulb"), by: Garden.grace)
    }
    try await garden.react(to: id, saying: word)
    return (id, file)
  }

  @Test func `a deletion removes the message's text from every table`() async throws {
    let garden = try await Garden()
    _ = try await garden.post("before")
    let (id, file) = try await Self.plant(garden, "tulip")
    _ = try await garden.post("after")
    let events = garden.delivered.all.count
    let revision = try await garden.write { tx throws(Refusal) in
      try tx.delete(id, by: Garden.ada, reason: "mistake")
    }
    #expect(revision == 4)
    // Copies made for moderators before the deletion stay until they expire, as does the client id of the send.
    #expect(try garden.tables(saying: "copy of tulip") == ["report"])
    let tables = try garden.tables()
    for (name, rows) in tables where name != "report" {
      for row in rows {
        #expect(!row.replacing("client_id=tulip", with: "").contains("tulip"), "\(name): \(row)")
      }
    }
    let tombstone = try #require(tables["message"]?.first { $0.hasPrefix("id=\(id) ") })
    #expect(tombstone.contains("text=null entities=null annotations=null"))
    #expect(tombstone.contains("sent_at=null"))
    #expect(tombstone.contains("revision=4 deletion=author deleted_at=1800000000000 deleted_by=1 reason=mistake"))
    for name in ["hashtag", "mention", "hyperlink", "location", "annotation", "attachment", "revision", "notification"]
    {
      #expect(tables[name] == [], "\(name)")
    }
    // Actions of other users are not content of the author.
    #expect(tables["action"]?.count == 1)
    #expect(tables["sealed"] == [] && tables["sealed_attachment"] == [])
    #expect(try await garden.isUnused(file) == true)
    #expect(try garden.found(by: "tulip OR tulips OR tulipbulb OR plant") == [])
    #expect(garden.events(after: events) == ["notificationRead \(id) 0 by 1", "messageDeleted \(id) 4 by 1"])
    // The files here are only rows.
    #expect(try Garden.faults(in: garden.folder, besides: "files") == [])
  }

  @Test func `a repeated deletion returns the same and writes nothing`() async throws {
    let garden = try await Garden()
    let (id, _) = try await Self.plant(garden, "tulip")
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    let before = try garden.tables()
    let revision = try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.grace, reason: "again") }
    #expect(revision == 4)
    let removed = try await garden.write { tx throws(Refusal) in try tx.remove(id, by: Garden.grace, reason: "weeds") }
    #expect(removed == 4)
    #expect(try garden.tables() == before)
    await #expect(throws: Refusal.notFound) {
      try await garden.write { tx throws(Refusal) in try tx.delete(ID(999), by: Garden.ada) }
    }
  }

  @Test func `a file with another reference stays in use`() async throws {
    let garden = try await Garden()
    let shared = try await garden.upload()
    let avatar = try await garden.upload()
    let sealed = try await garden.upload()
    let all = [shared, avatar, sealed]
    let id = try await garden.post(Garden.message(saying: "tulip", files: all))
    _ = try await garden.post(Garden.message(saying: "rose", files: [shared]))
    let removed = try await garden.post(Garden.message(saying: "weeds", files: [sealed]))
    try await garden.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute("update account set avatar_file_id = $1 where id = 1", avatar.number)
      }
      try tx.remove(removed, by: Garden.grace, reason: nil)
      try tx.delete(id, by: Garden.ada)
    }
    for file in all { #expect(try await garden.isUnused(file) == false) }
    try await garden.write { tx throws(Refusal) in try tx.delete(removed, by: Garden.ada) }
    #expect(try await garden.isUnused(sealed) == true)
  }

  @Test func `a refused rule rolls back its deletion`() async throws {
    let garden = try await Garden()
    let (id, _) = try await Self.plant(garden, "tulip")
    let before = try garden.tables()
    let events = garden.delivered.all.count
    await #expect(throws: Refusal.conflict) {
      try await garden.write { tx throws(Refusal) in
        try tx.delete(id, by: Garden.ada)
        throw .conflict
      }
    }
    #expect(try garden.tables() == before)
    #expect(garden.events(after: events) == [])
    #expect(try garden.found(by: "tulipbulb") == [id.number])
  }

  @Test func `a removed message is sealed, and restored unchanged`() async throws {
    let garden = try await Garden()
    let (id, file) = try await Self.plant(garden, "tulip")
    let before = try garden.tables()
    let events = garden.delivered.all.count
    let removed = try await garden.write { tx throws(Refusal) in
      try tx.remove(id, by: Garden.grace, reason: "weeds")
    }
    #expect(removed == 4)
    #expect(try garden.tables(saying: "tulips") == ["sealed"])
    #expect(try garden.found(by: "tulipbulb") == [])
    #expect(try await garden.isUnused(file) == false)
    let tombstone = try #require(try garden.tables()["message"]?.first)
    #expect(tombstone.contains("deletion=moderator deleted_at=1800000000000 deleted_by=2 reason=weeds"))
    let until = Garden.thirtyDaysOn
    #expect(try garden.tables()["sealed"]?.first?.hasSuffix("until=\(until)") == true)

    let sealed = try garden.tables()
    #expect(try await garden.write { tx throws(Refusal) in try tx.remove(id, by: Garden.ada, reason: "again") } == 4)
    #expect(try garden.tables() == sealed)

    #expect(try await garden.write { tx throws(Refusal) in try tx.restore(id, by: Garden.grace) } == 5)
    #expect(try await garden.write { tx throws(Refusal) in try tx.restore(id, by: Garden.grace) } == 5)
    var after = try garden.tables()
    after["message"] = after["message"]?.map { $0.replacing("revision=5", with: "revision=3") }
    // The settings record that a seal was opened.
    // The chain has both changes, and the restored text a new proof.
    func unchained(_ rows: [String]?) -> [String]? { rows?.map { $0.replacing(#/ (proof|chain\w*)=\S+/#, with: "") } }
    for name in before.keys where !["event", "stream", "counter", "setting", "chain_entry"].contains(name) {
      #expect(unchained(after[name]) == unchained(before[name]), "\(name)")
    }
    #expect(try garden.found(by: "tulipbulb") == [id.number])
    let newEvents = garden.events(after: events)
    #expect(
      newEvents.map { $0.prefix { $0 != " " } } == [
        "notificationRead", "messageDeleted", "notificationCreated", "messageRestored",
      ])
    #expect(newEvents[1] == "messageDeleted \(id) 4 by 2" && newEvents[3] == "messageRestored \(id) 5 by 2")
    // The files here are only rows.
    #expect(try Garden.faults(in: garden.folder, besides: "files") == [])
  }

  @Test func `an author's deletion of a removed message deletes the seal and keeps the tombstone`() async throws {
    let garden = try await Garden()
    let (id, file) = try await Self.plant(garden, "tulip")
    try await garden.write { tx throws(Refusal) in try tx.remove(id, by: Garden.grace, reason: "weeds") }
    let before = try garden.tables()["message"]
    let events = garden.delivered.all.count
    #expect(try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) } == 4)
    #expect(try garden.tables()["message"] == before)
    #expect(try garden.tables()["sealed"] == [])
    #expect(try await garden.isUnused(file) == true)
    #expect(garden.events(after: events) == [])
    await #expect(throws: Refusal.gone) {
      try await garden.write { tx throws(Refusal) in try tx.restore(id, by: Garden.grace) }
    }
  }

  @Test func `an author's own deletion can't be restored`() async throws {
    let garden = try await Garden()
    let id = try await garden.post("seeds").id
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    await #expect(throws: Refusal.gone) {
      try await garden.write { tx throws(Refusal) in try tx.restore(id, by: Garden.grace) }
    }
  }

  @Test func `a seal expires, in chunks of limited size`() async throws {
    let garden = try await Garden()
    var messages: [(message: ID<Message>, file: ID<File>)] = []
    for number in 0..<5 { messages.append(try await Self.plant(garden, "tulip\(number)")) }
    let planted = messages
    try await garden.write { tx throws(Refusal) in
      for (id, _) in planted.dropLast() { try tx.remove(id, by: Garden.grace, reason: nil, sealedFor: 0) }
      try tx.remove(planted[4].message, by: Garden.grace, reason: nil, sealedFor: 1)
    }
    let events = garden.delivered.all.count
    await #expect(throws: Refusal.gone) {
      try await garden.write { tx throws(Refusal) in try tx.restore(planted[0].message, by: Garden.grace) }
    }
    for isMore in [true, false, false] {
      #expect(try await garden.write { tx throws(Refusal) in try tx.expireSealed(limit: 2) } == isMore)
    }
    #expect(try garden.tables()["sealed"]?.count == 1)
    #expect(try garden.tables()["sealed_attachment"]?.count == 1)
    #expect(try await garden.isUnused(planted[0].file) == true)
    #expect(try await garden.isUnused(planted[4].file) == false)
    #expect(garden.events(after: events) == [])
    #expect(try await garden.write { tx throws(Refusal) in try tx.restore(planted[4].message, by: Garden.grace) } == 5)
  }

  @Test func `copies in reports expire, and the reports stay`() async throws {
    let garden = try await Garden()
    for number in 0..<4 { _ = try await Self.plant(garden, "tulip\(number)") }
    #expect(try await garden.write { tx throws(Refusal) in try tx.expireReportCopies(limit: 10) } == false)
    #expect(try garden.tables()["report"]?.filter { $0.contains("copy of tulip") }.count == 4)
    try await garden.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute("update report set copy_until = $1 where copy <> 'copy of tulip3'", Int(tx.now))
      }
    }
    for isMore in [true, false] {
      #expect(try await garden.write { tx throws(Refusal) in try tx.expireReportCopies(limit: 2) } == isMore)
    }
    #expect(try garden.tables()["report"]?.filter { $0.contains("copy of tulip3") }.count == 1)
    #expect(try garden.tables()["report"]?.filter { $0.contains("copy=null copy_until=null") }.count == 3)
  }

  @Test func `a notification of a deleted user is not restored`() async throws {
    let garden = try await Garden()
    let id = try await garden.post("seeds").id
    try await garden.write { tx throws(Refusal) in
      try tx.run { connection in
        try connection.execute(
          "insert into account (id, name, role, state, created_at) values (900, 'eve', 'member', 'active', 1)")
        try connection.execute(
          "insert into notification (id, user_id, kind, message_id, created_at) values (901, 900, 'mention', $1, 1)",
          id.number
        )
      }
      try tx.remove(id, by: Garden.grace, reason: nil)
      try tx.run { connection in try connection.execute("delete from account where id = 900") }
      try tx.restore(id, by: Garden.grace)
    }
    #expect(try garden.tables()["notification"] == [])
    #expect(try garden.found(by: "seeds") == [id.number])
  }
}

extension Garden {
  static let thirtyDaysOn = 1_800_000_000_000 + 30 * 86_400_000
}
