import ParleyModel
import ParleySQLite
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit

/// Returns a picture of as many bytes as the requested width, and records the requests.
private final class PictureTransport: Transport {
  private let type: String
  private let state = Mutex<[String]>([])
  private let gone = Mutex(false)

  init(type: String = "image/png") { self.type = type }

  var requests: [String] { state.withLock { $0 } }

  /// From now on all files are gone.
  func destroy() { gone.withLock { $0 = true } }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    state.withLock { $0.append(exchange.target) }
    if gone.withLock({ $0 }) {
      let pieces = Mutex([Array(#"{"code":"gone","status":410,"title":"Gone"}"#.utf8)])
      return TransportResponse(status: 410, fields: [.init("Content-Type", "application/problem+json")]) {
        () throws(TransportFailure) -> [UInt8]? in pieces.withLock { $0.popLast() }
      }
    }
    let count = exchange.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
    let pieces = Mutex([[UInt8](repeating: 7, count: count)])
    return TransportResponse(status: 200, fields: [.init("Content-Type", type)]) {
      () throws(TransportFailure) -> [UInt8]? in pieces.withLock { $0.popLast() }
    }
  }

  func connect(_ exchange: TransportRequest, subprotocols: [String]) async throws(TransportFailure) -> LiveSocket {
    throw .timedOut
  }
}

@Suite struct PictureTests {
  private let ada = ID<User>(1)
  private let grace = ID<User>(2)

  private func pictures(_ transport: PictureTransport, _ file: PictureFile? = nil) throws -> PictureCache {
    let address = try #require(ServerAddress("chat.example"))
    return try PictureCache(Client(address, over: transport, retryPolicy: .never), file)
  }

  /// A picture of this many bytes.
  private func picture(_ number: Int, _ bytes: Int = 10) -> PictureCache.Picture {
    .file(ID(number), width: bytes)
  }

  @Test func `concurrent requests fetch a picture once, and later ones read it from disk`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let transport = PictureTransport()
    let file = PictureFile(folder.path + "/pictures.db")
    do {
      let pictures = try pictures(transport, file)
      let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<50 { group.addTask { try await pictures.picture(picture(7), for: ada).count } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(sizes == [Int](repeating: 10, count: 50))
    }
    #expect(try await pictures(transport, file).picture(picture(7), for: ada).count == 10)
    #expect(transport.requests == ["/api/v1/files/7/content?w=10"])
  }

  @Test func `the least recently used pictures are evicted, also across app starts`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let transport = PictureTransport()
    let file = PictureFile(folder.path + "/pictures.db", limit: 100)
    do {
      let pictures = try pictures(transport, file)
      for number in 1...3 { _ = try await pictures.picture(picture(number, 30), for: ada) }
      _ = try await pictures.picture(picture(1, 30), for: ada)
      _ = try await pictures.picture(picture(4, 30), for: ada)
    }
    #expect(transport.requests.count == 4)
    let pictures = try pictures(transport, file)
    for number in [1, 3, 4] { _ = try await pictures.picture(picture(number, 30), for: ada) }
    #expect(transport.requests.count == 4)
    _ = try await pictures.picture(picture(2, 30), for: ada)
    #expect(transport.requests.count == 5)
    // Too large for the limit: returned, not stored.
    for _ in 0..<2 { #expect(try await pictures.picture(picture(5, 51), for: ada).count == 51) }
    #expect(transport.requests.count == 7)
  }

  @Test func `a change of user deletes the pictures, and so does erasing`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let transport = PictureTransport()
    let path = folder.path + "/pictures.db"
    do {
      let pictures = try pictures(transport, PictureFile(path))
      _ = try await pictures.picture(picture(1), for: ada)
      _ = try await pictures.picture(picture(1), for: grace)
      #expect(transport.requests.count == 2)
      _ = try await pictures.picture(picture(1), for: ada)
      #expect(transport.requests.count == 3)
      // Without a known user the store is not used.
      _ = try await pictures.picture(picture(1), for: nil)
      #expect(transport.requests.count == 4)
      try await pictures.erase()
    }
    let connection = try Connection.writer(path)
    #expect(try connection.first("select count(*) from picture", read: { row in try row.int(0) }) == 0)
    #expect(try connection.first("select count(*) from owner", read: { row in try row.int(0) }) == 0)
  }

  @Test func `a response that is not a picture is a fault and not stored`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    for (type, fault) in [
      ("text/html", ClientFault.captivePortal), ("text/plain", .invalidResponse("this is no picture")),
    ] {
      let transport = PictureTransport(type: type)
      let pictures = try pictures(transport, PictureFile(folder.path + "/pictures.db"))
      for _ in 0..<2 {
        await #expect(throws: fault) { try await pictures.picture(picture(1), for: ada) }
      }
      #expect(transport.requests.count == 2)
    }
  }

  @Test func `the pictures of a file that is gone are deleted`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let transport = PictureTransport()
    let path = folder.path + "/pictures.db"
    do {
      let pictures = try pictures(transport, PictureFile(path))
      for (number, bytes) in [(1, 10), (1, 20), (11, 10), (2, 10)] {
        _ = try await pictures.picture(picture(number, bytes), for: ada)
      }
      #expect(await pictures.remove([ID(2)]))
      transport.destroy()
      // One size tells about all.
      await #expect(throws: ClientFault.self) { try await pictures.picture(picture(1, 30), for: ada) }
      await #expect(throws: ClientFault.self) { try await pictures.picture(picture(1, 10), for: ada) }
      await #expect(throws: ClientFault.self) { try await pictures.picture(picture(2, 10), for: ada) }
      #expect(try await pictures.picture(picture(11, 10), for: ada).count == 10)
    }
    let connection = try Connection.writer(path)
    #expect(try connection.all("select name from picture", read: { row in try row.text(0) }) == ["file 11 10 0"])
  }

  @Test(arguments: [true, false]) func `the pictures of a deleted message leave the device`(
    isDestroyed: Bool
  ) async throws {
    try await SocketSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let garden = try await site.group("ada", "grace")
      let ada = try site.client("ada")
      let file = try await ada.upload(FileSource(name: "rose.png", bytes: Photographs.png()), clientID: "rose").id
      let message = try await ada.send(.postMessage(in: garden, "look", attachments: [file])).message.id
      let parley = try Parley(
        try site.client("grace"), clock: Outbox.Clock(now: TestSite.ticking, pause: { _ in .milliseconds(20) }),
        open: { file in throw TransportFailure.sourceFailed(file.path) },
        pictures: PictureFile(folder.path + "/pictures.db")
      ) { MemoryStore() }
      await parley.start()
      for await state in await parley.states() where state == .live { break }
      try await parley.sync.fetchAll([garden])
      _ = try await parley.picture(file)
      if isDestroyed {
        try await ada.send(.destroyContent(.message(message), reason: "A letter."))
      } else {
        try await ada.send(.deleteMessage(message))
      }
      try await wait { (try? await parley.picture(file)) == nil }
      try await wait { await parley.cache.goneFiles == [] }
      await parley.stop()
    }
  }

  @Test func `a file of a later version is not changed`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/pictures.db"
    do { try Connection.writer(path).execute("pragma user_version = 2") }
    #expect(throws: CacheFault.newer(version: 2)) { try pictures(PictureTransport(), PictureFile(path)) }
  }

  @Test(arguments: [0, Client.maxSingleRequestBytes])
  func `a file is uploaded with its preview and fetched in the requested size`(more: Int) async throws {
    try await SocketSite.open { site in
      let client = try site.client("ada")
      let bytes = Photographs.png() + [UInt8](repeating: 0, count: more)
      let small = Photographs.jpeg(orientation: 1)
      let file = try await client.upload(
        FileSource(name: "a rose.png", bytes: bytes, preview: { small }), clientID: "rose")
      #expect(file.name == "a rose.png" && file.mimeType == "image/png")
      #expect(file.preview.map { [$0.width, $0.height] } == [640, 480])
      let pictures = try PictureCache(client)
      let preview = try await pictures.picture(.file(file.id, width: 600), for: nil)
      #expect(preview.starts(with: [0xff, 0xd8]))
      #expect(try await pictures.picture(.file(file.id), for: nil).starts(with: bytes.prefix(8)))
    }
  }

  @Test func `a rejected preview does not fail the upload`() async throws {
    try await SocketSite.open { site in
      let client = try site.client("ada")
      for size in [10, Client.maxSingleRequestBytes + 1] {
        let source = FileSource(
          name: "a.bin", bytes: [UInt8](repeating: 1, count: size), preview: { Array("no picture".utf8) })
        let file = try await client.upload(source, clientID: "file \(size)")
        #expect(file.size == size && file.preview == nil)
      }
    }
  }
}
