import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Suite struct DeliveryMarksTests {
  private func marks(of client: HamletClient) -> DeliveryReceipts {
    DeliveryReceipts(client.cache, client.client, wait: { _ in })
  }

  /// What was told to be here, and forgotten.
  private func told(by client: HamletClient) -> Int {
    let told = client.server.asked.count { $0.hasSuffix("/delivered") }
    client.server.set { $0.asked = [] }
    return told
  }

  private func isDelivered(_ message: Message, from author: String, _ hamlet: Hamlet) async throws -> [Bool] {
    try await hamlet.client(author).send(.listReceipts(of: message.id)).elements.map(\.isDelivered)
  }

  @Test func `that it is here is told once for all that has come`() async throws {
    try await Hamlet.open { hamlet in
      let (garden, orchard) = (try await hamlet.group("ada", "grace"), try await hamlet.group("linus", "grace"))
      let grace = try HamletClient(hamlet, "grace")
      let marks = marks(of: grace)
      try await grace.sync.catchUp()
      #expect(await marks.send() == .everything && told(by: grace) == 0)
      try await hamlet.post("one", as: "ada", in: garden)
      let two = try await hamlet.post("two", as: "ada", in: garden)
      let three = try await hamlet.post("three", as: "linus", in: orchard)
      #expect(try await isDelivered(two, from: "ada", hamlet) == [false])
      try await grace.sync.catchUp()
      #expect(await marks.send() == .everything && told(by: grace) == 2)
      #expect(try await isDelivered(two, from: "ada", hamlet) == [true])
      #expect(try await isDelivered(three, from: "linus", hamlet) == [true])
      // Neither what was told, nor one's own words.
      #expect(await marks.send() == .everything && told(by: grace) == 0)
      try await hamlet.post("four", as: "grace", in: garden)
      try await grace.sync.catchUp()
      #expect(await marks.send() == .everything && told(by: grace) == 0)
      #expect(await self.marks(of: grace).send() == .everything && told(by: grace) == 0)
    }
  }

  @Test func `a few are told at once, those that have waited longest first`() async throws {
    try await Hamlet.open { hamlet in
      let grace = try HamletClient(hamlet, "grace")
      let marks = marks(of: grace)
      var said: [Message] = []
      for number in 1...6 {
        said.append(try await hamlet.post("\(number)", as: "ada", in: hamlet.group("ada", "grace")))
      }
      try await grace.sync.catchUp()
      #expect(await marks.send() == .some && told(by: grace) == 4)
      for (place, message) in said.enumerated() {
        #expect(try await isDelivered(message, from: "ada", hamlet) == [place < 4], "\(place)")
      }
      #expect(await marks.send() == .everything && told(by: grace) == 2)
      #expect(await marks.send() == .everything && told(by: grace) == 0)
    }
  }

  @Test func `who shows no receipts tells nothing, and neither does who has not let somebody in`() async throws {
    try await Hamlet.open { hamlet in
      let garden = try await hamlet.group("ada", "grace")
      let grace = try HamletClient(hamlet, "grace")
      let marks = marks(of: grace)
      _ = try await grace.client.send(.updateUser(.me, UserChange(showsReceipts: false)))
      let said = try await hamlet.post("one", as: "ada", in: garden)
      try await grace.sync.catchUp()
      #expect(await marks.send() == .everything && told(by: grace) == 0)
      _ = try await grace.client.send(.updateUser(.me, UserChange(showsReceipts: true)))
      let stranger = try await hamlet.client("linus").send(
        .createConversation(.direct, with: [.id(hamlet.id("grace"))]))
      let asked = try await hamlet.post("let me in", as: "linus", in: stranger.conversation.id)
      try await grace.sync.catchUp()
      #expect(await marks.send() == .everything && told(by: grace) == 1)
      #expect(try await isDelivered(said, from: "ada", hamlet) == [true])
      _ = try await grace.client.send(.acceptRequest(for: stranger.conversation.id))
      try await grace.sync.catchUp()
      #expect(await marks.send() == .everything && told(by: grace) == 1)
      #expect(try await isDelivered(asked, from: "linus", hamlet) == [true])
    }
  }

  @Test func `what got lost is told the next time, and what is refused is not told again`() async throws {
    try await Hamlet.open { hamlet in
      let garden = try await hamlet.group("ada", "grace")
      let grace = try HamletClient(hamlet, "grace")
      let marks = marks(of: grace)
      let one = try await hamlet.post("one", as: "ada", in: garden)
      try await grace.sync.catchUp()
      grace.server.set { $0.isOffline = true }
      #expect(await marks.send() == .nothing)
      grace.server.set { $0.isOffline = false }
      #expect(await marks.send() == .everything && told(by: grace) == 1)
      #expect(try await isDelivered(one, from: "ada", hamlet) == [true])
      try await hamlet.post("two", as: "ada", in: garden)
      try await grace.sync.catchUp()
      // She is taken out, and nothing has told it here yet.
      try await hamlet.client("ada").send(.removeParticipant(of: garden, user: .id(hamlet.id("grace"))))
      #expect(await marks.send() == .everything && told(by: grace) == 1)
      #expect(await marks.send() == .everything && told(by: grace) == 0)
    }
  }

  @Test func `after a restore of the server lower numbers are told, too`() async throws {
    try await Hamlet.open { hamlet in
      let garden = try await hamlet.group("ada", "grace")
      let grace = try HamletClient(hamlet, "grace")
      let marks = marks(of: grace)
      try await hamlet.post("one", as: "ada", in: garden)
      try await grace.sync.catchUp()
      // As though the server had lost the seventh, and had been another then.
      var lost = try #require(try await grace.held(garden).last)
      (lost.seq, lost.id, lost.clientID) = (7, ID(999_001), nil)
      var changes = CacheChanges()
      changes.messages = [
        CachedMessage(
          HeldMessage(MessageView(lost), asOf: 1_000_000), generation: 1, MessageIndex(shownAt: lost.createdAt))
      ]
      try await grace.cache.change(bringing: [], changes) { _ in }
      let cursor = try #require(await grace.cache.replica.cursor)
      try await grace.cache.move(to: EventCursor(epoch: "another", event: cursor.event + 1_000))
      #expect(await marks.send() == .everything && told(by: grace) == 1)
      try await grace.sync.catchUp()
      let two = try await hamlet.post("two", as: "ada", in: garden)
      try await grace.sync.catchUp()
      #expect(try await grace.texts(garden) == ["one", "two"])
      _ = told(by: grace)
      #expect(await marks.send() == .everything && told(by: grace) == 1)
      #expect(try await isDelivered(two, from: "ada", hamlet) == [true])
    }
  }

  @Test func `an app tells it by itself`() async throws {
    try await Harbour.open { harbour in
      let garden = try await harbour.group("ada", "grace")
      let ada = try harbour.client("ada")
      let before = try await ada.send(.postMessage(in: garden, "before"))
      let parley = try Parley(
        try harbour.client("grace"), clock: Outbox.Clock(now: Ground.ticking, wait: { _ in }),
        open: { file in throw TransportFailure.sourceFailed(file.path) }, { MemoryStore() })
      await parley.start()
      try await wait { try await ada.send(.listReceipts(of: before.message.id)).elements.map(\.isDelivered) == [true] }
      let after = try await ada.send(.postMessage(in: garden, "after"))
      try await wait { try await ada.send(.listReceipts(of: after.message.id)).elements.map(\.isDelivered) == [true] }
      #expect(try await ada.send(.listReceipts(of: after.message.id)).elements.map(\.isRead) == [false])
      await parley.stop()
    }
  }
}
