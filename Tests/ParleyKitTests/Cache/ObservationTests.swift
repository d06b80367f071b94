import Observation
import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

private final class Flag: Sendable {
  let value = Atomic(false)
}

@Suite struct ObservationTests {
  @Test func `a list of conversations has the last messages and updates with them`() async throws {
    try await SocketSite.open { site in
      let orchard = try await site.group("ada", "linus")
      let garden = try await site.group("ada", "grace")
      let parley = try Parley(
        try site.client("ada"), clock: Outbox.Clock(now: TestSite.ticking),
        open: { file in throw TransportFailure.sourceFailed(file.path) }
      ) { MemoryStore() }
      let lists = parley.conversationLists()
      func next(until isExpected: ([ShownConversation]) -> Bool) async -> [ShownConversation] {
        for await list in lists where isExpected(list) { return list }
        return []
      }
      _ = await next(until: \.isEmpty)
      try await parley.sync.catchUp()
      var list = await next { $0.count == 2 && $0.allSatisfy { !$0.others.isEmpty } }
      #expect(list.map(\.conversation.id) == [garden, orchard])
      #expect(list.map(\.title) == ["garden", "garden"] && list[1].others.map(\.summary.name) == ["linus"])
      _ = try await site.client("linus").send(.postMessage(in: orchard, "apples"))
      try await parley.sync.catchUp()
      list = await next { $0.first?.last?.text == "apples" }
      #expect(list.map(\.conversation.id) == [orchard, garden] && list.first?.unread == 1)
      try await parley.outbox.send(Draft("pears"), in: garden)
      try await parley.cache.setDraft(Draft("plu"), in: orchard)
      list = await next { $0.contains { $0.draft != nil } && $0.contains { $0.last?.isUnsent == true } }
      #expect(list.map(\.conversation.id) == [garden, orchard])
      #expect(list.map { $0.last?.text } == ["pears", "apples"] && list.map { $0.draft?.text } == [nil, "plu"])
      let room = try await site.room()
      try await parley.sync.catchUp()
      for await forums in parley.forumLists() where !forums.isEmpty {
        #expect(forums.map(\.forum.room) == [room])
        break
      }
    }
  }

  @Test func `pending messages sort first, regardless of their display date`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let orchard = try await site.group("ada", "linus")
      var indexing = MessageIndexing()
      indexing.displayDate = { _ in -1 }
      let ada = try SiteClient(site, "ada", indexing)
      try await ada.sync.catchUp()
      func listed() async throws -> [ID<Conversation>] {
        try await ada.cache.ownConversations().map(\.conversation.id)
      }
      #expect(try await listed() == [orchard, garden])
      var operation = try await ada.outbox.send(Draft("waits"), in: garden)
      #expect(try await listed() == [garden, orchard])
      operation.state = .failed(.unfinished)
      try await ada.cache.save([CacheRow(.operation, operation.id, writing: operation)])
      #expect(try await listed() == [garden, orchard])
      operation.state = .failed(.tooLarge)
      try await ada.cache.save([CacheRow(.operation, operation.id, writing: operation)])
      #expect(try await listed() == [orchard, garden])
    }
  }

  @Test func `an entity has one object, which updates with it`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let posted = try await site.post("one", as: "grace", in: garden)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.begin()
      try await ada.sync.fetchNewest(in: garden)
      let observed = ObservedObjects(ada.cache)
      let message = await observed.message(posted.id)
      let again = await observed.message(posted.id)
      #expect(message === again && message.value?.text == "one")
      let conversation = await observed.conversation(garden)
      let grace = await observed.user(site.id("grace"))
      let me = await observed.user(site.id("ada"))
      #expect(conversation.value?.conversation.title == "garden" && grace.value?.summary.name == "grace")
      #expect(await observed.message(ID(999_999)).value == nil)

      let changed = Mutex(false)
      withObservationTracking {
        _ = message.value
      } onChange: {
        changed.withLock { $0 = true }
      }
      try await ada.outbox.setAction(.like, on: .message(posted.id), in: garden)
      try await wait { message.value?.mine == [.like] }
      #expect(changed.withLock { $0 })
      _ = try await site.client("grace").send(.editMessage(posted.id, text: "two"))
      _ = try await site.client("grace").send(.updateUser(.me, UserChange([.set(\.displayName, "Grace H.")])))
      _ = try await ada.client.send(.updateConversation(garden, ConversationChange([.set(\.title, "orchard")])))
      _ = try await ada.client.send(.updateUser(.me, UserChange([.set(\.bio, "gardens")])))
      try await ada.sync.catchUp()
      try await wait {
        message.value?.text == "two" && conversation.value?.conversation.title == "orchard"
          && grace.value?.summary.displayName == "Grace H." && me.value?.summary.bio == "gardens"
      }
      try await ada.cache.erase()
      try await wait { message.value == nil && conversation.value == nil && grace.value == nil && me.value == nil }
    }
  }

  @Test func `an object is observable as a sequence and released with its last reference`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.begin()
      let observed = ObservedObjects(ada.cache)
      weak var released: Observed<ReplicaConversation>?
      do {
        let conversation = await observed.conversation(garden)
        released = conversation
        let titles = Task {
          var titles: [String?] = []
          for await title in Observations({ conversation.value?.conversation.title }) {
            titles.append(title)
            if title == "orchard" { break }
          }
          return titles
        }
        _ = try await ada.client.send(.updateConversation(garden, ConversationChange([.set(\.title, "orchard")])))
        try await ada.sync.catchUp()
        #expect(await titles.value.last == "orchard")
      }
      try await wait { released == nil }
    }
  }

  @Test func `an observer on another thread sees the last change`() async throws {
    for _ in 0..<100 {
      let object = Observed<Int>()
      let hasSeen = Flag()
      let observer = Task {
        for await value in Observations({ object.value }) where value == 1 { break }
        hasSeen.value.store(true, ordering: .relaxed)
      }
      let change = Task { object.set(1) }
      try await wait { hasSeen.value.load(ordering: .relaxed) }
      await change.value
      observer.cancel()
    }
  }
}
