import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct MessageTests {
  @Test func `each attribute of a message can be queried`() async throws {
    let garden = try await Garden()
    let file = try await garden.upload()
    let id = try await garden.post(Garden.message(saying: "tulip", files: [file]))
    let tables = try garden.tables()
    #expect(
      tables["hashtag"] == [
        "tag=garden conversation_id=3 message_id=\(id)", "tag=tulip conversation_id=3 message_id=\(id)",
      ])
    #expect(tables["mention"] == ["user_id=2 message_id=\(id)"])
    #expect(tables["hyperlink"]?.count == 2)
    #expect(
      tables["location"] == [
        "message_id=\(id) conversation_id=3 name=at the tulip latitude=48.137154 longitude=-0.1"
      ])
    #expect(
      tables["annotation"] == [
        "type=com.example.place conversation_id=3 message_id=\(id)",
        "type=com.example.tulip conversation_id=3 message_id=\(id)",
      ])
    #expect(tables["attachment"] == ["message_id=\(id) position=0 file_id=\(file) description=null"])
    #expect(try await garden.isUnused(file) == false)
    #expect(try garden.found(by: "\"at the tulip\"") == [id.number])
  }

  @Test func `a reply must be in the conversation of its target`() async throws {
    let garden = try await Garden()
    let question = try await garden.post("seeds?").id
    var answer = NewMessage(conversation: Garden.room, author: Garden.grace, text: "weeds")
    answer.replyTo = question
    _ = try await garden.post(answer)
    try await garden.write { tx throws(Refusal) in try tx.delete(question, by: Garden.ada) }
    _ = try await garden.post(answer)
    let other = try await garden.write { tx throws(Refusal) in
      let id = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          "insert into conversation (id, kind, created_by, created_at) values ($1, 'group', 1, 1)", id)
      }
      return ID<Conversation>(id)
    }
    var elsewhere = NewMessage(conversation: other, author: Garden.grace, text: "weeds")
    elsewhere.replyTo = question
    await #expect(throws: Refusal.notFound) { try await garden.post(elsewhere) }
    answer.replyTo = ID(99_999)
    await #expect(throws: Refusal.notFound) { try await garden.post(answer) }
  }

  @Test func `a missing file can't be attached`() async throws {
    let garden = try await Garden()
    let file = try await garden.upload()
    await #expect(throws: Refusal.notFound) {
      try await garden.post(Garden.message(saying: "x", files: [file, ID(999)]))
    }
    #expect(try await garden.isUnused(file) == true)
    #expect(try garden.tables()["message"] == [])
  }

  @Test func `a system message has its kind`() async throws {
    let garden = try await Garden()
    var message = NewMessage(conversation: Garden.room, author: Garden.ada, text: "moved")
    message.kind = .system
    _ = try await garden.post(message)
    #expect(try garden.tables()["message"]?.first?.contains("kind=system") == true)
  }

  @Test func `a repeated send must match in location, text, reply target, files and annotations`() async throws {
    let garden = try await Garden()
    let file = try await garden.upload()
    let before = try await garden.post("seeds").id
    let sent = Garden.message(saying: "tulip", files: [file], as: "one")
    let first = try await garden.post(sent)
    var other = sent
    other.sentAt = 5
    other.isMachineOnly = true
    #expect(try await garden.post(other) == first)
    let changes: [@Sendable (inout NewMessage) -> Void] = [
      { $0.text.markdown += "!" }, { $0.replyTo = before }, { $0.attachments = [] }, { $0.annotations?.json += " " },
      { $0.annotations = nil },
    ]
    for change in changes {
      var message = sent
      change(&message)
      let changed = message
      await #expect(throws: Refusal.clientIDReused) { try await garden.post(changed) }
    }
    try await garden.write { tx throws(Refusal) in try tx.edit(first, to: MessageText("rose"), by: Garden.ada) }
    #expect(try await garden.post(Garden.message(saying: "anything", as: "one")) == first)
    // A digest of a short text would reveal it.
    #expect(try garden.tables()["idempotency"]?.first?.hasSuffix("fingerprint=") == true)
  }
}
