import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct ImportTests {
  private static let day: Int64 = 86_400_000

  private static func forum(_ garden: Garden) async throws -> ID<Forum> {
    try await garden.write { tx throws(Refusal) in
      let (id, room) = (tx.nextID(), tx.nextID())
      try tx.run { connection in
        try connection.execute(
          """
          insert into forum (id, title, visibility, room_id, created_by, created_at)
          values ($1, 'orchard', 'public', $2, 1, 1)
          """, id, room)
        try connection.execute(
          "insert into conversation (id, kind, forum_id, created_by, created_at) values ($1, 'room', $2, 1, 1)", room,
          id)
      }
      return ID(id)
    }
  }

  /// A topic being imported that began ten days ago.
  private static func begin(in forum: ID<Forum>? = nil, _ garden: Garden) async throws -> ID<Conversation> {
    var conversation = ImportedConversation(
      forum == nil ? .group : .topic, title: "apples", by: Garden.ada, createdAt: garden.clock.now - 10 * day)
    conversation.forum = forum
    let made = conversation
    return try await garden.write { tx throws(Refusal) in try tx.startImport(of: made) }
  }

  @discardableResult
  private static func add(
    _ text: String, to conversation: ID<Conversation>, daysAgo days: Int64, as clientID: String? = nil, _ garden: Garden
  ) async throws -> StoredMessage {
    let time = garden.clock.now - days * day
    return try await garden.write { tx throws(Refusal) in
      try tx.importMessage(
        NewMessage(conversation: conversation, author: Garden.grace, clientID: clientID, text: text), createdAt: time)
    }
  }

  private static func isVisible(_ conversation: ID<Conversation>, _ garden: Garden) throws -> Bool {
    try garden.store.reader().read { tx throws(Refusal) in
      try tx.standing(of: Garden.ada, in: conversation) != nil
    }
  }

  private static func found(by text: String, in forum: ID<Forum>, _ garden: Garden) throws -> [ID<Message>] {
    let search = MessageSearch(try SearchQuery(text), in: [.forum(forum)])
    return try garden.store.reader().read { tx throws(Refusal) in try tx.search(search).ids }
  }

  @Test func `an imported conversation is invisible until it opens`() async throws {
    let garden = try await Garden()
    let forum = try await Self.forum(garden)
    let topic = try await Self.begin(in: forum, garden)
    let before = garden.clock.now
    let stored = [
      try await Self.add("apples", to: topic, daysAgo: 9, garden),
      try await Self.add("pears", to: topic, daysAgo: 9, garden),
      try await Self.add("more apples", to: topic, daysAgo: 2, garden),
    ]
    #expect(try !Self.isVisible(topic, garden))
    #expect(try Self.found(by: "apples", in: forum, garden) == [])
    #expect(try Garden.faults(in: garden.folder) == [])

    let events = garden.delivered.all.count
    try await garden.write { tx throws(Refusal) in try tx.openImported(topic, by: Garden.ada) }
    #expect(
      garden.events(after: events) == ["conversationUpdated \(topic) 2 by 1", "conversationCreated \(topic) 2 by 1"])
    #expect(try Self.isVisible(topic, garden))
    // The title is found, too.
    #expect(try Self.found(by: "apples", in: forum, garden) == [stored[2].id, stored[0].id, ID(topic.number)])
    let page = try garden.store.reader().read { tx throws(Refusal) in
      try tx.messages(MessageQuery(topic, .all, order: .ascending, limit: 10))
    }
    #expect(page.messages.map(\.id) == stored.map(\.id))
    let times = [9, 9, 2].map { before - Int64($0) * Self.day }
    #expect(page.messages.map(\.createdAt) == times)
    #expect(stored.map(\.seq) == [1, 2, 3])
    #expect(stored.map(\.previous) == [nil, stored[0].id, stored[1].id])
    #expect(zip(stored, stored.dropFirst()).allSatisfy { $0.id.number < $1.id.number })
    _ = try await garden.write { tx throws(Refusal) in
      try tx.post(NewMessage(conversation: topic, author: Garden.ada, text: "quinces"))
    }
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `import times increase, from the start of the conversation to now`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    for days in [11, -1] as [Int64] {
      await #expect(throws: Refusal.self) { try await Self.add("plums", to: group, daysAgo: days, garden) }
    }
    try await Self.add("plums", to: group, daysAgo: 5, garden)
    let tables = try garden.tables()
    let earliest = Int(garden.clock.now - 5 * Self.day)
    await #expect(throws: Refusal.invalid("created_at", .outOfRange(earliest...Int(garden.clock.now)))) {
      try await Self.add("plums", to: group, daysAgo: 6, garden)
    }
    #expect(try garden.tables() == tables)
    await #expect(throws: Refusal.self) {
      try await garden.write { tx throws(Refusal) in
        try tx.startImport(of: ImportedConversation(.group, by: Garden.ada, createdAt: tx.now + 1))
      }
    }
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a repeated chunk finds its messages`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    let first = try await Self.add("plums", to: group, daysAgo: 5, as: "one", garden)
    try await Self.add("pears", to: group, daysAgo: 4, as: "two", garden)
    let again = try await Self.add("plums", to: group, daysAgo: 5, as: "one", garden)
    #expect(again.id == first.id && !again.isNew)
    #expect(try garden.tables()["message"]?.count == 2)
  }

  @Test func `only the importer writes before opening, and afterwards until a user writes`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    await #expect(throws: Refusal.notFound) {
      try await garden.write { tx throws(Refusal) in
        try tx.post(NewMessage(conversation: group, author: Garden.ada, text: "too early"))
      }
    }
    try await garden.write { tx throws(Refusal) in try tx.openImported(group, by: Garden.ada) }
    try await Self.add("a longer export", to: group, daysAgo: 1, garden)
    try await garden.write { tx throws(Refusal) in
      _ = try tx.post(NewMessage(conversation: group, author: Garden.ada, text: "plums"))
    }
    await #expect(throws: Refusal.notFound) { try await Self.add("too late", to: group, daysAgo: 0, garden) }
    await #expect(throws: Refusal.notFound) {
      try await garden.write { tx throws(Refusal) in try tx.openImported(group, by: Garden.ada) }
    }
    await #expect(throws: Refusal.notFound) { try await Self.add("never", to: Garden.room, daysAgo: 1, garden) }
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `users who had read all of a conversation have read what is appended`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    try await Self.add("plums", to: group, daysAgo: 5, garden)
    try await garden.write { tx throws(Refusal) in
      try tx.openImported(group, by: Garden.ada)
      for user in [Garden.ada, Garden.grace] { try tx.importParticipant(user, .member, in: group, by: Garden.ada) }
    }
    for text in ["pears", "quinces"] { try await Self.add(text, to: group, daysAgo: 1, garden) }
    // One participant at a time.
    var hasMore = true
    while hasMore {
      hasMore = try await garden.write { tx throws(Refusal) in
        try tx.advanceReaders(in: group, from: 2, limit: 1)
      }
    }
    for user in [Garden.ada, Garden.grace] {
      #expect(try garden.store.reader().read { tx throws(Refusal) in try tx.unread(of: user, in: group) } == 0)
    }
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `earlier texts of an imported message have their times`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    let message = try await Self.add("plums", to: group, daysAgo: 5, as: "one", garden)
    let time = garden.clock.now - 5 * Self.day
    try await garden.write { tx throws(Refusal) in
      try tx.importEdits(
        of: message.id, in: group, by: Garden.grace, earlier: [("plum", time), ("plumbs", time + 1)], editedAt: time + 2
      )
    }
    #expect(
      try garden.tables()["revision"]?.count == 2)
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `an imported row is found by its id in the source`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    let message = try await Self.add("plums", to: group, daysAgo: 5, garden)
    try await garden.write { tx throws(Refusal) in
      try tx.noteImported(.site, "a", from: "slack", as: 0)
      try tx.noteImported(.user, "U1", from: "slack", as: Garden.grace.number, email: "grace@example.org")
      try tx.noteImported(.address, "u/grace", from: "slack", as: Garden.grace.number)
      try tx.noteImported(.message, "C1:1", from: "slack", as: message.id.number)
    }
    func found(_ kind: ImportedKind, _ key: String, _ source: String = "slack") throws -> Int? {
      try garden.store.reader().read { tx throws(Refusal) in try tx.imported(kind, key, from: source) }
    }
    #expect(try found(.user, "U1") == Garden.grace.number)
    #expect(try found(.user, "U1", "discord") == nil)
    #expect(try found(.message, "C1:1") == message.id.number)
    try garden.store.reader().read { tx throws(Refusal) in
      #expect(try tx.importedSite(from: "slack") == "a")
      #expect(try tx.importedMessage("C1:1", from: "slack", in: group) == message.id)
      #expect(try tx.importedMessage("C1:1", from: "slack", in: Garden.room) == nil)
    }
    // A user who leaves takes the addresses along. The id stays, so that a repeated import does not bring the user back.
    try await garden.write { tx throws(Refusal) in _ = try tx.depart(Garden.grace, as: .erased, by: Garden.ada) }
    #expect(try found(.user, "U1") == Garden.grace.number)
    #expect(try found(.address, "u/grace") == nil)
    #expect(try garden.tables()["imported"]?.description.contains("example.org") == false)
  }

  @Test func `a clock set back before the next message keeps the order of times`() async throws {
    let garden = try await Garden()
    let group = try await Self.begin(garden)
    let imported = try await Self.add("plums", to: group, daysAgo: 0, garden)
    try await garden.write { tx throws(Refusal) in try tx.openImported(group, by: Garden.ada) }
    let time = garden.clock.now
    garden.clock.pass(seconds: -60)
    let posted = try await garden.write { tx throws(Refusal) in
      try tx.post(NewMessage(conversation: group, author: Garden.ada, text: "quinces"))
    }
    let page = try garden.store.reader().read { tx throws(Refusal) in
      try tx.messages(
        MessageQuery(group, .betweenTimes(after: time - 1, before: nil), order: .ascending, limit: 10))
    }
    #expect(page.messages.map(\.id) == [imported.id, posted.id])
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a forum has one room, and a user one feed`() async throws {
    let garden = try await Garden()
    let forum = try await Self.forum(garden)
    var room = ImportedConversation(.room, by: Garden.ada, createdAt: 1)
    room.forum = forum
    var feed = ImportedConversation(.feed, by: Garden.ada, createdAt: 1)
    feed.owner = Garden.ada
    let (second, first) = (room, feed)
    await #expect(throws: Refusal.conflict) {
      try await garden.write { tx throws(Refusal) in try tx.startImport(of: second) }
    }
    _ = try await garden.write { tx throws(Refusal) in try tx.startImport(of: first) }
    await #expect(throws: Refusal.conflict) {
      try await garden.write { tx throws(Refusal) in try tx.startImport(of: first) }
    }
  }
}
