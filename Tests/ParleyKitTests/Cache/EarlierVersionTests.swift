import Foundation
import ParleyJSON
import ParleyModel
import ParleySQLite
import Testing

@testable import ParleyKit

/// A cache that an earlier version of the app has written: its rows lack members that the types have gained since then.
@Suite struct EarlierVersionTests {
  /// ada's cache with a conversation, a queued message, a failed one, a draft and a lost message.
  private func use(_ site: ScriptedSite, _ file: String, _ garden: ID<Conversation>) async throws {
    let ada = try SiteClient(site, "ada", file: file)
    try await ada.sync.catchUp()
    for number in 1...3 { try await site.post("old \(number)", as: "grace", in: garden) }
    try await ada.sync.catchUp()
    try await ada.sync.fetchAll([garden])
    try await ada.outbox.send(Draft("unsent"), in: garden)
    try await ada.cache.setDraft(Draft("draft"), in: garden)
    let lost = Message(
      id: ID(900_001), conversation: garden, author: site.id("ada"), clientID: "lost", seq: 9, previous: ID(900_000),
      createdAt: 1_700_000_000_000, state: .live(.init(text: "lost")))
    try await ada.cache.save([
      CacheRow(.orphan, lost.id.description, writing: ReplicaMessage(MessageView(lost), asOf: 0))
    ])
    await ada.cache.close()
  }

  private func change(_ file: String, _ script: String) throws {
    let connection = try Connection.writer(file)
    try connection.executeScript(script)
    let changed = try connection.first("select changes()") { row in try row.int(0) }
    #expect(changed ?? 0 > 0)
    connection.close()
  }

  /// Runs a test with a file of ada that a script has changed.
  private func withFile(
    _ script: String, _ body: (ScriptedSite, String, ID<Conversation>) async throws -> Void
  ) async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      try await use(site, file, garden)
      try change(file, script)
      try await body(site, file, garden)
    }
  }

  private func open(
    _ script: String, _ body: (ScriptedSite, SiteClient, ID<Conversation>) async throws -> Void
  ) async throws {
    try await withFile(script) { site, file, garden in
      try await body(site, try SiteClient(site, "ada", file: file), garden)
    }
  }

  /// The copy equals the server's after synchronization, and the unsent message was sent once.
  private func expectWhole(_ site: ScriptedSite, _ ada: SiteClient, _ garden: ID<Conversation>) async throws {
    try await ada.sync.catchUp()
    #expect(try await ada.outbox.sendAll() == nil)
    try await ada.sync.catchUp()
    try await ada.sync.fetchAll([garden])
    let server = try await site.messages(of: garden, as: "ada").map(\.message)
    #expect(server.compactMap(\.content?.text) == ["old 1", "old 2", "old 3", "unsent"])
    #expect(try await ada.cached(garden) == server)
    #expect(await ada.cache.replica.me?.summary.id == site.id("ada"))
    #expect(await ada.cache.replica.settings != nil)
    #expect(await ada.cache.replica.conversations[garden] != nil)
    #expect(await !ada.cache.replica.users.isEmpty)
    #expect(await !ada.cache.isResetting)
    let fresh = try SiteClient(site, "ada")
    try await fresh.sync.catchUp()
    #expect(await ada.cache.replica.settings == fresh.cache.replica.settings)
    #expect(await ada.cache.replica.conversations[garden]?.unread == fresh.cache.replica.conversations[garden]?.unread)
  }

  @Test(arguments: [
    "update thing set value = json_remove(value, '$.revision') where kind = 'site' and key = 'settings'",
    "update thing set value = json_remove(value, '$.revision') where kind = 'site' and key = 'me'",
    "update thing set value = '7' where kind = 'site' and key = 'cursor'",
    "update thing set value = json_remove(value, '$.revision') where kind = 'user'",
    "update thing set value = json_remove(value, '$.own') where kind = 'conversation'",
    "update thing set value = json_remove(value, '$.replica') where kind = 'history'",
  ])
  func `rows that the server has are fetched again`(script: String) async throws {
    try await open(script) { site, ada, garden in
      #expect(await ada.outbox.list().map(\.draft?.text) == ["unsent"])
      #expect(await ada.cache.draft(in: garden)?.text == "draft")
      #expect(await ada.outbox.orphans.map(\.content?.text) == ["lost"])
      try await expectWhole(site, ada, garden)
    }
  }

  @Test func `unreadable messages become gaps`() async throws {
    try await open(
      """
      update thing set value = '"1.1"' where kind = 'note' and key = 'index';
      update message set value = json_remove(value, '$.message.machine_only') where seq = 2;
      """
    ) { site, ada, garden in
      // Readable messages stay, also offline.
      #expect(try await ada.texts(garden) == ["old 1", "old 3"])
      #expect(await ada.outbox.list().map(\.draft?.text) == ["unsent"])
      try await expectWhole(site, ada, garden)
    }
  }

  @Test func `unsent messages of an unreadable user are not sent as another`() async throws {
    try await withFile("update thing set value = json_remove(value, '$.revision') where kind = 'site' and key = 'me'") {
      site, file, garden in
      do {
        let grace = try SiteClient(site, "grace", file: file)
        await #expect(throws: SyncRefusal.userChanged) { try await grace.sync.verifyUser() }
        #expect(await grace.outbox.list().isEmpty)
        try await grace.sync.catchUp()
        #expect(try await grace.outbox.sendAll() == nil)
      }
      let again = try SiteClient(site, "ada", file: file)
      await #expect(throws: SyncRefusal.userChanged) { try await again.sync.verifyUser() }
      try await expectWhole(site, again, garden)
    }
  }

  @Test func `a queued operation is kept if a part of its row is unreadable`() async throws {
    try await open("update thing set value = json_remove(value, '$.attempts') where kind = 'operation'") {
      site, ada, garden in
      #expect(await ada.outbox.list().map(\.draft?.text) == ["unsent"])
      #expect(await ada.outbox.list().map(\.failure) == [.unfinished])
      try await expectWhole(site, ada, garden)
    }
  }

  @Test func `an incomplete draft of an operation waits for the user`() async throws {
    try await open(
      "update thing set value = json_set(value, '$.draft.poll', json('{\"options\":7}')) where kind = 'operation'"
    ) { site, ada, garden in
      #expect(try await ada.outbox.sendWaiting().sent.isEmpty)
      let operation = try #require(await ada.outbox.list().first)
      #expect(operation.draft?.text == "unsent")
      #expect(operation.failure?.isTemporary == false)
      try await ada.outbox.retry(operation.id)
      try await expectWhole(site, ada, garden)
    }
  }

  @Test func `an unreadable draft and an unreadable lost message keep their texts`() async throws {
    try await withFile(
      """
      update thing set value = json_set(value, '$.poll', json('{"options":7}')) where kind = 'draft';
      update thing set value = json_remove(value, '$.message.revision') where kind = 'orphan';
      """
    ) { site, file, garden in
      for _ in 1...2 {
        let ada = try SiteClient(site, "ada", file: file)
        #expect(await ada.cache.draft(in: garden)?.text == "draft")
        let kept = await ada.outbox.list()
        #expect(kept.map(\.draft?.text) == ["unsent", "lost"])
        #expect(kept.last?.id == "lost")
        #expect(kept.last?.failure?.isTemporary == false)
        #expect(await ada.outbox.orphans.isEmpty)
      }
    }
  }

  @Test func `sealed work is given back if a part of it is unreadable`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      try await use(site, file, garden)
      do { try await SiteClient(site, "ada", file: file).cache.seal() }
      try change(
        file,
        """
        update thing
        set value = json_remove(value, '$.operations[0].attempts', '$.orphans[0].message.revision')
        where kind = 'sealed'
        """)
      let ada = try SiteClient(site, "ada", file: file)
      try await ada.sync.catchUp()
      #expect(Set(await ada.outbox.list().map(\.draft?.text)) == ["unsent", "lost"])
      #expect(await ada.cache.draft(in: garden)?.text == "draft")
    }
  }

  @Test func `unreadable sealed work of one user does not stop another`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      try await use(site, file, garden)
      do { try await SiteClient(site, "ada", file: file).cache.seal() }
      try change(
        file, "update thing set value = json_remove(value, '$.operations[0].draft.text') where kind = 'sealed'")
      do {
        let grace = try SiteClient(site, "grace", file: file)
        try await grace.sync.catchUp()
        try await grace.outbox.send(Draft("of grace"), in: garden)
        try await grace.cache.seal()
      }
      let sealed = try DiskStore(file).rows(of: .sealed).map(\.key)
      #expect(Set(sealed) == [site.id("ada").description, site.id("grace").description])
    }
  }

  @Test func `an operation without its text does not vanish`() async throws {
    try await withFile("update thing set value = json_remove(value, '$.draft.text') where kind = 'operation'") {
      site, file, _ in
      #expect(throws: CacheFault.self) { try SiteClient(site, "ada", file: file) }
      let operations = try DiskStore(file).rows(of: .operation)
      #expect(operations.count == 1)
    }
  }
}
