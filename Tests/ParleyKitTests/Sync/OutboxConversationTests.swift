import ParleyModel
import Testing

@testable import ParleyKit

/// Operations on conversations, against the server.
@Suite struct OutboxConversationTests {
  @Test func `SK-36: operations on a conversation are stored first and applied with their answer`() async throws {
    try await ScriptedSite.open { site in
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let made = try await ada.outbox.createConversation(.group, with: [.id(site.id("grace"))], title: "spring")
      #expect(made.kind == .createConversation && made.conversation == ID(0))
      let round = try await ada.outbox.sendWaiting()
      let garden = try #require(round.sent.first?.operation.conversation)
      _ = try await site.client("grace").send(.acceptRequest(for: garden))
      #expect(await ada.cache.replica.conversations[garden]?.conversation.title == "spring")
      try await ada.outbox.updateConversation(garden, ConversationChange([.set(\.title, "summer")]))
      #expect(await ada.cache.replica.conversations[garden]?.conversation.title == "spring")
      #expect(await ada.outbox.list(in: garden).map(\.kind) == [.updateConversation])
      let shown = try #require(try await ada.cache.shown(garden))
      #expect(shown.title == "summer" && shown.conversation.title == "spring" && !shown.isEnding)
      #expect(shown.waiting.map(\.kind) == [.updateConversation])
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(await ada.cache.replica.conversations[garden]?.conversation.title == "summer")
      // The messages of the conversation may be fetched meanwhile.
      try await ada.outbox.leaveConversation(garden)
      #expect(try await ada.cache.shown(garden)?.isEnding == true)
      try await ada.sync.fetchNewest(in: garden)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(await ada.cache.replica.conversations[garden] == nil)
      let left = try await site.client("grace").send(.listParticipants(of: garden)).elements.map(\.value.user)
      #expect(left == [site.id("grace")])
      let grace = try SiteClient(site, "grace")
      try await grace.sync.catchUp()
      try await grace.outbox.deleteConversation(garden)
      #expect(try await grace.outbox.sendAll() == nil)
      #expect(await grace.cache.replica.conversations[garden] == nil)
    }
  }

  @Test func `a repeated operation has one effect`() async throws {
    try await ScriptedSite.open { site in
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.outbox.createConversation(.group, with: [.id(site.id("grace"))], title: "spring")
      ada.server.set { $0.responsesLost = 1 }
      #expect(try await ada.outbox.sendAll() == SiteTransport.lostResponse)
      #expect(await ada.outbox.list().map(\.mayBeSent) == [true])
      let garden = try #require(try await ada.outbox.sendWaiting().sent.first?.operation.conversation)
      let groups = try await site.client("ada").send(.listConversations(kind: .group)).elements
      #expect(groups.map(\.value.conversation.id) == [garden])
      // The first attempt raised the revision.
      let revision = try #require(await ada.cache.replica.conversations[garden]?.conversation.revision)
      let change = ConversationChange([.set(\.title, "summer")], ifRevision: revision)
      try await ada.outbox.updateConversation(garden, change)
      ada.server.set { $0.responsesLost = 1 }
      #expect(try await ada.outbox.sendAll() == SiteTransport.lostResponse)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(await ada.cache.replica.conversations[garden]?.conversation.title == "summer")
      // Another change of the same revision is refused, and stays for the user.
      let late = try await ada.outbox.updateConversation(
        garden, ConversationChange([.set(\.title, "autumn")], ifRevision: revision))
      #expect(try await ada.outbox.sendAll()?.problem?.status == 409)
      // A refused change is listed, and not expected.
      let refused = try #require(try await ada.cache.shown(garden))
      #expect(refused.title == "summer" && refused.waiting.map(\.id) == [late.id])
      try await ada.outbox.cancel(late.id)
      try await ada.outbox.leaveConversation(garden)
      ada.server.set { $0.responsesLost = 1 }
      #expect(try await ada.outbox.sendAll() == SiteTransport.lostResponse)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(await ada.outbox.list().isEmpty)
      #expect(await ada.cache.replica.conversations[garden] == nil)
    }
  }

  @Test func `operations survive a relaunch and can be cancelled`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let made: OutboxOperation
      let operations: [OutboxOperation]
      do {
        let ada = try SiteClient(site, "ada", file: file)
        try await ada.sync.catchUp()
        made = try await ada.outbox.createConversation(.group, with: [.id(site.id("grace"))], title: "spring")
        try await ada.outbox.updateConversation(garden, ConversationChange([.set(\.title, "summer")]))
        try await ada.outbox.leaveConversation(garden)
        try await ada.outbox.deleteConversation(garden)
        operations = await ada.outbox.list()
      }
      let again = try SiteClient(site, "ada", file: file)
      #expect(await again.outbox.list() == operations)
      for operation in operations.dropFirst() { try await again.outbox.cancel(operation.id) }
      #expect(try await again.outbox.sendWaiting().sent.map(\.operation.id) == [made.id])
      #expect(try await site.client("ada").send(.getConversation(garden)).title == "garden")
    }
  }

  @Test func `SK-36: the calls that wait return when the server has the change`() async throws {
    try await ScriptedSite.open { site in
      let (ada, grace) = (try SiteClient(site, "ada"), try SiteClient(site, "grace"))
      for client in [ada, grace] { try await client.sync.catchUp() }
      let garden = try await ada.outbox.createConversationAndWait(
        .group, with: [.id(site.id("grace"))], title: "spring")
      _ = try await site.client("grace").send(.acceptRequest(for: garden))
      try await ada.outbox.updateConversationAndWait(garden, ConversationChange([.set(\.title, "summer")]))
      #expect(try await site.client("grace").send(.getConversation(garden)).title == "summer")
      await #expect(throws: ClientFault.self) {
        try await grace.outbox.updateConversationAndWait(garden, ConversationChange([.set(\.slowSeconds, 5)]))
      }
      try await grace.outbox.leaveConversationAndWait(garden)
      try await ada.outbox.deleteConversationAndWait(garden)
      #expect(await ada.cache.replica.conversations[garden] == nil)
      await #expect(throws: ClientFault.self) { try await site.client("ada").send(.getConversation(garden)) }
    }
  }

  @Test func `a pending request is declined`() async throws {
    try await ScriptedSite.open { site in
      let conversation = try await site.client("grace").send(
        .createConversation(.direct, with: [.id(site.id("linus"))]))
      let linus = try SiteClient(site, "linus")
      try await linus.sync.catchUp()
      try #require(
        await linus.cache.replica.conversations[conversation.conversation.id]?.participation?.isRequest == true)
      try await linus.outbox.leaveConversationAndWait(conversation.conversation.id)
      #expect(await linus.cache.replica.conversations[conversation.conversation.id] == nil)
    }
  }
}
