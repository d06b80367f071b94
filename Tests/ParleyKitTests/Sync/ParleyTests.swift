import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Suite struct ParleyTests {
  /// - Parameter file: nil for memory, which looks at all that it has whenever it is asked.
  private func open(_ harbour: Harbour, _ name: String, _ line: Line, file: String? = nil) throws -> Parley {
    try Parley(
      try harbour.client(name, line), clock: Outbox.Clock(now: Ground.ticking, pause: { _ in .milliseconds(20) }),
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) {
      if let file { return try DiskStore(file) }
      return MemoryStore()
    }
  }

  /// Waits until a state comes that is meant.
  private func settle(_ parley: Parley, until isMeant: (Parley.State) -> Bool) async {
    for await state in await parley.states() where isMeant(state) { return }
  }

  private func isWaiting(_ state: Parley.State) -> Bool { if case .retrying = state { true } else { false } }

  private func texts(_ parley: Parley, _ conversation: ID<Conversation>) async throws -> [String] {
    try await parley.cache.messages(.range(1...Int.max, of: conversation)).map { $0.message.content?.text ?? "†" }
  }

  @Test func `it follows, sends, and survives a day without a network`() async throws {
    try await Harbour.open { harbour in
      let grace = try harbour.client("grace")
      let garden = try await harbour.group("ada", "grace")
      let folder = try Folder()
      defer { folder.remove() }
      // Newcomers say less in an hour, and ada is none.
      let line = try Line()
      let parley = try open(harbour, "ada", line, file: folder.path + "/cache.db")
      await parley.start()
      await settle(parley) { $0 == .live }
      _ = try await grace.send(.postMessage(in: garden, "one"))
      try await wait { try await texts(parley, garden) == ["one"] }

      line.cut()
      await settle(parley, until: isWaiting)
      for number in 1...500 { try await parley.outbox.send(Draft("from the train \(number)"), in: garden) }
      _ = try await grace.send(.postMessage(in: garden, "are you there?"))
      line.mend()
      await parley.networkAvailable()
      await settle(parley) { $0 == .live }
      try await wait { await parley.outbox.list().isEmpty }
      let sent = (1...500).map { "from the train \($0)" }
      try await wait { try await texts(parley, garden).count == 502 }
      let held = try await texts(parley, garden)
      #expect(held.filter { $0.hasPrefix("from") } == sent)
      #expect(held.contains("are you there?"))
      #expect(try await parley.sync.verify(garden) == Sync.VerificationResult(checked: 502, repaired: 0))
      await parley.stop()
      #expect(await parley.state == .stopped)
    }
  }

  @Test func `what an answer leaves open is asked for without an event`() async throws {
    try await Harbour.open { harbour in
      let ada = try harbour.client("ada")
      let garden = try await harbour.group("ada", "grace")
      let said = try await ada.send(.postMessage(in: garden, "frist")).message
      _ = try await ada.send(.editMessage(said.id, text: "first"))
      _ = try await ada.send(.postMessage(in: garden, "second"))
      let parley = try open(harbour, "grace", try Line())
      try await parley.sync.begin()
      await parley.start()
      await settle(parley) { $0 == .live }
      let seen = try await parley.client.send(.getMessage(said.id)).value
      // As the outbox keeps it.
      try await parley.cache.hold([seen], asOf: 0)
      try await wait { await parley.cache.replica.needs.isEmpty }
      #expect(await parley.state == .live)
      await parley.stop()
    }
  }

  @Test func `a network that breaks again and again loses nothing and tells nothing twice`() async throws {
    try await Harbour.open { harbour in
      let ada = try harbour.client("ada")
      let garden = try await harbour.group("ada", "grace")
      let line = try Line()
      let parley = try open(harbour, "grace", line)
      await parley.start()
      await settle(parley) { $0 == .live }
      for round in 0..<8 {
        line.loseAnswers(round % 3)
        _ = try await ada.send(.postMessage(in: garden, "ada \(round)"))
        try await parley.outbox.send(Draft("grace \(round)"), in: garden)
        line.cut()
        _ = try await ada.send(.postMessage(in: garden, "ada \(round) again"))
        line.mend()
      }
      try await wait { await parley.outbox.list().isEmpty }
      try await wait { try await texts(parley, garden).count == 24 }
      let held = try await texts(parley, garden)
      #expect(held.filter { $0.hasPrefix("grace") } == (0..<8).map { "grace \($0)" })
      #expect(held.filter { $0.hasPrefix("ada") } == (0..<8).flatMap { ["ada \($0)", "ada \($0) again"] })
      await parley.stop()
    }
  }

  @Test func `a page of the hotel’s is no answer, and what waits goes when the hotel is content`() async throws {
    try await Harbour.open { harbour in
      let garden = try await harbour.group("ada", "grace")
      let line = try Line()
      let parley = try open(harbour, "grace", line)
      await parley.start()
      await settle(parley) { $0 == .live }
      line.answer("<html><body>Welcome! Please accept our terms.</body></html>")
      let operation = try await parley.outbox.send(Draft("from the hotel"), in: garden)
      await settle(parley) { $0 == .retrying(.captivePortal) }
      #expect(await parley.outbox.list().map(\.id) == [operation.id])
      #expect(try await texts(parley, garden).isEmpty)
      line.mend()
      try await wait { await parley.outbox.list().isEmpty }
      #expect(try await texts(parley, garden) == ["from the hotel"])
      await parley.stop()
    }
  }

  @Test func `a clock that is a day off changes no order`() async throws {
    try await Harbour.open { harbour in
      let garden = try await harbour.group("ada", "grace")
      let day: Int64 = 86_400_000
      for (name, error) in [("grace", day), ("ada", -day)] {
        let parley = try Parley(
          try harbour.client(name), clock: Outbox.Clock(now: { Ground.ticking() + error }),
          open: { file in throw TransportFailure.sourceFailed(file.path) }
        ) { MemoryStore() }
        try await parley.sync.catchUp()
        try await parley.outbox.send(Draft(name), in: garden)
        #expect(try await parley.outbox.sendAll() == nil)
      }
      let parley = try open(harbour, "ada", try Line())
      try await parley.sync.catchUp()
      try await parley.sync.fetchAll([garden])
      #expect(try await texts(parley, garden) == ["grace", "ada"])
      let found = try await parley.cache.messagesByDate(in: garden).messages.map(\.text)
      #expect(found == ["ada", "grace"])
    }
  }

  @Test func `whoever is typing is told, and kept by nobody`() async throws {
    try await Harbour.open { harbour in
      let garden = try await harbour.group("ada", "grace")
      let parley = try open(harbour, "grace", try Line())
      let signals = await parley.signals()
      await parley.start()
      await settle(parley) { $0 == .live }
      let ada = try harbour.client("ada")
      _ = try await ada.send(.sendTyping(in: garden))
      for await signal in signals where signal.name == "typing" { break }
      await parley.stop()
    }
  }

  @Test func `another user who has signed in finds nothing, and sends nothing of the first`() async throws {
    try await Harbour.open { harbour in
      let garden = try await harbour.group("ada", "grace")
      let line = try Line()
      let parley = try open(harbour, "grace", line)
      try await parley.sync.catchUp()
      try await parley.outbox.send(Draft("not ada's"), in: garden)
      parley.client.token = harbour.token("ada")
      await parley.start()
      await settle(parley) { $0 == .userChanged }
      #expect(await parley.cache.replica == Replica())
      #expect(await parley.outbox.list().isEmpty)
      await parley.start()
      await settle(parley) { $0 == .live }
      #expect(await parley.cache.replica.me?.summary.name == "ada")
      #expect(try await texts(parley, garden).isEmpty)
      await parley.stop()
    }
  }

  @Test func `leaving with something unsent is refused unless it is forced`() async throws {
    try await Harbour.open { harbour in
      let garden = try await harbour.group("ada", "grace")
      let parley = try open(harbour, "grace", try Line())
      try await parley.sync.catchUp()
      let waiting = try await parley.outbox.send(Draft("unsent"), in: garden)
      await #expect(throws: OutboxRefusal.unsentWork([waiting])) { try await parley.signOut() }
      #expect(await parley.cache.replica.me != nil)
      try await parley.signOut(isForced: true)
      #expect(await parley.cache.replica == Replica())
      #expect(await parley.outbox.list().isEmpty)
      let client = try harbour.client("grace")
      await #expect(throws: ClientFault.self) { try await client.send(.getSnapshot()) }
      await parley.start()
      await settle(parley) { $0 == .signedOut }
    }
  }
}
