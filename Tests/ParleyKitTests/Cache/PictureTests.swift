import ParleyModel
import ParleySQLite
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit

/// Answers with a picture of as many bytes as one asks for in width, and counts who asked.
private final class Painter: Transport {
  private let type: String
  private let state = Mutex<[String]>([])

  init(type: String = "image/png") { self.type = type }

  var asked: [String] { state.withLock { $0 } }

  func send(_ exchange: TransportRequest) async throws(TransportFailure) -> TransportResponse {
    state.withLock { $0.append(exchange.target) }
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

  private func album(_ painter: Painter, _ file: PictureFile? = nil) throws -> PictureCache {
    let address = try #require(ServerAddress("chat.example"))
    return try PictureCache(Client(address, over: painter, retryPolicy: .never), file)
  }

  /// A picture of so many bytes.
  private func picture(_ number: Int, _ bytes: Int = 10) -> PictureCache.Picture {
    .file(ID(number), width: bytes)
  }

  @Test func `a picture is fetched once for all who ask, and never again`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let painter = Painter()
    let file = PictureFile(folder.path + "/pictures.db")
    do {
      let album = try album(painter, file)
      let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<50 { group.addTask { try await album.picture(picture(7), for: ada).count } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(sizes == [Int](repeating: 10, count: 50))
    }
    #expect(try await album(painter, file).picture(picture(7), for: ada).count == 10)
    #expect(painter.asked == ["/api/v1/files/7/content?w=10"])
  }

  @Test func `what nobody has looked at for longest makes room, also after the app began anew`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let painter = Painter()
    let file = PictureFile(folder.path + "/pictures.db", limit: 100)
    do {
      let album = try album(painter, file)
      for number in 1...3 { _ = try await album.picture(picture(number, 30), for: ada) }
      _ = try await album.picture(picture(1, 30), for: ada)
      _ = try await album.picture(picture(4, 30), for: ada)
    }
    #expect(painter.asked.count == 4)
    let album = try album(painter, file)
    for number in [1, 3, 4] { _ = try await album.picture(picture(number, 30), for: ada) }
    #expect(painter.asked.count == 4)
    _ = try await album.picture(picture(2, 30), for: ada)
    #expect(painter.asked.count == 5)
    // Too large for that room: it is given and not kept.
    for _ in 0..<2 { #expect(try await album.picture(picture(5, 51), for: ada).count == 51) }
    #expect(painter.asked.count == 7)
  }

  @Test func `nothing of another's is left, and nothing at all once it is erased`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let painter = Painter()
    let path = folder.path + "/pictures.db"
    do {
      let album = try album(painter, PictureFile(path))
      _ = try await album.picture(picture(1), for: ada)
      _ = try await album.picture(picture(1), for: grace)
      #expect(painter.asked.count == 2)
      _ = try await album.picture(picture(1), for: ada)
      #expect(painter.asked.count == 3)
      // While nobody knows whose device it is, nothing is looked for and nothing kept.
      _ = try await album.picture(picture(1), for: nil)
      #expect(painter.asked.count == 4)
      try await album.erase()
    }
    let connection = try Connection.writer(path)
    #expect(try connection.first("select count(*) from picture", read: { row in try row.int(0) }) == 0)
    #expect(try connection.first("select count(*) from owner", read: { row in try row.int(0) }) == 0)
  }

  @Test func `what is no picture is a fault, and is not kept`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    for (type, fault) in [
      ("text/html", ClientFault.captivePortal), ("text/plain", .invalidResponse("this is no picture")),
    ] {
      let painter = Painter(type: type)
      let album = try album(painter, PictureFile(folder.path + "/pictures.db"))
      for _ in 0..<2 {
        await #expect(throws: fault) { try await album.picture(picture(1), for: ada) }
      }
      #expect(painter.asked.count == 2)
    }
  }

  @Test func `a later version's file is left alone`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/pictures.db"
    do { try Connection.writer(path).execute("pragma user_version = 2") }
    #expect(throws: CacheFault.newer(version: 2)) { try album(Painter(), PictureFile(path)) }
  }

  @Test(arguments: [0, Client.maxSingleRequestBytes])
  func `a file brings its preview, and is shown as large as one asks`(more: Int) async throws {
    try await Harbour.open { harbour in
      let client = try harbour.client("ada")
      let bytes = Photographs.png() + [UInt8](repeating: 0, count: more)
      let small = Photographs.jpeg(orientation: 1)
      let file = try await client.upload(
        FileSource(name: "a rose.png", bytes: bytes, preview: { small }), clientID: "rose")
      #expect(file.name == "a rose.png" && file.mimeType == "image/png")
      #expect(file.preview.map { [$0.width, $0.height] } == [640, 480])
      let album = try PictureCache(client)
      let preview = try await album.picture(.file(file.id, width: 600), for: nil)
      #expect(preview.starts(with: [0xff, 0xd8]))
      #expect(try await album.picture(.file(file.id), for: nil).starts(with: bytes.prefix(8)))
    }
  }

  @Test func `a preview that can't be taken keeps no file back`() async throws {
    try await Harbour.open { harbour in
      let client = try harbour.client("ada")
      for size in [10, Client.maxSingleRequestBytes + 1] {
        let source = FileSource(
          name: "a.bin", bytes: [UInt8](repeating: 1, count: size), preview: { Array("no picture".utf8) })
        let file = try await client.upload(source, clientID: "file \(size)")
        #expect(file.size == size && file.preview == nil)
      }
    }
  }
}
