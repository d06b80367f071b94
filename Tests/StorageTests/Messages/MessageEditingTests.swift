import ParleyModel
import Testing

@testable import Storage

@Suite struct MessageEditingTests {
  @Test func `an edit keeps the earlier text and replaces its entities`() async throws {
    let garden = try await Garden()
    let id = try await garden.post(Garden.message(saying: "tulip"))
    let revision = try await garden.write { tx throws(Refusal) in
      try tx.edit(id, to: Garden.text(saying: "rose"), by: Garden.grace, ifRevision: 1)
    }
    #expect(revision == 2)
    let tables = try garden.tables()
    #expect(tables["message"]?.first?.contains("plant the rose") == true)
    #expect(tables["message"]?.first?.contains("edited_at=1800000000000 edited_by=2 revision=2") == true)
    #expect(tables["revision"]?.count == 1)
    #expect(tables["revision"]?.first?.hasPrefix("message_id=\(id) revision=1 text=plant the tulip") == true)
    #expect(tables["revision"]?.first?.hasSuffix("edited_at=1800000000000 edited_by=1") == true)
    #expect(tables["hashtag"]?.contains { $0.contains("tulip") } == false)
    #expect(tables["hashtag"]?.contains { $0.contains("rose") } == true)
    #expect(tables["hyperlink"]?.contains { $0.contains("tulip") } == false)
    // Annotations never change, and they include the location.
    #expect(try garden.tables(saying: "tulip") == ["annotation", "location", "message", "revision"])
    #expect(try garden.found(by: "plant tulip") == [id.number])
    #expect(try garden.found(by: "\"plant the tulip\"") == [])
    #expect(try garden.found(by: "rose") == [id.number])
    #expect(garden.events(after: 1) == ["messageEdited \(id) 2 by 2"])
  }

  @Test func `an edit without changes writes nothing`() async throws {
    let garden = try await Garden()
    let file = try await garden.upload()
    let id = try await garden.post(Garden.message(saying: "tulip", files: [file]))
    let before = try garden.tables()
    let revision = try await garden.write { tx throws(Refusal) in
      try tx.edit(id, to: Garden.text(saying: "tulip"), attachments: [file], by: Garden.grace)
    }
    #expect(revision == 1)
    #expect(try garden.tables() == before)
    #expect(garden.events(after: 1) == [])
  }

  @Test func `attachments are replaced in order`() async throws {
    let garden = try await Garden()
    let one = try await garden.upload()
    let two = try await garden.upload()
    let three = try await garden.upload()
    let id = try await garden.post(Garden.message(saying: "tulip", files: [one, two]))
    try await garden.write { tx throws(Refusal) in
      try tx.edit(id, to: Garden.text(saying: "tulip"), attachments: [three, one], by: Garden.ada)
    }
    #expect(
      try garden.tables()["attachment"] == [
        "message_id=\(id) position=0 file_id=\(three) description=null",
        "message_id=\(id) position=1 file_id=\(one) description=null",
      ])
    #expect(try await garden.isUnused(one) == false)
    #expect(try await garden.isUnused(two) == true)
    #expect(try await garden.isUnused(three) == false)
    #expect(try garden.found(by: "tulip") == [id.number])
    #expect(garden.events(after: 1) == ["messageEdited \(id) 2 by 1"])
  }

  @Test func `an invalid edit is refused without changes`() async throws {
    let garden = try await Garden()
    let id = try await garden.post(Garden.message(saying: "tulip"))
    let gone = try await garden.post("weeds").id
    try await garden.write { tx throws(Refusal) in try tx.delete(gone, by: Garden.ada) }
    let before = try garden.tables()
    let refusals: [(ID<Message>, Int?, [ID<File>]?, Refusal)] = [
      (id, 2, nil, .conflict), (gone, nil, nil, .gone), (gone, 1, nil, .gone), (ID(999), nil, nil, .notFound),
      (id, 1, [ID(999)], .notFound),
    ]
    for (message, expected, files, refusal) in refusals {
      await #expect(throws: refusal) {
        try await garden.write { tx throws(Refusal) in
          try tx.edit(message, to: MessageText("rose"), attachments: files, by: Garden.ada, ifRevision: expected)
        }
      }
    }
    #expect(try garden.tables() == before)
    #expect(try garden.found(by: "tulip") == [id.number] && garden.found(by: "rose") == [])
  }

  @Test func `messages of an inactive conversation can't be edited`() async throws {
    let garden = try await Garden()
    let id = try await garden.post("seeds").id
    try await garden.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("update conversation set state = 'inactive'") }
    }
    await #expect(throws: Refusal.notFound) {
      try await garden.write { tx throws(Refusal) in try tx.edit(id, to: MessageText("rose"), by: Garden.ada) }
    }
  }

  @Test func `a message has a maximum number of edits`() async throws {
    let garden = try await Garden()
    let id = try await garden.post("edit 1").id
    let last = WriteTransaction.lastEditableRevision
    try await garden.write { tx throws(Refusal) in
      for number in 2...last { try tx.edit(id, to: MessageText("edit \(number)"), by: Garden.ada) }
    }
    await #expect(throws: Refusal.conflict) {
      try await garden.write { tx throws(Refusal) in try tx.edit(id, to: MessageText("once more"), by: Garden.ada) }
    }
    try await garden.write { tx throws(Refusal) in
      try tx.remove(id, by: Garden.grace, reason: nil)
      try tx.restore(id, by: Garden.grace)
    }
    #expect(try garden.tables()["revision"]?.count == last - 1)
    #expect(try garden.found(by: "edit") == [id.number])
  }

  @Test func `a deleted revision is removed alone and announced by an event`() async throws {
    let garden = try await Garden()
    let id = try await garden.post("tulip").id
    try await garden.write { tx throws(Refusal) in
      try tx.edit(id, to: MessageText("rose"), by: Garden.ada)
      try tx.edit(id, to: MessageText("daisy"), by: Garden.ada)
    }
    for _ in 1...2 {
      let revision = try await garden.write { tx throws(Refusal) in try tx.deleteRevision(1, of: id, by: Garden.grace) }
      #expect(revision == 4)
    }
    #expect(try garden.tables(saying: "tulip") == [])
    #expect(try garden.tables()["revision"]?.count == 1)
    #expect(try garden.tables()["message"]?.first?.contains("edited_by=1 revision=4") == true)
    #expect(garden.events(after: 3) == ["messageEdited \(id) 4 by 2"])
    for number in [0, -1, 4, 5] {
      await #expect(throws: Refusal.notFound) {
        try await garden.write { tx throws(Refusal) in try tx.deleteRevision(number, of: id, by: Garden.ada) }
      }
    }
    // The next revision is numbered by the message's current one.
    try await garden.write { tx throws(Refusal) in try tx.edit(id, to: MessageText("lily"), by: Garden.ada) }
    #expect(
      try garden.tables()["revision"]?.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }.sorted() == [
        "message_id=\(id) revision=2 text=rose", "message_id=\(id) revision=4 text=daisy",
      ])
    try await garden.write { tx throws(Refusal) in try tx.delete(id, by: Garden.ada) }
    await #expect(throws: Refusal.gone) {
      try await garden.write { tx throws(Refusal) in try tx.deleteRevision(2, of: id, by: Garden.ada) }
    }
  }
}
