import Glibc
import ParleyModel
import ParleyWire
import Synchronization
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Bans that revoke sessions during an operation.
@Suite struct ConcurrentBanTests {
  private static func ban(_ name: String, in village: Village) async throws {
    try await village.expect(200, .put, "/users/@\(name)/ban", as: "mira", ["reason": "Enough."])
  }

  @Test func `a ban ends an upload and deletes its bytes`() async throws {
    try await Village.open(.socket) { village in
      let address = try #require(village.serverAddress)
      let client = try UploadingClient(address, token: village.token("grace"), announcing: 1_000_000)
      try client.send([UInt8](repeating: 7, count: 400_000))
      // The received bytes are written before the ban.
      while try village.incoming.isEmpty { await Task.yield() }
      try await Self.ban("grace", in: village)
      try client.send([UInt8](repeating: 7, count: 400_000))
      #expect(try await client.status() == 401)
      #expect(village.stored.isEmpty)
      while try !village.incoming.isEmpty { await Task.yield() }
      #expect(try await village.rows("select name from file") == [])
    }
  }

  @Test func `a ban ends an upload in parts`() async throws {
    try await Village.open(.inMemory) { village in
      let made = try await village.expect(201, .post, "/uploads", as: "grace", ["name": "a", "size": 10])
      let path = "/uploads/\(try #require(made["id"]))"
      let part: (Int) -> Fields = { ["Upload-Offset": "\($0)", "Content-Type": "application/offset+octet-stream"] }
      #expect(try await village.send(.patch, path, as: "grace", Array("12345".utf8), fields: part(0)).status == 204)
      try await Self.ban("grace", in: village)
      #expect(try await village.send(.patch, path, as: "grace", Array("67890".utf8), fields: part(5)).status == 401)
      #expect(village.stored.isEmpty)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a ban ends a long poll without events`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      let cursor = try await village.cursor("conversation:\(room)", as: "grace")
      let path = "/sync?topics=conversation:\(room)&after=\(cursor)&wait=60"
      async let waiting = village.request(.get, path, as: "grace")
      try await village.waitForSubscriber(of: room)
      // The hub's clock is stopped: the long poll never times out.
      try await Self.ban("grace", in: village)
      let answer = try await waiting
      #expect(answer.status == 401 || answer.count("data") == 0)
      try await village.post("after", in: room)
      #expect(try await village.request(.get, path, as: "grace").status == 401)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `a ban empties the result of a queued search`(transport: TestTransport) async throws {
    try await Village.open(transport) { village in
      let room = try await village.garden().room
      try await village.post("roses", in: room)
      #expect(try await village.expect(200, .get, "/messages/search?q=roses", as: "grace").count("data") == 1)
      // Both background readers are busy until the ban is stored.
      let gate = Gate()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<ReadLane.queries.threadCount {
          group.addTask {
            try await village.community.store.readInBackground { _ throws(Refusal) in
              gate.pass()
            }
          }
        }
        while gate.waiting < ReadLane.queries.threadCount { await Task.yield() }
        async let search = village.request(.get, "/messages/search?q=roses", as: "grace")
        while village.community.store.background.waitingCount(.queries) == 0 { await Task.yield() }
        try await Self.ban("grace", in: village)
        gate.open()
        let answer = try await search
        #expect(answer.status == 401 && !answer.text.contains("roses"), "\(answer.text)")
        try await group.waitForAll()
      }
    }
  }

  /// Blocks its callers until it is opened.
  private final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)
    private let count = Atomic<Int>(0)

    var waiting: Int { count.load(ordering: .relaxed) }

    func open() { isOpen.store(true, ordering: .relaxed) }

    func pass() {
      count.add(1, ordering: .relaxed)
      while !isOpen.load(ordering: .relaxed) { usleep(500) }
    }
  }
}
