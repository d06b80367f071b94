import ParleyNetworking
import ParleyWire
import Testing
import Web

/// The memory budget of all connections: growth above it is refused where it happens, and other connections are served.
struct MemoryTests {
  private static let limits: Limits = {
    var limits = Limits()
    limits.memory = 1 << 20
    limits.socketMessage = 1 << 20
    // Beside other tests, a client may wait for minutes with an unfinished body.
    limits.byteTime = 3_600
    return limits
  }()

  private static let site = garden(limits: limits) { routes in
    routes.on(.get, "/socket") { _, _ in
      Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
    }
    routes.on(.get, "/large") { _, _ in
      Response(.ok, [UInt8](repeating: 7, count: 200_000), type: .bytes)
    }
    routes.on(.get, "/reserved") { request, context throws(Problem) in
      guard context.memory?.reserve(Int(request.head.target.query ?? "") ?? 0) == true else { throw .unavailable }
      return .text("reserved")
    }
  }

  /// A client whose body of 300,000 bytes lacks its last byte.
  private func modest(_ running: Running) throws -> RawClient {
    let client = try running.connect()
    try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
    try client.send([UInt8](repeating: 7, count: 299_999))
    #expect(eventually { running.server.memory.used >= 299_999 })
    return client
  }

  private func finish(_ client: RawClient) throws {
    try client.send([7])
    #expect(try client.answer().body == [UInt8](repeating: 7, count: 300_000))
  }

  @Test(arguments: [1, 4])
  func `a body above the budget is refused`(loops: Int) async throws {
    try await serving(Self.site, Variant(loops: loops)) { running in
      let modest = try modest(running)
      let greedy = try running.connect()
      try greedy.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 983040\r\n\r\n")
      try greedy.send([UInt8](repeating: 0, count: 900_000))
      let answer = try greedy.answer()
      #expect(answer.status == 503)
      #expect(answer.head.fields["retry-after"] == "1")
      try finish(modest)
    }
  }

  @Test(arguments: [true, false])
  func `a message above the budget closes its socket with 1013`(isCompressed: Bool) async throws {
    try await serving(Self.site) { running in
      let modest = try modest(running)
      let greedy = try SocketClient(running, deflate: isCompressed ? PerMessageDeflate.Policy() : nil)
      let bytes = [UInt8](repeating: 0, count: 900_000)
      let payload = isCompressed ? try Deflater().deflate(message: bytes.span) : bytes
      // An unfinished message without a mask.
      let size = isCompressed ? 2 : 8
      let length = (1...size).map { UInt8(truncatingIfNeeded: payload.count >> (8 * (size - $0))) }
      try greedy.raw.send(
        [isCompressed ? 0x42 : 0x02, isCompressed ? 0xfe : 0xff] + length + [0, 0, 0, 0] + payload)
      guard case .closed(let closing) = try greedy.next() else {
        Issue.record("the socket stays open")
        return
      }
      #expect(closing.code == .tryLater)
      try finish(modest)
    }
  }

  @Test func `unread responses above the budget are cut, and their bytes return`() async throws {
    try await serving(Self.site) { running in
      let modest = try modest(running)
      let clients = try (0..<8).map { _ in try running.connect(receiveBuffer: 4_096) }
      for client in clients { try client.send(get("/large")) }
      #expect(eventually { running.server.connectionCount < 8 })
      #expect(running.server.memory.used <= 1 << 20)
      #expect(try running.servesOthers())
      for client in clients { client.close() }
      #expect(eventually { running.server.memory.used < 400_000 })
      try finish(modest)
      #expect(eventually { running.server.memory.used <= 65_536 })
    }
  }

  @Test func `a handler reserves memory until its response`() async throws {
    try await serving(Self.site) { running in
      let client = try running.connect()
      for (bytes, status) in [(800_000, 200), (800_000, 200), (2_000_000, 503), (10, 200)] {
        try client.send(get("/reserved?\(bytes)"))
        #expect(try client.answer().status == status)
      }
      #expect(eventually { running.server.memory.used <= 65_536 })
    }
  }
}
