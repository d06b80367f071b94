import ParleyNetworking
import ParleyWire
import Testing
import Web

/// Connection lifetime and the order of responses (RFC 9112 §9).
struct KeepAliveTests {
  @Test(arguments: Variant.allCases)
  func `one connection carries many requests`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let client = try running.connect()
      for number in 1...20 {
        try client.send(get("/hello?\(number)"))
        let answer = try client.answer()
        #expect(answer.text == "hello \(number)")
        #expect(answer.head.keepsAlive)
      }
    }
  }

  @Test func `Connection close ends the connection after the response`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send(get("/hello?1", "Connection: close") + get("/hello?2"))
      #expect(try client.answer().head.fields["connection"] == "close")
      #expect(client.isOver())
      #expect(client.received.isEmpty)
    }
  }

  @Test func `HTTP 1.0 closes without keep-alive`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      let kept = try client.answer()
      #expect(kept.head.fields["connection"] == "keep-alive")
      try client.send("GET /hello HTTP/1.0\r\n\r\n")
      let last = try client.answer()
      #expect(last.text == "hello ")
      #expect(!last.head.keepsAlive)
      #expect(client.isOver())
    }
  }

  @Test(arguments: Variant.allCases)
  func `a pipelined request waits for the previous response`(variant: Variant) async throws {
    let gates = [Gate(), Gate(), Gate()]
    let calls = Collected<String>()
    let site = garden { routes in
      routes.on(.get, "/gate/{number}") { request, _ in
        let number = Int(request.parameters["number"] ?? "") ?? 0
        calls.add("\(number)")
        await gates[number].wait()
        return .text("gate \(number)")
      }
    }
    try await serving(site, variant) { running in
      let client = try running.connect()
      try client.send(get("/gate/0") + get("/gate/1") + get("/gate/2"))
      gates[2].open()
      gates[1].open()
      #expect(eventually { gates[0].arrived == 1 })
      client.readAvailable()
      #expect(client.received.isEmpty)
      gates[0].open()
      for number in 0...2 { #expect(try client.answer().text == "gate \(number)") }
      #expect(calls.all == ["0", "1", "2"])
    }
  }

  @Test(arguments: Variant.allCases)
  func `a thousand pipelined requests are answered in order`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let client = try running.connect()
      try client.send((0..<1_000).map { get("/hello?\($0)") }.joined())
      for number in 0..<1_000 { #expect(try client.answer().text == "hello \(number)") }
    }
  }

  @Test(arguments: Variant.allCases)
  func `a thousand requests are answered after the client's FIN`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let client = try running.connect()
      try client.send((0..<1_000).map { get("/hello?\($0)") }.joined())
      client.finishSending()
      for number in 0..<1_000 { #expect(try client.answer().text == "hello \(number)") }
      #expect(client.isOver())
    }
  }

  @Test func `requests after a slow one are answered after the client's FIN`() async throws {
    let gate = Gate()
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return .text("slow")
      }
    }
    try await serving(site) { running in
      let client = try running.connect()
      try client.send(get("/slow") + get("/hello?2"))
      client.finishSending()
      #expect(eventually { gate.arrived == 1 })
      gate.open()
      #expect(try client.answer().text == "slow")
      #expect(try client.answer().text == "hello 2")
      #expect(client.isOver())
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a pipelined request is answered if the FIN arrives before its turn`(polling: EventLoop.Polling) async throws {
    let (gate, finished) = (Gate(), Collected<Int>())
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        let round = gate.arrived
        // Blocks the loop, so that its next turn reads the FIN.
        block { finished.count == round }
        return .text("slow")
      }
    }
    try await serving(site, Variant(polling: polling)) { running in
      for round in 1...20 {
        let client = try running.connect()
        try client.send(get("/slow") + get("/hello?2"))
        #expect(eventually { gate.arrived == round })
        gate.releaseOne()
        client.finishSending()
        finished.add(round)
        #expect(try client.answer().text == "slow")
        #expect(try client.answer().text == "hello 2")
        #expect(client.isOver())
      }
    }
  }

  @Test func `a pipelined request is answered if its turn comes after the idle timeout`() async throws {
    let (gate, begun, expired) = (Gate(), Collected<Int>(), Collected<Int>())
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        begun.add(1)
        // Blocks the loop until the check of the deadlines is queued, before the turn of the second request.
        block { expired.count == 1 }
        return .text("slow")
      }
    }
    try await serving(site, clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send(get("/slow") + get("/hello?2"))
      gate.releaseOne()
      #expect(eventually { begun.count == 1 })
      running.clock?.advance(milliseconds: 100_000)
      for loop in running.server.loops { loop.run { $0.expireDeadlines() } }
      expired.add(1)
      #expect(try client.answer().text == "slow")
      #expect(try client.answer().text == "hello 2")
    }
  }

  @Test(arguments: Variant.allCases)
  func `pipelined requests wait in the kernel buffer`(variant: Variant) async throws {
    let gate = Gate()
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return .text("slow")
      }
    }
    try await serving(site, variant) { running in
      let client = try running.connect()
      try client.send(get("/slow"))
      #expect(eventually { gate.arrived == 1 })
      // Kernel buffers hold some megabytes, the server some ten thousand bytes; then the sender blocks.
      let ahead = Array(get("/hello").utf8)
      let sent = try client.sendUntilFull(Array(repeating: ahead, count: 1_000).flatMap { $0 }, atMost: 64 << 20)
      #expect(sent < 32 << 20)
      gate.open()
      #expect(try client.answer().text == "slow")
      for _ in 0..<2_000 { #expect(try client.answer().text == "hello ") }
      client.reset()
    }
  }

  @Test(arguments: Variant.allCases)
  func `a flood of short requests is read no faster than answered`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let flood = try running.connect(receiveBuffer: 4_096)
      let piece = Array(repeating: Array(get("/hello").utf8), count: 1_000).flatMap { $0 }
      let sent = try flood.sendUntilFull(piece, atMost: 64 << 20)
      #expect(sent < 32 << 20)
      #expect(try running.servesOthers())
      flood.reset()
    }
  }

  @Test(arguments: Variant.allCases)
  func `buffered requests are bounded`(variant: Variant) async throws {
    var limits = Limits()
    limits.pipelined = 1
    try await serving(garden(limits: limits), variant) { running in
      let client = try running.connect(receiveBuffer: 4_096)
      let piece = Array(repeating: Array("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n".utf8), count: 1_000).flatMap { $0 }
      let sent = try client.sendUntilFull(piece, atMost: 64 << 20)
      #expect(sent < 16 << 20)
      client.reset()
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a malformed pipelined request is refused in order`(polling: EventLoop.Polling) async throws {
    let gate = Gate()
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return .text("slow")
      }
    }
    try await serving(site, Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send(get("/slow"))
      #expect(eventually { gate.arrived == 1 })
      try client.send([UInt8](repeating: 0, count: 120_000))
      gate.open()
      #expect(try client.answer().text == "slow")
      #expect(try client.answer().status == 400)
      #expect(client.isOver())
      #expect(try running.servesOthers())
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a request may be split anywhere`(polling: EventLoop.Polling) async throws {
    try await serving(garden(), Variant(polling: polling)) { running in
      let request = Array((post("/echo", "seeds") + chunked("/echo", ["se", "eds"], trailers: "X: y\r\n")).utf8)
      let client = try running.connect()
      for cut in 1..<request.count {
        try client.send(Array(request[..<cut]))
        try client.send(Array(request[cut...]))
        #expect(try client.answer(to: .post).text == "seeds")
        #expect(try client.answer(to: .post).text == "seeds")
      }
      for byte in request { try client.send([byte]) }
      #expect(try client.answer(to: .post).text == "seeds")
      #expect(try client.answer(to: .post).text == "seeds")
    }
  }

  @Test func `HEAD has the length of GET and no body`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send("HEAD /hello?1 HTTP/1.1\r\nHost: a\r\n\r\n" + get("/hello?2"))
      let head = try client.answer(to: .head)
      #expect(head.head.fields["content-length"] == "7")
      #expect(try client.answer().text == "hello 2")
    }
  }

  @Test func `OPTIONS lists the methods`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\nOPTIONS /hello HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.answer().head.fields["allow"]?.contains("GET") == true)
      #expect(try client.answer().head.fields["allow"] == "GET, HEAD, OPTIONS")
    }
  }

  @Test func `an absolute target finds the same route`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send("GET http://garden.example/hello?1 HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.answer().text == "hello 1")
    }
  }
}
