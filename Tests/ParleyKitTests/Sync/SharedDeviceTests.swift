import Foundation
import ParleyJSON
import ParleyModel
import ParleySQLite
import Testing

@testable import ParleyKit
@testable import Storage

/// The data on a shared device after a session.
@Suite struct SharedDeviceTests {
  enum SessionEnd: CaseIterable {
    case revoked, revokedOffline, banned, erased, signedOut
  }

  private func open(_ site: SocketSite, _ name: String, _ network: CuttableTransport, _ file: String) throws -> Parley {
    try Parley(
      try site.client(name, network), clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(20) }),
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) { try DiskStore(file) }
  }

  private func waitForState(_ parley: Parley, _ expected: Parley.State) async {
    for await state in await parley.states() where state == expected { return }
  }

  private func signIn(_ name: String, _ site: SocketSite) async throws -> String? {
    try await site.client().send(.signIn(name, password: "password of \(name)")).token
  }

  /// grace's app with a message, an unsent one, a draft and a lost message.
  private func use(_ site: SocketSite, _ garden: ID<Conversation>, _ network: CuttableTransport, _ file: String)
    async throws -> Parley
  {
    _ = try await site.client("ada").send(.postMessage(in: garden, "petunias"))
    let lost = Message(
      id: ID(900_001), conversation: garden, author: site.id("grace"), clientID: "lost", seq: 9,
      previous: ID(900_000), createdAt: 1_700_000_000_000, state: .live(.init(text: "lostwords")))
    let parley = try open(site, "grace", network, file)
    await parley.start()
    await waitForState(parley, .live)
    try await parley.sync.fetchAll([garden])
    await parley.outbox.stop()
    try await parley.outbox.send(Draft("unsentwords"), in: garden)
    try await parley.cache.setDraft(Draft("draftwords"), in: garden)
    try await parley.cache.save([
      CacheRow(.orphan, lost.id.description, writing: ReplicaMessage(MessageView(lost), asOf: 0))
    ])
    #expect(try await parley.cache.messages(.range(1...Int.max, of: garden)).count == 1)
    return parley
  }

  private func expectNothing(in parley: Parley, _ garden: ID<Conversation>) async throws {
    #expect(await parley.cache.replica == Replica())
    #expect(try await parley.cache.messages(.range(1...Int.max, of: garden)).isEmpty)
    #expect(try await parley.cache.search("petunias").messages.isEmpty)
    #expect(await parley.outbox.list().isEmpty)
    #expect(await parley.outbox.orphans.isEmpty)
    #expect(await parley.cache.draft(in: garden) == nil)
    #expect(await parley.cache.unsent(in: garden).isEmpty)
  }

  /// The file has no rows of a copy, and no word of it.
  private func expectErased(_ file: String) throws {
    let store = try DiskStore(file)
    for table in CacheTable.allCases where table != .note && table != .sealed {
      #expect(try store.rows(of: table).isEmpty, "\(table)")
    }
    #expect(try store.rows(of: .note).map(\.key) == ["index"])
    let words = try #require(FileManager.default.contents(atPath: file))
    #expect(words.firstRange(of: Data("petunias".utf8)) == nil)
  }

  private func close(_ parley: Parley) async {
    await parley.stop()
    await parley.cache.close()
  }

  @Test(arguments: SessionEnd.allCases)
  func `SK-35: the end of a session erases the copy and seals the unsent`(_ end: SessionEnd) async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      do {
        let network = try CuttableTransport()
        let parley = try await use(site, garden, network, file)
        let (ada, grace) = (try site.client("ada"), UserReference.id(site.id("grace")))
        switch end {
        case .revoked: try await site.client("grace").send(.revokeSession("current"))
        case .revokedOffline:
          network.cut()
          try await site.client("grace").send(.revokeSession("current"))
          network.restore()
          await parley.networkAvailable()
        case .banned: try await ada.send(.banUser(grace))
        case .erased: try await ada.send(.deleteUser(grace, reason: "asked for it"))
        case .signedOut: try await parley.signOut(isForced: true)
        }
        if end != .signedOut { await waitForState(parley, .signedOut) }
        #expect(await parley.cache.lockedFor == nil)
        try await expectNothing(in: parley, garden)
        await close(parley)
      }
      try expectErased(file)
      // Another user gets nothing of it.
      do {
        let parley = try open(site, "ada", try CuttableTransport(), file)
        await parley.start()
        await waitForState(parley, .live)
        #expect(await parley.outbox.list().isEmpty)
        #expect(await parley.outbox.orphans.isEmpty)
        #expect(await parley.cache.draft(in: garden) == nil)
        await close(parley)
      }
      guard end == .revoked || end == .signedOut else { return }
      let parley = try open(site, "grace", try CuttableTransport(), file)
      parley.client.token = try await signIn("grace", site)
      await parley.start()
      await waitForState(parley, .userChanged)
      await parley.start()
      await waitForState(parley, .live)
      #expect(await parley.cache.draft(in: garden)?.text == "draftwords")
      #expect(await parley.outbox.orphans.map(\.content?.text) == ["lostwords"])
      // The updates begin before the check, so that the last one is not missed.
      var updates = await parley.cache.updates().makeAsyncIterator()
      while await !parley.outbox.list().isEmpty { _ = await updates.next() }
      let messages = try await site.client("ada").send(.listMessages(in: garden, order: .oldestFirst)).elements
      #expect(messages.map(\.value.message.content?.text) == ["petunias", "unsentwords"])
      await close(parley)
    }
  }

  /// Ends the session without the network: the app only learns that it has none.
  private func expire(_ parley: Parley, _ network: CuttableTransport, _ site: SocketSite) async throws {
    network.cut()
    let grace = site.id("grace").number
    try await site.community.store.write { tx throws(Refusal) in
      try tx.run { connection in try connection.execute("delete from session where user_id = $1", grace) }
    }
    network.restore()
    await parley.networkAvailable()
    await waitForState(parley, .signedOut)
  }

  @Test func `an expired session locks the copy until the same user signs in`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      do {
        let network = try CuttableTransport()
        let parley = try await use(site, garden, network, file)
        try await expire(parley, network, site)
        #expect(await parley.cache.lockedFor == site.id("grace"))
        try await expectNothing(in: parley, garden)
        await #expect(throws: CacheFault.locked) { try await parley.outbox.send(Draft("more"), in: garden) }
        await close(parley)
      }
      // Also after a restart, and offline.
      let network = try CuttableTransport()
      let parley = try open(site, "grace", network, file)
      try await expectNothing(in: parley, garden)
      parley.client.token = try await signIn("grace", site)
      await parley.start()
      await waitForState(parley, .live)
      #expect(await parley.cache.lockedFor == nil)
      #expect(await parley.cache.draft(in: garden)?.text == "draftwords")
      #expect(await parley.outbox.orphans.map(\.content?.text) == ["lostwords"])
      #expect(try await parley.cache.search("petunias").messages.count == 1)
      await close(parley)
    }
  }

  @Test func `another user's sign-in erases a locked copy`() async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      do {
        let network = try CuttableTransport()
        let parley = try await use(site, garden, network, file)
        try await expire(parley, network, site)
        parley.client.token = site.token("ada")
        await parley.start()
        await waitForState(parley, .userChanged)
        #expect(await parley.cache.lockedFor == nil)
        try await expectNothing(in: parley, garden)
        await close(parley)
      }
      try expectErased(file)
      #expect(try DiskStore(file).rows(of: .sealed).map(\.key) == [site.id("grace").description])
    }
  }
}
