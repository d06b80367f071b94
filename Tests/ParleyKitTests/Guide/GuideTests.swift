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

  @MainActor @Test func `the snippets of the README run from first to last`() async throws {
    try await Daemon.run { daemon in
      let folder = try Folder()
      defer { folder.remove() }
      let photo = folder.path + "/photo.txt"
      try Data("as if it were one".utf8).write(to: URL(filePath: photo))
      try await StandardFolder.$replacement.withValue(folder.path + "/data") {
        let room = try await signIn(try #require(ServerAddress(daemon.url)), Daemon.password)
        let parley = try #require(try await resume())
        let model = try await show(room, parley)
        try await send(room, parley)
        try await sendFile(photo, room, parley)
        try await wait { await parley.outbox.list().isEmpty }
        let sent = try await parley.client.send(.listMessages(in: room, limit: 3)).elements
        #expect(sent.compactMap(\.message.content?.text) == ["Look!", "Bring olives.", "Pizza party! #food"])
        #expect(sent.map(\.message.content?.attachments.count) == [1, 0, 0])
        #expect(sent[1].mine == ["like"] && model.failure == nil)
        await parley.stop()
      }
    }
  }

  /// Signs in, creates a forum and stops, as the first start of an app.
  private func signIn(_ server: ServerAddress, _ password: String) async throws -> ID<Conversation> {
    // Guide:
    let parley = try await Parley.signIn(to: server, as: "ada", password: password)
    // End.
    let forum = try await parley.client.send(.createForum(title: "Garden", visibility: .public))
    await parley.stop()
    return forum.forum.room
  }

  private func resume() async throws -> Parley? {
    // Guide:
    guard let parley = try await Parley.resume() else { return nil }
    for await state in await parley.states() {
      if state == .live { break }
    }
    // End.
    return parley
  }

  @MainActor private func show(_ id: ID<Conversation>, _ parley: Parley) async throws -> RoomModel {
    // Guide:
    let room = parley.room(id)
    let view = Task { await room.run() }
    await room.send("Pizza party! #food")
    // End.
    try await wait { room.messages.last?.text == "Pizza party! #food" }
    #expect(room.messages.last?.text == "Pizza party! #food")
    view.cancel()
    return room
  }

  private func send(_ id: ID<Conversation>, _ parley: Parley) async throws {
    // Guide:
    let unsent = try await parley.outbox.send(Draft("Bring olives."), in: id)
    try await parley.outbox.setAction(.like, on: .unsent(unsent.id), in: id)
    // End.
  }

  private func sendFile(_ photo: String, _ id: ID<Conversation>, _ parley: Parley) async throws {
    // Guide:
    var draft = Draft("Look!")
    draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: photo, name: "photo.txt", kind: .image)]
    try await parley.outbox.send(draft, in: id)
    // End.
  }
}
