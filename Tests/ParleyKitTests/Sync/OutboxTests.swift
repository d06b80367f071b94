import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

/// The free space of a disk.
private final class DiskSpace: Sendable {
  let left = Mutex(Int.max)
}

private final class SmallDisk: CacheStore {
  private let store = MemoryStore()
  private let room: DiskSpace

  init(_ room: DiskSpace) { self.room = room }

  func save(_ changes: CacheChanges) throws(CacheFault) {
    let hasRoom = room.left.withLock { left in
      guard left > 0 else { return false }
      left -= 1
      return true
    }
    guard hasRoom else { throw .broken("the disk is full") }
    store.save(changes)
  }

  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow] { store.rows(of: table) }

  func erase(keeping kept: [CacheRow]) throws(CacheFault) { store.erase(keeping: kept) }
}

@Suite struct OutboxTests {
  /// Waits until the outbox is empty.
  private func drain(_ client: SiteClient) async throws {
    for _ in 0..<20_000 {
      if await client.outbox.list().isEmpty { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("still there: \(await client.outbox.list())")
  }

  private func refusal(_ status: Int, _ code: String = "unavailable") throws -> ClientFault {
    .refused(
      try Problem(json: JSONValue(parsing: Array(#"{"code":"\#(code)","status":\#(status),"title":"t"}"#.utf8))))
  }

  @Test func `only a message that the server can't have is changed locally`() async throws {
    let faults: [(ClientFault, isCertain: Bool)] = [
      (.offline("x"), true), (.untrusted("x"), true), (try refusal(400, "invalid"), true), (try refusal(403), true),
      (try refusal(404), true), (try refusal(429), true), (try refusal(408), false),
      // Another message has the client id: an earlier attempt was stored.
      (try refusal(409, "client_id_reused"), false), (try refusal(500), false), (try refusal(503), false),
      (.timedOut, false), (.interrupted("x"), false), (.captivePortal, false), (.tooLarge, false),
      (.cancelled, false), (.invalidResponse("x"), false), (.storageFailed, false),
    ]
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for (fault, isCertain) in faults {
        for isDeferred in [false, true] {
          let ada = try SiteClient(site, "ada")
          try await ada.sync.catchUp()
          let one = try await ada.outbox.send(Draft("one"), in: garden)
          _ = try await ada.cache.beginTry(of: one.id)
          _ = try await ada.cache.endTry(of: one.id, fault, isDeferred: isDeferred)
          let edit = try await ada.outbox.edit(.unsent(one.id), in: garden, to: "two")
          #expect((edit.kind == .send) == isCertain, "\(fault)")
          #expect((try await ada.outbox.delete(.unsent(one.id), in: garden) == nil) == isCertain, "\(fault)")
        }
      }
      // The server may have stored an earlier attempt, even if it refused the last one.
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let one = try await ada.outbox.send(Draft("one"), in: garden)
      for fault in [.timedOut, try refusal(403)] {
        _ = try await ada.cache.beginTry(of: one.id)
        _ = try await ada.cache.endTry(of: one.id, fault, isDeferred: fault == .timedOut)
      }
      #expect(try await ada.outbox.delete(.unsent(one.id), in: garden)?.kind == .delete)
    }
  }

  @Test func `a cancelled message that the server may have is deleted there`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let posted = try await ada.outbox.send(Draft("regretted"), in: garden)
      try await ada.outbox.setAction(.like, on: .unsent(posted.id), in: garden)
      ada.server.set { $0.responsesLost = 1 }
      #expect(try await ada.outbox.sendAll() == SiteTransport.lostResponse)
      try await ada.outbox.cancel(posted.id)
      #expect(await ada.outbox.list().map(\.kind) == [.send, .delete])
      #expect(await ada.cache.unsent(in: garden).map(\.isDeleted) == [true])
      #expect(try await ada.cache.search("regretted").messages.isEmpty)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").map(\.message.content?.text) == [nil])
      #expect(try await ada.texts(garden) == ["†"])
    }
  }

  @Test func `a message that is cancelled while it is sent is deleted`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let transport = HookedTransport(site.server("ada"))
      let ada = try SiteClient(site, "ada") { _ in transport }
      try await ada.sync.catchUp()
      let posted = try await ada.outbox.send(Draft("regretted"), in: garden)
      let outbox = ada.outbox
      transport.set { request in if request.hasPrefix("POST") { _ = try? await outbox.cancel(posted.id) } }
      try await outbox.start()
      try await drain(ada)
      await outbox.stop()
      #expect(try await site.messages(of: garden, as: "ada").map(\.message.content?.text) == [nil])
    }
  }

  @Test func `a failed message that the server may have is sent again to be deleted`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for isCancelled in [false, true] {
        let ada = try SiteClient(site, "ada")
        try await ada.sync.catchUp()
        let posted = try await ada.outbox.send(Draft("regretted"), in: garden)
        let reply = try await ada.outbox.send(Draft("reply", replyTo: .unsent(posted.id)), in: garden)
        _ = try await ada.cache.beginTry(of: posted.id)
        _ = try await ada.cache.endTry(of: posted.id, try refusal(500), isDeferred: false)
        if isCancelled {
          try await ada.outbox.cancel(posted.id)
        } else {
          try await ada.outbox.delete(.unsent(posted.id), in: garden)
        }
        #expect(try await ada.outbox.sendWaiting().sent.map(\.operation.kind) == [.send, .delete, .send])
        #expect(await ada.outbox.list().isEmpty)
        let messages = try await site.messages(of: garden, as: "ada").map(\.message)
        let sent = try #require(messages.first { $0.clientID == reply.id })
        #expect(messages.first { $0.clientID == posted.id }?.tombstone != nil)
        #expect(messages.contains { $0.id == sent.replyTo })
      }
    }
  }

  @Test func `a refused message with a deletion is dropped with it`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let refused = try await ada.outbox.send(Draft(String(repeating: "x", count: 16_001)), in: garden)
      _ = try await ada.cache.beginTry(of: refused.id)
      _ = try await ada.cache.endTry(of: refused.id, .timedOut, isDeferred: true)
      try await ada.outbox.cancel(refused.id)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(await ada.outbox.list().isEmpty)
      // Nothing can be deleted where the user may not write: the second cancellation drops it.
      let kept = try await ada.outbox.send(Draft("kept"), in: garden)
      _ = try await ada.cache.beginTry(of: kept.id)
      _ = try await ada.cache.endTry(of: kept.id, .timedOut, isDeferred: true)
      try await ada.outbox.cancel(kept.id)
      _ = try await ada.cache.beginTry(of: kept.id)
      _ = try await ada.cache.endTry(of: kept.id, try refusal(403), isDeferred: false)
      #expect(await ada.outbox.list().count == 2)
      try await ada.outbox.cancel(kept.id)
      #expect(await ada.outbox.list().isEmpty)
    }
  }

  @Test func `a refused read position leaves the outbox`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.outbox.markRead(ID(999_999), in: garden)
      #expect(try await ada.outbox.sendWaiting().failed.map(\.kind) == [.read])
      #expect(await ada.outbox.list().isEmpty)
    }
  }

  @Test func `MB-31: a sent message is returned with all missed messages`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      try await site.post("0", as: "grace", in: garden)
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      for number in 1...330 { try await site.post("\(number)", as: "ada", in: garden) }
      let new = try await ada.outbox.sendAndWait(Draft("mine"), in: garden)
      #expect(new.map { $0.content?.text } == (1...330).map(String.init) + ["mine"])
      try await ada.sync.catchUp()
      #expect(try await ada.sync.verify(garden).repaired == 0)
    }
  }

  @Test(arguments: [false, true])
  func `SK-22: an awaited edit or deletion returns the stored message`(isRunning: Bool) async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let outbox = ada.outbox
      if isRunning { try await outbox.start() }
      let posted = try #require(try await outbox.sendAndWait(Draft("one"), in: garden).last)
      let edited = try await outbox.editAndWait(.message(posted.id), in: garden, to: "two")
      #expect(edited?.content?.text == "two" && edited?.revision == 2)
      let liked = try await outbox.setActionAndWait(.like, on: .message(posted.id), in: garden)
      #expect(liked?.content?.actions.map(\.type) == ["like"])
      #expect(try await outbox.setActionAndWait(.like, on: .message(posted.id), in: garden) == nil)
      let deleted = try await outbox.deleteAndWait(.message(posted.id), in: garden)
      #expect(deleted?.id == posted.id && deleted?.tombstone != nil)
      await #expect(throws: ClientFault.self) {
        try await outbox.editAndWait(.message(posted.id), in: garden, to: "no")
      }
    }
  }

  @Test(arguments: [false, true])
  func `SK-26: a retry returns the operation, and awaited the message`(isRunning: Bool) async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let outbox = ada.outbox
      if isRunning { try await outbox.start() }
      // A refused message is sent with its new text.
      await #expect(throws: ClientFault.self) {
        try await outbox.sendAndWait(Draft(String(repeating: "x", count: 16_001)), in: garden)
      }
      let refused = try #require(await outbox.list().first)
      await #expect(throws: ClientFault.self) { try await outbox.retryAndWait(refused.id) }
      if !isRunning { #expect(try await outbox.retry(refused.id).id == refused.id) }
      let stored = try await outbox.editAndWait(.unsent(refused.id), in: garden, to: "shorter")
      #expect(stored?.clientID == refused.id && stored?.content?.text == "shorter")
      ada.server.set { $0.isOffline = true }
      await #expect(throws: SiteTransport.noNetwork) { try await outbox.sendAndWait(Draft("later"), in: garden) }
      let waiting = try #require(await outbox.list().first)
      ada.server.set { $0.isOffline = false }
      await outbox.networkAvailable()
      if !isRunning {
        let sent = try await outbox.retryAndWait(waiting.id)
        #expect(sent?.clientID == waiting.id && sent?.content?.text == "later")
      }
      try await wait { await outbox.list().isEmpty }
      #expect(try await site.messages(of: garden, as: "ada").last?.message.content?.text == "later")
      // A message that was never sent.
      await outbox.stop()
      let unsent = try await outbox.send(Draft("never"), in: garden)
      #expect(try await outbox.deleteAndWait(.unsent(unsent.id), in: garden) == nil)
      #expect(await outbox.list().isEmpty)
    }
  }

  @Test func `messages written offline are sent in order`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      ada.server.set { $0.isOffline = true }
      try await ada.outbox.start()
      let posted = (1...20).map { "line \($0)" }
      for text in posted { try await ada.outbox.send(Draft(text), in: garden) }
      let unsent = await ada.cache.unsent(in: garden)
      #expect(unsent.map(\.text) == posted)
      #expect(unsent.map(\.isUnsent) == posted.map { _ in true })
      #expect(try await ada.cache.search("line").messages.count == 20)
      ada.server.set { $0.isOffline = false }
      await ada.outbox.networkAvailable()
      try await drain(ada)
      #expect(try await site.messages(of: garden, as: "ada").map { $0.message.content?.text } == posted)
      await ada.outbox.stop()
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == posted)
    }
  }

  @Test func `a send with a lost response is one message`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      ada.server.set { $0.responsesLost = 3 }
      let events = await ada.outbox.events()
      try await ada.outbox.start()
      let operation = try await ada.outbox.send(Draft("once"), in: garden)
      try await drain(ada)
      await ada.outbox.stop()
      #expect(try await site.messages(of: garden, as: "ada").count == 1)
      var failed = 0
      for await event in events {
        if case .didFail(let one, SiteTransport.lostResponse) = event {
          failed += 1
          #expect(one.attempts == failed)
        }
        guard case .didSend(let sent, let message) = event else { continue }
        #expect(sent.id == operation.id)
        #expect(try await ada.cached(garden).map(\.id) == [message])
        break
      }
      #expect(failed == 3)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `retries wait by the given clock`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      ada.server.set { $0.isOffline = true }
      let (requests, request) = AsyncStream.makeStream(of: Duration.self)
      let (resumes, resume) = AsyncStream.makeStream(of: Void.self)
      let clock = Outbox.Clock(now: TestSite.ticking, pause: { _ in .seconds(86_400) }) { time in
        request.yield(time)
        for await _ in resumes { return }
        throw CancellationError()
      }
      let outbox = Outbox(ada.cache, ada.client, clock: clock, open: SiteClient.open)
      let events = await outbox.events()
      try await outbox.start()
      try await outbox.send(Draft("tomorrow"), in: garden)
      var iterator = requests.makeAsyncIterator()
      #expect(await iterator.next() == .seconds(86_400))
      ada.server.set { $0.isOffline = false }
      resume.yield()
      for await event in events { if case .didSend = event { break } }
      await outbox.stop()
      #expect(try await site.messages(of: garden, as: "ada").map { $0.message.content?.text } == ["tomorrow"])
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `a full disk fails the caller, and the outbox continues with free space`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let client = try site.client("ada")
      let room = DiskSpace()
      let cache = try Cache { () throws(CacheFault) -> sending any CacheStore in SmallDisk(room) }
      let outbox = Outbox(cache, client, clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open)
      try await Sync(cache, client).catchUp()
      try await outbox.start()
      // Space for the text, not for the attempt.
      room.left.withLock { $0 = 1 }
      await #expect(throws: (any Error).self) { try await outbox.sendAndWait(Draft("waits"), in: garden) }
      #expect(await outbox.list().count == 1)
      room.left.withLock { $0 = .max }
      try await outbox.start()
      try await wait { await outbox.list().isEmpty }
      #expect(try await site.messages(of: garden, as: "ada").map { $0.message.content?.text } == ["waits"])
      await outbox.stop()
    }
  }

  @Test func `an operation in progress at a kill has failed, and is sent once`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      do {
        let ada = try SiteClient(site, "ada", file: file)
        try await ada.sync.catchUp()
        var operation = try await ada.outbox.send(Draft("was it said?"), in: garden)
        try await ada.outbox.send(Draft("afterwards"), in: garden)
        // The server stores the message, and the app is killed before the response.
        _ = try await ada.client.send(.postMessage(in: garden, "was it said?", clientID: operation.id))
        operation.isUnderWay = true
        operation.attempts = 1
        try await ada.cache.save([CacheRow(.operation, operation.id, writing: operation)])
      }
      let ada = try SiteClient(site, "ada", file: file)
      _ = try await ada.outbox.send(Draft("last"), in: garden)
      #expect(await ada.outbox.list().map(\.failure) == [.unfinished, nil, nil])
      try await ada.outbox.start()
      try await drain(ada)
      await ada.outbox.stop()
      let texts = try await site.messages(of: garden, as: "ada").map { $0.message.content?.text }
      #expect(texts == ["was it said?", "afterwards", "last"])
    }
  }

  @Test func `unsent messages are edited and deleted locally`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let first = try await ada.outbox.send(Draft("frist"), in: garden)
      let second = try await ada.outbox.send(Draft("never"), in: garden)
      try await ada.outbox.edit(.unsent(first.id), in: garden, to: "first")
      try await ada.outbox.setAction(.like, on: .unsent(second.id), in: garden)
      #expect(try await ada.outbox.delete(.unsent(second.id), in: garden) == nil)
      #expect(await ada.outbox.list().count == 1)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").map { $0.message.content?.text } == ["first"])
      #expect(ada.server.requests.filter { $0.hasPrefix("DELETE") || $0.hasPrefix("PATCH") }.isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `a reply to a dropped message is sent without a reference`(isCancelled: Bool) async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let dropped = try await ada.outbox.send(Draft("dropped"), in: garden)
      let reply = try await ada.outbox.send(Draft("reply", replyTo: .unsent(dropped.id)), in: garden)
      try await ada.outbox.setAction(.like, on: .unsent(dropped.id), in: garden)
      try await ada.outbox.setAction(.like, on: .unsent(reply.id), in: garden)
      if isCancelled {
        try await ada.outbox.cancel(dropped.id)
      } else {
        try await ada.outbox.delete(.unsent(dropped.id), in: garden)
      }
      #expect(await ada.outbox.list().map(\.kind) == [.send, .action])
      #expect(try await ada.outbox.sendAll() == nil)
      let messages = try await site.messages(of: garden, as: "ada")
      #expect(messages.map(\.message.content?.text) == ["reply"] && messages.map(\.message.replyTo) == [nil])
      #expect(messages.map(\.mine) == [["like"]])
    }
  }

  @Test func `an earlier read position does not replace a later one`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      for number in 1...3 { try await site.post("message \(number)", as: "grace", in: garden) }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let messages = try await ada.cached(garden)
      let second = try await ada.outbox.markRead(messages[1].id, in: garden)
      #expect(try await ada.outbox.markRead(messages[0].id, in: garden) == second)
      #expect(await ada.outbox.list().map(\.id) == [second.id])
      try await ada.outbox.markRead(messages[2].id, in: garden)
      #expect(await ada.outbox.list().map(\.work) == [.read(messages[2].id)])
      #expect(try await ada.outbox.sendAll() == nil)
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.conversations[garden]?.readPosition.readSeq == 3)
    }
  }

  @Test func `a step sees the operation as it is, and not as it was`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let removed = try await ada.outbox.send(Draft("removed"), in: garden)
      let operation = try await ada.outbox.send(Draft("first"), in: garden)
      try await ada.outbox.cancel(removed.id)
      #expect(try await ada.cache.beginTry(of: removed.id) == nil)
      if case .removed = try await ada.cache.endTry(of: removed.id, .timedOut, isDeferred: true) {
      } else {
        Issue.record("it is kept")
      }
      // While it is under way, an edit is an operation of its own.
      _ = try await ada.cache.beginTry(of: operation.id)
      let edit = try await ada.outbox.edit(.unsent(operation.id), in: garden, to: "second")
      #expect(edit.kind == .edit && edit.id != operation.id)
      #expect(await ada.outbox.list().map(\.isUnderWay) == [true, false])
      // The server refuses it after an earlier try had no answer: it may have the first text.
      _ = try await ada.cache.endTry(of: operation.id, .timedOut, isDeferred: true)
      _ = try await ada.cache.beginTry(of: operation.id)
      _ = try await ada.cache.endTry(of: operation.id, .tooLarge, isDeferred: false)
      #expect(try await ada.outbox.edit(.unsent(operation.id), in: garden, to: "third").kind == .edit)
    }
  }

  @Test func `an action on an unsent message waits for it`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let operation = try await ada.outbox.send(Draft("important"), in: garden)
      let target = Draft.Target.unsent(operation.id)
      try await ada.outbox.setAction(.own("com.example.high"), on: target, in: garden)
      try await ada.outbox.setAction(.own("com.example.high"), on: target, in: garden)
      try await ada.outbox.send(Draft("answer", replyTo: target), in: garden)
      #expect(await ada.outbox.list().count == 3)
      #expect(try await ada.cache.messagesWithAction(.own("com.example.high"), in: garden).map(\.text) == ["important"])
      #expect(try await ada.outbox.sendAll() == nil)
      let messages = try await site.messages(of: garden, as: "ada")
      #expect(messages.map(\.mine) == [["com.example.high"], []])
      #expect(messages.last?.message.replyTo == messages.first?.message.id)
      // The action exists already.
      let id = try #require(messages.first?.message.id)
      try await ada.sync.catchUp()
      #expect(try await ada.outbox.setAction(.own("com.example.high"), on: .message(id), in: garden) == nil)
      try await ada.outbox.setAction(.own("com.example.high"), on: .message(id), in: garden, isSet: false)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await site.messages(of: garden, as: "ada").first?.mine == [])
      #expect(try await ada.cache.messagesWithAction(.own("com.example.high"), in: garden).isEmpty)
    }
  }

  @Test func `a deletion goes first and cancels pending operations on its message`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      let message = try await site.post("regretted", as: "ada", in: garden)
      try await ada.sync.catchUp()
      try await ada.outbox.send(Draft("new"), in: garden)
      try await ada.outbox.edit(.message(message.id), in: garden, to: "reworded")
      try await ada.outbox.setAction(.like, on: .message(message.id), in: garden)
      try await ada.outbox.delete(.message(message.id), in: garden)
      #expect(await ada.outbox.list().map(\.kind) == [.send, .delete])
      ada.server.set { $0.requests = [] }
      #expect(try await ada.outbox.sendAll(in: garden) == nil)
      #expect(ada.server.requests.first == "DELETE /messages/\(message.id)")
      try await ada.sync.catchUp()
      #expect(try await ada.texts(garden) == ["†", "new"])
    }
  }

  @Test func `a refused operation waits for the user, and the next ones continue`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let refused = try await ada.outbox.send(Draft(String(repeating: "x", count: 16_001)), in: garden)
      try await ada.outbox.send(Draft("fine"), in: garden)
      // A manual send stops at the first failure.
      #expect(try await ada.outbox.sendAll(in: garden)?.problem?.code == "invalid")
      #expect(await ada.outbox.list().map(\.kind) == [.send, .send])
      try await ada.outbox.start()
      try await wait { await ada.outbox.list().count <= 1 }
      await ada.outbox.stop()
      #expect(await ada.outbox.list(.send).map(\.failure?.problem?.code) == ["invalid"])
      #expect(try await site.messages(of: garden, as: "ada").map { $0.message.content?.text } == ["fine"])
      try await ada.outbox.edit(.unsent(refused.id), in: garden, to: "shorter")
      try await ada.outbox.retry(refused.id)
      #expect(try await ada.outbox.sendAll(in: garden) == nil)
      #expect(try await site.messages(of: garden, as: "ada").map { $0.message.content?.text } == ["fine", "shorter"])
      await #expect(throws: OutboxRefusal.unknownOperation) { try await ada.outbox.retry(refused.id) }
    }
  }

  @Test func `one attempt covers all operations, and a refused one blocks no other`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let orchard = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      ada.server.set { $0.isOffline = true }
      let refused = try await ada.outbox.send(Draft(String(repeating: "x", count: 16_001)), in: garden)
      let posted = try await ada.outbox.send(Draft("fine"), in: garden)
      let other = try await ada.outbox.send(Draft("apples"), in: orchard)
      var round = try await ada.outbox.sendWaiting()
      #expect(round == OutboxRound(stopped: SiteTransport.noNetwork))
      #expect(await ada.outbox.list().map(\.attempts) == [1, 0, 0])
      ada.server.set { $0.isOffline = false }
      round = try await ada.outbox.sendWaiting()
      #expect(round.sent.map(\.operation.id) == [posted.id, other.id])
      #expect(
        round.sent.map(\.message) == [try await ada.cached(garden).last?.id, try await ada.cached(orchard).last?.id])
      #expect(round.failed.map(\.id) == [refused.id] && round.failed.first?.failure?.problem?.code == "invalid")
      #expect(round.stopped == nil)
      // A refused operation waits for the user and is not retried.
      #expect(try await ada.outbox.sendWaiting() == OutboxRound())
      #expect(await ada.outbox.list().map(\.id) == [refused.id])
      // An interrupted operation is retried.
      var operation = try await ada.outbox.send(Draft("again"), in: garden)
      operation.state = .failed(.unfinished)
      try await ada.cache.save([CacheRow(.operation, operation.id, writing: operation)])
      #expect(try await ada.outbox.sendWaiting().sent.map(\.operation.id) == [operation.id])
    }
  }

  @Test func `files are uploaded before their message, and once`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let path = folder.path + "/note.txt"
      try Data("a note".utf8).write(to: URL(filePath: path))
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      var draft = Draft("see this")
      draft.files = [
        PendingFile(id: "note-1", path: path, name: "note.txt", mimeType: "text/plain", shown: .embed),
        PendingFile(id: "note-2", path: path, name: "note.txt"),
      ]
      try await ada.outbox.send(draft, in: garden)
      #expect(await ada.cache.unsent(in: garden).first?.pendingFiles.map(\.name) == ["note.txt", "note.txt"])
      // The files arrive, and the response to the message is lost.
      ada.server.set { $0.responsesLost = 1 }
      #expect(try await ada.outbox.sendAll() == SiteTransport.lostResponse)
      let waiting = try #require(await ada.outbox.list().first?.draft).files.compactMap(\.file)
      #expect(waiting.count == 2)
      try FileManager.default.removeItem(atPath: path)
      #expect(try await ada.outbox.sendAll() == nil)
      let messages = try await site.messages(of: garden, as: "ada")
      #expect(messages.map(\.message.content?.attachments) == [waiting])
      #expect(messages.map(\.message.embeddedFiles) == [[waiting[0]]])
    }
  }

  @Test func `files that a restored server has lost are uploaded again`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let path = folder.path + "/note.txt"
      try Data("a note".utf8).write(to: URL(filePath: path))
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      var draft = Draft("see this")
      draft.files = [PendingFile(id: "note-1", path: path, name: "note.txt")]
      draft.files[0].file = ID(999_999)
      try await ada.outbox.send(draft, in: garden)
      #expect(try await ada.outbox.sendAll() == nil)
      let messages = try await site.messages(of: garden, as: "ada")
      #expect(messages.map { $0.message.content?.attachments.count } == [1])
    }
  }

  @Test func `only the last read position is sent`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      let first = try await site.post("one", as: "grace", in: garden)
      let second = try await site.post("two", as: "grace", in: garden)
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.conversations[garden]?.unread == 2)
      try await ada.outbox.markRead(first.id, in: garden)
      try await ada.outbox.markRead(second.id, in: garden)
      #expect(await ada.outbox.list().count == 1)
      #expect(try await ada.outbox.sendAll() == nil)
      try await ada.sync.catchUp()
      #expect(await ada.cache.replica.conversations[garden]?.unread == 0)
      #expect(await ada.cache.replica.conversations[garden]?.readPosition.readSeq == 2)
    }
  }
}
