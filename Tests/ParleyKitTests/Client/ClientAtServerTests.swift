import Foundation
import ParleyCrypto
import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import Community
@testable import ParleyKit
@testable import Storage

@Test func `a conversation works from sign-in to deletion`() async throws {
  try await SocketSite.open { site in
    let room = try await site.room()
    let client = try site.client()
    let notes = MemoryNotes()
    let session = OwnSession(client, store: notes.notes, now: { notes.now })
    await #expect(throws: ClientFault.self) { try await session.signIn("grace", password: "wrong") }
    try await session.signIn("grace", password: "password of grace", device: "test")
    // A site without discovery has no use for the answer.
    #expect(try await session.verify().asksDiscoverability == false)
    _ = try await site.client("ada").send(.updateSettings(SiteSettingsChange([.set(\.hasDiscovery, true)])))
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
    for try await page in client.pages(of: .listMessages(in: room, order: .oldestFirst, limit: 2)) {
      seqs += page.elements.map(\.message.seq)
    }
    #expect(seqs == [1, 2, 3, 4, 5])
    let edited = try await client.send(first.edit("first, but better"))
    #expect(edited.message.content?.text == "first, but better" && edited.message.revision == 2)
    #expect(try await client.send(first.setAction(.like)).mine == ["like"])
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

@Test func `a thousand messages are paged from any bound in both directions, each once`() async throws {
  try await SocketSite.open { site in
    let room = try await site.room()
    let author = site.id("grace")
    // Ten messages of each millisecond.
    for time in 0..<100 {
      try await site.community.store.write { tx throws(Refusal) in
        for number in 1...10 {
          _ = try tx.post(NewMessage(conversation: room, author: author, text: "\(time * 10 + number)"))
        }
      }
    }
    let client = try site.client("grace")
    func seqs(_ request: Request<Page<Resource<MessageView>>>, _ direction: PageDirection) async throws -> [Int] {
      var pages: [[Int]] = []
      for try await page in client.pages(of: request, direction) { pages.append(page.elements.map(\.message.seq)) }
      return (direction == .next ? pages : pages.reversed()).flatMap(\.self)
    }
    /// The pages of a request, and those before its first page.
    func walked(_ request: Request<Page<Resource<MessageView>>>) async throws -> [Int] {
      let first = try await client.send(request)
      let following = try await seqs(request, .next)
      guard let previous = request.following(first, .previous) else { return following }
      return try await seqs(previous, .previous) + following
    }
    let all = Array(1...1_000)
    let messages = try await client.send(.listMessages(in: room, order: .oldestFirst, limit: 200)).elements.map(
      \.message)
    let middle = messages[122]
    let time = Timestamp(middle.createdAt)
    for (order, whole) in [(MessageOrder.oldestFirst, all), (.newestFirst, all.reversed())] {
      for limit in [23, 50, 200] {
        #expect(try await seqs(.listMessages(in: room, order: order, limit: limit), .next) == whole)
        for request in [
          Request.listMessages(in: room, around: middle.id, order: order, limit: limit),
          .listMessages(in: room, after: middle.id, order: order, limit: limit),
          .listMessages(in: room, before: middle.id, order: order, limit: limit),
          .listMessages(in: room, atTime: time, order: order, limit: limit),
          .listMessages(in: room, afterTime: time, order: order, limit: limit),
          .listMessages(in: room, beforeTime: time, order: order, limit: limit),
        ] {
          #expect(try await walked(request) == whole, "\(request.target)")
        }
      }
      let (start, end) = (messages[20], messages[140])
      let (startTime, endTime) = (Timestamp(start.createdAt), Timestamp(end.createdAt))
      for (request, range) in [
        (Request.listMessages(in: room, before: end.id, after: start.id, order: order, limit: 7), 22...140),
        (.listMessages(in: room, beforeTime: endTime, afterTime: startTime, order: order, limit: 7), 31...140),
      ] {
        let expected = order == .oldestFirst ? Array(range) : range.reversed()
        #expect(try await walked(request) == expected, "\(request.target)")
      }
    }
    for (request, seq) in [
      (Request.listMessages(in: room, atTime: time, order: .oldestFirst, limit: 1), 121),
      (.listMessages(in: room, beforeTime: time, order: .oldestFirst, limit: 1), 120),
      (.listMessages(in: room, afterTime: time, order: .oldestFirst, limit: 1), 131),
    ] {
      #expect(try await client.send(request).elements.map(\.message.seq) == [seq], "\(request.target)")
    }
    let within = Request.listMessages(in: room, before: middle.id, order: .oldestFirst, limit: 1)
    #expect(try await client.send(within).elements.map(\.message.seq) == [122])
    #expect(try await seqs(within, .previous) == Array(1...122))
  }
}

@Test func `AN-24: a request reaches any path of the site, with and without the token`() async throws {
  try await Daemon.run { daemon in
    let client = try daemon.client()
    try await OwnSession(client, store: KeyValueStore(read: { _ in nil }, write: { _, _ in }), now: { 0 })
      .signIn("ada", password: Daemon.password)
    var health = Request<RawResponse>(.get, "/healthz")
    health.base = ""
    for request in [health, health.unauthenticated()] {
      let answer = try await client.send(request)
      #expect(answer.status == 200 && !answer.body.isEmpty)
    }
    var user = Request<RawResponse>(.get, "/api/v1/users/me")
    user.base = ""
    #expect(String(decoding: try await client.send(user).body, as: UTF8.self).contains(#""ada""#))
    do throws(ClientFault) {
      _ = try await client.send(user.unauthenticated())
      Issue.record("answered without the token")
    } catch { #expect(error.isSignedOut) }
    let method = Request<RawResponse>(.post, "/conversations", body: .object { $0.field("kind", "feed") })
    #expect(try await client.send(method).status == 201)
  }
}

@Test func `another user on the same device is reported once`() async throws {
  try await SocketSite.open { site in
    let notes = MemoryNotes()
    _ = try await OwnSession(site.client("ada"), store: notes.notes, now: { 0 }).verify()
    let other = OwnSession(try site.client("grace"), store: notes.notes, now: { 0 })
    await #expect(throws: ClientFault.userChanged) { try await other.verify() }
    #expect(try await other.verify().user.summary.name == "grace")
  }
}

@Test func `the configuration is fetched at most once a day, also after clock changes`() async throws {
  try await SocketSite.open { site in
    let notes = MemoryNotes()
    let session = OwnSession(try site.client(), store: notes.notes, now: { notes.now })
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

@Test func `a file is uploaded whole or in parts, and downloaded unchanged`() async throws {
  try await SocketSite.open { site in
    let client = try site.client("ada")
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

@Test(.timeLimit(.minutes(5))) func `cancelling an upload or a download stops it`() async throws {
  try await SocketSite.open { site in
    let client = try site.client("ada")
    let size = Client.maxSingleRequestBytes * 3
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let endless = FileSource(name: "long.bin", size: size) { offset, count in
      if offset > 0 {
        start.yield()
        try await Task.sleep(for: .seconds(86_400))
      }
      return [UInt8](repeating: 7, count: count)
    }
    let sending = Task { try await client.upload(endless) }
    for await _ in started { break }
    #expect(client.activity.count == 1)
    sending.cancel()
    await #expect(throws: ClientFault.cancelled) { try await sending.value }
    let file = try await client.upload(FileSource(name: "long.bin", bytes: [UInt8](repeating: 7, count: size)))
    let (received, receive) = AsyncStream.makeStream(of: Int.self)
    let downloading = Task {
      try await client.download(file.id) { _ throws(ClientFault) in
        receive.yield(client.activity.count)
        do { try await Task.sleep(for: .seconds(86_400)) } catch { throw .cancelled }
      }
    }
    var iterator = received.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    downloading.cancel()
    await #expect(throws: ClientFault.cancelled) { try await downloading.value }
    #expect(client.activity.count == 0)
  }
}

@Test func `fetched resources offer their requests`() async throws {
  try await SocketSite.open { site in
    let (ada, grace) = (try site.client("ada"), try site.client("grace"))
    let garden = try await site.group("ada", "grace")
    let posted = try await ada.send(.postMessage(in: garden, "hello"))
    let own = try #require(try await grace.send(.listConversations()).elements.first)
    #expect(try await grace.send(own.messages()).elements.map(\.message.id) == [posted.message.id])
    #expect(try await grace.send(own.participants()).elements.count == 2)
    try await grace.send(own.sendTyping())
    let seen = try await grace.send(posted.refresh())
    #expect(try await grace.send(seen.markRead()).unread == 0)
    #expect(try await ada.send(posted.receipts()).elements.map(\.isRead) == [true])
    _ = try await grace.send(seen.setAction(.like))
    #expect(try await ada.send(posted.actions()).elements.map(\.type) == ["like"])
    _ = try await ada.send(posted.edit("hello there"))
    #expect(try await ada.send(posted.revisions()).elements.map(\.text) == ["hello"])
    try await grace.send(own.leave())
    #expect(try await ada.send(.listParticipants(of: garden)).elements.count == 1)

    _ = try await site.room()
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

@Test func `an interrupted upload resumes at its offset`() async throws {
  try await SocketSite.open { site in
    let client = try site.client("ada")
    let size = Client.maxSingleRequestBytes + 100_000
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let started = try await client.send(.createUpload(name: "a.bin", size: size))
    let id = started.id
    var part = Request<RawResponse>.appendToUpload(
      id, .bytes(Array(bytes[..<70_000]), type: "application/offset+octet-stream"))
    part.fields.append(.init("Upload-Offset", "0"))
    #expect(try await client.send(part).status == 204)
    let offsets = Mutex<[Int]>([])
    var source = FileSource(name: "a.bin", bytes: bytes)
    let read = source.read
    source.read = { offset, count in
      offsets.withLock { $0.append(offset) }
      return try await read(offset, count)
    }
    let file = try await client.resume(id, of: source)
    #expect(file.size == size)
    #expect(offsets.withLock { $0.first } == 70_000)
  }
}

/// The key-value store of an app.
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

@Test func `fetched resources can be archived as Codable`() async throws {
  try await SocketSite.open { site in
    let client = try site.client("ada")
    let posted = try await client.send(.postMessage(in: site.room(), "“kept” \n"))
    let user = try await client.send(.getUser(.me)).value
    let bytes = try JSONEncoder().encode([posted])
    let kept = try JSONDecoder().decode([Resource<MessageView>].self, from: bytes)
    #expect(kept.map(\.value) == [posted.value] && kept.map(\.representation) == [posted.representation])
    let message = try JSONDecoder().decode(Message.self, from: JSONEncoder().encode(posted.message))
    #expect(message == posted.message)
    #expect(try JSONDecoder().decode(User.self, from: JSONEncoder().encode(user)) == user)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(User.self, from: Data(#""{}""#.utf8)) }
  }
}

@Test func `a sign-in with a second factor has a challenge`() async throws {
  try await SocketSite.open { site in
    let client = try site.client()
    let notes = MemoryNotes()
    let session = OwnSession(client, store: notes.notes, now: { notes.now })
    try await session.signIn("grace", password: "password of grace")
    #expect(try await client.send(.getSecondFactor()).value.isEnabled == false)
    let setup = try await client.send(.setUpSecondFactor())
    let secret = try #require(Base32.bytes(setup.value.secret))
    let now = try await site.community.store.readInBackground { tx throws(Refusal) in tx.now }
    let code = try OneTimePassword.code(secret, step: OneTimePassword.step(at: now))
    let codes = try await client.send(.enableSecondFactor(code: code)).value.codes
    #expect(codes.count == 10)
    do throws(ClientFault) {
      try await session.signIn("grace", password: "password of grace")
      Issue.record("one step was enough")
    } catch {
      let challenge = try #require(SignInChallenge(error))
      #expect(challenge.expiresAt.milliseconds > Int(now))
      await #expect(throws: ClientFault.self) { try await session.confirmSignIn(challenge, code: "000000") }
      try await session.confirmSignIn(challenge, code: codes[0])
    }
    #expect(try await client.send(.getSecondFactor()).value.recoveryCodesLeft == 9)
    #expect(SignInChallenge(.timedOut) == nil)
    try await client.send(.proveSession(password: "password of grace", code: codes[1]))
    #expect(try await client.send(.createRecoveryCodes()).value.codes.count == 10)
    try await client.send(.disableSecondFactor())
    try await session.signIn("grace", password: "password of grace")
  }
}
