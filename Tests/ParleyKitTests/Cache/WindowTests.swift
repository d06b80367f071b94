import ParleyJSON
import ParleyModel
import TestSupport
import Testing

@testable import ParleyKit

@Suite struct WindowTests {
  /// A view that only applies deltas.
  private func apply(_ update: MessageWindow.Update, to list: inout [ShownMessage]) {
    for delta in update.deltas {
      switch delta {
      case .insert(let message, let index): list.insert(message, at: index)
      case .remove(let index): list.remove(at: index)
      case .replace(let message, let index): list[index] = message
      }
    }
    #expect(list == update.messages)
  }

  @Test func `applying the deltas results in the list`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...40 { try await site.post("message \(number)", as: "grace", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 10)
      var list: [ShownMessage] = []
      apply(try await window.newest(), to: &list)
      let updates = await window.updates()
      var iterator = updates.makeAsyncIterator()
      _ = await iterator.next()
      let operation = try await ada.outbox.send(Draft("mine"), in: garden)
      while list.last?.text != "mine", let update = await iterator.next() { apply(update, to: &list) }
      #expect(list.last?.isUnsent == true)
      let identity = list.last?.identity
      #expect(try await ada.outbox.sendAll() == nil)
      while list.last?.isUnsent == true, let update = await iterator.next() { apply(update, to: &list) }
      #expect(list.last?.identity == identity)
      #expect(list.count { $0.text == "mine" } == 1)
      #expect(list.last?.message?.clientID == operation.id)
      let message = try #require(list.first?.message)
      _ = try await site.client("grace").send(.editMessage(message.id, text: "edited"))
      try await site.post("after", as: "grace", in: garden)
      try await ada.sync.catchUp()
      while list.last?.text != "after" || list.first?.text != "edited", let update = await iterator.next() {
        apply(update, to: &list)
      }
    }
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `a message never leaves the window while it is sent`(seed: UInt64) async throws {
    try await ScriptedSite.open { site in
      var random = Seeded(seed: seed)
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 10, limit: 20)
      try await window.newest()
      let updates = await window.updates()
      try await ada.outbox.start()
      var sent: [String] = []
      for number in 0..<40 {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try await site.post("grace \(number)", as: "grace", in: garden)
        case 1: try await ada.sync.catchUp()
        case 2: ada.server.set { $0.responsesLost = 1 }
        case 3 where !sent.isEmpty:
          let name = try #require(sent.randomElement(using: &random))
          _ = try? await ada.outbox.edit(.unsent(name), in: garden, to: "edited \(number)")
        case 4: _ = try await window.newer()
        default: sent.append(try await ada.outbox.send(Draft("ada \(number)"), in: garden).id)
        }
      }
      try await wait { await ada.outbox.list().isEmpty }
      await ada.outbox.stop()
      let last = try await ada.outbox.send(Draft("last"), in: garden).id
      var shown: Set<String> = []
      var stored: Set<String> = []
      let me = site.id("ada")
      for await update in updates {
        let now = Set(update.messages.map(\.identity))
        for name in sent where now.contains("\(me):\(name)") { shown.insert(name) }
        for name in shown.subtracting(stored) { #expect(now.contains("\(me):\(name)"), "\(name)") }
        for message in update.messages { if let name = message.message?.clientID { stored.insert(name) } }
        if now.contains("\(me):\(last)") { break }
      }
      #expect(Set(sent).isSubset(of: stored))
    }
  }

  @Test func `a window has a limit`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...100 { try await site.post("\(number)", as: "ada", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 10, limit: 20)
      func numbers() async -> [Int] { await window.messages.compactMap { Int($0.text) } }
      try await window.newest()
      try await window.older()
      #expect(await numbers() == Array(81...100))
      // The newest messages are dropped, and come back.
      try await window.older()
      let (hasOlder, hasNewer) = (await window.hasOlder, await window.hasNewer)
      #expect(await numbers() == Array(71...90) && hasOlder && hasNewer)
      try await window.newer()
      #expect(await numbers() == Array(81...100))
      #expect(await !window.hasNewer)
      // New messages drop the oldest, but not while the user reads them.
      func post(_ new: ClosedRange<Int>) async throws {
        for number in new { try await site.post("\(number)", as: "ada", in: garden) }
        try await ada.sync.catchUp()
      }
      try await post(101...105)
      try await wait { await numbers() == Array(86...105) }
      try await window.setSticking(false)
      try await post(106...120)
      try await wait { await numbers() == Array(86...120) }
      try await post(121...130)
      try await wait { await numbers() == Array(86...125) }
      #expect(await window.hasNewer)
      try await window.newest()
      try await window.setSticking(true)
      #expect(await numbers() == Array(121...130))
    }
  }

  @Test func `MB-16: a filtered window counts and shows only the messages of its filter`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...300 { try await site.post("\(number)", as: "ada", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 10, limit: 20) { shown in
        (Int(shown.text) ?? 0) % 7 == 0
      }
      let all = (1...300).filter { $0 % 7 == 0 }
      func numbers() async -> [Int] { await window.messages.compactMap { Int($0.text) } }
      var list: [ShownMessage] = []
      apply(try await window.newest(), to: &list)
      let newest = await numbers()
      #expect(newest == all.suffix(newest.count) && (10...20).contains(newest.count), "\(newest)")
      #expect(try await window.newest().gaps == [])
      list = await window.messages
      apply(try await window.older(), to: &list)
      let older = await numbers()
      let first = try #require(older.first)
      #expect(older == Array(all.filter { $0 >= first }.prefix(20)) && first <= newest[0] - 70, "\(older)")
      while await window.hasOlder { apply(try await window.older(), to: &list) }
      #expect(await numbers() == Array(all.prefix(20)))
      while await window.hasNewer { apply(try await window.newer(), to: &list) }
      #expect(await numbers() == Array(all.suffix(20)))
      // The filter applies to sent messages, not to unsent ones.
      _ = try await ada.outbox.send(Draft("8"), in: garden)
      #expect(try await window.newest().messages.last?.text == "8")
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await window.newest().messages.last?.text == "294")
      try await site.post("301", as: "grace", in: garden)
      try await ada.sync.catchUp()
      #expect(try await window.newest().messages.last?.text == "301")
    }
  }

  @Test func `a filtered window opens around a message, and stops searching after ten pages`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...300 { try await site.post("\(number)", as: "ada", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let few = MessageWindow(garden, ada.cache, ada.sync, size: 10, limit: 20) { $0.text == "5" }
      // A hundred messages at a time.
      #expect(try await few.newest().messages.isEmpty)
      #expect(try await few.older().messages.isEmpty)
      #expect(try await few.older().messages.map(\.text) == ["5"])
      let even = MessageWindow(garden, ada.cache, ada.sync, size: 10, limit: 20) { (Int($0.text) ?? 1) % 2 == 0 }
      try await even.newest()
      for _ in 0..<4 { try await even.older() }
      let shown = try #require(await even.messages.first?.message)
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 10, limit: 20) { (Int($0.text) ?? 1) % 2 == 0 }
      let update = try await window.around(shown.id)
      #expect(update.messages.contains { $0.message?.id == shown.id })
      #expect(update.count { $0 < shown.seq } >= 5 && update.count { $0 > shown.seq } >= 5 && update.hasNewer)
    }
  }

  @Test func `a message whose event arrives before its response is shown once`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let operation = try await ada.outbox.send(Draft("mine"), in: garden)
      _ = try await ada.client.send(.postMessage(in: garden, "mine", clientID: operation.id))
      try await ada.sync.catchUp()
      let shown = try await MessageWindow(garden, ada.cache).newest().messages
      #expect(shown.map(\.text) == ["mine"] && shown.first?.isUnsent == false)
      #expect(try await ada.cache.search("mine").messages == shown)
      #expect(try await ada.outbox.sendAll() == nil)
      #expect(try await MessageWindow(garden, ada.cache).newest().messages == shown)
    }
  }

  @Test func `scrolling loads older messages`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...120 { try await site.post("message \(number)", as: "ada", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      try await ada.sync.fetchNewest(in: garden)
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 50)
      #expect(try await window.newest().messages.map(\.text) == (71...120).map { "message \($0)" })
      #expect(try await window.older().messages.map(\.text) == (21...120).map { "message \($0)" })
      #expect(await window.hasOlder)
      let all = try await window.older()
      #expect(all.messages.map(\.text) == (1...120).map { "message \($0)" })
      #expect(!all.hasOlder && !all.hasNewer)
      let tenth = try #require(all.messages[9].message?.id)
      let small = MessageWindow(garden, ada.cache, ada.sync, size: 10)
      let around = try await small.around(tenth)
      #expect(around.messages.map(\.text) == (5...14).map { "message \($0)" })
      #expect(around.hasOlder && around.hasNewer)
      #expect(try await small.newer(200).messages.last?.text == "message 120")
      #expect(await !small.hasNewer)
    }
  }

  @Test func `a jump to an uncached message fetches it, and scrolling continues both ways`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      var posted: [Message] = []
      for number in 1...300 { posted.append(try await site.post("\(number)", as: "ada", in: garden)) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 10)
      func expect(_ update: MessageWindow.Update, _ numbers: ClosedRange<Int>) {
        #expect(update.messages.map(\.text) == numbers.map(String.init) && update.gaps.isEmpty)
      }
      expect(try await window.newest(), 291...300)
      expect(try await window.around(posted[39].id), 35...44)
      let (hasNewer, hasOlder) = (await window.hasNewer, await window.hasOlder)
      #expect(hasNewer && hasOlder)
      expect(try await window.newer(), 35...54)
      expect(try await window.older(20), 15...54)
      // At most 200 messages: the oldest are dropped.
      expect(try await window.newer(500), 101...300)
      #expect(await !window.hasNewer)
      try await site.post("301", as: "grace", in: garden)
      try await ada.sync.catchUp()
      try await wait { await window.messages.last?.text == "301" }
      await #expect(throws: SyncRefusal.unknownMessage) { try await window.around(ID(999_999)) }
      let elsewhere = try await site.post("elsewhere", as: "ada", in: site.group("ada", "linus"))
      await #expect(throws: SyncRefusal.unknownMessage) { try await window.around(elsewhere.id) }
    }
  }

  @Test func `without a network a list reports its gaps`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      for number in 1...3 { try await site.post("\(number)", as: "grace", in: garden) }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      for number in 4...70 { try await site.post("\(number)", as: "grace", in: garden) }
      try await ada.sync.reset()
      ada.server.set { $0.isOffline = true }
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 80)
      let torn = try await window.newest()
      #expect(torn.messages.count < 70 && torn.messages.prefix(3).map(\.text) == ["1", "2", "3"])
      #expect(torn.gaps == [3])
      ada.server.set { $0.isOffline = false }
      let whole = try await window.newest()
      #expect(whole.messages.map(\.text) == (1...70).map(String.init) && whole.gaps.isEmpty)
    }
  }

  @Test func `a list reports a missing beginning, and moves to the newest messages first`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...3 { try await site.post("\(number)", as: "grace", in: garden) }
      for isOlder in [true, false] {
        let ada = try SiteClient(site, "ada")
        try await ada.sync.begin()
        ada.server.set { $0.isOffline = true }
        let window = MessageWindow(garden, ada.cache, ada.sync)
        let torn = isOlder ? try await window.older() : try await window.newer()
        #expect(torn.messages.map(\.text) == ["3"] && torn.gaps == [0])
        ada.server.set { $0.isOffline = false }
        let whole = isOlder ? try await window.older() : try await window.newer()
        #expect(whole.messages.map(\.text) == ["1", "2", "3"] && whole.gaps.isEmpty)
      }
    }
  }

  @Test func `the room of a non-member shows its current messages`() async throws {
    try await ScriptedSite.open { site in
      let forum = try await site.client("ada").send(.createForum(title: "garden", visibility: .public)).value.forum
      let room = forum.room
      let linus = try SiteClient(site, "linus")
      try await linus.sync.catchUp()
      let window = MessageWindow(room, linus.cache, linus.sync)
      func texts() async throws -> [String] {
        try await window.newest().messages.filter { $0.message?.kind == .message }.map(\.text)
      }
      #expect(try await texts().isEmpty)
      for number in 1...60 { try await site.post("\(number)", as: "ada", in: room) }
      #expect(try await texts().suffix(40) == (21...60).map(String.init)[...])
      linus.server.set { $0.isOffline = true }
      #expect(try await texts().last == "60")
      // The forum is deleted, and linus receives no event.
      linus.server.set { $0.isOffline = false }
      try await site.client("ada").send(.deleteForum(forum.id))
      #expect(try await texts().last == "60")
      let other = MessageWindow(ID(999_999), linus.cache, linus.sync)
      await #expect(throws: ClientFault.self) { try await other.newest() }
    }
  }

  @Test func `MB-13: a displayed message has its date, its location and the state of its sending`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      indexing.displayDate = { Int64($0.content?.text.count ?? 0) * 1_000 }
      let ada = try SiteClient(site, "ada", indexing)
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync)
      let place = Draft.Annotation.location("Kew", latitude: 51.5, longitude: -0.25)
      var draft = Draft("A rose", annotations: [place])
      draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: "none", name: "rose.png", kind: .image)]
      ada.server.set { $0.isOffline = true }
      let queued = try await ada.outbox.send(draft, in: garden)
      #expect(try await ada.outbox.sendAll() != nil)
      let unsent = try #require(try await window.newest().messages.last)
      #expect(unsent.isUnsent && unsent.attempts == 1 && unsent.pendingFiles.map(\.name) == ["rose.png"])
      #expect(unsent.displayDate == 6_000 && unsent.displayLocation == "Kew" && unsent.location?.latitude == 51.5)
      ada.server.set { $0.isOffline = false }
      try await ada.outbox.cancel(queued.id)
      draft.files = []
      _ = try await ada.outbox.sendAndWait(draft, in: garden)
      let sent = try #require(try await window.newest().messages.last)
      #expect(!sent.isUnsent && sent.attempts == 0 && sent.pendingFiles.isEmpty)
      #expect(sent.displayDate == 6_000 && sent.displayLocation == "Kew" && sent.location?.longitude == -0.25)
    }
  }

  @Test func `SK-32: two pages merge into one list`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      for number in 1...30 { try await site.post("\(number)", as: "grace", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync, size: 20)
      let newest = try await window.newest().messages
      let first = try #require(newest.first?.message)
      let older = try await window.around(first.id).messages
      let place = Draft.Annotation.location("Kew", latitude: 51.5, longitude: -0.25)
      try await ada.outbox.send(Draft("here", annotations: [place]), in: garden)
      let unsent = try #require(try await window.newest().messages.last)
      #expect(unsent.isUnsent && unsent.location == Location(name: "Kew", latitude: 51.5, longitude: -0.25))
      let merged = [unsent].merged(with: newest).merged(with: older)
      #expect(merged.map(\.identity) == older.merged(with: newest).merged(with: [unsent]).map(\.identity))
      let before = older.prefix { $0.message?.seq ?? 0 < first.seq }
      #expect(merged.map(\.text) == (before + newest).map(\.text) + ["here"])
      _ = try await site.client("grace").send(.editMessage(first.id, text: "edited"))
      #expect(try await ada.outbox.sendAll() == nil)
      try await ada.sync.catchUp()
      let now = try await window.newest().messages + (try await window.around(first.id).messages)
      let after = now.merged(with: merged)
      #expect(after.map(\.text) == merged.merged(with: now).map(\.text) && after.count == merged.count)
      #expect(after.first { $0.message?.id == first.id }?.text == "edited")
      #expect(after.last?.isUnsent == false && after.last?.location?.latitude == 51.5)
    }
  }

  @Test func `pending operations are shown as done`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      let first = try await site.post("one", as: "ada", in: garden)
      let second = try await site.post("two", as: "ada", in: garden)
      try await ada.sync.catchUp()
      let window = MessageWindow(garden, ada.cache, ada.sync)
      try await ada.outbox.edit(.message(first.id), in: garden, to: "uno")
      try await ada.outbox.setAction(.like, on: .message(first.id), in: garden)
      try await ada.outbox.delete(.message(second.id), in: garden)
      let shown = try await window.newest().messages
      #expect(shown.map(\.text) == ["uno", ""])
      #expect(shown.map(\.isDeleted) == [false, true])
      #expect(shown.first?.mine == [.like])
    }
  }
}

@Suite struct DraftTests {
  @Test func `AN-22a: a copy of another user's message has files of its own`() async throws {
    try await SocketSite.open { site in
      let garden = try await site.group("ada", "grace")
      let grace = try site.client("grace")
      let bytes = Array("a note of grace".utf8)
      let file = try await grace.upload(FileSource(name: "note.txt", bytes: bytes)).id
      let photo = Draft.Annotation.embedded(file, .image)
      let note = Draft.Annotation("com.example.note") { $0.field("page", 7) }
      let posted = try await grace.send(
        .postMessage(in: garden, "see this", attachments: [file], annotations: [photo, note], isMachineOnly: true)
      ).message
      let ada = try Parley(
        try site.client("ada"), clock: Outbox.Clock(now: TestSite.ticking), open: SiteClient.open
      ) { MemoryStore() }
      try await ada.sync.catchUp()
      let me = site.id("ada")
      try await ada.outbox.send(.copy(posted, by: me), in: garden)
      #expect(try await ada.outbox.sendAll() == nil)
      let copied = try #require(try await ada.cache.messages(.range(1...Int.max, of: garden)).last?.message)
      let attached = try #require(copied.content?.attachments.first)
      #expect(copied.content?.text == "see this" && attached != file && copied.isMachineOnly)
      #expect(copied.content?.annotations == [note, .embedded(attached, .image)].json)
      var received: [UInt8] = []
      try await ada.client.download(attached) { received += $0 }
      #expect(received == bytes)
      #expect(try await ada.client.send(.getFile(attached)).value.name == "note.txt")
      // Own files are attached again.
      #expect(Draft.copy(copied, by: me).attachments == [attached])
    }
  }

  @Test func `AN-22a: drafts start with the required mentions`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace", "linus")
      let ada = try SiteClient(site, "ada")
      let message = try await site.post("hello @linus and @ada", as: "grace", in: garden)
      try await ada.sync.catchUp()
      let grace = try #require(await ada.cache.user(site.id("grace"))?.summary)
      let me = try #require(await ada.cache.replica.me?.summary)
      #expect(Draft.reply(to: message, by: grace) == Draft("@grace ", replyTo: .message(message.id)))
      #expect(Draft.replyToAll(message, by: grace, me: me).text == "@grace @linus ")
      #expect(Draft.replyToAll(message, by: grace, me: me, except: ["linus"]).text == "@grace ")
      #expect(Draft.mention(grace).text == "@grace ")
      #expect(Draft.forward(message, by: grace).text == "» @grace hello @linus and @ada")
      #expect(Draft.copy(message, by: me.id).text == "hello @linus and @ada")
    }
  }
}
