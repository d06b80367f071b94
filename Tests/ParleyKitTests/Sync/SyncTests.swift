import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit

/// Omits deleted messages.
private struct IncompleteTransport: Transport {
  let server: SiteTransport

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    var exchange = exchange
    if exchange.target.contains("/messages?") { exchange.target += "&include_deleted=false" }
    return try await server.send(exchange)
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    try await server.connect(exchange, subprotocols: subprotocols)
  }
}

@Suite struct SyncTests {
  @Test func `sync keeps the same state as the server`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace", "linus")
      let ada = try SiteClient(site, "ada")
      var random = Seeded(seed: 7)
      var posted: [(id: ID<Message>, by: String)] = []
      for round in 0..<60 {
        let name = ["ada", "grace", "linus"].randomElement(using: &random) ?? "ada"
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where !posted.isEmpty:
          let index = Int.random(in: 0..<posted.count, using: &random)
          let one = posted.remove(at: index)
          _ = try await site.client(one.by).send(.deleteMessage(one.id))
        case 1 where !posted.isEmpty:
          let one = posted[Int.random(in: 0..<posted.count, using: &random)]
          _ = try await site.client(one.by).send(.editMessage(one.id, text: "edit \(round)"))
        case 2 where !posted.isEmpty:
          let one = posted[Int.random(in: 0..<posted.count, using: &random)]
          _ = try await site.client(name).send(.setAction(on: one.id, type: .like))
        default: posted.append((try await site.post("round \(round)", as: name, in: garden).id, name))
        }
        if Int.random(in: 0..<4, using: &random) == 0 { try await ada.sync.catchUp() }
      }
      try await ada.sync.catchUp()
      let server = try await site.messages(of: garden, as: "ada")
      try await ada.sync.fetchAll([garden])
      #expect(try await ada.cached(garden) == server.map(\.message))
      let verdict = try await ada.sync.verify(garden)
      #expect(verdict == Sync.VerificationResult(checked: server.count, repaired: 0))
      let own = try await ada.client.send(Request<OwnConversation>(.get, "/conversations/\(garden)"))
      let known = try #require(await ada.cache.replica.conversations[garden])
      #expect(known.unread == own.unread)
      #expect(known.conversation == own.conversation)
      #expect(await ada.cache.replica.needs.isEmpty)
    }
  }

  @Test func `unknown users are fetched in one request`() async throws {
    try await ScriptedSite.open { site in
      let ada = try SiteClient(site, "ada")
      try await ada.sync.begin()
      let garden = try await site.group("grace", "ada", "linus")
      for name in ["grace", "linus"] { try await site.post("from \(name)", as: name, in: garden) }
      ada.server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      for name in ["grace", "linus"] { #expect(await ada.cache.user(site.id(name))?.summary.name == name) }
      #expect(ada.server.requests.filter { $0.contains("/users") }.count == 1, "\(ada.server.requests)")
      #expect(await ada.cache.replica.needs.isEmpty)
    }
  }

  @Test func `data missing in a response is fetched with it`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let posted = try await site.post("frist", as: "grace", in: garden)
      for number in 2...3 { try await site.post("\(number)", as: "grace", in: garden) }
      // The cache does not know whether it was unread before.
      _ = try await site.client("grace").send(.editMessage(posted.id, text: "first"))
      let fetches: [(Sync) async throws -> Void] = [
        { try await $0.fetchAll([garden]) }, { try await $0.fetch(1...2, of: garden) },
        { try await $0.fetchOlder(than: 3, in: garden) }, { try await $0.refresh([posted.id]) },
      ]
      for (number, fetch) in fetches.enumerated() {
        let ada = try SiteClient(site, "ada")
        try await ada.sync.begin()
        ada.server.set { $0.requests = [] }
        try await fetch(ada.sync)
        #expect(await ada.cache.replica.needs.isEmpty, "\(number)")
        #expect(ada.server.requests.contains("GET /conversations/\(garden)"), "\(number)")
        #expect(await ada.cache.replica.conversations[garden]?.unread == 3, "\(number)")
      }
    }
  }

  @Test func `an interrupted full sync resumes`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      for number in 1...450 { try await site.post("message \(number)", as: "ada", in: garden) }
      var pages = 0
      do {
        let ada = try SiteClient(site, "ada", file: file)
        try await ada.sync.catchUp()
        #expect(await ada.cache.history(of: garden).sync == .notStarted)
        ada.server.set { $0.callsLeft = 2 }
        await #expect(throws: SiteTransport.noNetwork) { try await ada.sync.fetchAll([garden]) }
        guard case .started = await ada.cache.history(of: garden).sync else {
          Issue.record("it is \(await ada.cache.history(of: garden).sync)")
          return
        }
        pages = ada.server.requests.count { $0.hasSuffix("/messages") }
      }
      let ada = try SiteClient(site, "ada", file: file)
      let starts = Atomic(0)
      try await ada.sync.fetchAll([garden]) { starts.add(1, ordering: .relaxed) }
      #expect(starts.load(ordering: .relaxed) == 1)
      #expect(await ada.cache.history(of: garden).sync == .complete)
      #expect(try await ada.texts(garden) == (1...450).map { "message \($0)" })
      // Cached messages are not fetched again.
      #expect(pages + ada.server.requests.count { $0.hasSuffix("/messages") } <= 4)
      ada.server.set { $0.requests = [] }
      try await ada.sync.fetchAll([garden]) { Issue.record("there is nothing left to be done") }
      #expect(ada.server.requests.isEmpty)
    }
  }

  @Test func `a server that omits a message is not queried forever`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...206 {
        let posted = try await site.post("\(number)", as: "ada", in: garden)
        if number == 205 { _ = try await site.client("ada").send(.deleteMessage(posted.id)) }
      }
      let ada = try SiteClient(site, "ada")
      let incomplete = Client(
        ada.client.server, over: IncompleteTransport(server: ada.server), token: ada.client.token, retryPolicy: .never)
      let sync = Sync(ada.cache, incomplete)
      try await sync.begin()
      for _ in 0..<2 {
        ada.server.set { $0.requests = [] }
        try await sync.fetchAll([garden])
        #expect(ada.server.requests.count <= 3)
        // The messages below are fetched nevertheless.
        #expect(try await ada.cached(garden).map(\.seq) == Array(1...204) + [206])
      }
      try await ada.sync.fetchAll([garden])
      #expect(try await ada.cached(garden).map(\.seq) == Array(1...206))
    }
  }

  @Test func `a complete conversation is incomplete after a reset with a gap`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      for number in 1...3 { try await site.post("\(number)", as: "grace", in: garden) }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      #expect(await ada.cache.syncState(of: [garden]) == .complete)
      for number in 4...70 { try await site.post("\(number)", as: "grace", in: garden) }
      try await ada.sync.reset()
      #expect(await ada.cache.syncState(of: [garden]) != .complete)
      try await ada.sync.fetchAll([garden])
      #expect(try await ada.texts(garden) == (1...70).map(String.init))
      #expect(await ada.cache.syncState(of: [garden]) == .complete)
    }
  }

  @Test func `a reset leaves a gap in a previously empty conversation, too`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      #expect(await ada.cache.syncState(of: [garden]) == .complete)
      for number in 1...70 { try await site.post("\(number)", as: "grace", in: garden) }
      try await ada.sync.reset()
      #expect(await ada.cache.syncState(of: [garden]) != .complete)
      try await ada.sync.fetchAll([garden])
      #expect(try await ada.texts(garden) == (1...70).map(String.init))
      #expect(await ada.cache.syncState(of: [garden]) == .complete)
    }
  }

  @Test func `a topic is complete if its forum hides earlier messages`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let owner = try site.client("ada")
      let forum = try await owner.send(.createForum(title: "attic", visibility: .private)).value.forum.id
      let topic = try await owner.send(.createTopic(in: forum, title: "roses")).value.id
      for number in 1...30 { try await site.post("\(number)", as: "ada", in: topic) }
      _ = try await owner.send(.updateForum(forum, ForumChange([.set(\.visibility, .members)])))
      _ = try await site.client("grace").send(.setForumMember(of: forum, to: .me))
      try await site.post("31", as: "grace", in: topic)
      for number in 32...50 { try await site.post("\(number)", as: "ada", in: topic) }
      do {
        let grace = try SiteClient(site, "grace", file: file)
        try await grace.sync.catchUp()
        try await grace.sync.fetchAll([topic])
        #expect(try await grace.texts(topic) == (31...50).map(String.init))
        #expect(await grace.cache.syncState(of: [topic]) == .complete)
      }
      let grace = try SiteClient(site, "grace", file: file)
      try await grace.sync.fetchAll([topic]) { Issue.record("there is nothing left to be done") }
      #expect(grace.server.requests.isEmpty)
      for number in 51...120 { try await site.post("\(number)", as: "ada", in: topic) }
      try await grace.sync.reset()
      #expect(await grace.cache.syncState(of: [topic]) != .complete)
      try await grace.sync.fetchAll([topic])
      #expect(try await grace.texts(topic) == (31...120).map(String.init))
      #expect(await grace.cache.syncState(of: [topic]) == .complete)
    }
  }

  @Test func `a copy that differs is repaired`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...120 { try await site.post("message \(number)", as: "ada", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      var spoiled = try #require(try await ada.cache.messages(.range(77...77, of: garden)).first)
      spoiled.replica = ReplicaMessage(
        {
          var message = spoiled.message
          message.state = .live(.init(text: "something else"))
          return MessageView(message)
        }(), asOf: 0)
      var changes = CacheChanges()
      changes.messages = [spoiled]
      try await ada.cache.change(bringing: [], changes) { _ in }
      #expect(try await ada.texts(garden)[76] == "something else")
      let verdict = try await ada.sync.verify(garden)
      #expect(verdict.checked == 120)
      #expect((1...16).contains(verdict.repaired))
      #expect(try await ada.texts(garden) == (1...120).map { "message \($0)" })
    }
  }

  @Test func `after a restore of the server all digests are compared, and lost messages can be sent again`()
    async throws
  {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      for number in 1...3 { try await site.post("message \(number)", as: "grace", in: garden) }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      // Simulates two more messages, one of them different.
      var lost = try #require(try await ada.cached(garden).last)
      lost.seq = 4
      lost.previous = lost.id
      lost.id = ID(999_001)
      lost.author = site.id("ada")
      lost.clientID = "lost-one"
      lost.state = .live(.init(text: "only here"))
      var theirs = lost
      (theirs.seq, theirs.previous, theirs.id, theirs.clientID) = (5, lost.id, ID(999_002), nil)
      theirs.author = site.id("grace")
      let (mine, others) = (lost, theirs)
      var changes = CacheChanges()
      changes.messages = [mine, others].map {
        CachedMessage(
          ReplicaMessage(MessageView($0), asOf: 1_000_000), generation: 1, MessageIndex(shownAt: $0.createdAt))
      }
      try await ada.cache.change(bringing: [], changes) { _ in }
      try await ada.cache.setDraft(Draft("kept"), in: garden)
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.move(to: EventCursor(epoch: "another", start: "s", event: cursor.event + 1_000))
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.cursor?.epoch == cursor.epoch)
      #expect(try await ada.texts(garden) == ["message 1", "message 2", "message 3"])
      #expect(await ada.cache.draft(in: garden)?.text == "kept")
      #expect(await ada.outbox.orphans.map(\.id) == [mine.id])
      try await ada.outbox.resend(mine.id)
      #expect(await ada.outbox.orphans.isEmpty)
      #expect(try await ada.outbox.sendAll() == nil)
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden).last == "only here")
      // Events from now on are newer than the cache.
      let first = try #require(try await ada.cached(garden).first)
      _ = try await site.client("grace").send(.setAction(on: first.id, type: .like))
      try await ada.sync.catchUp()
      #expect(try await ada.cached(garden).first?.content?.actions.map(\.count) == [1])
    }
  }

  @Test func `a draft stays when the conversation is lost`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("grace", "ada")
      let (ada, grace) = (try SiteClient(site, "ada"), try SiteClient(site, "grace"))
      try await ada.sync.catchUp()
      try await ada.cache.setDraft(Draft("kept"), in: garden)
      try await grace.client.send(.removeParticipant(of: garden, user: .id(site.id("ada"))))
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.conversations[garden] == nil)
      #expect(await ada.cache.draft(in: garden)?.text == "kept")
    }
  }

  @Test func `a message that was sent beside a reset stays`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await site.post("before", as: "grace", in: garden)
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let snapshot = try await ada.client.send(.getSnapshot()).value
      try await ada.outbox.send(Draft("beside"), in: garden)
      #expect(try await ada.outbox.sendAll() == nil)
      try await ada.cache.begin(snapshot)
      try await ada.sync.removeLost(in: garden, after: 1)
      #expect(try await ada.texts(garden) == ["before", "beside"])
      #expect(await ada.outbox.orphans.isEmpty)
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["before", "beside"])
    }
  }

  @Test func `a lost message whose seq another one has can be resent`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      for number in 1...3 { try await site.post("message \(number)", as: "grace", in: garden) }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      var lost = try #require(try await ada.cached(garden).last)
      (lost.id, lost.author, lost.clientID) = (ID(999_001), site.id("ada"), "lost-one")
      lost.state = .live(.init(text: "only here"))
      var changes = CacheChanges()
      changes.messages = [
        CachedMessage(
          ReplicaMessage(MessageView(lost), asOf: 1_000_000), generation: 1, MessageIndex(shownAt: lost.createdAt))
      ]
      try await ada.cache.change(bringing: [], changes) { _ in }
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.move(to: EventCursor(epoch: "another", start: "s", event: cursor.event + 1_000))
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["message 1", "message 2", "message 3"])
      #expect(await ada.outbox.orphans.map(\.id) == [lost.id])
      try await ada.outbox.resend(lost.id)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").last?.message.content?.text == "only here")
    }
  }

  @Test func `a message that was sent ahead of events leaves a gap before it`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      #expect(await ada.cache.history(of: garden).sync == .complete)
      for number in 1...2 { try await site.post("message \(number)", as: "grace", in: garden) }
      let ahead = try await ada.client.send(.postMessage(in: garden, "ahead")).value
      try await ada.cache.merge([ahead], asOf: 0)
      // An empty history was complete up to the first message.
      try await ada.cache.setSync(.complete, of: garden)
      #expect(await ada.cache.history(of: garden).first == 1)
      try await ada.sync.reset()
      #expect(await ada.cache.history(of: garden).sync == .started(before: 3))
      try await ada.sync.fetchAll([garden])
      #expect(try await ada.texts(garden) == ["message 1", "message 2", "ahead"])
      #expect(await ada.cache.history(of: garden).sync == .complete)
    }
  }

  @Test func `a reset fetches outdated actions`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...20 { try await site.post("\(number)", as: "grace", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let known = try await ada.cached(garden)
      // Another device of hers and another user act while this one is offline. Then the server's log no longer has
      // the events.
      _ = try await site.client("ada").send(.setAction(on: known[2].id, type: .own("com.example.done")))
      _ = try await site.client("grace").send(.setAction(on: known[15].id, type: .like))
      try await ada.sync.reset()
      #expect(try await ada.cache.hasAction(.own("com.example.done"), on: .message(known[2].id)))
      #expect(try await ada.cache.messagesWithAction(.own("com.example.done"), in: garden).map(\.text) == ["3"])
      let seen = try await MessageWindow(garden, ada.cache, ada.sync, size: 10).newest()
      #expect(seen.messages[5].message?.content?.actions == [.init(type: "like", count: 1)])
      ada.server.set { $0.requests = [] }
      #expect(try await ada.sync.verify(garden) == Sync.VerificationResult(checked: 20, repaired: 0, refreshed: 0))
      #expect(!ada.server.requests.contains("GET /messages"))
    }
  }

  @Test func `a new user on the device finds no data of the previous one`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("private", as: "grace", in: garden)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let linus = Sync(ada.cache, try site.client("linus"))
      await #expect(throws: SyncRefusal.userChanged) { try await linus.reset() }
      #expect(await ada.cache.replica == Replica())
      #expect(try await ada.texts(garden).isEmpty)
      try await linus.catchUp()
      #expect(await ada.cache.replica.me?.summary.id == site.id("linus"))
    }
  }

  @Test func `the newest messages are fetched without a gap, unless operations are pending`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await site.post("message 1", as: "grace", in: garden)
      try await ada.sync.catchUp()
      for number in 2...230 { try await site.post("message \(number)", as: "ada", in: garden) }
      let waiting = try await ada.outbox.send(Draft("not yet"), in: garden)
      await #expect(throws: SyncRefusal.unsentWork(garden)) { try await ada.sync.fetchNewest(in: garden) }
      try await ada.outbox.cancel(waiting.id)
      #expect(try await ada.sync.fetchNewest(in: garden).count == 229)
      #expect(await ada.cache.history(of: garden).cached.all == [1...230])
      await #expect(throws: SyncRefusal.unknownConversation) { try await ada.sync.fetchNewest(in: ID(5)) }
      // A new device has the last message, from the snapshot, and gets a page before it.
      let other = try SiteClient(site, "grace")
      try await other.sync.catchUp()
      #expect(await other.cache.history(of: garden).cached.all == [230...230])
      #expect(try await other.sync.fetchNewest(in: garden).map(\.seq) == Array(181...229))
      #expect(await other.cache.history(of: garden).cached.all == [181...230])
      #expect(try await other.sync.fetchNewest(in: garden).isEmpty)
    }
  }

  @Test func `a private channel is created once and found on another device`() async throws {
    try await ScriptedSite.open { site in
      let phone = try SiteClient(site, "ada")
      let laptop = try SiteClient(site, "ada")
      try await phone.sync.catchUp()
      try await laptop.sync.catchUp()
      let channel = try await phone.sync.privateChannel(ConversationSpec("com.example.todo", title: "To do"))
      #expect(try await phone.sync.privateChannel("com.example.todo") == channel)
      #expect(try await laptop.sync.privateChannel("com.example.todo") == channel)
      try await site.post("milk", as: "ada", in: channel)
      try await laptop.sync.catchUp()
      #expect(try await laptop.texts(channel) == ["milk"])
      await #expect(throws: ClientFault.self) { try await site.post("no", as: "grace", in: channel) }
    }
  }

  @Test func `MB-18: a private channel has fixed writers, and readers that its user may change`() async throws {
    try await ScriptedSite.open { site in
      let ada = try SiteClient(site, "ada")
      typealias Openness = Conversation.Openness
      let rules: [(readers: Openness, writers: Openness)] = [
        (Openness(.listed, isImmutable: true), Openness(.listed, isImmutable: true)),
        (Openness(.listed), Openness(.listed)),
        (Openness(.users), Openness(.listed, isImmutable: true)),
      ]
      var others: Set<ID<Conversation>> = []
      for rule in rules {
        let other = try await ada.client.send(
          .createConversation(.channel, type: "com.example.todo", readers: rule.readers, writers: rule.writers))
        others.insert(other.conversation.id)
      }
      try await ada.sync.catchUp()
      let channel = try await ada.sync.privateChannel("com.example.todo")
      #expect(!others.contains(channel))
      let own = try #require(await ada.cache.replica.conversations[channel]?.conversation)
      #expect(own.readers == Openness(.listed) && own.writers == Openness(.listed, isImmutable: true))
    }
  }

  @Test func `MB-02a: a private channel is created again, and is never shared`() async throws {
    try await ScriptedSite.open { site in
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let shared = try await ada.client.send(
        .createConversation(
          .channel, with: [.id(site.id("grace"))], type: "com.example.todo", readers: .init(.listed),
          writers: .init(.listed, isImmutable: true)))
      try await ada.sync.catchUp()
      var channels = [shared.conversation.id]
      for _ in 0..<3 {
        let channel = try await ada.sync.privateChannel("com.example.todo")
        #expect(!channels.contains(channel))
        #expect(try await ada.sync.privateChannel("com.example.todo") == channel)
        #expect(try await SiteClient(site, "ada").sync.privateChannel("com.example.todo") == channel)
        channels.append(channel)
        try await ada.client.send(.deleteConversation(channel))
        try await ada.sync.catchUp()
      }
      // The oldest of several counts, such as those of another program.
      var several: [ID<Conversation>] = []
      for _ in 0..<2 {
        let request = Request.createConversation(
          .channel, type: "com.example.diary", readers: .init(.listed), writers: .init(.listed, isImmutable: true))
        several.append(try await ada.client.send(request).conversation.id)
      }
      try await ada.sync.catchUp()
      #expect(several[0] < several[1])
      #expect(try await ada.sync.privateChannel("com.example.diary") == several[0])
    }
  }

  @Test func `a room without events is fetched, compared and proven`() async throws {
    try await ScriptedSite.open { site in
      let room = try await site.client("ada").send(.createForum(title: "garden", visibility: .public)).value.forum
        .room
      let grace = try site.client("grace")
      var posted: [Message] = []
      for number in 1...230 { posted.append(try await site.post("\(number)", as: "ada", in: room)) }
      let linus = try SiteClient(site, "linus")
      try await linus.sync.begin()
      // The cache is empty, so there is no copy to compare with.
      #expect(try await linus.sync.verify(room).checked > 0)
      guard case .incomplete(.missing(let missing)) = try await linus.sync.proof(of: room) else {
        Issue.record("it is complete")
        return
      }
      #expect(missing.first?.lowerBound == 1)
      try await linus.sync.fetchAll([room])
      _ = try await site.client("ada").send(.editMessage(posted[0].id, text: "edited"))
      let last = try await site.post("231", as: "ada", in: room)
      try await linus.sync.fetchAll([room])
      #expect(
        try await linus.cached(room).filter { $0.kind == .message }.map { $0.content?.text ?? "" }
          == ["edited"] + (2...231).map(String.init))
      #expect(try await linus.sync.proof(of: room) == .complete(through: last))
      linus.server.set { $0.isOffline = true }
      #expect(try await linus.sync.proof(of: room) == .incomplete(.unreachable(SiteTransport.noNetwork)))
      linus.server.set { $0.isOffline = false }
      #expect(try await linus.sync.proof(of: ID(999_999)) == .incomplete(.unknownConversation))
      await #expect(throws: SyncRefusal.unknownConversation) { try await linus.sync.verify(ID(999_999)) }
      await #expect(throws: SyncRefusal.unknownConversation) { try await linus.sync.fetchAll([ID(999_999)]) }
      let empty = try await grace.send(.createConversation(.group, title: "empty")).conversation.id
      let other = try SiteClient(site, "grace")
      try await other.sync.begin()
      #expect(try await other.sync.proof(of: empty) == .complete(through: nil))
    }
  }

  @Test func `SK-01: a fresh answer has all messages as they are, without events`() async throws {
    try await ScriptedSite.open { site in
      let room = try await site.client("ada").send(.createForum(title: "garden", visibility: .public)).value.forum
        .room
      var posted: [Message] = []
      for number in 1...300 { posted.append(try await site.post("\(number)", as: "ada", in: room)) }
      let parley = try Parley(
        try site.client("linus"), clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open
      ) { MemoryStore() }
      func texts(before: ID<Message>? = nil, _ limit: Int) async throws -> [String] {
        try await parley.messages(in: room, before: before, limit: limit).fresh().map(\.text)
      }
      try await parley.sync.begin()
      #expect(try await texts(250) == (51...300).reversed().map(String.init))
      _ = try await site.client("ada").send(.editMessage(posted[298].id, text: "edited"))
      try await site.post("301", as: "ada", in: room)
      #expect(try await texts(3) == ["301", "300", "edited"])
      _ = try await site.client("ada").send(.editMessage(posted[99].id, text: "edited"))
      #expect(try await texts(before: posted[100].id, 2) == ["edited", "99"])
      #expect(try await texts(before: posted[9].id, 2) == ["9", "8"])
    }
  }

  @Test func `SK-01: the cached answer arrives first, and never after the fresh one`() async throws {
    var answers: [String] = []
    let (shown, show) = AsyncStream.makeStream(of: Void.self)
    for try await answer in CachedThenFresh(
      cached: { "held" },
      fresh: {
        for await _ in shown { break }
        return "new"
      })
    {
      answers.append("\(answer.isFresh ? "fresh" : "cached") \(answer.value)")
      show.yield()
    }
    #expect(answers == ["cached held", "fresh new"])
    answers = []
    for try await answer in CachedThenFresh(
      cached: {
        // The fresh answer no longer waits for it.
        try? await Task.sleep(for: .seconds(86_400))
        return "late"
      }, fresh: { "new" })
    {
      answers.append(answer.value)
    }
    #expect(answers == ["new"])
  }
}
