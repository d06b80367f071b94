import Foundation
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

/// A closed garden with data for every check, and functions that bypass all rules.
private final class QuietGarden {
  private let garden: Garden
  var folder: String { garden.folder }
  /// The hash of `bytes`.
  static let digest = "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"
  static let bytes = Data("bytes".utf8)

  init() async throws {
    garden = try await Garden()
    for (number, text) in ["seeds", "weeds", "roses", "thorns"].enumerated() {
      _ = try await garden.post(text, as: "send-\(number + 1)")
    }
    await garden.store.close()
    try FileManager.default.createDirectory(
      atPath: file.deletingLastPathComponent().path, withIntermediateDirectories: true)
    try Self.bytes.write(to: file)
    try change(Self.lives)
  }

  var file: URL { URL(filePath: "\(folder)/files/27/70/\(Self.digest)") }

  /// A database from before the chain. Message 4 was edited, 5 removed by a moderator, 6 deleted and restored, and many rows reference 7.
  private static let lives = """
    update conversation set chained_seq = 0, chain_length = 0, chain_head = null;
    update message set chain_position = null, proof = null;
    update message set revision = 2, edited_at = 1800000000000, edited_by = 1 where id = 4;
    insert into revision (message_id, revision, text, edited_at, edited_by) values (4, 1, 'sedes', 1800000000000, 1);
    insert into search (search, rowid, words, scope) values ('delete', 5, 'weeds', 'c3 a1');
    update message
    set revision = 2, text = null, deletion = 'moderator', deleted_at = 1800000000000, deleted_by = 2 where id = 5;
    insert into sealed (message_id, content, until) values (5, '{}', 1802592000000);
    update message set revision = 3 where id = 6;
    update message set reply_to = 4 where id = 7;
    insert into event (id, stream, stream_offset, kind, subject, revision, actor, at)
    values (5, 15, 5, 2, 4, 2, 1, 1), (6, 15, 6, 3, 5, 2, 2, 1), (7, 15, 7, 3, 6, 2, 1, 1), (8, 15, 8, 4, 6, 3, 2, 1);
    update stream set head = 8, last_event = 8;
    insert into forum (id, title, visibility, room_id, created_by, created_at) values (100, 'garden', 'public', 101, 1, 1);
    insert into conversation (id, kind, forum_id, created_by, created_at) values (101, 'room', 100, 1, 1);
    insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at)
    values (102, 1, x'\(digest)', 5, 'rose.txt', 'text', 'text/plain', 1);
    insert into file_use (owner_id, bytes) values (0, 5), (1, 5);
    insert into attachment (message_id, position, file_id) values (7, 0, 102);
    insert into search (search, rowid, words, scope) values ('delete', 7, 'thorns', 'c3 a1');
    insert into search (rowid, words, scope) values (7, 'thorns rose.txt', 'c3 a1 xfile');
    insert into annotation (type, conversation_id, message_id) values ('com.example.todo', 3, 7);
    insert into hashtag (tag, conversation_id, message_id) values ('food', 3, 7);
    insert into mention (user_id, message_id) values (2, 7);
    insert into participant (conversation_id, user_id, joined_at, from_seq, joined_seq) values (3, 2, 1, 5, 4);
    insert into read_position (user_id, conversation_id, read_seq, delivered_seq) values (2, 3, 3, 4);
    insert into forum_member (forum_id, user_id, created_at) values (100, 2, 1);
    insert into participant (conversation_id, user_id, joined_at) values (101, 2, 1);
    insert into audit (id, at, actor_id, action, subject) values (90, 1, 2, 'user.silenced', 1);
    insert into sanction (id, user_id, kind, created_by, created_at) values (91, 2, 'silence', 1, 1);
    update counter set value = 102 where name = 'id';
    update counter set value = 8 where name = 'event';
    """

  /// The definitions of all tables, as the last migration left them.
  func tables() throws -> [String] {
    let connection = try Connection.writer(folder + "/parley.db")
    defer { connection.close() }
    return try connection.all("select sql from sqlite_schema where type = 'table'") { row in try row.text(0) }
  }

  /// Changes the database, bypassing the store's rules.
  func change(_ script: String) throws {
    let connection = try Connection.writer(folder + "/parley.db")
    defer { connection.close() }
    try connection.execute("pragma foreign_keys = off")
    try connection.execute("pragma ignore_check_constraints = on")
    try connection.executeScript(script)
  }

  /// Overwrites bytes of the file, bypassing SQLite.
  func overwrite(at offset: Int, with bytes: [UInt8]) throws {
    let handle = try FileHandle(forUpdating: URL(filePath: folder + "/parley.db"))
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }

  /// All faults by check.
  func faults() throws -> [String: [String]] {
    let findings = try Verification(folder).run(all: true)
    return Dictionary(uniqueKeysWithValues: findings.filter { !$0.isSound }.map { ($0.check, $0.faults) })
  }
}

@Suite struct VerificationTests {
  @Test func `a sound database passes every check, and each check reports its counts`() async throws {
    let garden = try await QuietGarden()
    let findings = try Verification(garden.folder).run()
    #expect(findings.flatMap(\.faults) == [])
    #expect(findings.map(\.check) == Check.ofSnapshot.map(\.name) + ["files"])
    #expect(findings.allSatisfy { !$0.counts.isEmpty && $0.counts.contains { $0.number > 0 } })
    let chains = try #require(findings.first { $0.check == "chains" })
    #expect(chains.counts.map { "\($0.number) \($0.what)" } == ["2 conversations", "4 messages"])
  }

  /// The change, the one check that must find it, and its message.
  @Test(arguments: [
    (
      "update read_position set delivered_seq = 2", "constraints",
      "read_position with user_id 2, conversation_id 3 violates a check clause"
    ),
    ("update account set role = 'king' where id = 1", "constraints", "account with id 1 violates a check clause"),
    (
      """
      update message set author_id = 99 where id = 7; delete from idempotency; update message set client_id = null;
      delete from attachment; insert into search (search, rowid, words, scope) values ('delete', 7, 'thorns rose.txt', 'c3 a1 xfile');
      insert into search (rowid, words, scope) values (7, 'thorns', 'c3 a99')
      """,
      "foreign keys", "message with id 7 names missing account 99"
    ),
    (
      "insert into participant (conversation_id, user_id, joined_at) values (3, 99, 1)", "foreign keys",
      "participant with conversation_id 3, user_id 99 names missing account 99"
    ),
    (
      "update message set previous_message = 4 where id = 6", "chains",
      "conversation 3: message 6 follows 5, but names 4"
    ),
    ("update message set seq = 9 where id = 7", "chains", "message 7 has seq 9, its predecessor 3"),
    (
      "update conversation set last_seq = 5 where id = 3", "chains",
      "conversation 3 names message 7 at seq 5 as its last"
    ),
    ("update conversation set last_message_id = 6 where id = 3", "chains", "but ends with 7 at 4"),
    ("update event set stream_offset = 9 where id = 8", "streams", "stream conversation:3: event 8 has offset 9"),
    (
      "insert into start values (9, 8, 3), (10, 7, 2)", "starts",
      "start 10 begins at event 2, its predecessor at 3"
    ),
    ("insert into start values (9, 8, 10)", "starts", "start 9 begins at event 10, but the next event is 9"),
    ("update stream set head = 7", "streams", "names event 8 at offset 7 as its last"),
    ("update stream set last_event = 7", "streams", "names event 7 at offset 8 as its last"),
    (
      "insert into stream (id, head, last_event) values (19, 1, 1)", "streams",
      "names event 1 at offset 1 as its last, but ends with 0 at 0"
    ),
    ("insert into stream (id, head, last_event) values (4, 0, 0)", "streams", "unknown stream 4"),
    ("delete from stream", "streams", "event 1 is in stream 15, which has no head"),
    (
      "insert into event values (10, 19, 1, 8, 101, 1, 1, 1); insert into stream values (19, 1, 10); update counter set value = 10 where name = 'event'",
      "streams", "event 10 comes after 8"
    ),
    (
      "insert into event values (9, 19, 1, 99, 101, 1, 1, 1); insert into stream values (19, 1, 9); update counter set value = 9 where name = 'event'",
      "streams", "event 9 has the unknown kind 99"
    ),
    (
      "update message set revision = 4 where id = 6", "log and state",
      "message 6: it has revision 4, but its events end at 3"
    ),
    ("update event set kind = 2 where id = 3", "log and state", "message 6: its first event 3 does not create it"),
    ("update event set kind = 1 where id = 8", "log and state", "message 6: its event 8 creates it again"),
    (
      "update event set kind = 2 where id = 6", "log and state",
      "message 5: it is a tombstone, but its events disagree"
    ),
    ("update event set kind = 3 where id = 5", "log and state", "message 4: it is not a tombstone"),
    (
      "update event set revision = 7 where id = 5", "log and state",
      "message 4: its event 5 has revision 7 instead of 2"
    ),
    ("update event set kind = 13 where id = 4", "log and state", "message 7: no event created it"),
    (
      "update event set subject = 100 where id = 4", "log and state", "event 4 names missing message 100"
    ),
    (
      "insert into event values (9, 19, 1, 2, 7, 2, 1, 1); insert into stream values (19, 1, 9); update counter set value = 9 where name = 'event'; update message set revision = 2 where id = 7",
      "log and state", "message 7: its event 9 is not in its conversation's stream"
    ),
    ("update counter set value = 101 where name = 'id'", "counters", "file 102 exceeds the counter"),
    ("update counter set value = 9 where name = 'event'", "counters", "events is 9, but the last event is 8"),
    (
      "insert into report (id, reporter_id, reason, created_at) values (7, 1, 'weeds', 1)", "counters",
      "id 7 is used by message and report"
    ),
    (
      "insert into event values (9, 19, 1, 9, 103, 1, 1, 1); insert into stream values (19, 1, 9); update counter set value = 9 where name = 'event'",
      "counters", "the log names 103"
    ),
    ("insert into idempotency values (1, 'forum', 'one', 103, x'')", "counters", "a send names 103"),
    (
      "insert into revision values (5, 1, 'weeds', null, 1, 1)", "tombstones",
      "message 5 is deleted, but an earlier text remains"
    ),
    (
      "insert into mention (user_id, message_id) values (2, 5)", "tombstones",
      "message 5 is deleted, but a mention remains"
    ),
    (
      "insert into attachment (message_id, position, file_id) values (5, 0, 102)", "tombstones",
      "message 5 is deleted, but an attachment remains"
    ),
    (
      "insert into notification (id, user_id, kind, conversation_id, message_id, created_at) values (9, 2, 'reply', 3, 5, 1)",
      "tombstones", "message 5 is deleted, but notification 9 remains"
    ),
    (
      "insert into notification (id, user_id, kind, conversation_id, message_id, created_at) values (9, 2, 'reply', 8, 4, 1)",
      "references", "notification 9 names missing message 4"
    ),
    (
      "update revision set revision = 2", "tombstones",
      "message 4 has revision 2, but stores a text of revision 2"
    ),
    (
      "insert into sealed (message_id, content, until) values (7, '{}', 1)", "seals",
      "message 7 is sealed, but was not removed by a moderator"
    ),
    (
      "update message set text = 'sods' where id = 4", "search", "the index entry of message 4 differs from its text"
    ),
    (
      "insert into search (rowid, words, scope) values (5, 'weeds', 'c3 a1')", "search",
      "the index entry of message 5 differs from its text"
    ),
    ("update setting set value = '0' where name = 'search_version'", "search", "built by another version"),
    (
      "update idempotency set subject = 5 where client_id = 'send-1'", "sends",
      "message 4 is not what a retried request would find"
    ),
    (
      "delete from idempotency where client_id = 'send-4'", "sends",
      "message 7 is not what a retried request would find"
    ),
    (
      "insert into idempotency values (2, 'message', 'send-1', 4, x'')", "sends",
      "the request send-1 of user 2 names message 4"
    ),
    ("update forum set room_id = 3", "references", "forum 100 names room 3"),
    ("update message set reply_to = 50 where id = 7", "references", "message 7 replies to missing message 50"),
    (
      """
      update message set repost_of = 50 where id = 7;
      insert into search (search, rowid, words, scope) values ('delete', 7, 'thorns rose.txt', 'c3 a1 xfile')
      """, "references", "message 7 reposts message 50"
    ),
    ("update message set moved_to = 7 where id = 5", "references", "message 5 was moved"),
    ("update hashtag set conversation_id = 101", "references", "a hashtag of message 7 names conversation 101"),
    ("update mention set user_id = 50", "references", "message 7 mentions missing user 50"),
    (
      "update conversation set tags = '[\"food\"]' where id = 101", "references",
      "conversation 101 has other tags than the hashtags of its first message"
    ),
    (
      "insert into topic_tag (forum_id, tag, pinned, activity, conversation_id) values (100, 'food', 0, 101, 101)",
      "references", "the entry of topic 101 under the tag food differs from the topic"
    ),
    (
      "update conversation set tags = '[\"food\"]' where id = 101; delete from topic_tag", "references",
      "topic 101 is not listed under each of its tags"
    ),
    (
      "insert into action (message_id, type, user_id, created_at, message_at) values (7, 'like', 2, 0, 9)",
      "references", "the action like of user 2 has another time than message 7"
    ),
    (
      """
      update attachment set file_id = 50;
      insert into search (search, rowid, words, scope) values ('delete', 7, 'thorns rose.txt', 'c3 a1 xfile');
      insert into search (rowid, words, scope) values (7, 'thorns', 'c3 a1 xfile')
      """, "attachments", "message 7 names missing file 50"
    ),
    (
      "update file set owner_id = 2; update file_use set owner_id = 2 where owner_id = 1", "attachments",
      "message 7 names file 102 of user 2"
    ),
    ("update forum set icon_file_id = 50", "attachments", "forum 100 names missing file 50"),
    (
      "insert into setting (name, value) values ('icon_file', '50')", "attachments",
      "the site 0 names missing file 50"
    ),
    ("update file_use set bytes = 4 where owner_id = 0", "file use", "the files of user 0 have 5 bytes"),
    ("delete from file_use where owner_id = 1", "file use", "the recorded usage is 0"),
    ("insert into file_use (owner_id, bytes) values (2, 1)", "file use", "the files of user 2 have 0 bytes"),
    (
      "delete from participant where conversation_id = 101", "members",
      "user 2 is a member of forum 100, but not a participant of its room"
    ),
    (
      "delete from forum_member", "members",
      "user 2 is a participant of the room of forum 100, but not a member"
    ),
    (
      "update read_position set delivered_seq = 5", "read_positions",
      "user 2 has received conversation 3 up to seq 5, but it ends at 4"
    ),
    (
      "update participant set from_seq = 6", "read_positions",
      "the history of user 2 starts beyond the end of conversation 3"
    ),
    (
      "drop trigger topic_tags_of_changed_topic", "references", "the trigger topic_tags_of_changed_topic is missing"
    ),
    ("drop trigger audit_refuses_update", "audit", "the trigger audit_refuses_update is missing"),
    (
      "insert into audit (id, at, actor_id, action, subject) values (98, 1, 99, 'user.banned', 1)", "audit",
      "audit entry 98 names missing user 99"
    ),
    (
      "insert into sanction (id, user_id, kind, created_by, created_at) values (97, 1, 'silence', 2, 1), (98, 1, 'silence', 2, 1)",
      "sanctions", "user 1 has more than one active silence"
    ),
    (
      "insert into sanction (id, user_id, kind, created_by, created_at) values (98, 1, 'ban', 2, 1)", "sanctions",
      "user 1 is banned by sanction 98, but not disabled"
    ),
    (
      "insert into sanction (id, user_id, kind, forum_id, created_by, created_at) values (98, 1, 'silence', 99, 2, 1)",
      "sanctions", "sanction 98 names missing forum 99"
    ),
    ("update file set preview_digest = x'ab'", "files", "files/ab//ab of file 102 is missing"),
    (
      "update file set size = 6; update file_use set bytes = 6", "files",
      "has 5 bytes, but a row records another size"
    ),
  ])
  func `each corruption is found by its check alone`(
    script: String, check: String, sentence: String
  ) async throws {
    let garden = try await QuietGarden()
    try garden.change(script)
    let faults = try garden.faults()
    #expect(Array(faults.keys) == [check], "\(faults)")
    #expect(faults[check]?.contains { $0.contains(sentence) } == true, "\(faults)")
  }

  @Test func `every check constraint of the migrations is verified`() async throws {
    let garden = try await QuietGarden()
    let texts = try garden.tables()
    let findings = try Verification(garden.folder).run()
    let looked = findings.flatMap(\.counts).first { $0.what == "check clauses" }
    #expect(looked?.number == texts.joined().split(separator: "check (").count - 1)
  }

  @Test func `a corrupt file is reported as a fault`() async throws {
    let garden = try await QuietGarden()
    try garden.overwrite(at: 0, with: Array("no longer a database".utf8))
    #expect(try garden.faults() == ["integrity": ["file is not a database"]])
  }

  @Test func `overwritten pages are found, and no other check crashes`() async throws {
    let garden = try await QuietGarden()
    let size = try #require(
      try FileManager.default.attributesOfItem(atPath: garden.folder + "/parley.db")[.size] as? Int)
    for page in stride(from: 2, to: size / 4_096, by: 5) {
      try garden.overwrite(at: page * 4_096, with: [UInt8](repeating: 0xa5, count: 4_096))
    }
    #expect(try garden.faults()["integrity"]?.isEmpty == false)
  }

  @Test func `a missing index row is found`() async throws {
    let garden = try await QuietGarden()
    let connection = try Connection.reader(garden.folder + "/parley.db")
    let page = try connection.first("select rootpage from sqlite_schema where name = 'hashtag_of_message'") { row in
      try row.int(0)
    }
    connection.close()
    // The number of cells in the page (sqlite.org/fileformat.html §1.6).
    try garden.overwrite(at: try #require(page) * 4_096 - 4_096 + 3, with: [0, 0])
    let faults = try garden.faults()
    #expect(Array(faults.keys) == ["integrity"])
    #expect(faults["integrity"]?.contains { $0.contains("hashtag_of_message") } == true, "\(faults)")
  }

  @Test func `verification stops at the first failing check unless all are requested`() async throws {
    let garden = try await QuietGarden()
    try garden.change("update message set previous_message = 4 where id = 6; update stream set head = 7")
    let findings = try Verification(garden.folder).run()
    #expect(findings.last?.check == "chains" && findings.filter { !$0.isSound }.count == 1)
    #expect(Set(try garden.faults().keys) == ["chains", "streams"])
  }

  @Test func `a check lists twenty faults and counts all`() async throws {
    let garden = try await QuietGarden()
    try garden.change(
      """
      with recursive n (i) as (select 200 union all select i + 1 from n where i < 249)
      insert into participant (conversation_id, user_id, joined_at) select 3, i, 1 from n;
      with recursive n (i) as (select 200 union all select i + 1 from n where i < 249)
      insert into mention (message_id, user_id) select 7, i from n
      """)
    let findings = try Verification(garden.folder).run(all: true).filter { !$0.isSound }
    #expect(findings.map(\.check) == ["foreign keys", "references"])
    #expect(findings.map(\.faultCount) == [50, 50])
    #expect(findings.allSatisfy { $0.faults.count == Verification.maxListed })
  }

  @Test func `changed, missing and misplaced files are found`() async throws {
    let garden = try await QuietGarden()
    try Data("Bytes".utf8).write(to: garden.file)
    #expect(try garden.faults()["files"]?.first?.contains("of file 102 has the hash 4d800030") == true)
    try FileManager.default.removeItem(at: garden.file)
    #expect(try garden.faults()["files"]?.first?.hasSuffix("is missing") == true)
    try FileManager.default.createDirectory(at: garden.file, withIntermediateDirectories: false)
    #expect(try garden.faults()["files"]?.first?.contains("can't be read") == true)
  }

  @Test func `previews are verified like files`() async throws {
    let garden = try await QuietGarden()
    try garden.change("update file set preview_digest = digest, preview_size = 5; update file_use set bytes = 10")
    #expect(try garden.faults() == [:])
    try garden.change("update file set preview_size = 6")
    #expect(try garden.faults()["files"]?.count == 1)
  }

  @Test func `verification runs beside a writing server`() async throws {
    let garden = try await Garden()
    let writing = Task { for number in 0..<500 { _ = try await garden.post("rose \(number)") } }
    var counts: [Int] = []
    while counts.last ?? 0 < 500 {
      let findings = try Verification(garden.folder).run(all: true)
      #expect(findings.flatMap(\.faults) == [])
      counts.append(findings.flatMap(\.counts).first { $0.what == "messages" }?.number ?? 0)
    }
    try await writing.value
    #expect(counts == counts.sorted())
    await garden.store.close()
  }

  private struct Enough: Error {}

  @Test func `progress is reported, and verification can be cancelled`() async throws {
    let garden = try await QuietGarden()
    try Data(count: 10_000_000).write(to: garden.file)
    var furthest = 0
    #expect(throws: Enough.self) {
      try Verification(garden.folder).run { step in
        guard case .working(on: "files", let done, let total) = step, done > 0 else { return }
        #expect(total == 5)
        furthest = done
        if done > 1_000_000 { throw Enough() }
      }
    }
    #expect(furthest > 1_000_000 && furthest < 2_000_000)
  }

  @Test(arguments: ["streams", "counters"])
  func `a check can be cancelled while it runs`(check: String) async throws {
    let garden = try await QuietGarden()
    try garden.change(
      """
      with recursive n (i) as (select 200 union all select i + 1 from n where i < 5999)
      insert into account (id, name, role, state, created_at) select i, 'rose', 'member', 'active', 1 from n;
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
      insert into event (id, stream, stream_offset, kind, subject, revision, actor, at)
      select 8 + i, 5, i, 17, 1, 1, 1, 1 from n;
      insert into stream (id, head, last_event) values (5, 5000, 5008);
      update counter set value = case name when 'id' then 5999 else 5008 end
      """)
    #expect(try garden.faults() == [:])
    #expect(throws: Enough.self) {
      try Verification(garden.folder).run { step in
        if case .working(on: check, let done, _) = step, done > 0 { throw Enough() }
      }
    }
  }

  @Test func `a folder without a Parley database is refused`() async throws {
    let scratch = try Scratch()
    let verification = Verification(scratch.path)
    func obstacle() -> String? {
      #expect(throws: Verification.Obstacle.self) { try verification.run() }?.description
    }
    #expect(obstacle()?.contains("no database of parley") == true)
    let connection = try Connection.writer(scratch.path + "/parley.db")
    try connection.execute("create table seed (id integer)")
    connection.close()
    #expect(obstacle()?.contains("no database of parley") == true)
    let garden = try await QuietGarden()
    try garden.change("update migration set hash = 'other' where number = 8")
    let other = #expect(throws: Verification.Obstacle.self) {
      try Verification(garden.folder).run()
    }
    #expect(other?.description.contains("Another version") == true)
  }
}
