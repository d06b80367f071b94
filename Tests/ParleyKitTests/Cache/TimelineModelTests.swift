import ParleyModel
import ParleyTransport
import Testing

@testable import ParleyKit

/// The timeline of a view: live, and from the device.
@MainActor @Suite struct TimelineModelTests {
  private func running(_ model: TimelineModel, _ body: () async throws -> Void) async rethrows {
    let task = Task { await model.run() }
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

  private func parley(_ client: Client, _ path: String) throws -> Parley {
    try Parley(
      client, clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(20) }),
      open: { file in throw TransportFailure.sourceFailed(file.path) }
    ) { try DiskStore(path) }
  }

  private func texts(_ model: TimelineModel) -> [String] { model.posts.map(\.message.text) }

  @Test func `posts of followed users arrive live, are answered, and stay on the device`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    try await SocketSite.open { site in
      let (ada, linus) = (try site.client("ada"), try site.client("linus"))
      let feeds = (
        ada: try await ada.send(.createConversation(.feed)).conversation.id,
        linus: try await linus.send(.createConversation(.feed)).conversation.id
      )
      _ = try await ada.send(.postMessage(in: feeds.ada, "one"))
      let other = try await linus.send(.postMessage(in: feeds.linus, "three")).message
      _ = try await site.client("grace").send(.followUser(.id(site.id("ada"))))
      let grace = try parley(try site.client("grace"), path)
      await grace.start()
      let model = TimelineModel(grace)
      try await running(model) {
        try await wait { texts(model) == ["one"] }
        for await state in await grace.states() where state == .live { break }
        // The topic `timeline` is subscribed.
        _ = try await ada.send(.postMessage(in: feeds.ada, "two"))
        try await wait { texts(model) == ["two", "one"] }
        _ = try await ada.send(.setAction(on: other.id, type: .repost))
        try await wait { texts(model) == ["three", "two", "one"] }
        #expect(model.posts.first?.repostedBy == site.id("ada") && model.posts.last?.repostedBy == nil)

        let post = try #require(model.posts.first)
        await model.setAction(.like, on: post)
        try await wait { model.posts.first?.message.mine == [.like] }
        try await wait { model.posts.first?.message.waiting.isEmpty == true }
        #expect(model.posts.first?.message.mine == [.like])
        #expect(
          try await linus.send(.getMessage(other.id)).message.content?.actions.map(\.type).contains("like") == true)

        try await wait { model.users[site.id("linus")] != nil && model.users[site.id("ada")] != nil }
        let draft = try #require(model.draft(replyingTo: post))
        #expect(draft == Draft("@linus @ada ", replyTo: .message(other.id)))
        await model.reply(Draft(draft.text + "Thanks!"), to: post)
        await model.post(Draft("four"))
        try await wait { texts(model).first == "four" && model.posts.first?.message.isUnsent == false }
        #expect(try await linus.send(.listReplies(to: other.id)).elements.count == 1)
        #expect(model.failure == nil)

        _ = try await site.client("grace").send(.unfollowUser(.id(site.id("ada"))))
        try await wait { texts(model) == ["four"] }
        _ = try await site.client("grace").send(.followUser(.id(site.id("ada"))))
        try await wait { texts(model) == ["four", "three", "two", "one"] }
      }
      await grace.stop()
    }
    // The next start has no network.
    let address = try #require(ServerAddress("http://127.0.0.1:1"))
    let offline = try parley(Client(address, over: try NetworkTransport(), token: "x", retryPolicy: .never), path)
    let model = TimelineModel(offline)
    try await running(model) {
      try await wait { texts(model) == ["four", "three", "two", "one"] && model.failure != nil }
      #expect(model.posts[1].repostedBy != nil && model.posts[1].message.mine == [.like] && model.isLoaded)
    }
    try await offline.cache.erase()
    #expect(await offline.cache.timeline.isEmpty)
  }

  @Test func `the read position is that of all devices, and stays on the device`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    try await SocketSite.open { site in
      let (ada, other) = (try site.client("ada"), try site.client("grace"))
      let feed = try await ada.send(.createConversation(.feed)).conversation.id
      var posted: [Message] = []
      for text in ["one", "two", "three"] { posted.append(try await ada.send(.postMessage(in: feed, text)).message) }
      _ = try await other.send(.followUser(.id(site.id("ada"))))
      let grace = try parley(try site.client("grace"), path)
      await grace.start()
      let (model, everyone) = (TimelineModel(grace), TimelineModel(grace, .everyone))
      try await running(model) {
        try await wait { texts(model).count == 3 && model.position != nil }
        for await state in await grace.states() where state == .live { break }
        #expect(model.position?.message == nil)
        await model.markRead(upTo: model.posts[2])
        try await wait { model.position?.message == posted[0].id && model.unread == 2 }
        await everyone.refresh()
        #expect(everyone.position?.message == posted[0].id && everyone.unread == nil)
        _ = try await other.send(.markTimelineRead(upTo: posted[1].id))
        try await wait { model.position?.message == posted[1].id && model.unread == 1 }
        _ = try await ada.send(.postMessage(in: feed, "four"))
        try await wait { model.unread == 2 && texts(model).first == "four" }
        await model.markRead()
        try await wait { model.unread == 0 && model.failure == nil }
      }
      // The event alone moves the stored position.
      let last = try await ada.send(.postMessage(in: feed, "five")).message
      _ = try await other.send(.markTimelineRead(upTo: last.id))
      try await grace.sync.catchUp()
      #expect(await grace.cache.timelinePosition?.message == last.id)
      await grace.stop()
    }
    let address = try #require(ServerAddress("http://127.0.0.1:1"))
    let offline = try parley(Client(address, over: try NetworkTransport(), token: "x", retryPolicy: .never), path)
    let model = TimelineModel(offline)
    try await running(model) {
      try await wait { model.failure != nil && !model.posts.isEmpty }
      #expect(model.position?.message != nil)
    }
    try await offline.cache.erase()
    #expect(await offline.cache.timelinePosition == nil)
  }

  @Test func `authors that a snapshot lacks are requested again`() async throws {
    try await SocketSite.open { site in
      let linus = try site.client("linus")
      let feed = try await linus.send(.createConversation(.feed)).conversation.id
      _ = try await linus.send(.postMessage(in: feed, "one"))
      let grace = try Parley(
        try site.client("grace"), clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open
      ) { MemoryStore() }
      let model = TimelineModel(grace, .everyone)
      await model.refresh()
      try await wait { model.users[site.id("linus")] != nil }
      try await grace.sync.catchUp()
      #expect(await grace.cache.user(site.id("linus")) == nil)
      try await wait { model.users[site.id("linus")] == nil }
      await model.refresh()
      try await wait { model.users[site.id("linus")] != nil }
    }
  }

  @Test func `mentions, all feeds and a filter are timelines, too`() async throws {
    try await SocketSite.open { site in
      let linus = try site.client("linus")
      let feed = try await linus.send(.createConversation(.feed)).conversation.id
      _ = try await linus.send(.postMessage(in: feed, "wool"))
      let client = try site.client("grace")
      _ = try await client.send(
        .setTimelineFilter("no-wool", to: TimelineFilterDraft(exclude: PostCriteria(words: ["wool"]))))
      let grace = try Parley(
        client, clock: Outbox.Clock(now: TestSite.ticking),
        open: { file in throw TransportFailure.sourceFailed(file.path) }
      ) { MemoryStore() }
      await grace.start()
      let (mentions, everyone) = (TimelineModel(grace, .followedAndMentions), TimelineModel(grace, .everyone))
      let filtered = TimelineModel(grace, .followedAndMentions, filter: "no-wool")
      try await running(mentions) {
        try await running(filtered) {
          for await state in await grace.states() where state == .live { break }
          _ = try await linus.send(.postMessage(in: feed, "silk for @grace"))
          _ = try await linus.send(.postMessage(in: feed, "wool for @grace"))
          try await wait { texts(mentions) == ["wool for @grace", "silk for @grace"] }
          try await wait { texts(filtered) == ["silk for @grace"] }
          // The event of the filters.
          _ = try await client.send(
            .setTimelineFilter("no-wool", to: TimelineFilterDraft(exclude: PostCriteria(words: ["silk"]))))
          try await wait { texts(filtered) == ["wool for @grace"] }
        }
      }
      await everyone.refresh()
      #expect(texts(everyone) == ["wool for @grace", "silk for @grace", "wool"])
      #expect(await grace.cache.timeline.isEmpty)
      await grace.stop()
    }
  }

  @Test func `older posts follow, each post once`() async throws {
    try await ScriptedSite.open { site in
      let feed = try await site.client("ada").send(.createConversation(.feed)).conversation.id
      var posted: [Message] = []
      for number in 1...60 { posted.append(try await site.post("\(number)", as: "ada", in: feed)) }
      for name in ["linus", "grace"] {
        _ = try await site.client(name).send(.followUser(.id(site.id("ada"))))
      }
      _ = try await site.client("grace").send(.followUser(.id(site.id("linus"))))
      _ = try await site.client("linus").send(.setAction(on: posted[59].id, type: .repost))
      let grace = try Parley(
        try site.client("grace"), clock: Outbox.Clock(now: TestSite.ticking),
        open: { file in throw TransportFailure.sourceFailed(file.path) }
      ) { MemoryStore() }
      try await grace.sync.catchUp()
      let model = TimelineModel(grace)
      await model.refresh()
      #expect(model.hasMore && model.posts.first?.repostedBy == site.id("linus"))
      await model.loadMore()
      #expect(!model.hasMore && model.failure == nil)
      #expect(texts(model) == (1...60).reversed().map(String.init))
    }
  }
}
