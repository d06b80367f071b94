import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Suite struct ParleyTests {
  /// - Parameter file: nil for memory, which scans all rows on every query.
  private func open(_ site: SocketSite, _ name: String, _ network: CuttableTransport, file: String? = nil) throws
    -> Parley
  {
    try Parley(
      try site.client(name, network), clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(20) }),
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) {
      if let file { return try DiskStore(file) }
      return MemoryStore()
    }
  }

  /// Waits for a state.
  private func waitForState(_ parley: Parley, until isExpected: (Parley.State) -> Bool) async {
    for await state in await parley.states() where isExpected(state) { return }
  }

  private func isWaiting(_ state: Parley.State) -> Bool { if case .retrying = state { true } else { false } }

  private func texts(_ parley: Parley, _ conversation: ID<Conversation>) async throws -> [String] {
    try await parley.cache.messages(.range(1...Int.max, of: conversation)).map { $0.message.content?.text ?? "†" }
  }

  @Test func `it subscribes, sends, and survives a day offline`() async throws {
    try await SocketSite.open { site in
      let grace = try site.client("grace")
      let garden = try await site.group("ada", "grace")
      let folder = try Folder()
      defer { folder.remove() }
      // New users have lower limits, which do not apply to ada.
      let network = try CuttableTransport()
      let parley = try open(site, "ada", network, file: folder.path + "/cache.db")
      await parley.start()
      await waitForState(parley) { $0 == .live }
      _ = try await grace.send(.postMessage(in: garden, "one"))
      try await wait { try await texts(parley, garden) == ["one"] }

      network.cut()
      await waitForState(parley, until: isWaiting)
      for number in 1...500 { try await parley.outbox.send(Draft("from the train \(number)"), in: garden) }
      _ = try await grace.send(.postMessage(in: garden, "are you there?"))
      network.restore()
      await parley.networkAvailable()
      await waitForState(parley) { $0 == .live }
      try await wait { await parley.outbox.list().isEmpty }
      let sent = (1...500).map { "from the train \($0)" }
      try await wait { try await texts(parley, garden).count == 502 }
      let known = try await texts(parley, garden)
      #expect(known.filter { $0.hasPrefix("from") } == sent)
      #expect(known.contains("are you there?"))
      #expect(try await parley.sync.verify(garden) == Sync.VerificationResult(checked: 502, repaired: 0))
      await parley.stop()
      #expect(await parley.state == .stopped)
    }
  }

  @Test func `data missing in a response is fetched without an event`() async throws {
    try await SocketSite.open { site in
      let ada = try site.client("ada")
      let garden = try await site.group("ada", "grace")
      let posted = try await ada.send(.postMessage(in: garden, "frist")).message
      _ = try await ada.send(.editMessage(posted.id, text: "first"))
      _ = try await ada.send(.postMessage(in: garden, "second"))
      let parley = try open(site, "grace", try CuttableTransport())
      try await parley.sync.begin()
      await parley.start()
      await waitForState(parley) { $0 == .live }
      let seen = try await parley.client.send(.getMessage(posted.id)).value
      // Merges the answer as the outbox does.
      try await parley.cache.merge([seen], asOf: 0)
      try await wait { await parley.cache.replica.needs.isEmpty }
      #expect(await parley.state == .live)
      await parley.stop()
    }
  }

  @Test func `an unstable network causes neither loss nor duplicates`() async throws {
    try await SocketSite.open { site in
      let ada = try site.client("ada")
      let garden = try await site.group("ada", "grace")
      let network = try CuttableTransport()
      let parley = try open(site, "grace", network)
      await parley.start()
      await waitForState(parley) { $0 == .live }
      for round in 0..<8 {
        network.loseResponses(round % 3)
        _ = try await ada.send(.postMessage(in: garden, "ada \(round)"))
        try await parley.outbox.send(Draft("grace \(round)"), in: garden)
        network.cut()
        _ = try await ada.send(.postMessage(in: garden, "ada \(round) again"))
        network.restore()
      }
      try await wait { await parley.outbox.list().isEmpty }
      try await wait { try await texts(parley, garden).count == 24 }
      let known = try await texts(parley, garden)
      #expect(known.filter { $0.hasPrefix("grace") } == (0..<8).map { "grace \($0)" })
      #expect(known.filter { $0.hasPrefix("ada") } == (0..<8).flatMap { ["ada \($0)", "ada \($0) again"] })
      await parley.stop()
    }
  }

  @Test func `the page of a captive portal is no response, and pending sends follow after sign-in`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let network = try CuttableTransport()
      let parley = try open(site, "grace", network)
      await parley.start()
      await waitForState(parley) { $0 == .live }
      network.answer("<html><body>Welcome! Please accept our terms.</body></html>")
      let operation = try await parley.outbox.send(Draft("from the hotel"), in: garden)
      await waitForState(parley) { $0 == .retrying(.captivePortal) }
      #expect(await parley.outbox.list().map(\.id) == [operation.id])
      #expect(try await texts(parley, garden).isEmpty)
      network.restore()
      try await wait { await parley.outbox.list().isEmpty }
      #expect(try await texts(parley, garden) == ["from the hotel"])
      await parley.stop()
    }
  }

  @Test func `a clock that is a day off does not affect the order`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let day: Int64 = 86_400_000
      for (name, error) in [("grace", day), ("ada", -day)] {
        let parley = try Parley(
          try site.client(name), clock: Outbox.Clock(now: { TestSite.ticking() + error }),
          open: { file in throw TransportFailure.sourceFailed(file.path) }
        ) { MemoryStore() }
        try await parley.sync.catchUp()
        try await parley.outbox.send(Draft(name), in: garden)
        #expect(try await parley.outbox.sendAll() == nil)
      }
      let parley = try open(site, "ada", try CuttableTransport())
      try await parley.sync.catchUp()
      try await parley.sync.fetchAll([garden])
      #expect(try await texts(parley, garden) == ["grace", "ada"])
      let found = try await parley.cache.messagesByDate(in: garden).messages.map(\.text)
      #expect(found == ["ada", "grace"])
    }
  }

  @Test func `typing users are reported and not stored`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let parley = try open(site, "grace", try CuttableTransport())
      let signals = await parley.signals()
      await parley.start()
      await waitForState(parley) { $0 == .live }
      let ada = try site.client("ada")
      _ = try await ada.send(.sendTyping(in: garden))
      for await signal in signals where signal.name == "typing" { break }
      await parley.stop()
    }
  }

  @Test func `after a change of user nothing of the first is shown or sent`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let network = try CuttableTransport()
      let parley = try open(site, "grace", network)
      try await parley.sync.catchUp()
      try await parley.outbox.send(Draft("not ada's"), in: garden)
      parley.client.token = site.token("ada")
      await parley.start()
      await waitForState(parley) { $0 == .userChanged }
      #expect(await parley.cache.replica == Replica())
      #expect(await parley.outbox.list().isEmpty)
      await parley.start()
      await waitForState(parley) { $0 == .live }
      #expect(await parley.cache.replica.me?.summary.name == "ada")
      #expect(try await texts(parley, garden).isEmpty)
      await parley.stop()
    }
  }

  @Test func `signing out erases what a concurrent synchronization has fetched`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("private", as: "grace", in: garden)
      let server = site.server("ada")
      let transport = HookedTransport(server)
      let parley = try Parley(
        try server.client(over: transport), clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open
      ) { MemoryStore() }
      try await parley.sync.catchUp()
      let (reached, reach) = AsyncStream.makeStream(of: Void.self)
      let (releases, release) = AsyncStream.makeStream(of: Void.self)
      transport.set { request in
        guard request.hasPrefix("GET") else { return }
        reach.yield()
        for await _ in releases { return }
      }
      let tasks = [
        Task { _ = try? await parley.sync.refresh(garden) },
        Task { _ = try? await parley.user(site.id("grace")).fresh() },
      ]
      var iterator = reached.makeAsyncIterator()
      for _ in tasks { _ = await iterator.next() }
      let signingOut = Task { try await parley.signOut() }
      // Without a lock the erasure would not wait for the request.
      for _ in 0..<2_000 where await parley.cache.replica.me != nil { await Task.yield() }
      release.finish()
      for task in tasks { await task.value }
      try await signingOut.value
      #expect(await parley.cache.replica == Replica())
      #expect(try await parley.cache.messages(.range(1...Int.max, of: garden)).isEmpty)
    }
  }

  @Test func `a read position does not hinder signing out`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let posted = try await site.post("one", as: "grace", in: garden)
      let parley = try Parley(
        try site.client("ada"), clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open
      ) { MemoryStore() }
      try await parley.sync.catchUp()
      try await parley.outbox.markRead(posted.id, in: garden)
      try await parley.signOut()
      #expect(await parley.cache.replica == Replica())
    }
  }

  @Test func `signing out with unsent operations is refused unless forced`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let parley = try open(site, "grace", try CuttableTransport())
      try await parley.sync.catchUp()
      let waiting = try await parley.outbox.send(Draft("unsent"), in: garden)
      await #expect(throws: OutboxRefusal.unsentWork([waiting])) { try await parley.signOut() }
      #expect(await parley.cache.replica.me != nil)
      try await parley.signOut(isForced: true)
      #expect(await parley.cache.replica == Replica())
      #expect(await parley.outbox.list().isEmpty)
      let client = try site.client("grace")
      await #expect(throws: ClientFault.self) { try await client.send(.getSnapshot()) }
      await parley.start()
      await waitForState(parley) { $0 == .signedOut }
    }
  }
}
