import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

/// A server that was restored from a backup has lost messages that the cache has.
@Suite struct RestoreTests {
  private func message(
    _ site: ScriptedSite, _ id: Int, in conversation: ID<Conversation>, at seq: Int, by name: String = "ada",
    _ text: String = "lost"
  ) -> Message {
    Message(
      id: ID(id), conversation: conversation, author: site.id(name), clientID: "lost-\(id)", seq: seq,
      previous: ID(id - 1), createdAt: 1_700_000_000_000 + Int64(id), state: .live(.init(text: text)))
  }

  private func merge(_ messages: [Message], in cache: Cache) async throws {
    var changes = CacheChanges()
    changes.messages = messages.map {
      CachedMessage(ReplicaMessage(MessageView($0), asOf: 0), generation: 1, MessageIndex(shownAt: $0.createdAt))
    }
    let all = changes
    try await cache.change(bringing: [], all) { _ in }
  }

  /// Makes the next request for events answer with a reset.
  private func changeEpoch(of cache: Cache) async throws {
    let cursor = try #require(await cache.replica.cursor)
    try await cache.move(to: EventCursor(epoch: "another", start: cursor.start, event: cursor.event))
  }

  @Test(arguments: [false, true], [false, true])
  func `a reused id makes an orphan of an own message`(hasDisk: Bool, isReset: Bool) async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let garden = try await site.group("ada", "grace")
      let orchard = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada", file: hasDisk ? folder.path + "/cache.db" : nil)
      try await ada.sync.catchUp()
      let new = try await site.post("new", as: "grace", in: orchard)
      let lost = message(site, new.id.number, in: garden, at: 1)
      try await merge([lost], in: ada.cache)
      if isReset { try await changeEpoch(of: ada.cache) }
      try await ada.sync.catchUp()
      #expect(try await ada.texts(orchard) == ["new"])
      #expect(await ada.outbox.orphans == [lost])
      #expect(try await ada.cached(garden).isEmpty)
      #expect(await ada.cache.history(of: garden).cached.all.isEmpty)
    }
  }

  @Test func `a repair makes an orphan of an own message with a reused id elsewhere`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let orchard = try await site.group("ada", "grace")
      let posted = try await site.post("new", as: "grace", in: orchard)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      var old = posted
      (old.id, old.state) = (ID(999_000), .live(.init(text: "old")))
      let lost = message(site, posted.id.number, in: garden, at: 1)
      try await merge([old, lost], in: ada.cache)
      #expect(try await ada.sync.verify(orchard).repaired == 1)
      #expect(try await ada.texts(orchard) == ["new"])
      #expect(await ada.outbox.orphans == [lost])
    }
  }

  @Test func `a difference over several parts of a digest keeps all own messages`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...120 { try await site.post("message \(number)", as: "grace", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let lost = (41...120).map { message(site, 900_000 + $0, in: garden, at: $0) }
      try await merge(lost, in: ada.cache)
      try await changeEpoch(of: ada.cache)
      try await ada.sync.catchUp()
      #expect(await ada.outbox.orphans.map(\.id) == lost.map(\.id))
      #expect(try await ada.texts(garden) == (1...120).map { "message \($0)" })
      #expect(await ada.cache.history(of: garden).cached.all == [1...120])
    }
  }

  @Test func `own messages stay cached when the end of their range is lost`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      for (text, name) in [("one", "ada"), ("two", "grace"), ("three", "ada")] {
        try await site.post(text, as: name, in: garden)
      }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let lost = message(site, 900_001, in: garden, at: 4)
      try await merge([lost], in: ada.cache)
      #expect(await ada.cache.history(of: garden).cached.all == [1...4])
      _ = try await ada.sync.verify(garden)
      #expect(await ada.outbox.orphans == [lost])
      // A second restore may lose them, too, before they are fetched again.
      #expect(try await ada.texts(garden).filter { $0 != "two" } == ["one", "three"])
    }
  }

  @Test func `own messages of a lost conversation become orphans`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let conversation = ID<Conversation>(900_000)
      let (mine, theirs) = (
        message(site, 900_001, in: conversation, at: 1),
        message(site, 900_002, in: conversation, at: 2, by: "grace")
      )
      // Posted in a room that no snapshot lists, and still there.
      let room = try await site.client("ada").send(.createForum(title: "park", visibility: .public)).value.forum.room
      let kept = try await site.post("kept", as: "ada", in: room)
      try await merge([mine, theirs], in: ada.cache)
      try await merge([kept], in: ada.cache)
      try await changeEpoch(of: ada.cache)
      try await ada.sync.catchUp()
      #expect(await ada.outbox.orphans == [mine])
      #expect(try await ada.cached(conversation).isEmpty)
      // Without a restore, a conversation that the user may not read any more leaves nothing.
      try await ada.outbox.discard(mine.id)
      try await merge([mine], in: ada.cache)
      try await ada.sync.reset()
      #expect(await ada.outbox.orphans.isEmpty)
      #expect(try await ada.cached(conversation).isEmpty)
      #expect(try await ada.texts(garden).isEmpty)
    }
  }

  @Test func `a message that was lost and is another one now is no orphan`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let before = message(site, 900_001, in: garden, at: 1, "before")
      var now = message(site, 900_001, in: garden, at: 1, "now")
      now.createdAt += 1
      try await merge([now], in: ada.cache)
      // The comparison with the server began with the other one.
      try await ada.cache.orphan([before], of: garden)
      #expect(try await ada.texts(garden) == ["now"])
      #expect(await ada.outbox.orphans.isEmpty)
    }
  }

  @Test func `a message is sent although the last cached message is lost`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("first", as: "grace", in: garden)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await merge([message(site, 900_001, in: garden, at: 2)], in: ada.cache)
      let last = try await ada.cache.lastContiguousMessage(in: garden)
      #expect(last == ID(900_001))
      try await ada.outbox.send(Draft("mine"), in: garden)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").map(\.message.content?.text) == ["first", "mine"])
    }
  }

  @Test(arguments: [false, true])
  func `a lost message that another device sent again is no orphan`(isFoundFirst: Bool) async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let lost = message(site, 900_001, in: garden, at: 9)
      try await merge([lost], in: ada.cache)
      if !isFoundFirst {
        try await ada.cache.orphan([lost], of: garden)
        #expect(await ada.outbox.orphans == [lost])
      }
      _ = try await site.client("ada").send(.postMessage(in: garden, "lost", clientID: lost.clientID))
      try await ada.sync.catchUp()
      if isFoundFirst { try await ada.cache.orphan([lost], of: garden) }
      #expect(await ada.outbox.orphans.isEmpty)
      #expect(try await ada.texts(garden) == ["lost"])
    }
  }

  @Test(arguments: [false, true])
  func `a reply to a lost message is sent without a reference`(isResent: Bool) async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      if isResent {
        var lost = message(site, 900_001, in: garden, at: 1, "reply")
        lost.replyTo = ID(900_000)
        try await merge([lost], in: ada.cache)
        try await ada.cache.orphan([lost], of: garden)
        try await ada.outbox.resend(lost.id)
      } else {
        try await ada.outbox.send(Draft("reply", replyTo: .message(ID(900_000))), in: garden)
      }
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(await ada.outbox.list().isEmpty)
      let messages = try await site.messages(of: garden, as: "ada")
      #expect(messages.map(\.message.content?.text) == ["reply"] && messages.map(\.message.replyTo) == [nil])
    }
  }

  @Test func `a response from before a restore completes no operation`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = HookedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      var snapshot = try await ada.client.send(.getSnapshot()).value
      snapshot.cursor.epoch = "another"
      let (restored, cache) = (snapshot, ada.cache)
      transport.set { request in
        guard request.hasPrefix("POST") else { return }
        transport.set { _ in }
        _ = try? await cache.begin(restored)
        _ = try? await cache.move(to: restored.cursor)
      }
      let operation = try await ada.outbox.send(Draft("mine"), in: garden)
      #expect(try await ada.outbox.sendAll() != nil)
      #expect(await ada.outbox.list().map(\.id) == [operation.id])
      #expect(try await ada.cached(garden).isEmpty)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").count == 1)
    }
  }

  @Test func `a response from before a restart completes no operation`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = HookedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let cache = ada.cache
      // No data is beyond the cursor when the app follows the restart, and then the response of the earlier start arrives.
      transport.set { request in
        guard request.hasPrefix("POST") else { return }
        transport.set { _ in }
        let beyond = try? await cache.beginStart()
        #expect(beyond?.conversations.isEmpty == true && beyond?.hasGone == false)
      }
      let operation = try await ada.outbox.send(Draft("mine"), in: garden)
      #expect(try await ada.outbox.sendAll() != nil)
      #expect(await ada.outbox.list().map(\.id) == [operation.id])
      #expect(try await ada.cached(garden).isEmpty)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").count == 1)
    }
  }

  @Test func `a lost message that the server shows again is no orphan`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let posted = try await site.post("mine", as: "ada", in: garden)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.cache.orphan([posted], of: garden)
      #expect(await ada.outbox.orphans.map(\.id) == [posted.id])
      try await ada.sync.refresh([posted.id])
      #expect(await ada.outbox.orphans.isEmpty)
    }
  }

  @Test func `a message that is stored during the comparison of its range stays`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = HookedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await site.post("one", as: "ada", in: garden)
      try await ada.sync.catchUp()
      let (lost, late) = (message(site, 900_001, in: garden, at: 2), message(site, 900_002, in: garden, at: 2))
      try await merge([lost], in: ada.cache)
      // The server has acknowledged a message in the same place, and went back once more.
      let cache = ada.cache
      transport.set { request in
        guard request.contains("/messages?ids=") else { return }
        transport.set { _ in }
        try? await cache.merge([MessageView(late)], asOf: 0)
      }
      _ = try await ada.sync.verify(garden)
      #expect(await ada.outbox.orphans == [lost])
      #expect(try await ada.cached(garden).contains(late))
      _ = try await ada.sync.verify(garden)
      #expect(await ada.outbox.orphans == [lost, late])
    }
  }

  @Test func `a message that is stored during a reset becomes an orphan`() async throws {
    try await ScriptedSite.open { site in
      let transport = HookedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let conversation = ID<Conversation>(900_000)
      let (lost, late) = (
        message(site, 900_001, in: conversation, at: 1), message(site, 900_002, in: conversation, at: 2)
      )
      try await merge([lost], in: ada.cache)
      try await changeEpoch(of: ada.cache)
      let cache = ada.cache
      transport.set { request in
        guard request.contains("/messages?ids=") else { return }
        transport.set { _ in }
        try? await merge([late], in: cache)
      }
      try await ada.sync.catchUp()
      #expect(await ada.outbox.orphans == [lost, late])
      #expect(try await ada.cached(conversation).isEmpty)
    }
  }

  @Test func `a lost conversation is dropped with own messages that were compared`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let (lost, late) = (message(site, 900_001, in: garden, at: 1), message(site, 900_002, in: garden, at: 2))
      try await merge([lost, late], in: ada.cache)
      #expect(try await !ada.cache.drop(garden, compared: [lost], lost: [lost]))
      #expect(try await ada.cached(garden) == [lost, late])
      #expect(try await ada.cache.drop(garden, compared: [lost, late], lost: [lost, late]))
      #expect(await ada.outbox.orphans == [lost, late])
      #expect(await ada.cache.replica.conversations[garden] == nil)
    }
  }

  @Test func `a removal during the comparison makes no orphans`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("mine", as: "grace", in: garden)
      let transport = HookedTransport(site.server("grace"))
      let grace = try SiteClient(site, "grace") { _ in transport }
      try await grace.sync.catchUp()
      try await grace.sync.fetchAll([garden])
      try await changeEpoch(of: grace.cache)
      let (ada, removed) = (try site.client("ada"), site.id("grace"))
      transport.set { request in
        guard request.hasSuffix("/snapshot") else { return }
        _ = try? await ada.send(.removeParticipant(of: garden, user: .id(removed)))
      }
      try await grace.sync.catchUp()
      #expect(await grace.cache.replica.conversations[garden] == nil)
      #expect(try await grace.cached(garden).isEmpty)
      #expect(await grace.outbox.orphans.isEmpty)
    }
  }

  @Test func `an interrupted reset is repeated, also if the earlier history is put back`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("one", as: "grace", in: garden)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.move(to: EventCursor(epoch: cursor.epoch, start: "gone", event: cursor.event))
      // The snapshot arrives, and then the network fails.
      ada.server.set { $0.callsLeft = 2 }
      await #expect(throws: SiteTransport.noNetwork) { try await ada.sync.catchUp() }
      #expect(await ada.cache.isResetting)
      // The server would answer the cursor from before the reset with events.
      ada.server.set { ($0.callsLeft, $0.requests) = (.max, []) }
      try await ada.sync.catchUp()
      #expect(ada.server.requests.contains("GET /snapshot"))
      #expect(await !ada.cache.isResetting)
      #expect(try await ada.texts(garden) == ["one"])
    }
  }

  @Test func `a response from before an erasure writes nothing`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = HookedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let cache = ada.cache
      transport.set { _ in _ = try? await cache.erase() }
      try await ada.outbox.send(Draft("mine"), in: garden)
      _ = try await ada.outbox.sendAll()
      #expect(await ada.outbox.list().isEmpty)
      #expect(try await ada.cached(garden).isEmpty)
      #expect(await ada.cache.cachedConversations.isEmpty)
    }
  }

  @Test func `after a server went back in time no age counts`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      var posted: [Message] = []
      for number in 1...3 { posted.append(try await site.post("\(number)", as: "grace", in: garden)) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      // In the lost history the second message was edited, and ada liked it.
      var edited = posted[1]
      (edited.revision, edited.state) = (7, .live(.init(text: "lost")))
      let lost = message(site, 900_001, in: garden, at: 4)
      let seen = [MessageView(edited, mine: ["like"]), MessageView(lost)]
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.move(to: EventCursor(epoch: cursor.epoch, start: cursor.start, event: cursor.event + 1_000))
      try await ada.cache.merge(seen, asOf: cursor.event + 1_000)
      try await ada.cache.move(to: EventCursor(epoch: cursor.epoch, start: "gone", event: cursor.event + 1_000))
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["1", "2", "3"])
      #expect(await ada.outbox.orphans == [lost])
      let liked = try #require(try await ada.cache.messages(.ids([posted[1].id])).first?.replica)
      #expect(liked.mine == [] && liked.message.content?.actions.isEmpty == true)
      _ = try await site.client("grace").send(.editMessage(posted[1].id, text: "edited"))
      _ = try await site.client("grace").send(.setAction(on: posted[1].id, type: .own("com.example.done")))
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["1", "edited", "3"])
      let known = try #require(try await ada.cache.messages(.ids([posted[1].id])).first?.replica)
      #expect(known.mine == [] && known.message.content?.actions.map(\.type) == ["com.example.done"])
    }
  }

  @Test(arguments: [false, true])
  func `the stored timeline ends with the history of the server`(isRewound: Bool) async throws {
    try await ScriptedSite.open { site in
      let feed = try await site.client("ada").send(.createConversation(.feed)).conversation.id
      try await site.post("lost", as: "ada", in: feed)
      let transport = RestartedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let age = await ada.cache.responseAge
      let page = try await site.client("ada").send(.getTimeline()).elements.map { TimelineEntry(entry: $0, post: $0) }
      try await ada.cache.setTimeline(page, asOf: age)
      try await ada.sync.catchUp()
      #expect(await ada.cache.timeline.map(\.entry.message.content?.text) == ["lost"])
      let cursor = try #require(await ada.cache.replica.cursor)
      if isRewound {
        try await ada.cache.move(
          to: EventCursor(epoch: cursor.epoch, start: "gone", event: cursor.event + 1_000))
      } else {
        transport.restart(from: cursor.start)
      }
      try await ada.sync.catchUp()
      #expect(await ada.cache.timeline.isEmpty)
      // The response to a request of before.
      try await ada.cache.setTimeline(page, asOf: age)
      #expect(await ada.cache.timeline.isEmpty)
    }
  }

  @Test func `after a restart only conversations beyond the cursor are compared`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let orchard = try await site.group("ada", "grace")
      for room in [garden, orchard] { try await site.post("one", as: "grace", in: room) }
      let server = site.server("ada")
      let transport = RestartedTransport(server)
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      // Acknowledged, and then an older copy of the data was put back.
      let cursor = try #require(await ada.cache.replica.cursor)
      let lost = message(site, 900_001, in: garden, at: 2)
      try await ada.cache.merge([MessageView(lost)], asOf: cursor.event)
      transport.restart(from: cursor.start)
      server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      #expect(await ada.outbox.orphans == [lost])
      #expect(try await ada.texts(garden) == ["one"])
      #expect(server.requests.filter { $0.hasSuffix("/digest") } == ["GET /conversations/\(garden)/digest"])
      // Once is enough.
      server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      #expect(server.requests == ["GET /sync"])
      // The new history has other events with the same numbers.
      try await site.post("two", as: "grace", in: garden)
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["one", "two"])
      #expect(await ada.cache.replica.conversations[garden]?.unread == 2)
    }
  }
}

extension RestoreTests {
  @Test func `the comparison after a restart is beyond the cursor until a catch-up covers it`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = RestartedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.merge([MessageView(message(site, 900_001, in: garden, at: 1))], asOf: cursor.event)
      let before = try #require(await ada.cache.ahead["\(garden)"])
      transport.restart(from: cursor.start)
      try await ada.sync.catchUp()
      // Another restart, perhaps with another copy, would compare it again.
      let after = try #require(await ada.cache.ahead["\(garden)"])
      #expect(after > before)
      try await ada.sync.catchUp()
      #expect(await ada.cache.ahead.isEmpty)
    }
  }

  @Test func `events that are fetched for one stream are beyond the cursor`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let server = site.server("ada")
      let transport = RestartedTransport(server)
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      try await site.post("one", as: "grace", in: garden)
      // A slow connection has lost the event.
      try await ada.sync.pull(.conversation(garden))
      #expect(try await ada.texts(garden) == ["one"])
      #expect(await ada.cache.replica.cursor == cursor)
      #expect(await ada.cache.ahead["\(garden)"] != nil)
      // A copy from before the event would be compared, since its next events have the same offsets.
      transport.restart(from: cursor.start)
      server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      #expect(server.requests.contains("GET /conversations/\(garden)/digest"))
      try await ada.sync.catchUp()
      #expect(await ada.cache.ahead.isEmpty)
    }
  }

  @Test func `after a restart what was gone beyond the cursor may be there again`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("one", as: "grace", in: garden)
      let server = site.server("ada")
      let transport = RestartedTransport(server)
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      // A response said that ada was removed, and then a copy from before that was put back.
      try await ada.cache.drop(.conversation(garden))
      transport.restart(from: cursor.start)
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["one"])
      #expect(await ada.cache.replica.conversations[garden]?.isOwn == true)
      // A covered conversation is gone for good.
      server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      #expect(server.requests == ["GET /sync"])
    }
  }

  @Test func `a page from another start of the server is beyond the cursor`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...3 { try await site.post("\(number)", as: "grace", in: garden) }
      let transport = RestartedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      #expect(await ada.cache.ahead.isEmpty)
      let cursor = try #require(await ada.cache.replica.cursor)
      transport.restart(from: cursor.start)
      // The event of the page is one of the cursor's, but perhaps of another history.
      try await ada.sync.fetchOlder(than: 3, in: garden)
      #expect(await ada.cache.ahead["\(garden)"] != nil)
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      #expect(await ada.cache.ahead.isEmpty)
      #expect(try await ada.texts(garden) == ["1", "2", "3"])
    }
  }

  @Test func `of two lost copies of a post one can be sent again`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = RestartedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      // Two histories stored the post, and the server has lost both.
      let copies = [900_001, 900_002].map { id in
        Message(
          id: ID(id), conversation: garden, author: site.id("ada"), clientID: "twice", seq: id - 900_000,
          previous: id == 900_001 ? nil : ID(900_001), createdAt: 1_700_000_000_000, state: .live(.init(text: "lost")))
      }
      try await ada.cache.merge(copies.map { MessageView($0) }, asOf: cursor.event)
      transport.restart(from: cursor.start)
      try await ada.sync.catchUp()
      #expect(await ada.outbox.orphans == [copies[1]])
    }
  }

  @Test func `a conversation that was gone before a reset and is in the snapshot stays`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("grace", "ada")
      let posted = try await site.post("one", as: "grace", in: garden)
      let restarted = RestartedTransport(site.server("ada"))
      let transport = HookedTransport(restarted)
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.merge([MessageView(posted)], asOf: cursor.event)
      let grace = try site.client("grace")
      let user = site.id("ada")
      _ = try await grace.send(.removeParticipant(of: garden, user: .id(user)))
      restarted.restart(from: cursor.start)
      // After the first comparison the server restarts again, with other data.
      transport.set { request in
        guard request.hasSuffix("/conversations/\(garden)") else { return }
        transport.set { _ in }
        _ = try? await grace.send(.setParticipant(of: garden, to: .id(user)))
        restarted.restart(from: "unknown")
      }
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.conversations[garden]?.isOwn == true)
      #expect(try await ada.texts(garden).contains("one"))
    }
  }

  @Test func `an edit of another history is fetched although the digests are equal`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let posted = try await site.post("one", as: "grace", in: garden)
      _ = try await site.client("grace").send(.editMessage(posted.id, text: "edited"))
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let current = try #require(try await ada.cache.messages(.ids([posted.id])).first).message
      var lost = current
      lost.state = .live(.init(text: "edited", edit: .init(at: 1, by: site.id("grace"))))
      try await merge([lost], in: ada.cache)
      let cursor = try #require(await ada.cache.replica.cursor)
      try await ada.cache.move(to: EventCursor(epoch: cursor.epoch, start: "gone", event: cursor.event))
      try await ada.sync.catchUp()
      #expect(try await ada.cache.messages(.ids([posted.id])).map(\.message) == [current])
    }
  }

  @Test func `after a restart users and forums from beyond the cursor are fetched`() async throws {
    try await ScriptedSite.open { site in
      let server = site.server("ada")
      let transport = RestartedTransport(server)
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let grace = try await site.client("ada").send(.getUser(.id(site.id("grace")))).value
      let me = try await site.client("ada").send(.getUser(.me)).value
      let forum = try await site.client("ada").send(.createForum(title: "Knitting")).value
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      let cursor = try #require(await ada.cache.replica.cursor)
      // In the lost history both users and the forum have changed.
      for var user in [grace, me] {
        (user.summary.revision, user.summary.displayName) = (user.summary.revision + 5, "lost")
        try await ada.cache.merge(user)
      }
      var lost = forum
      (lost.forum.revision, lost.forum.title) = (forum.forum.revision + 5, "lost")
      try await ada.cache.merge(lost, asOf: cursor.event)
      transport.restart(from: cursor.start)
      try await ada.sync.catchUp()
      let replica = await ada.cache.replica
      #expect(replica.users[grace.summary.id]?.summary == grace.summary)
      #expect(replica.me?.summary == me.summary)
      #expect(replica.forums[forum.forum.id]?.forum == forum.forum)
      // A catch-up covers them.
      server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      #expect(server.requests == ["GET /sync"])
    }
  }

  @Test func `after a restart counts of the inbox from beyond the cursor are fetched`() async throws {
    try await ScriptedSite.open { site in
      let direct = try await site.group("ada", "grace")
      try await site.post("@ada", as: "grace", in: direct)
      let server = site.server("ada")
      let transport = RestartedTransport(server)
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      try await ada.sync.catchUp()
      let (cursor, counts) = (try #require(await ada.cache.replica.cursor), await ada.cache.replica.inbox)
      var later = InboxCounts()
      for _ in 1...7 { later.add(.mention) }
      try await ada.cache.merge(later)
      transport.restart(from: cursor.start)
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.inbox == counts)
      server.set { $0.requests = [] }
      try await ada.sync.catchUp()
      #expect(server.requests == ["GET /sync"])
    }
  }
}

/// A server that has restarted: its cursors have another start.
private final class RestartedTransport: Transport {
  private let inner: any Transport
  private let start = Mutex<String?>(nil)
  private static let new = "0123456789abcdef"

  init(_ inner: any Transport) { self.inner = inner }

  func restart(from start: String) { self.start.withLock { $0 = start } }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    guard let start = start.withLock({ $0 }) else { return try await inner.send(exchange) }
    var exchange = exchange
    exchange.target = exchange.target.replacing(Self.new, with: start)
    let response = try await inner.send(exchange)
    let text = String(decoding: try await response.body(limit: 1 << 24), as: UTF8.self)
    let body = Mutex([Array(text.replacing(start, with: Self.new).utf8)])
    return TransportResponse(status: response.status, fields: response.fields) { () async throws(TransportFailure) in
      body.withLock { $0.popLast() }
    }
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    try await inner.connect(exchange, subprotocols: subprotocols)
  }
}
