import Glibc
import Networking
import Testing
import Web
import Wire

/// What one peer may cost (promise 7: a fixed number of bytes, and nobody's time). Limits of time are a second here.
struct LimitTests {
  private static let quick: Limits = {
    var limits = Limits()
    limits.headTime = 1
    limits.byteTime = 1
    limits.idleTime = 1
    limits.handshakeTime = 1
    return limits
  }()

  /// How long something takes, in milliseconds.
  private static func duration(_ body: () throws -> Void) throws -> Int {
    let began = Clock.monotonic()
    try body()
    return Int((Clock.monotonic() - began) / 1_000_000)
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a head that drips in does not get more time`(polling: EventLoop.Polling) async throws {
    var limits = Self.quick
    limits.idleTime = 60
    try await serving(garden(limits: limits), Variant(polling: polling)) { running in
      for isFirst in [true, false] {
        let client = try running.connect()
        if !isFirst {
          try client.send(get("/hello"))
          _ = try client.answer()
        }
        let time = try Self.duration { () throws in
          var bytes = Array(get("/hello", "X: \(String(repeating: "x", count: 1_000))").utf8)[...]
          while client.received.isEmpty, let byte = bytes.popFirst() {
            do { try client.send([byte]) } catch { break }
            usleep(100_000)
            client.readAvailable()
          }
          #expect(try client.answer().status == 408)
          #expect(client.isOver())
        }
        #expect(time >= 900)
      }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a connection that says nothing ends without a word`(polling: EventLoop.Polling) async throws {
    try await serving(garden(limits: Self.quick), Variant(polling: polling)) { running in
      let client = try running.connect()
      let time = try Self.duration { () throws in #expect(try client.readToEnd() == "") }
      #expect(time >= 900)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `an idle connection has its own time`(polling: EventLoop.Polling) async throws {
    var limits = Self.quick
    limits.idleTime = 3
    try await serving(garden(limits: limits), Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send(get("/hello"))
      _ = try client.answer()
      let time = try Self.duration { () throws in #expect(try client.readToEnd() == "") }
      #expect(time >= 2_900)
    }
  }

  @Test func `an idle time below the time between bytes counts too`() async throws {
    var limits = Limits()
    limits.idleTime = 1
    limits.byteTime = 60
    try await serving(garden(limits: limits)) { running in
      let client = try running.connect()
      try client.send(get("/hello"))
      _ = try client.answer()
      let time = try Self.duration { () throws in #expect(try client.readToEnd() == "") }
      #expect(time >= 900)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a body that stops coming is given up`(polling: EventLoop.Polling) async throws {
    try await serving(garden(limits: Self.quick), Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nseeds")
      #expect(try client.answer(to: .post).status == 408)
      #expect(client.isOver())
      // Wanted or not.
      let other = try running.connect()
      try other.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nseeds")
      #expect(try other.answer(to: .post).text == "ignored")
      #expect(other.isOver())
    }
  }

  @Test func `a body that drips in is given up, though it never rests`() async throws {
    var limits = Self.quick
    limits.bodyRate = 100
    try await serving(garden(limits: limits)) { running in
      let client = try running.connect()
      try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
      let time = try Self.duration { () throws in
        while client.received.isEmpty {
          // Ten bytes a second, never a second apart.
          do { try client.send([7]) } catch { break }
          usleep(100_000)
          client.readAvailable()
        }
        #expect(try client.answer(to: .post).status == 408)
      }
      #expect(time >= 900)
      // At the rate that is asked for it arrives.
      let steady = try running.connect()
      try steady.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300\r\n\r\n")
      for _ in 0..<15 {
        try steady.send([UInt8](repeating: 7, count: 20))
        usleep(100_000)
      }
      #expect(try steady.answer(to: .post).text.utf8.count == 300)
    }
  }

  @Test func `a message that drips in is given up, though the socket never rests`() async throws {
    var limits = Limits()
    limits.socketMessageTime = 1
    let site = garden(limits: limits) { routes in
      routes.on(.get, "/socket") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
    }
    try await serving(site) { running in
      let client = try SocketClient(running)
      // Whole messages may follow one another for longer than that.
      for _ in 0..<12 {
        try client.send(text: "seeds")
        var isEchoed = false
        if case .text = try client.next() { isEchoed = true }
        #expect(isEchoed)
        usleep(100_000)
      }
      // A frame of 100 bytes, of which one comes at a time.
      try client.raw.send([0x82, 0x80 | 100, 1, 2, 3, 4])
      let time = try Self.duration { () throws in
        while client.raw.received.isEmpty {
          do { try client.raw.send([7]) } catch { break }
          usleep(100_000)
          client.raw.readAvailable()
        }
        var code: CloseCode?
        if case .closed(let closing) = try client.next() { code = closing.code }
        #expect(code == .policy)
      }
      #expect(time >= 900)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases, ["bytes", "stream", "file"])
  func `an answer that nobody takes is given up`(polling: EventLoop.Polling, kind: String) async throws {
    let file = try TemporaryFile([UInt8](repeating: 1, count: 1 << 20))
    let told = Collected<Int>()
    let site = garden(limits: Self.quick) { routes in
      routes.on(.get, "/bytes") { _, _ in Response(.ok, [UInt8](repeating: 1, count: 64 << 20), type: .bytes) }
      routes.on(.get, "/file") { _, _ in
        guard let open = OpenFile(file.path) else { return .text("none", .notFound) }
        return Response(.ok, body: .segments(Array(repeating: .file(open, 0..<open.size), count: 64)))
      }
      routes.on(.get, "/stream") { _, _ in
        Response(
          .ok,
          body: .stream(length: nil) { writer in
            var written = 0
            defer { told.add(written) }
            while true {
              try await writer.write([UInt8](repeating: 1, count: 10_000))
              written += 10_000
            }
          })
      }
    }
    try await serving(site, Variant(polling: polling)) { running in
      let client = try running.connect(receiveBuffer: 4_096)
      try client.send(get("/\(kind)"))
      let time =
        try Self.duration { #expect(eventually { running.server.connectionCount == 1 }) }
        + Self.duration { #expect(eventually { running.server.connectionCount == 0 }) }
      #expect(time >= 900)
      #expect(client.isOver())
      if kind == "stream" { #expect(eventually { told.count == 1 } && told.all.allSatisfy { $0 < 16 << 20 }) }
    }
  }

  @Test func `a stream that trickles to somebody who does not read is given up`() async throws {
    var limits = Self.quick
    limits.output = 1 << 30
    let site = garden(limits: limits) { routes in
      routes.on(.get, "/trickle") { _, _ in
        Response(
          .ok,
          body: .stream(length: nil) { writer in
            while true {
              try await writer.write([UInt8](repeating: 1, count: 300_000))
              try await Task.sleep(for: .milliseconds(20))
            }
          })
      }
    }
    try await serving(site) { running in
      let client = try running.connect(receiveBuffer: 4_096)
      try client.send(get("/trickle"))
      #expect(eventually { running.server.connectionCount == 1 })
      #expect(eventually { running.server.connectionCount == 0 })
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a slow reader is waited for while it reads`(polling: EventLoop.Polling) async throws {
    let site = garden(limits: Self.quick) { routes in
      routes.on(.get, "/bytes") { _, _ in Response(.ok, [UInt8](repeating: 1, count: 24 << 20), type: .bytes) }
    }
    try await serving(site, Variant(polling: polling)) { running in
      let client = try running.connect(receiveBuffer: 65_536)
      try client.send(get("/bytes"))
      var count = 0
      for _ in 0..<14 {
        count += try client.read(300_000).count
        usleep(200_000)
      }
      let rest = try client.answerRest()
      #expect(count + rest > 24 << 20)
      #expect(client.isOver())
    }
  }

  @Test(arguments: Variant.allCases)
  func `connections in total are bounded`(variant: Variant) async throws {
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

  @Test func `connections of one address are bounded, unless it is a proxy that we trust`() async throws {
    var limits = Limits()
    limits.connectionsPerAddress = 2
    for isTrusted in [false, true] {
      var site = garden(limits: limits)
      if isTrusted {
        let block = try #require(AddressBlock("127.0.0.0/8"))
        site = Site(router: site.router, limits: limits, addresses: Addresses(trusted: [block]), common: [:])
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
  func `a client that sends without end does not hold up the others`(variant: Variant) async throws {
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

  @Test func `a small limit of output holds requests back, and lets them go on`() async throws {
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

extension RawClient {
  /// Reads until nothing more comes for a while; how much that was.
  fileprivate func answerRest() throws -> Int {
    var count = 0
    while try readMore() {
      count += try read(received.count).count
    }
    return count
  }
}
