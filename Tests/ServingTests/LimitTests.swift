import ParleyNetworking
import ParleyWire
import Testing
import Web

/// Limits per peer: bounded memory and no delay of other clients. Timeouts are one second, by a clock that the test
/// advances.
struct LimitTests {
  private static let quick: Limits = {
    var limits = Limits()
    limits.headTime = 1
    limits.byteTime = 1
    limits.idleTime = 1
    limits.handshakeTime = 1
    return limits
  }()

  @Test(arguments: EventLoop.Polling.allCases)
  func `a slowly sent head does not extend its timeout`(polling: EventLoop.Polling) async throws {
    var limits = Self.quick
    limits.idleTime = 60
    try await serving(garden(limits: limits), Variant(polling: polling), clock: ManualClock()) { running in
      for isFirst in [true, false] {
        let client = try running.connect()
        if !isFirst {
          try client.send(get("/hello"))
          _ = try client.answer()
        }
        var bytes = Array(get("/hello", "X: \(String(repeating: "x", count: 8_000))").utf8)[...]
        let tenths = await running.tenths {
          if let byte = bytes.popFirst() { do { try client.send([byte]) } catch {} }
          client.readAvailable()
          return !client.received.isEmpty
        }
        #expect(tenths >= 10)
        #expect(try client.answer().status == 408)
        #expect(client.isOver())
      }
    }
  }

  @Test func `100 headers beside Host and a target of 8,000 bytes are accepted`() async throws {
    try await serving(garden()) { running in
      for (headers, target, status) in [(100, 8_000, 200), (101, 9, 431), (0, 8_200, 414)] {
        let client = try running.connect()
        let query = String(repeating: "q", count: target - 7)
        let fields = (0..<headers).map { "X-\($0): a\r\n" }.joined()
        try client.send("GET /hello?\(query) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        #expect(try client.answer().status == status)
      }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a silent connection is closed without a response`(polling: EventLoop.Polling) async throws {
    try await serving(garden(limits: Self.quick), Variant(polling: polling), clock: ManualClock()) { running in
      let client = try running.connect()
      let isServed = eventually { running.server.connectionCount == 1 }
      #expect(isServed)
      let tenths = await running.tenths { running.server.connectionCount == 0 }
      #expect(tenths >= 10)
      #expect(try client.readToEnd() == "")
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `an idle connection has its own timeout`(polling: EventLoop.Polling) async throws {
    var limits = Self.quick
    limits.idleTime = 3
    try await serving(garden(limits: limits), Variant(polling: polling), clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send(get("/hello"))
      _ = try client.answer()
      let tenths = await running.tenths { running.server.connectionCount == 0 }
      #expect(tenths >= 30)
      #expect(try client.readToEnd() == "")
    }
  }

  @Test func `an idle timeout below the byte timeout is honoured`() async throws {
    var limits = Limits()
    limits.idleTime = 1
    limits.byteTime = 60
    try await serving(garden(limits: limits), clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send(get("/hello"))
      _ = try client.answer()
      await running.advance(900)
      #expect(running.server.connectionCount == 1)
      await running.advance(200)
      #expect(try client.readToEnd() == "")
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a stalled body times out`(polling: EventLoop.Polling) async throws {
    let calls = Collected<String>()
    let site = garden(limits: Self.quick, calls: calls)
    try await serving(site, Variant(polling: polling), clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nseeds")
      #expect(eventually { calls.count == 1 })
      await running.advance(1_100)
      #expect(try client.answer(to: .post).status == 408)
      #expect(client.isOver())
      // Read by the handler or not.
      let other = try running.connect()
      try other.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nseeds")
      #expect(try other.answer(to: .post).text == "ignored")
      await running.advance(1_100)
      #expect(other.isOver())
    }
  }

  @Test func `a body below the minimum rate times out`() async throws {
    var limits = Self.quick
    limits.bodyRate = 100
    let calls = Collected<String>()
    try await serving(garden(limits: limits, calls: calls), clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
      // Ten bytes per second, without a pause of a second.
      let tenths = await running.tenths {
        do { try client.send([7]) } catch {}
        client.readAvailable()
        return !client.received.isEmpty
      }
      #expect(tenths >= 10)
      #expect(try client.answer(to: .post).status == 408)
      // At the minimum rate it arrives.
      let steady = try running.connect()
      try steady.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 600\r\n\r\n")
      for _ in 0..<30 {
        try steady.send([UInt8](repeating: 7, count: 20))
        await running.advance(100)
      }
      #expect(try steady.answer(to: .post).text.utf8.count == 600)
    }
  }

  @Test func `a slowly sent WebSocket message times out`() async throws {
    var limits = Limits()
    limits.socketMessageTime = 1
    let site = garden(limits: limits) { routes in
      routes.on(.get, "/socket") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
    }
    try await serving(site, clock: ManualClock()) { running in
      let client = try SocketClient(running)
      // Complete messages may be sent for longer than that.
      for _ in 0..<12 {
        try client.send(text: "seeds")
        #expect(try client.next() == .text(Array("seeds".utf8)))
        await running.advance(100)
      }
      // A frame of 65,535 bytes, sent one byte at a time.
      try client.raw.send([0x82, 0x80 | 126, 0xff, 0xff, 1, 2, 3, 4])
      let tenths = await running.tenths {
        do { try client.raw.send([7]) } catch {}
        client.raw.readAvailable()
        return !client.raw.received.isEmpty
      }
      #expect(tenths >= 10)
      guard case .closed(let closing) = try client.next() else { throw Unexpected() }
      #expect(closing.code == .policy)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases, ["bytes", "stream", "file"])
  func `an unread response times out`(polling: EventLoop.Polling, kind: String) async throws {
    let file = try TemporaryFile([UInt8](repeating: 1, count: 1 << 20))
    let (requests, totals) = (Collected<String>(), Collected<Int>())
    let site = garden(limits: Self.quick) { routes in
      routes.on(.get, "/bytes") { _, _ in
        requests.add("bytes")
        return Response(.ok, [UInt8](repeating: 1, count: 64 << 20), type: .bytes)
      }
      routes.on(.get, "/file") { _, _ in
        requests.add("file")
        guard let open = OpenFile(file.path) else { return .text("none", .notFound) }
        return Response(.ok, body: .segments(Array(repeating: .file(open, 0..<open.size), count: 64)))
      }
      routes.on(.get, "/stream") { _, _ in
        requests.add("stream")
        return Response(
          .ok,
          body: .stream(length: nil) { writer in
            var written = 0
            defer { totals.add(written) }
            while true {
              try await writer.write([UInt8](repeating: 1, count: 10_000))
              written += 10_000
            }
          })
      }
    }
    try await serving(site, Variant(polling: polling), clock: ManualClock()) { running in
      let client = try running.connect(receiveBuffer: 4_096)
      try client.send(get("/\(kind)"))
      let isAsked = eventually { requests.all == [kind] }
      #expect(isAsked)
      let tenths = await running.tenths { running.server.connectionCount == 0 }
      #expect(tenths >= 10)
      #expect(client.isOver())
      let isReported = eventually { totals.count == (kind == "stream" ? 1 : 0) }
      #expect(isReported && totals.all.max() ?? 0 < 16 << 20)
    }
  }

  @Test func `a slow stream to a client that does not read times out`() async throws {
    var limits = Self.quick
    limits.output = 1 << 30
    let requests = Collected<String>()
    let site = garden(limits: limits) { routes in
      routes.on(.get, "/trickle") { _, _ in
        requests.add("trickle")
        return Response(
          .ok,
          body: .stream(length: nil) { writer in
            while true {
              try await writer.write([UInt8](repeating: 1, count: 300_000))
              try await Task.sleep(for: .milliseconds(20))
            }
          })
      }
    }
    try await serving(site, clock: ManualClock()) { running in
      let client = try running.connect(receiveBuffer: 4_096)
      try client.send(get("/trickle"))
      let isAsked = eventually { requests.count == 1 }
      #expect(isAsked)
      let tenths = await running.tenths { running.server.connectionCount == 0 }
      #expect(tenths >= 10)
      #expect(client.isOver())
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a slow reader does not time out while it reads`(polling: EventLoop.Polling) async throws {
    let site = garden(limits: Self.quick) { routes in
      routes.on(.get, "/bytes") { _, _ in Response(.ok, [UInt8](repeating: 1, count: 24 << 20), type: .bytes) }
    }
    try await serving(site, Variant(polling: polling), clock: ManualClock()) { running in
      let client = try running.connect(receiveBuffer: 65_536)
      try client.send(get("/bytes"))
      for step in 1...20 {
        try client.receive(atLeast: step * 600_000)
        await running.advance(200)
      }
      #expect(try client.answer().body.count == 24 << 20)
      let tenths = await running.tenths { running.server.connectionCount == 0 }
      #expect(tenths >= 1)
      #expect(client.isOver())
    }
  }

  @Test(arguments: Variant.allCases)
  func `total connections are limited`(variant: Variant) async throws {
    var limits = Limits()
    limits.connections = 8
    try await serving(garden(limits: limits), variant) { running in
      var clients = try (0..<8).map { _ in try running.connect() }
      for client in clients {
        try client.send(get("/hello"))
        _ = try client.answer()
      }
      let ninth = try running.connect()
      #expect(try ninth.answer().status == 503)
      #expect(ninth.isOver())
      clients.removeLast()
      #expect(eventually { running.server.connectionCount == 7 })
      #expect(try running.servesOthers())
    }
  }

  @Test func `connections per address are limited except for trusted proxies`() async throws {
    var limits = Limits()
    limits.connectionsPerAddress = 2
    for isTrusted in [false, true] {
      var site = garden(limits: limits)
      if isTrusted {
        let block = try #require(AddressBlock("127.0.0.0/8"))
        site = Application(
          router: site.router, limits: limits, addresses: Addresses(trusted: [block]), commonFields: [:])
      }
      try await serving(site) { running in
        let clients = try (0..<2).map { _ in try running.connect() }
        for client in clients {
          try client.send(get("/hello"))
          _ = try client.answer()
        }
        let third = try running.connect()
        if isTrusted { try third.send(get("/hello")) }
        #expect(try third.answer().status == (isTrusted ? 200 : 503))
      }
    }
  }

  @Test(arguments: Variant.allCases)
  func `an endless sender does not delay other clients`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let flood = try running.connect()
      let piece = (0..<200).map { _ in get("/hello") }.joined()
      for _ in 0..<20 {
        try flood.send(piece)
        #expect(try running.servesOthers())
        for _ in 0..<200 { _ = try flood.answer() }
      }
    }
  }

  @Test func `a full output queue delays requests and resumes them`() async throws {
    var limits = Limits()
    limits.output = 65_536
    let site = garden(limits: limits) { routes in
      routes.on(.get, "/some") { _, _ in Response(.ok, [UInt8](repeating: 1, count: 60_000), type: .bytes) }
    }
    for tls in [nil, Identity.garden] {
      try await serving(site, tls: tls?.server) { running in
        let client = try running.connect(tls: tls?.client, receiveBuffer: 4_096)
        try client.send((0..<200).map { _ in get("/some") }.joined())
        for _ in 0..<200 { #expect(try client.answer().body.count == 60_000) }
      }
    }
  }
}
