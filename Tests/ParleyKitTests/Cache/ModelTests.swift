import ParleyModel
import Testing

@testable import ParleyKit

/// The models of views, driven as a view does: a task runs the model, and the test waits for what the view shows.
@MainActor @Suite struct ModelTests {
  /// Runs a model during the body.
  private func running(
    _ run: @escaping @MainActor @Sendable () async -> Void, _ body: () async throws -> Void
  ) async rethrows {
    let task = Task { await run() }
    defer { task.cancel() }
    try await body()
  }

  private func wait(_ location: SourceLocation = #_sourceLocation, _ isExpected: () -> Bool) async throws {
    for _ in 0..<2_000 {
      if isExpected() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    try #require(isExpected(), sourceLocation: location)
  }

  private func parley(_ transport: SiteTransport) throws -> Parley {
    try Parley(
      try transport.client(), clock: Outbox.Clock(now: TestSite.ticking),
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) { MemoryStore() }
  }

  @Test func `a room shows, sends and changes messages, also offline`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...8 { try await site.post("message \(number)", as: "grace", in: garden) }
      let server = site.server("ada")
      let ada = try parley(server)
      try await ada.sync.catchUp()
      let room = RoomModel(garden, ada, size: 5)
      try await running({ await room.run() }) {
        try await wait { room.messages.last?.text == "message 8" && room.messages.count == 5 && room.hasOlder }
        #expect(Set(room.messages.map(\.id)).count == 5)
        try await wait { room.row?.unread ?? 0 > 0 && room.row?.title == "garden" }
        try await wait { room.messages.first?.author.flatMap { room.users[$0] }?.summary.name == "grace" }
        await room.showOlder()
        try await wait { room.messages.count > 5 }
        await room.markRead()
        #expect(try await ada.outbox.sendAll() == nil)
        try await ada.sync.catchUp()
        try await wait { room.row?.unread == 0 }

        server.set { $0.isOffline = true }
        await room.setDraft(Draft("From a"))
        try await wait { room.row?.draft?.text == "From a" }
        await room.send("From ada")
        try await wait { room.messages.last?.text == "From ada" && room.row?.draft == nil }
        #expect(room.messages.last?.isUnsent == true && room.failure == nil)
        let unsent = try #require(room.messages.last)
        await room.edit(unsent, to: "From Ada")
        await room.setAction(.like, on: unsent)
        try await wait { room.messages.last?.text == "From Ada" && room.messages.last?.mine == [.like] }
        server.set { $0.isOffline = false }
        #expect(try await ada.outbox.sendAll() == nil)
        try await wait { room.messages.last?.isUnsent == false }
        #expect(room.messages.last?.id == unsent.id)
        await room.delete(try #require(room.messages.last))
        #expect(try await ada.outbox.sendAll() == nil)
        try await wait { room.messages.last?.isDeleted == true }
      }
    }
  }

  @Test func `a room reports a failed call and cancels a refused message`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try parley(site.server("ada"))
      try await ada.sync.catchUp()
      let room = RoomModel(garden, ada)
      try await running({ await room.run() }) {
        try await wait { room.row != nil }
        await room.show(ID(999_999))
        #expect(room.failure as? SyncRefusal == .unknownMessage)
        await room.send(String(repeating: "a", count: 1_000_000))
        #expect(room.failure == nil)
        _ = try await ada.outbox.sendAll()
        try await wait { room.messages.last?.failure != nil }
        await room.retry(try #require(room.messages.last))
        _ = try await ada.outbox.sendAll()
        try await wait { room.messages.last?.failure != nil }
        await room.cancel(try #require(room.messages.last))
        try await wait { room.messages.last?.isUnsent != true }
      }
    }
  }

  @Test func `forums appear with the first synchronization and leave with the session`() async throws {
    try await ScriptedSite.open { site in
      let server = site.server("ada")
      let ada = try parley(server)
      let model = ForumListModel(ada)
      try await running({ await model.run() }) {
        _ = try await site.client("ada").send(.createForum(title: "Garden", visibility: .public))
        server.set { $0.isOffline = true }
        await model.refresh()
        #expect(model.failure != nil && !model.isLoaded)
        server.set { $0.isOffline = false }
        await model.refresh()
        #expect(model.failure == nil)
        try await wait { model.isLoaded && model.forums.map(\.forum.title) == ["Garden"] }
        try await ada.cache.erase()
        try await wait { model.forums.isEmpty && !model.isLoaded }
      }
    }
  }

  @Test func `topics are listed page by page and again after a change`() async throws {
    try await ScriptedSite.open { site in
      let client = try site.client("ada")
      let forum = try await client.send(.createForum(title: "Garden", visibility: .public)).forum.id
      for number in 1...60 { _ = try await client.send(.createTopic(in: forum, title: "Topic \(number)")) }
      let server = site.server("ada")
      let ada = try parley(server)
      try await ada.sync.catchUp()
      let model = TopicListModel(of: forum, ada)
      try await running({ await model.run() }) {
        try await wait { model.topics.count == 50 && model.hasMore }
        #expect(model.topics.first?.topic.title == "Topic 60")
        await model.loadMore()
        #expect(model.topics.count == 60 && !model.hasMore)
        await model.loadMore()
        #expect(model.topics.map(\.topic.title) == (1...60).reversed().map { "Topic \($0)" })
        try await wait { model.topics.first?.authors.first.flatMap { model.users[$0] }?.summary.name == "ada" }
        _ = try await client.send(.createTopic(in: forum, title: "Roses"))
        try await ada.sync.catchUp()
        try await wait { model.topics.first?.topic.title == "Roses" }
        server.set { $0.isOffline = true }
        await model.refresh()
        #expect(model.failure != nil && model.topics.count == 60 && model.hasMore)
        try await ada.cache.erase()
        try await wait { model.topics.isEmpty && !model.isLoaded }
      }
    }
  }

  @Test func `the inbox lists notifications, counts them and marks them as read`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("First for @ada", as: "grace", in: garden)
      let ada = try parley(site.server("ada"))
      try await ada.sync.catchUp()
      let model = InboxModel(ada)
      try await running({ await model.run() }) {
        try await wait { model.notifications.first?.message?.message.content?.text == "First for @ada" }
        let before = model.unread
        try await site.post("Second for @ada", as: "grace", in: garden)
        try await ada.sync.catchUp()
        try await ada.sync.fetchNeeds()
        try await wait { model.notifications.first?.message?.message.content?.text == "Second for @ada" }
        #expect(model.unread == before + 1)
        try await wait { model.notifications.first?.entry.actor.flatMap { model.users[$0] }?.summary.name == "grace" }
        await model.markAllRead()
        #expect(model.unread == 0 && model.notifications.allSatisfy { $0.entry.readAt != nil })
        try await ada.cache.erase()
        try await wait { model.notifications.isEmpty && !model.isLoaded }
      }
    }
  }

  @Test func `a page that arrives after a reload is dropped, and no element is listed twice`() {
    struct Row: Identifiable {
      let id: Int
    }
    var list = ServerList<Row>()
    let first = list.start()
    let isShown = list.reload(([Row(id: 3), Row(id: 2)], "next"), of: first)
    #expect(isShown)
    let isAppended = list.append(([Row(id: 2), Row(id: 1)], nil), after: first)
    #expect(isAppended)
    #expect(list.elements.map(\.id) == [3, 2, 1] && list.next == nil)
    // The answers of two requests arrive in the other order.
    let (earlier, later) = (list.start(), list.start())
    let isLaterShown = list.reload(([Row(id: 4)], "more"), of: later)
    #expect(isLaterShown)
    let isEarlierShown = list.reload(([Row(id: 5)], nil), of: earlier)
    #expect(!isEarlierShown)
    let isOldAppended = list.append(([Row(id: 0)], nil), after: first)
    #expect(!isOldAppended)
    #expect(list.elements.map(\.id) == [4] && list.next == "more")
    let running = list.start()
    list.clear()
    let isRunningShown = list.reload(([Row(id: 6)], nil), of: running)
    #expect(!isRunningShown && list.elements.isEmpty && !list.isLoaded)
  }
}
