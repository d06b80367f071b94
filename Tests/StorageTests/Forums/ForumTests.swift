import ParleyJSON
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct ForumTests {
  /// Adds `count` forums, of which every hundredth is not private.
  private static func plant(_ count: Int, in database: RawDatabase) throws {
    try database.write { tx in
      for number in 1...count {
        let draft = ForumDraft(title: "forum \(number)", visibility: number % 100 == 0 ? .public : .private)
        _ = try tx.add(draft, by: number % 1_000 == 1 ? RawDatabase.grace : RawDatabase.ada)
      }
    }
  }

  @Test func `a page of visible forums is found among many hidden ones`() throws {
    let database = try RawDatabase()
    try Self.plant(2_000, in: database)
    let tx = database.reading
    let open = try tx.forums(for: RawDatabase.alan, seeing: [.public, .members], ListSlice(limit: 101))
    #expect(open.map(\.forum.title) == stride(from: 2_000, to: 0, by: -100).map { "forum \($0)" })
    #expect(open.allSatisfy { $0.role == nil })
    // The caller's own forums are among them, in order.
    let own = try tx.forums(for: RawDatabase.grace, seeing: [.public, .members], ListSlice(limit: 11))
    let expected = [2_000, 1_900, 1_800, 1_700, 1_600, 1_500, 1_400, 1_300, 1_200, 1_100, 1_001]
    #expect(own.map(\.forum.title) == expected.map { "forum \($0)" })
    #expect(own.last?.role == .admin && own.first?.role == nil)
    let rest = try tx.forums(
      for: RawDatabase.grace, seeing: [.public, .members],
      ListSlice(after: own.last.map { ListKey([$0.forum.activity]) }, limit: 100))
    #expect(rest.first?.forum.title == "forum 1000" && rest.last?.forum.title == "forum 1" && rest.count == 11)
    #expect(try tx.forums(for: nil, seeing: [.public], ListSlice(limit: 100)).count == 20)
    #expect(try tx.forums(for: RawDatabase.alan, seeing: Visibility.allCases, ListSlice(limit: 200)).count == 200)
  }

  @Test func `the start of the history is found by binary search at any length`() throws {
    let database = try RawDatabase()
    var ids: [ID<Message>] = []
    for number in 0..<20 {
      // Ids between them are in another conversation.
      ids.append(try database.post("message \(number)"))
      try database.post("elsewhere", in: RawDatabase.lawn)
    }
    let tx = database.reading
    let (room, last) = (RawDatabase.room, ids[19].number)
    #expect(try tx.firstSeq(in: room, after: 0, lastSeq: 20, last: last) == 1)
    for (index, id) in ids.enumerated() {
      for message in [id.number, id.number + 1] {
        #expect(try tx.firstSeq(in: room, after: message, lastSeq: 20, last: last) == index + 2)
      }
    }
    #expect(try tx.firstSeq(in: room, after: ids[0].number - 1, lastSeq: 20, last: last) == 1)
    #expect(try tx.firstSeq(in: room, after: 1_000, lastSeq: 0, last: 0) == 1)
  }

  @Test func `an erasure resumes and releases files`() async throws {
    let garden = try await Garden(jobs: [.forumErasure])
    let forum = try await garden.store.write { tx throws(Refusal) in
      let forum = try tx.add(ForumDraft(title: "Orchard", visibility: .public), by: Garden.ada)
      let file = tx.nextID()
      try tx.run { connection in
        try connection.execute(
          """
          insert into file (id, owner_id, digest, size, name, kind, mime_type, created_at)
          values ($1, 1, x'00', 1, 'a', 'file', 'text/plain', 0)
          """, file)
        try connection.execute("insert into file_use (owner_id, bytes) values (0, 1), (1, 1)")
      }
      var message = NewMessage(conversation: forum.room, author: Garden.ada, text: "apples")
      message.attachments = [ID(file)]
      let first = try tx.post(message).id
      // A message with a long history has many rows to erase.
      for number in 0..<300 { _ = try tx.edit(first, to: MessageText("apples \(number)"), by: Garden.ada) }
      for number in 0..<150 {
        _ = try tx.post(NewMessage(conversation: forum.room, author: Garden.grace, text: "pear \(number)"))
      }
      try tx.delete(forum, by: Garden.ada)
      return forum
    }
    var erasure = ForumErasure(forum.id, by: Garden.ada)
    var chunks = 0
    var isDone = false
    while !isDone {
      // The state of a chunk is the input of the next one.
      let text = erasure.jsonText
      (erasure, isDone) = try await garden.store.write { tx throws(Refusal) in
        guard var stored = try? ForumErasure(json: JSONValue(parsing: Array(text.utf8))) else { throw .unavailable }
        let isDone = try tx.eraseNextChunk(&stored)
        return (stored, isDone)
      }
      chunks += 1
    }
    #expect(chunks == 2)
    let left = try await garden.store.readInBackground { tx throws(Refusal) in
      try tx.run { connection in
        try connection.all(
          """
          select count(*) from message where text is not null
          union all select count(*) from revision
          union all select count(*) from file where unused_since is null
          union all select count(*) from conversation where forum_id is not null and state <> 'deleted'
          """
        ) { row in try row.int(0) }
      }
    }
    #expect(left == [0, 0, 0, 0])
    await garden.store.close()
    #expect(try Garden.faults(in: garden.folder, besides: "files") == [])
  }
}
