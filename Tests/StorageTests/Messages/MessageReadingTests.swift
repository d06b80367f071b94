import ParleyJSON
import ParleyModel
import Testing

@testable import Storage

@Suite struct MessageReadingTests {
  @Test func `a message is returned with all its attributes`() throws {
    let database = try RawDatabase()
    let first = try database.post("seeds")
    var draft = NewMessage(conversation: RawDatabase.room, author: RawDatabase.grace, clientID: "9b1c", text: "weeds 🌱")
    draft.replyTo = first
    draft.sentAt = 1_799_999_999_000
    draft.text.entities = #"{"hashtags":[]}"#
    draft.annotations = MessageAnnotations(
      json: #"[{"type":"com.example.todo","value":1.50}]"#, types: ["com.example.todo"])
    let id = try database.write { tx in try tx.post(draft).id }
    try database.attach([72, 71], to: id)
    for user in [RawDatabase.ada, RawDatabase.alan] { try database.act(user, "reaction:👍", on: id) }
    try database.act(RawDatabase.ada, "like", on: id)
    try database.act(RawDatabase.ada, "star", on: id)
    try database.connection.execute(
      "update message set edited_at = 5, edited_by = 2, revision = 2, moved_from = 9 where id = $1", id.number)
    let content = Message.Content(
      text: "weeds 🌱", entities: JSONRaw(trusted: Array(#"{"hashtags":[]}"#.utf8)),
      annotations: JSONRaw(trusted: Array(#"[{"type":"com.example.todo","value":1.50}]"#.utf8)),
      attachments: [ID(72), ID(71)], sentAt: 1_799_999_999_000, edit: .init(at: 5, by: RawDatabase.grace),
      actions: [.init(type: "like", count: 1), .init(type: "reaction:👍", count: 2)])
    let expected = Message(
      id: id, conversation: RawDatabase.room, author: RawDatabase.grace, clientID: "9b1c", seq: 2, previous: first,
      replyTo: first, createdAt: 1_800_000_000_000, revision: 2, movedFrom: ID(9), state: .live(content))
    #expect(try database.reading.message(id) == expected)
    #expect(try database.reading.messages(MessageQuery(RawDatabase.room)).messages.first == expected)
  }

  @Test func `a tombstone is returned without attributes`() throws {
    let database = try RawDatabase()
    let id = try database.post("seeds")
    try database.attach([71], to: id)
    try database.act(RawDatabase.ada, "like", on: id)
    try database.delete(id)
    try database.connection.execute(
      "update message set deletion = 'moved', deleted_at = 7, reason = 'off topic', moved_to = 9 where id = $1",
      id.number)
    let tombstone = Message.Tombstone(at: 7, by: RawDatabase.ada, deletion: .moved, reason: "off topic", movedTo: ID(9))
    #expect(try database.reading.message(id)?.state == .deleted(tombstone))
  }

  @Test func `messages are returned in requested order with repetition, without missing ones`() throws {
    let database = try RawDatabase()
    let ids = try (0..<120).map { number in try database.post("message \(number)") }
    for id in ids { try database.act(RawDatabase.ada, "like", on: id) }
    for count in [0, 1, 2, 49, 50, 51, 100] {
      let wanted = ids.shuffled().prefix(count).flatMap { [$0, ID($0.number + 50_000), $0] }.prefix(200)
      let found = try database.reading.messages(Array(wanted))
      #expect(found.map(\.id) == wanted.filter { ids.contains($0) })
      #expect(found.allSatisfy { $0.content?.actions.first?.count == 1 })
    }
    #expect(try database.reading.message(ID(9_999)) == nil)
    #expect(throws: Refusal.invalid("ids", .tooMany(limit: MessageQuery.maxMessages))) {
      try database.reading.messages((1...201).map { ID($0) })
    }
  }

  @Test func `earlier texts are returned by revision, and none of a tombstone`() throws {
    let database = try RawDatabase()
    let id = try database.post("seeds")
    for revision in [1, 2, 5] {
      try database.connection.execute(
        """
        insert into revision (message_id, revision, text, edited_at, edited_by)
        values ($1, $2, $3, $4, 1)
        """, id.number, revision, "text \(revision)", revision * 10)
    }
    let first = try database.reading.revisions(of: id, ListSlice(limit: 2))
    #expect(first.map(\.text) == ["text 1", "text 2"])
    let rest = try database.reading.revisions(of: id, ListSlice(after: ListKey([2]), limit: 2))
    #expect(rest.map(\.revision) == [5])
    #expect(rest.first?.edit == .init(at: 50, by: RawDatabase.ada))
    let earlier = try database.reading.revisions(of: id, ListSlice(after: ListKey([5]), isBackward: true, limit: 2))
    #expect(earlier.map(\.revision) == [2, 1])
    var json = JSONWriter()
    json.value(rest)
    let entities = #""entities":{"mentions":[],"hashtags":[],"links":[]}"#
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"[{"revision":5,"text":"text 5",\#(entities),"edited_at":"1970-01-01T00:00:00.050Z","edited_by":"1"}]"#)
    try database.delete(id)
    #expect(try database.reading.revisions(of: id, ListSlice(limit: 2)).isEmpty)
  }

  @Test func `replies are paged, oldest first`() throws {
    let database = try RawDatabase()
    let question = try database.post("seeds?")
    try database.post("not an answer")
    let answers = try (0..<5).map { number in
      try database.post("answer \(number)", by: number == 3 ? RawDatabase.alan : RawDatabase.ada, replyTo: question)
    }
    try database.delete(answers[1])
    try database.mute(RawDatabase.alan, by: RawDatabase.grace)
    let first = try database.reading.replies(to: question, ListSlice(limit: 2))
    #expect(first.map(\.id) == Array(answers[..<2]))
    let rest = try database.reading.replies(to: question, ListSlice(after: ListKey(answers[1]), limit: 3))
    #expect(rest.map(\.id) == Array(answers[2...]))
    let earlier = try database.reading.replies(
      to: question, ListSlice(after: ListKey(answers[4]), isBackward: true, limit: 2))
    #expect(earlier.map(\.id) == [answers[3], answers[2]])
    let seen = try database.reading.replies(to: question, fromSeq: 4, viewer: RawDatabase.grace, ListSlice(limit: 9))
    #expect(seen.map(\.id) == [answers[1], answers[2], answers[4]])
  }
}
