import ParleyNetworking
import ParleyWire
import Synchronization
import Testing
import Web

/// Request bodies.
struct BodyTests {
  /// Reads a body in chunks and responds with its length; waits at the gate after the first chunk.
  private static func counting(_ gate: Gate, limits: Limits = Limits()) -> Application {
    garden(limits: limits) { routes in
      routes.on(.post, "/count", bodyLimit: 1 << 30) { request, _ throws(Problem) in
        var count = 0
        while let piece = try await request.body.read() {
          count += piece.count
          await gate.wait()
        }
        return .text("\(count)")
      }
    }
  }

  @Test(arguments: Variant.allCases)
  func `a large upload waits for a slow handler and arrives complete`(variant: Variant) async throws {
    let gate = Gate()
    try await serving(Self.counting(gate), variant) { running in
      let client = try running.connect()
      let size = 48 << 20
      try client.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
      let piece = [UInt8](repeating: 7, count: 65_536)
      let sent = try client.sendUntilFull(piece, atMost: size)
      #expect(sent < 32 << 20)
      gate.open()
      var rest = size - sent
      while rest > 0 {
        try client.send(Array(piece.prefix(rest)))
        rest -= min(rest, piece.count)
      }
      #expect(try client.answer(to: .post).text == "\(size)")
      #expect(try running.servesOthers())
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a large upload over TLS waits for a slow handler`(polling: EventLoop.Polling) async throws {
    let gate = Gate()
    try await serving(Self.counting(gate), Variant(polling: polling), tls: Identity.garden.server) { running in
      let client = try running.connect(tls: Identity.garden.client)
      let size = 1 << 20
      try client.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
      try client.send([UInt8](repeating: 7, count: size))
      #expect(eventually { gate.arrived == 1 })
      gate.open()
      #expect(try client.answer(to: .post).text == "\(size)")
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a slow handler does not time out the client`(polling: EventLoop.Polling) async throws {
    var limits = Limits()
    limits.byteTime = 1
    let gate = Gate()
    let site = Self.counting(gate, limits: limits)
    try await serving(site, Variant(polling: polling), clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
      try client.send([UInt8](repeating: 7, count: 1_000_000))
      #expect(eventually { gate.arrived == 1 })
      for _ in 0..<22 { await running.advance(100) }
      gate.open()
      #expect(try client.answer(to: .post).text == "1000000")
    }
  }

  @Test func `a chunked body may have trailers`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send(chunked("/echo", ["a", "b;c", "d"], trailers: "Digest: x\r\n") + get("/hello?2"))
      #expect(try client.answer(to: .post).text == "ab;cd")
      #expect(try client.answer().text == "hello 2")
    }
  }

  @Test(arguments: Variant.allCases)
  func `100 Continue is sent when the handler reads`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let client = try running.connect()
      try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.answer().status == 100)
      try client.send("seeds" + get("/hello?2"))
      #expect(try client.answer(to: .post).text == "seeds")
      #expect(try client.answer().text == "hello 2")
    }
  }

  @Test func `100 Continue is not sent when the handler refuses`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      let answer = try client.answer(to: .post)
      #expect(answer.text == "ignored")
      // The server can't know whether the body follows, so it closes the connection.
      #expect(!answer.head.keepsAlive)
      #expect(client.isOver())
    }
  }

  @Test func `a client may send the body without waiting for 100 Continue`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send(post("/echo", "seeds", "Expect: 100-continue") + get("/hello?2"))
      var answer = try client.answer(to: .post)
      if answer.status == 100 { answer = try client.answer(to: .post) }
      #expect(answer.text == "seeds")
      #expect(try client.answer().text == "hello 2")
    }
  }

  @Test func `waiting for 100 Continue does not time out while the handler runs`() async throws {
    var limits = Limits()
    limits.byteTime = 1
    let gate = Gate()
    let site = garden(limits: limits) { routes in
      routes.on(.post, "/think") { request, _ throws(Problem) in
        await gate.wait()
        return .text("\(try await request.body.collect().count)")
      }
    }
    try await serving(site, clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send("POST /think HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(eventually { gate.arrived == 1 })
      for _ in 0..<22 { await running.advance(100) }
      gate.open()
      #expect(try client.answer().status == 100)
      try client.send("seeds")
      #expect(try client.answer(to: .post).text == "5")
    }
  }

  @Test(arguments: [
    "POST /limited HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n",
    "POST /limited HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n",
    "POST /limited HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n",
    "POST /limited HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
  ])
  func `a body over the limit is refused before it is received`(request: String) async throws {
    let site = garden { routes in
      routes.on(.post, "/limited", bodyLimit: 1_000) { request, _ throws(Problem) in
        .text("\(try await request.body.collect().count)")
      }
    }
    try await serving(site) { running in
      let client = try running.connect()
      try client.send(request)
      let answer = try client.answer(to: .post)
      #expect(answer.status == 413)
      #expect(!answer.head.keepsAlive)
      #expect(client.isOver())
    }
  }

  @Test(arguments: Variant.allCases)
  func `a small unread body does not close the connection`(variant: Variant) async throws {
    try await serving(garden(), variant) { running in
      let client = try running.connect()
      try client.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
      #expect(try client.answer(to: .post).text == "ignored")
      try client.send("seeds" + get("/hello?2"))
      #expect(try client.answer().text == "hello 2")
      try client.send(chunked("/ignore", ["a", "b"]) + get("/hello?3"))
      #expect(try client.answer(to: .post).text == "ignored")
      #expect(try client.answer().text == "hello 3")
    }
  }

  @Test(arguments: Variant.allCases)
  func `a large unread body closes the connection after the response`(variant: Variant) async throws {
    let large = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
    let site = garden { routes in
      routes.on(.post, "/refuse", bodyLimit: 1 << 30) { _, _ in Response(.forbidden, large, type: .bytes) }
    }
    try await serving(site, variant) { running in
      for _ in 0..<5 {
        let client = try running.connect()
        try client.send("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
        try client.send([UInt8](repeating: 7, count: 100_000))
        client.finishSending()
        let answer = try client.answer(to: .post)
        #expect(answer.status == 403)
        #expect(answer.body.count == large.count)
        #expect(client.isOver())
      }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a response is not lost while the client continues to send`(polling: EventLoop.Polling) async throws {
    try await serving(garden(), Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\n")
      // The client reads after it has sent everything.
      try client.send([UInt8](repeating: 7, count: 2_000_000))
      let answer = try client.answer(to: .post)
      #expect(answer.text == "ignored")
      #expect(!answer.head.keepsAlive)
    }
  }

  @Test func `many tiny chunks are coalesced`() async throws {
    let gate = Gate()
    let pieces = Collected<Int>()
    let site = garden { routes in
      routes.on(.post, "/pieces") { request, _ throws(Problem) in
        await gate.wait()
        while let piece = try await request.body.read() { pieces.add(piece.count) }
        return .text("done")
      }
    }
    try await serving(site) { running in
      let client = try running.connect()
      try client.send(chunked("/pieces", Array(repeating: "x", count: 5_000)))
      #expect(eventually { gate.arrived == 1 })
      gate.open()
      #expect(try client.answer(to: .post).text == "done")
      #expect(pieces.all.reduce(0, +) == 5_000)
      #expect(pieces.count < 100)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a truncated body fails the handler`(polling: EventLoop.Polling) async throws {
    let seen = Collected<String>()
    let site = garden { routes in
      routes.on(.post, "/whole") { request, _ throws(Problem) in
        do throws(Problem) {
          _ = try await request.body.collect()
        } catch {
          seen.add(error.code)
          throw error
        }
        return .text("whole")
      }
    }
    try await serving(site, Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send("POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nseeds")
      client.finishSending()
      #expect(try client.answer(to: .post).status == 400)
      #expect(client.isOver())
      #expect(seen.all == ["disconnected"])
    }
  }
}
