import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import ParleyKit

@Test func `a conversation from signing in to deleting`() async throws {
  try await Harbour.open { harbour in
    let room = try await harbour.room()
    let client = try harbour.client()
    let notes = MemoryNotes()
    let session = OwnSession(client, store: notes.notes, now: { notes.now })
    await #expect(throws: ClientFault.self) { try await session.signIn("grace", password: "wrong") }
    try await session.signIn("grace", password: "password of grace", device: "test")
    let (user, asks) = try await session.verify()
    #expect(user.summary.name == "grace" && asks)
    #expect(try await session.verify().asksDiscoverability == false)

    let draft = Request<Resource<MessageView>>.postMessage(in: room, "first", clientID: "one")
    let first = try await client.send(draft)
    #expect(try await client.send(draft).message.id == first.message.id)
    for number in 2...5 {
      _ = try await client.send(.postMessage(in: room, "message \(number)"))
    }
    var seqs: [Int] = []
    for try await page in client.pages(of: .listMessages(in: room, order: "asc", limit: 2)) {
      seqs += page.elements.map(\.message.seq)
      break
    }
    #expect(seqs == [1, 2])
    let edited = try await client.send(first.edit("first, but better"))
    #expect(edited.message.content?.text == "first, but better" && edited.message.revision == 2)
    #expect(try await client.send(first.setAction("like")).mine == ["like"])
    _ = try await client.send(edited.delete())
    #expect(try await client.send(.getMessage(first.message.id)).message.tombstone != nil)

    do throws(ClientFault) {
      _ = try await client.send(.getForum(ID(999_999)))
      Issue.record("there is such a forum")
    } catch {
      guard case .refused(let problem) = error else { throw error }
      #expect(problem.code == "not_found" && problem.status == 404)
    }
    try await session.signOut()
    #expect(client.token == nil)
    await #expect(throws: ClientFault.self) { try await session.verify() }
  }
}

@Test func `another user at the same device is noticed once`() async throws {
  try await Harbour.open { harbour in
    let notes = MemoryNotes()
    _ = try await OwnSession(harbour.client("ada"), store: notes.notes, now: { 0 }).verify()
    let other = OwnSession(try harbour.client("grace"), store: notes.notes, now: { 0 })
    await #expect(throws: ClientFault.userChanged) { try await other.verify() }
    #expect(try await other.verify().user.summary.name == "grace")
  }
}

@Test func `the configuration is asked at most once a day, whatever the clock does`() async throws {
  try await Harbour.open { harbour in
    let notes = MemoryNotes()
    let session = OwnSession(try harbour.client(), store: notes.notes, now: { notes.now })
    let first = try await session.configurationIfDue()
    #expect(first.wasRequested && first.configuration.limits["message_scalars"] == 16_000)
    let kept = try await session.configurationIfDue()
    #expect(!kept.wasRequested && kept.configuration.value == first.configuration.value)
    notes.pass(86_399_999)
    #expect(try await session.configurationIfDue().wasRequested == false)
    notes.pass(1)
    #expect(try await session.configurationIfDue().wasRequested)
    notes.pass(-500_000_000)
    #expect(try await session.configurationIfDue().wasRequested)
  }
}

@Test func `a file goes up whole or in parts, and comes down the same`() async throws {
  try await Harbour.open { harbour in
    let client = try harbour.client("ada")
    for size in [1_000, Client.maxSingleRequestBytes + 1] {
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let sent = Mutex(0)
      let file = try await client.upload(
        FileSource(name: "a.bin", bytes: bytes), clientID: "file \(size)",
        progress: { count, _ in sent.withLock { $0 = count } })
      #expect(sent.withLock { $0 } == size)
      #expect(file.name == "a.bin" && file.size == size && file.preview == nil)
      for start in [0, 500] {
        var got: [UInt8] = []
        try await client.download(file.id, from: start) { (piece: [UInt8]) throws(ClientFault) in got += piece }
        #expect(got == Array(bytes[start...]))
      }
    }
  }
}

@Test(.timeLimit(.minutes(5))) func `who gives a file up is left alone, both ways`() async throws {
  try await Harbour.open { harbour in
    let client = try harbour.client("ada")
    let size = Client.maxSingleRequestBytes * 3
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let endless = FileSource(name: "long.bin", size: size) { offset, count in
      if offset > 0 {
        begin.yield()
        try await Task.sleep(for: .seconds(86_400))
      }
      return [UInt8](repeating: 7, count: count)
    }
    let sending = Task { try await client.upload(endless) }
    for await _ in begun { break }
    #expect(client.activity.count == 1)
    sending.cancel()
    await #expect(throws: ClientFault.cancelled) { try await sending.value }
    let file = try await client.upload(FileSource(name: "long.bin", bytes: [UInt8](repeating: 7, count: size)))
    let (came, come) = AsyncStream.makeStream(of: Int.self)
    let taking = Task {
      try await client.download(file.id) { _ throws(ClientFault) in
        come.yield(client.activity.count)
        do { try await Task.sleep(for: .seconds(86_400)) } catch { throw .cancelled }
      }
    }
    var iterator = came.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    taking.cancel()
    await #expect(throws: ClientFault.cancelled) { try await taking.value }
    #expect(client.activity.count == 0)
  }
}

@Test func `what was fetched offers its calls`() async throws {
  try await Harbour.open { harbour in
    let (ada, grace) = (try harbour.client("ada"), try harbour.client("grace"))
    let garden = try await harbour.group("ada", "grace")
    let said = try await ada.send(.postMessage(in: garden, "hello"))
    let own = try #require(try await grace.send(.listConversations()).elements.first)
    #expect(try await grace.send(own.messages()).elements.map(\.message.id) == [said.message.id])
    #expect(try await grace.send(own.participants()).elements.count == 2)
    try await grace.send(own.sendTyping())
    let seen = try await grace.send(said.refresh())
    #expect(try await grace.send(seen.markRead()).unread == 0)
    #expect(try await ada.send(said.receipts()).elements.map(\.isRead) == [true])
    _ = try await grace.send(seen.setAction("like"))
    #expect(try await ada.send(said.actions()).elements.map(\.type) == ["like"])
    _ = try await ada.send(said.edit("hello there"))
    #expect(try await ada.send(said.revisions()).elements.map(\.text) == ["hello"])
    try await grace.send(own.leave())
    #expect(try await ada.send(.listParticipants(of: garden)).elements.count == 1)

    _ = try await harbour.room()
    let forum = try #require(try await grace.send(.listForums()).elements.first)
    _ = try await grace.send(forum.join())
    #expect(try await grace.send(forum.members()).elements.count == 2)
    _ = try await grace.send(forum.createTopic("roses"))
    #expect(try await grace.send(forum.topics()).elements.count == 1)
    #expect(try await grace.send(forum.messages()).elements.allSatisfy { $0.message.kind == .system })
    try await grace.send(forum.leave())
    #expect(try await ada.send(forum.refresh()).forum.title == "garden")

    let user = try await grace.send(.getUser(.name("ada")))
    try await grace.send(user.follow())
    #expect(try await grace.send(user.followers()).elements.map(\.summary.name) == ["grace"])
    #expect(try await grace.send(user.following()).elements.isEmpty)
    #expect(try await grace.send(user.avatar()).body.isEmpty == false)
    #expect(try await grace.send(user.refresh()).summary.id == user.summary.id)
  }
}

@Test func `an upload goes on where it was interrupted`() async throws {
  try await Harbour.open { harbour in
    let client = try harbour.client("ada")
    let size = Client.maxSingleRequestBytes + 100_000
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let begun = try await client.send(.createUpload(name: "a.bin", size: size))
    let id = begun.id
    var part = Request<RawResponse>.appendToUpload(
      id, .bytes(Array(bytes[..<70_000]), type: "application/offset+octet-stream"))
    part.fields.append(.init("Upload-Offset", "0"))
    #expect(try await client.send(part).status == 204)
    let places = Mutex<[Int]>([])
    var source = FileSource(name: "a.bin", bytes: bytes)
    let read = source.read
    source.read = { offset, count in
      places.withLock { $0.append(offset) }
      return try await read(offset, count)
    }
    let file = try await client.resume(id, of: source)
    #expect(file.size == size)
    #expect(places.withLock { $0.first } == 70_000)
  }
}

/// What an app would keep.
final class MemoryNotes: Sendable {
  private let state = Mutex<(words: [String: String], now: Int)>(([:], 1_800_000_000_000))

  var notes: KeyValueStore {
    KeyValueStore(
      read: { [self] name in state.withLock { $0.words[name] } },
      write: { [self] name, value in state.withLock { $0.words[name] = value } })
  }

  var now: Int { state.withLock { $0.now } }
  func pass(_ milliseconds: Int) { state.withLock { $0.now += milliseconds } }
}

@Test func `what was fetched can be archived by the means of an app`() async throws {
  try await Harbour.open { harbour in
    let client = try harbour.client("ada")
    let said = try await client.send(.postMessage(in: harbour.room(), "“kept” \n"))
    let user = try await client.send(.getUser(.me)).value
    let bytes = try JSONEncoder().encode([said])
    let kept = try JSONDecoder().decode([Resource<MessageView>].self, from: bytes)
    #expect(kept.map(\.value) == [said.value] && kept.map(\.representation) == [said.representation])
    let message = try JSONDecoder().decode(Message.self, from: JSONEncoder().encode(said.message))
    #expect(message == said.message)
    #expect(try JSONDecoder().decode(User.self, from: JSONEncoder().encode(user)) == user)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(User.self, from: Data(#""{}""#.utf8)) }
  }
}
