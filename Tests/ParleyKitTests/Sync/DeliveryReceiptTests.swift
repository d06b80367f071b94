import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Suite struct DeliveryReceiptTests {
  private func receipts(of client: SiteClient) -> DeliveryReceipts {
    DeliveryReceipts(client.cache, client.client, wait: { _ in })
  }

  /// The number of delivery receipts sent since the last call.
  private func sentCount(by client: SiteClient) -> Int {
    let count = client.server.requests.count { $0.hasSuffix("/delivered") }
    client.server.set { $0.requests = [] }
    return count
  }

  private func isDelivered(_ message: Message, from author: String, _ site: ScriptedSite) async throws -> [Bool] {
    try await site.client(author).send(.listReceipts(of: message.id)).elements.map(\.isDelivered)
  }

  @Test func `one delivery receipt per conversation covers all its messages`() async throws {
    try await ScriptedSite.open { site in
      let (garden, orchard) = (try await site.group("ada", "grace"), try await site.group("linus", "grace"))
      let grace = try SiteClient(site, "grace")
      let receipts = receipts(of: grace)
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 0)
      try await site.post("one", as: "ada", in: garden)
      let two = try await site.post("two", as: "ada", in: garden)
      let three = try await site.post("three", as: "linus", in: orchard)
      #expect(try await isDelivered(two, from: "ada", site) == [false])
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 2)
      #expect(try await isDelivered(two, from: "ada", site) == [true])
      #expect(try await isDelivered(three, from: "linus", site) == [true])
      // No receipt for already acknowledged or own messages.
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 0)
      try await site.post("four", as: "grace", in: garden)
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 0)
      #expect(await self.receipts(of: grace).send() == .everything && sentCount(by: grace) == 0)
    }
  }

  @Test func `a limited number of receipts is sent at once, the longest waiting first`() async throws {
    try await ScriptedSite.open { site in
      let grace = try SiteClient(site, "grace")
      let receipts = receipts(of: grace)
      var posted: [Message] = []
      for number in 1...6 {
        posted.append(try await site.post("\(number)", as: "ada", in: site.group("ada", "grace")))
      }
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .some && sentCount(by: grace) == 4)
      for (index, message) in posted.enumerated() {
        #expect(try await isDelivered(message, from: "ada", site) == [index < 4], "\(index)")
      }
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 2)
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 0)
    }
  }

  @Test func `no receipts are sent if disabled, or for a pending request`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let grace = try SiteClient(site, "grace")
      let receipts = receipts(of: grace)
      _ = try await grace.client.send(.updateUser(.me, UserChange(own: [.set(\.showsReceipts, false)])))
      let posted = try await site.post("one", as: "ada", in: garden)
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 0)
      _ = try await grace.client.send(.updateUser(.me, UserChange(own: [.set(\.showsReceipts, true)])))
      let stranger = try await site.client("linus").send(
        .createConversation(.direct, with: [.id(site.id("grace"))]))
      let requests = try await site.post("let me in", as: "linus", in: stranger.conversation.id)
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 1)
      #expect(try await isDelivered(posted, from: "ada", site) == [true])
      _ = try await grace.client.send(.acceptRequest(for: stranger.conversation.id))
      try await grace.sync.catchUp()
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 1)
      #expect(try await isDelivered(requests, from: "linus", site) == [true])
    }
  }

  @Test func `a lost receipt is sent again, and a refused one is not`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let grace = try SiteClient(site, "grace")
      let receipts = receipts(of: grace)
      let one = try await site.post("one", as: "ada", in: garden)
      try await grace.sync.catchUp()
      grace.server.set { $0.isOffline = true }
      #expect(await receipts.send() == .nothing)
      grace.server.set { $0.isOffline = false }
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 1)
      #expect(try await isDelivered(one, from: "ada", site) == [true])
      try await site.post("two", as: "ada", in: garden)
      try await grace.sync.catchUp()
      // The server removes grace, and this device does not know it yet.
      try await site.client("ada").send(.removeParticipant(of: garden, user: .id(site.id("grace"))))
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 1)
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 0)
    }
  }

  @Test func `after a restore of the server receipts with lower numbers are sent`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let grace = try SiteClient(site, "grace")
      let receipts = receipts(of: grace)
      try await site.post("one", as: "ada", in: garden)
      try await grace.sync.catchUp()
      // Simulates a server that has lost the seventh message and has another history.
      var lost = try #require(try await grace.cached(garden).last)
      (lost.seq, lost.id, lost.clientID) = (7, ID(999_001), nil)
      var changes = CacheChanges()
      changes.messages = [
        CachedMessage(
          ReplicaMessage(MessageView(lost), asOf: 1_000_000), generation: 1, MessageIndex(shownAt: lost.createdAt))
      ]
      try await grace.cache.change(bringing: [], changes) { _ in }
      let cursor = try #require(await grace.cache.replica.cursor)
      try await grace.cache.move(to: EventCursor(epoch: "another", start: "s", event: cursor.event + 1_000))
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 1)
      try await grace.sync.catchUp()
      let two = try await site.post("two", as: "ada", in: garden)
      try await grace.sync.catchUp()
      #expect(try await grace.texts(garden) == ["one", "two"])
      _ = sentCount(by: grace)
      #expect(await receipts.send() == .everything && sentCount(by: grace) == 1)
      #expect(try await isDelivered(two, from: "ada", site) == [true])
    }
  }

  @Test func `a running app sends delivery receipts automatically`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try site.client("ada")
      let before = try await ada.send(.postMessage(in: garden, "before"))
      let parley = try Parley(
        try site.client("grace"), clock: Outbox.Clock(now: TestSite.ticking, wait: { _ in }),
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
