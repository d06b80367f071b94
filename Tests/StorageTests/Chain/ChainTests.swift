import ParleyCrypto
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct ChainTests {
  private static let now = 1_800_000_000_000

  /// An entry as a reader of the documents takes it from the rows.
  struct Entry {
    let line: String
    let hasSalt: Bool
  }

  /// The entries of a conversation, in their order.
  static func entries(
    _ database: RawDatabase, in conversation: ID<Conversation> = RawDatabase.room
  ) throws -> [Entry] {
    try database.connection.all(
      """
      select position, kind, seq, message, actor, at, proof
      from (
        select chain_position as position, 'created' as kind, seq, id as message, author_id as actor, created_at as at, proof
        from message
        where conversation_id = $1 and chain_position is not null
        union all
        select e.position, e.kind, m.seq, e.message_id, e.actor_id, e.at, e.proof
        from chain_entry e
        join message m on m.id = e.message_id
        where e.conversation_id = $1
      )
      order by position
      """, conversation.number
    ) { row in
      let proof = try row.optionalBytes(6)
      let digest = proof.map { Hex.text(Array($0.prefix(32))) } ?? "-"
      let numbers = [try row.int(2), try row.int(3), try row.int(4), try row.int(5)].map(String.init)
      return Entry(
        line: ([String(try row.int(0)), try row.text(1)] + numbers + [digest]).joined(separator: " "),
        hasSalt: proof?.count == 48)
    }
  }

  /// The lines without their digests.
  private static func lines(_ database: RawDatabase) throws -> [String] {
    try entries(database).map { entry in
      entry.line.split(separator: " ").dropLast().joined(separator: " ") + (entry.hasSalt ? " salted" : "")
    }
  }

  /// The last hash as the documents define it.
  private static func hash(_ lines: [String], of conversation: ID<Conversation>) throws -> [UInt8] {
    try lines.reduce(try Digest.sha256(of: Array("parley chain 1 \(conversation)\n".utf8))) { hash, line in
      try Digest.sha256(of: hash + Array("\(line)\n".utf8))
    }
  }

  static func faults(_ database: RawDatabase, comparing checkpoints: [Checkpoint] = []) throws -> [String] {
    try Verification(database.folder).run(
      [.chainHashes(comparing: checkpoints)], all: true, includesFiles: false
    ).flatMap(\.faults)
  }

  private static func head(_ database: RawDatabase) throws -> ChainState {
    try database.reading.chainState(of: RawDatabase.room)
  }

  // MARK: Entries

  @Test func `a creation and each change of a message append an entry`() throws {
    let database = try RawDatabase()
    let first = try database.post("seeds")
    let second = try database.post("weeds", by: RawDatabase.grace, at: 1_800_000_000_005)
    try database.write { tx in
      try tx.edit(first, to: MessageText("more seeds"), by: RawDatabase.ada)
      try tx.remove(second, by: RawDatabase.ada, reason: nil)
      try tx.restore(second, by: RawDatabase.ada)
      try tx.delete(second, by: RawDatabase.grace)
    }
    let now = Self.now
    #expect(
      try Self.lines(database) == [
        "1 created 1 101 1 \(now) salted", "2 created 2 102 2 \(now + 5)", "3 edited 1 101 1 \(now) salted",
        "4 deleted 2 102 1 \(now)", "5 restored 2 102 1 \(now)", "6 deleted 2 102 2 \(now)",
      ])
    let head = try Self.head(database)
    #expect(head.position == 6)
    #expect(head.hash == (try Self.hash(try Self.entries(database).map(\.line), of: RawDatabase.room)))
    #expect(try Self.faults(database) == [])
  }

  @Test func `each conversation has a chain of its own, and an empty one has a hash`() throws {
    let database = try RawDatabase()
    let empty = try database.reading.chainState(of: RawDatabase.lawn)
    #expect(empty.position == 0)
    #expect(empty.hash == (try Self.hash([], of: RawDatabase.lawn)))
    try database.post("seeds")
    #expect(try database.reading.chainState(of: RawDatabase.lawn) == empty)
    try database.post("moss", in: RawDatabase.lawn)
    #expect(try database.reading.chainState(of: RawDatabase.lawn).position == 1)
    #expect(try Self.faults(database) == [])
  }

  @Test func `the digest of an entry is that of its salt and the content`() throws {
    let database = try RawDatabase()
    let first = try database.post("seeds")
    let second = try database.post("weeds 🌱", replyTo: first)
    for (message, content) in [(first, "seeds\0\0"), (second, "weeds 🌱\0\(first)\0")] {
      let proof = try database.connection.first("select proof from message where id = $1", message.number) {
        try $0.bytes(0)
      }
      let stored = try #require(proof)
      #expect(stored.count == 48)
      #expect(try Digest.sha256(of: stored.suffix(16) + Array(content.utf8)) == Array(stored.prefix(32)))
    }
  }

  @Test func `an erased text takes its salt with it, and the chain stays as it was`() throws {
    let database = try RawDatabase()
    let message = try database.post("regrets")
    let before = try #require(try Self.entries(database).first)
    #expect(before.hasSalt)
    try database.write { tx in _ = try tx.delete(message, by: RawDatabase.ada) }
    let after = try Self.entries(database)
    #expect(after.map(\.hasSalt) == [false, false])
    #expect(after.first?.line == before.line)
    #expect(try Self.faults(database) == [])
  }

  @Test func `the proof of an earlier text stays until it or the files change`() throws {
    let database = try RawDatabase()
    let message = try database.post("one")
    func salts() throws -> [Bool] { try Self.entries(database).map(\.hasSalt) }
    try database.write { tx in
      try tx.edit(message, to: MessageText("two"), by: RawDatabase.ada)
      try tx.edit(message, to: MessageText("three"), by: RawDatabase.ada)
    }
    #expect(try salts() == [true, true, true])
    #expect(try Self.faults(database) == [])
    // A reader of an earlier text can check it.
    try database.connection.execute("update revision set text = 'zwei' where revision = 2")
    #expect(try Self.faults(database) == ["message 101: its text of revision 2 is not the one in the chain"])
    try database.connection.execute("update revision set text = 'two' where revision = 2")
    try database.write { tx in _ = try tx.deleteRevision(1, of: message, by: RawDatabase.ada) }
    #expect(try salts() == [false, false, false, true])
    try database.write { tx in _ = try tx.edit(message, to: MessageText("five"), by: RawDatabase.ada) }
    #expect(try salts() == [false, false, false, true, true])
    #expect(try Self.faults(database) == [])
  }

  @Test func `a post and an edit that are refused leave the chain as it was`() throws {
    let database = try RawDatabase()
    let message = try database.post("seeds")
    let before = try Self.head(database)
    try database.write { tx in
      try tx.edit(message, to: MessageText("seeds"), by: RawDatabase.ada)
      #expect(throws: Refusal.conflict) {
        try tx.edit(message, to: MessageText("weeds"), by: RawDatabase.ada, ifRevision: 7)
      }
    }
    #expect(try Self.head(database) == before)
  }

  // MARK: Messages without an entry

  /// Makes the messages of the room those of a database from before the chain.
  private static func forget(_ database: RawDatabase) throws {
    try database.connection.executeScript(
      """
      update conversation set chained_seq = 0, chain_length = 0, chain_head = null;
      update message set chain_position = null, proof = null;
      delete from chain_entry;
      """)
  }

  @Test func `messages from before the chain get their entries in the background`() throws {
    let database = try RawDatabase()
    let messages = try (1...7).map { try database.post("text \($0)") }
    try database.write { tx in
      try tx.edit(messages[1], to: MessageText("other"), by: RawDatabase.ada)
      try tx.delete(messages[2], by: RawDatabase.ada)
    }
    try Self.forget(database)
    #expect(try Self.faults(database) == [])

    #expect(try database.write { tx in try tx.chainUnchained(limit: 3) })
    #expect(try Self.head(database).position == 3)
    // The chain has reached the first, but not the last.
    try database.write { tx in
      try tx.edit(messages[0], to: MessageText("first"), by: RawDatabase.ada)
      try tx.edit(messages[6], to: MessageText("last"), by: RawDatabase.ada)
    }
    try database.post("text 8")
    #expect(try Self.faults(database) == [])
    while try database.write({ tx in try tx.chainUnchained(limit: 3) }) {}
    let now = Self.now
    #expect(
      try Self.lines(database) == [
        "1 created 1 101 1 \(now) salted", "2 created 2 102 1 \(now) salted", "3 created 3 103 1 \(now)",
        "4 edited 1 101 1 \(now) salted",
      ] + (4...8).map { "\($0 + 1) created \($0) \(100 + $0) 1 \(now) salted" })
    #expect(try Self.faults(database) == [])

    try database.post("text 9")
    #expect(try Self.lines(database).last == "10 created 9 109 1 \(now) salted")
    // The entry of its creation has the second revision, not the first.
    try database.write { tx in _ = try tx.edit(messages[1], to: MessageText("third"), by: RawDatabase.ada) }
    #expect(try Self.lines(database)[1] == "2 created 2 102 1 \(now) salted")
    #expect(try Self.faults(database) == [])
    try database.connection.execute("update revision set text = 'another' where message_id = 102 and revision = 2")
    #expect(try Self.faults(database) == ["message 102: its text of revision 2 is not the one in the chain"])
    try database.connection.execute("update revision set text = 'other' where message_id = 102 and revision = 2")
    #expect(try !database.write { tx in try tx.chainUnchained(limit: 3) })
  }

  @Test func `one pass adds entries in several conversations, also beside a damaged one`() throws {
    let database = try RawDatabase()
    let other = ID<Conversation>(5)
    for number in 1...2 { try database.post("text \(number)") }
    for number in 1...2 { try database.post("other \(number)", in: other) }
    try Self.forget(database)
    #expect(try database.write { tx in try tx.chainUnchained(limit: 3) })
    #expect(try Self.head(database).position == 2)
    #expect(try database.reading.chainState(of: other).position == 1)

    try database.connection.execute("update conversation set last_seq = 3 where id = 4")
    #expect(try database.write { tx in try tx.chainUnchained(limit: 3) })
    #expect(try database.reading.chainState(of: other).position == 2)
    #expect(try !database.write { tx in try tx.chainUnchained(limit: 3) })
  }

  @Test func `edits of buttons and of descriptions keep the proof of the earlier text`() throws {
    let database = try RawDatabase()
    try database.connection.execute(
      """
      insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at)
      values (71, 1, zeroblob(32), 1, 'rose.png', 'image', 'image/png', 1)
      """)
    var message = NewMessage(conversation: RawDatabase.room, author: RawDatabase.ada, text: "roses")
    message.attachments = [ID(71)]
    let posted = message
    try database.write { tx in
      let id = try tx.post(posted).id
      try tx.edit(id, to: MessageText("more roses"), by: RawDatabase.ada)
      try tx.edit(id, to: nil, descriptions: ["A rose"], by: RawDatabase.ada)
      try tx.edit(id, to: nil, buttons: [MessageButton("yes", "Yes")], by: RawDatabase.ada)
    }
    #expect(try Self.entries(database).map(\.hasSalt) == [true, true, true, true])
    #expect(try Self.faults(database) == [])
    try database.connection.execute("update revision set text = 'thorns' where revision = 1")
    #expect(try Self.faults(database) == ["message 101: its text of revision 1 is not the one in the chain"])
  }

  @Test func `housekeeping adds the entries of imported messages`() async throws {
    let garden = try await Garden()
    let conversation = try await garden.write { tx throws(Refusal) in
      let conversation = try tx.startImport(
        of: ImportedConversation(.group, title: "apples", by: Garden.ada, createdAt: tx.now - 10_000))
      for number in 1...3 {
        let stored = try tx.importMessage(
          NewMessage(conversation: conversation, author: Garden.grace, text: "apple \(number)"),
          createdAt: tx.now - 9_000 + Int64(number))
        if number == 2 {
          try tx.importEdits(
            of: stored.id, in: conversation, by: Garden.grace, earlier: [("pear", tx.now - 8_000)], editedAt: tx.now)
        }
      }
      return conversation
    }
    let housekeeping = Housekeeping(garden.store)
    func position() throws -> Int {
      try garden.store.reader().read { tx throws(Refusal) in try tx.chainState(of: conversation).position }
    }
    await housekeeping.tick()
    #expect(try position() == 0)
    try await garden.write { tx throws(Refusal) in try tx.openImported(conversation, by: Garden.ada) }
    await housekeeping.tick()
    #expect(try position() == 3)
    _ = try await garden.write { tx throws(Refusal) in
      try tx.post(NewMessage(conversation: conversation, author: Garden.ada, text: "plum"))
    }
    #expect(try position() == 4)
    #expect(try Garden.faults(in: garden.folder) == [])
    await garden.store.close()
  }

  // MARK: Alterations

  @Test(arguments: [
    ("update message set text = 'roses' where id = 102", "message 102: its text is not the one in the chain"),
    ("update message set author_id = 2 where id = 101", "conversation 4: its chain has 5 entries"),
    ("update message set created_at = created_at + 1 where id = 103", "conversation 4: its chain has 5 entries"),
    ("update message set reply_to = 101 where id = 102", "message 102: its text is not the one in the chain"),
    ("delete from attachment", "message 103: its text is not the one in the chain"),
    ("update message set proof = randomblob(48) where id = 102", "conversation 4: its chain has 5 entries"),
    ("update message set proof = null where id = 102", "conversation 4: its chain has 5 entries"),
    ("update message set seq = seq + 1 where id = 103", "conversation 4: its chain has 5 entries"),
    ("delete from message where id = 103", "conversation 4: entry 4 follows entry 2"),
    ("update chain_entry set actor_id = 2", "conversation 4: its chain has 5 entries"),
    ("update chain_entry set at = at + 1 where position = 5", "conversation 4: its chain has 5 entries"),
    ("delete from chain_entry where position = 4", "conversation 4: entry 5 follows entry 3"),
    ("delete from chain_entry where position = 5", "conversation 4: its chain has 4 entries"),
    ("update chain_entry set kind = 'restored' where position = 4", "conversation 4: its chain has 5 entries"),
    (
      "update message set proof = cast(proof || randomblob(16) as blob) where id = 101",
      "message 101 is deleted, but the salt of a text remains"
    ),
    (
      "update conversation set chain_head = zeroblob(32) where id = 4", "conversation 4: its chain has 5 entries"
    ),
    (
      "update message set chain_position = null where id = 102", "conversation 4: entry 4 follows entry 1"
    ),
  ])
  func `an alteration is found`(change: String, fault: String) throws {
    let database = try RawDatabase()
    let first = try database.post("seeds")
    try database.post("weeds")
    try database.connection.execute(
      """
      insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at)
      values (71, 1, zeroblob(32), 1, 'rose.png', 'image', 'image/png', 1)
      """)
    var message = NewMessage(conversation: RawDatabase.room, author: RawDatabase.ada, text: "with a file")
    message.attachments = [ID(71)]
    let posted = message
    try database.write { tx in
      _ = try tx.post(posted)
      try tx.edit(first, to: MessageText("more seeds"), by: RawDatabase.ada)
      try tx.delete(first, by: RawDatabase.ada)
    }
    #expect(try Self.faults(database) == [])
    try database.connection.execute("pragma foreign_keys = off")
    try database.connection.execute("pragma ignore_check_constraints = on")
    try database.connection.executeScript(change)
    let faults = try Self.faults(database)
    #expect(faults.contains { $0.hasPrefix(fault) }, "\(faults)")
  }
}
