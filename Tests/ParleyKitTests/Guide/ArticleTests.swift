import Foundation
import Synchronization
import TestSupport
import Testing

// The articles compile for an app: without the modules of the kit's own types, and without its internals.
import ParleyKit
import ParleyTransport

/// The articles of the documentation catalogue: each function here contains a snippet between markers, line by line, in the
/// order of the articles, and runs it.
@Suite struct ArticleTests {
  private static let articles = ["FirstMessage", "Offline", "Proving", "Uploads", "Bots", "Previews", "Extensions"]

  @Test func `the snippets of the articles are those of this test`() throws {
    let code = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let run = code.components(separatedBy: "// " + "Guide:\n").dropFirst().map { part in
      Self.lines(part.components(separatedBy: "// " + "End.")[0])
    }
    var snippets: [[String]] = []
    let folder = "Sources/Kit/ParleyKit/ParleyKit.docc"
    for article in Self.articles {
      for block in try Checkout.text("\(folder)/\(article).md").components(separatedBy: "```swift\n").dropFirst() {
        snippets.append(Self.lines(block.components(separatedBy: "```")[0]))
      }
    }
    #expect(snippets.count == run.count)
    for (snippet, part) in zip(snippets, run) { #expect(snippet == part) }
    // The first page lists all of them.
    let page = try Checkout.text("\(folder)/ParleyKit.md")
    #expect(Self.articles.allSatisfy { page.contains("<doc:\($0)>") })
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  @Test func `the articles run from first to last`() async throws {
    try await Daemon.run { daemon in
      let folder = try Folder()
      defer { folder.remove() }
      let server = try #require(ServerAddress(daemon.url))
      let staff = try await Self.client(server)
      let garden = try await staff.send(.createForum(title: "Garden", visibility: .public)).forum
      let parley = try await Folder.asStandard(folder.path + "/standard") {
        try await Self.parley(server, Daemon.password)
      }
      try await Self.sendHello(parley)
      try await parley.sendAll()
      let room = garden.room
      #expect(try await Self.cachedTexts(of: room, parley).contains("Hello, garden!"))
      _ = try await parley.outbox.sendAndWait(Draft("one tomato"), in: room)
      #expect(try await Self.found(in: room, parley).count == 1)
      try await Self.cancelFailed(parley)
      try await Self.prove(room, parley)
      let photo = folder.path + "/photo.txt"
      try Data("as if it were one".utf8).write(to: URL(filePath: photo))
      #expect(String(decoding: try await Self.sendFile(photo, in: room, parley), as: UTF8.self) == "as if it were one")
      await parley.stop()
      let second = try await Self.second(server, Daemon.password, in: folder.path)
      #expect(try await second.forums().fresh().count == 1)
      await second.stop()
      try await Self.answer(in: garden.id, room, staff, server)
    }
  }

  @Test func `the bot of the article answers with a cursor of another history, too`() async throws {
    try await Daemon.run { daemon in
      let server = try #require(ServerAddress(daemon.url))
      let staff = try await Self.client(server)
      let garden = try await staff.send(.createForum(title: "Garden", visibility: .public)).forum
      try await Self.answer(in: garden.id, garden.room, staff, server, isReset: true)
    }
  }

  @Test @MainActor func `the articles about previews and extensions run`() async throws {
    let parley = try Self.preview()
    #expect(await parley.cache.replica.forums.count == 2)
    #expect(try Self.ownPreview().conversation == ID(4))
    let folder = try Folder()
    defer { folder.remove() }
    try await Self.readCopy(in: folder.path)
  }

  private static func client(_ server: ServerAddress) async throws -> Client {
    let client = Client(server, over: try NetworkTransport())
    let session = OwnSession(client, store: KeyValueStore(read: { _ in nil }, write: { _, _ in }), now: { 0 })
    try await session.signIn("ada", password: Daemon.password)
    return client
  }

  // MARK: First message

  private static func parley(_ server: ServerAddress, _ password: String) async throws -> Parley {
    // Guide:
    let parley: Parley
    if let resumed = try await Parley.resume() {
      parley = resumed
    } else {
      parley = try await Parley.signIn(to: server, as: "ada", password: password)
    }
    // End.
    return parley
  }

  private static func sendHello(_ parley: Parley) async throws {
    // Guide:
    let forums = try await parley.forums().fresh()
    let garden = forums.first { $0.forum.title == "Garden" }
    guard let room = garden?.forum.room else { return }
    try await parley.outbox.send(Draft("Hello, garden!"), in: room)
    // End.
  }

  private static func second(_ server: ServerAddress, _ password: String, in folder: String) async throws -> Parley {
    // Guide:
    let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    let device = Parley.Device(
      over: try NetworkTransport(), credentials: CredentialFile(folder + "/credential"), clock: Outbox.Clock(now: now),
      cache: folder + "/cache.db"
    ) { file in FileSource(name: file.name, bytes: Array(try Data(contentsOf: URL(filePath: file.path)))) }
    let second = try await Parley.signIn(server, "ada", password: password, on: device)
    // End.
    return second
  }

  // MARK: Offline

  private static func cachedTexts(of room: ID<Conversation>, _ parley: Parley) async throws -> [String] {
    var shown: [String] = []
    // Guide:
    for try await answer in parley.messages(in: room) {
      switch answer {
      case .cached(let messages): shown = messages.map(\.text)
      case .fresh(let messages): shown = messages.map(\.text)
      }
    }
    // End.
    return shown
  }

  private static func found(in room: ID<Conversation>, _ parley: Parley) async throws -> [ShownMessage] {
    // Guide:
    let found = try await parley.cache.search("tomato", in: room).messages
    // End.
    return found
  }

  private static func cancelFailed(_ parley: Parley) async throws {
    // Guide:
    for operation in await parley.outbox.list() {
      guard case .failed(let fault) = operation.state else { continue }
      print(fault.userMessage)
      try await parley.outbox.cancel(operation.id)
    }
    // End.
  }

  // MARK: Proof

  private static func prove(_ room: ID<Conversation>, _ parley: Parley) async throws {
    // Guide:
    try await parley.sync.fetchAll([room])
    switch try await parley.proof(of: room) {
    case .complete(let message): print("complete, up to", message?.seq ?? 0)
    case .incomplete(.missing(let ranges)): print("not fetched yet:", ranges)
    case .incomplete(let reason): print("not proved:", reason)
    }
    // End.
  }

  // MARK: Uploads

  private static func sendFile(
    _ photo: String, in room: ID<Conversation>, _ parley: Parley
  ) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    try await { () async throws -> Void in
      // Guide:
      var draft = Draft("Look!")
      draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: photo, name: "photo.txt", kind: .image)]
      let sent = try await parley.outbox.sendAndWait(draft, in: room)
      // End.
      // Guide:
      guard let file = sent.last?.content?.attachments.first else { return }
      try await parley.client.download(file) { (chunk: [UInt8]) throws(ClientFault) in bytes += chunk }
      // End.
    }()
    return bytes
  }

  // MARK: Bots

  private static func answer(
    in garden: ID<Forum>, _ room: ID<Conversation>, _ staff: Client, _ server: ServerAddress, isReset: Bool = false
  ) async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let file = URL(filePath: folder.path + "/cursor")
    var cursor = try await staff.send(.sync(topics: [.forumMessages(garden)])).cursor.description
    if isReset { cursor = String(repeating: "0", count: 24) + String(cursor.drop { $0 != "." }) }
    try cursor.write(to: file, atomically: true, encoding: .utf8)
    try await staff.send(.postMessage(in: room, "!roll"))
    // Guide:
    let bot = try await staff.send(.createBot(name: "dice", forums: [garden], scope: .write))
    let limits = TokenLimits(forums: [garden], rate: 600)
    let made = try await staff.send(.createBotToken(of: .name("dice"), name: "dice", scope: .write, limits: limits))
    // End.
    // Guide:
    let client = Client(server, over: try NetworkTransport(), token: made.token)
    let stored = try? String(contentsOf: file, encoding: .utf8)
    let live = LiveConnection(client, topics: [.forumMessages(garden)], after: stored)
    for await update in live {
      var found: [Message] = []
      if case .event(let frame) = update, let message = frame.message { found = [message] }
      if case .reset(_, let now) = update {
        var conversations = [room]
        for try await page in client.pages(of: .listTopics(in: garden)) {
          conversations += page.elements.map(\.value.id)
        }
        for conversation in conversations {
          for try await page in client.pages(of: .listMessages(in: conversation)) {
            found += page.elements.map(\.value.message)
          }
        }
        live.resume(from: now)
      }
      let questions = found.filter { $0.content?.text == "!roll" }
      for message in questions {
        try await client.send(
          .postMessage(in: message.conversation, "🎲 4", replyTo: message.id, clientID: "roll-\(message.id)"))
      }
      try live.cursor?.write(to: file, atomically: true, encoding: .utf8)
      if !questions.isEmpty { break }
    }
    live.stop()
    // End.
    #expect(try String(contentsOf: file, encoding: .utf8) != cursor)
    let last = try await staff.send(.listMessages(in: room, limit: 1)).elements.first
    #expect(last?.message.content?.text == "🎲 4" && last?.message.author == bot.user.summary.id)
  }

  // MARK: Previews

  @MainActor private static func preview() throws -> Parley {
    // Guide:
    let parley = try Parley.preview()
    let forums = ForumListModel(parley)
    // End.
    _ = forums
    return parley
  }

  @MainActor private static func ownPreview() throws -> RoomModel {
    // Guide:
    var site = PreviewSite(name: "mira")
    let linus = site.addUser("linus", displayName: "Linus")
    let (_, room) = site.addForum("Workshop")
    site.addMessage("The bench is free.", by: linus, in: room, likes: 3, notifies: .mention)
    let model = RoomModel(room, try Parley.preview(site))
    // End.
    return model
  }

  // MARK: Extensions

  private static func readCopy(in folder: String) async throws {
    let (path, bytes) = (folder + "/cache.db", Array(#"{"notification":{"data":{"message_id":"9"}}}"#.utf8))
    let client = try Parley.preview().client
    // Guide:
    let store = try DiskStore(path, isShared: true)
    // End.
    defer { withExtendedLifetime(store) {} }
    await #expect(throws: ClientFault.self) {
      // Guide:
      let payload = try MessagePayload(bytes)
      let reader = try CacheReader(path)
      let message: Message
      if let cached = try reader.message(of: payload) {
        message = cached
      } else {
        message = try await client.send(.getMessage(payload.message)).message
      }
      let author = try reader.user(message.author)?.summary.displayName
      // End.
      _ = author
    }
  }
}

extension Parley {
  /// Waits until the outbox is empty.
  fileprivate func sendAll() async throws {
    try await wait { await outbox.list().isEmpty }
  }
}
