import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit
@testable import ParleyTransport

/// The five snippets of ParleyKit's README: each function here contains one of them between markers, line by line,
/// and runs it against the daemon.
@Suite struct GuideTests {
  @Test func `the snippets of the README are those of this test`() throws {
    let readme = try Checkout.text("Sources/Kit/ParleyKit/README.md")
    let code = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let guide = try #require(readme.components(separatedBy: "## Quick start").last)
      .components(separatedBy: "\n## ")[0]
    let snippets = guide.components(separatedBy: "```swift\n").dropFirst().map { block in
      Self.lines(block.components(separatedBy: "```")[0])
    }
    let run = code.components(separatedBy: "// " + "Guide:\n").dropFirst().map { part in
      Self.lines(part.components(separatedBy: "// " + "End.")[0])
    }
    #expect(snippets.count == 5)
    #expect(snippets == run)
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  @Test func `the snippets of the README run from first to last`() async throws {
    try await Daemon.run { daemon in
      let folder = try Folder()
      defer { folder.remove() }
      let photo = folder.path + "/photo.txt"
      try Data("as if it were one".utf8).write(to: URL(filePath: photo))
      let client = try await signIn(try #require(ServerAddress(daemon.url)), Daemon.password)
      let forum = try await client.send(.createForum(title: "Garden", visibility: .public))
      let room = forum.forum.room
      let parley = try await connect(client, folder.path + "/cache.db")
      let shown = Task { try await show(room, parley, until: 2) }
      try await send(room, parley)
      try await sendFile(photo, room, parley)
      let texts = try await shown.value.map(\.text)
      #expect(texts == ["Pizza party! #food", "Look!"])
      for _ in 0..<10_000 where await !parley.outbox.list().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      let last = try await client.send(.listMessages(in: room, limit: 2)).elements
      #expect(last.map(\.message.content?.attachments.count) == [1, 0])
      #expect(last.last?.mine == ["like"])
      await parley.stop()
    }
  }

  private func signIn(_ address: ServerAddress, _ password: String) async throws -> Client {
    let kept = Mutex<[String: String]>([:])
    let notes = KeyValueStore(
      read: { name in kept.withLock { $0[name] } }, write: { name, value in kept.withLock { $0[name] = value } })
    let now: @Sendable () -> Int = { Int(Date().timeIntervalSince1970 * 1_000) }
    // Guide:
    let client = Client(address, over: try NetworkTransport())
    let session = OwnSession(client, store: notes, now: now)
    try await session.signIn("ada", password: password)
    let (me, _) = try await session.verify()
    // End.
    #expect(me.summary.name == "ada")
    return client
  }

  private func connect(_ client: Client, _ path: String) async throws -> Parley {
    let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    let open: @Sendable (PendingFile) async throws -> FileSource = { file in
      let bytes = try Data(contentsOf: URL(filePath: file.path))
      return FileSource(name: file.name, bytes: Array(bytes))
    }
    // Guide:
    let parley = try Parley(client, clock: Outbox.Clock(now: now), open: open) { try DiskStore(path) }
    await parley.start()
    for await state in await parley.states() {
      if state == .live { break }
    }
    // End.
    return parley
  }

  private func show(_ room: ID<Conversation>, _ parley: Parley, until count: Int) async throws -> [ShownMessage] {
    var list: [ShownMessage] = []
    // Guide:
    let window = MessageWindow(room, parley.cache, parley.sync)
    try await window.newest()
    for await update in await window.updates() {
      list = update.messages.filter { $0.message?.kind != .system }
      if list.count == count { break }
    }
    // End.
    return list
  }

  private func send(_ room: ID<Conversation>, _ parley: Parley) async throws {
    // Guide:
    let unsent = try await parley.outbox.send(Draft("Pizza party! #food"), in: room)
    try await parley.outbox.setAction(.like, on: .unsent(unsent.id), in: room)
    // End.
  }

  private func sendFile(_ photo: String, _ room: ID<Conversation>, _ parley: Parley) async throws {
    // Guide:
    var draft = Draft("Look!")
    draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: photo, name: "photo.txt", kind: .image)]
    try await parley.outbox.send(draft, in: room)
    // End.
  }
}
