import Model
import Testing

@testable import ParleyKit

@Suite struct ParleyTests {
  private func open(_ hamlet: Hamlet, _ server: HamletServer) throws -> Parley {
    try Parley(server, clock: Outbox.Clock(now: Ground.ticking, pause: { _ in .milliseconds(2) })) { MemoryStore() }
  }

  @Test func `it follows, sends, and survives a day without a network`() async throws {
    try await Hamlet.open { hamlet in
      let garden = try await hamlet.group("ada", "grace")
      let server = hamlet.server("ada")
      let parley = try open(hamlet, server)
      var states = await parley.states().makeAsyncIterator()
      try await parley.start()
      while let state = await states.next(), state != .following {}
      server.set { $0.isOffline = true }
      try await parley.outbox.send(Draft("from the train"), in: garden)
      // What the server has to say makes the next call, which finds no network.
      try await hamlet.post("are you there?", as: "grace", in: garden)
      while let state = await states.next(), state != .waiting(HamletServer.noNetwork) {}
      server.set { $0.isOffline = false }
      while let state = await states.next(), state != .following {}
      for _ in 0..<2_000 where await !parley.outbox.list().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      #expect(await parley.outbox.list().isEmpty)
      let texts = try await hamlet.messages(of: garden, as: "ada").map { $0.message.content?.text ?? "" }
      #expect(Set(texts) == ["from the train", "are you there?"])
      await parley.stop()
    }
  }

  @Test func `leaving with something unsent is refused unless it is forced`() async throws {
    try await Hamlet.open { hamlet in
      let garden = try await hamlet.group("ada", "grace")
      let server = hamlet.server("ada")
      let parley = try open(hamlet, server)
      try await parley.sync.catchUp()
      let waiting = try await parley.outbox.send(Draft("unsent"), in: garden)
      await #expect(throws: OutboxRefusal.unsentWork([waiting])) { try await parley.signOut() }
      #expect(await parley.cache.replica.me != nil)
      try await parley.signOut(isForced: true)
      #expect(await parley.cache.replica == Replica())
      #expect(await parley.outbox.list().isEmpty)
      await #expect(throws: ServerFault.self) { try await server.answer(to: ServerCall(.get, "/snapshot")) }
    }
  }
}
