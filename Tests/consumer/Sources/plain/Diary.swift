import Foundation
import ParleyKit
import ParleyTransport

/// A program on top of the kit: it posts to a room, reads the room, and compares its copy with the server's.
struct Diary {
  let parley: Parley
  let room: ID<Conversation>

  /// Signs in and starts to synchronize.
  init(_ address: String, room: String, password: String, cache: String) async throws {
    guard let address = ServerAddress(address), let room = ID<Conversation>(room) else { throw DiaryError.badArgument }
    let client = Client(address, over: try NetworkTransport())
    let now = { @Sendable in Int64(Date().timeIntervalSince1970 * 1_000) }
    let session = OwnSession(client, store: KeyValueStore(read: { _ in nil }, write: { _, _ in }), now: { Int(now()) })
    try await session.signIn("ada", password: password)
    let open = { @Sendable (file: PendingFile) in
      FileSource(name: file.name, bytes: Array(try Data(contentsOf: URL(filePath: file.path))))
    }
    parley = try Parley(client, clock: Outbox.Clock(now: now), open: open) { try DiskStore(cache) }
    self.room = room
    await parley.start()
    for await state in await parley.states() where state == .live { break }
  }

  /// Posts a text, likes it, and returns the message.
  func write(_ text: String) async throws -> Message? {
    let new = try await parley.outbox.sendAndWait(Draft(text), in: room)
    guard let message = new.last else { return nil }
    return try await parley.outbox.setActionAndWait(.like, on: .message(message.id), in: room)
  }

  /// The texts in the room, oldest first.
  func read() async throws -> [String] {
    let shown = try await MessageWindow(room, parley.cache, parley.sync).newest().messages
    return shown.filter { $0.message?.kind == .message }.map(\.text)
  }

  /// The number of the last message up to which the copy is the server's.
  func check() async throws -> Int? {
    switch try await parley.proof(of: room) {
    case .complete(let message): message?.seq
    case .incomplete(let reason): throw DiaryError.incomplete(reason)
    }
  }
}

enum DiaryError: Error {
  case badArgument
  case incomplete(Proof.Reason)
}
