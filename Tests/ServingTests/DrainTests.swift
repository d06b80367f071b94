import Glibc
import ParleyNetworking
import ParleyWire
import Testing
import Web

/// Shutdown: running requests finish, idle connections close, new ones are refused.
struct DrainTests {
  private static func slow(_ gate: Gate) -> Application {
    garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return .text("slow")
      }
      routes.on(.get, "/socket") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
    }
  }

  @Test(arguments: Variant.allCases)
  func `a running request finishes, an idle connection closes, a new one is refused`(variant: Variant) async throws {
    let gate = Gate()
    try await serving(Self.slow(gate), variant) { running in
      let busy = try running.connect()
      try busy.send(get("/slow") + get("/hello?behind"))
      let idle = try running.connect()
      try idle.send(get("/hello"))
      _ = try idle.answer()
      let untouched = try running.connect()
      let socket = try SocketClient(running)
      #expect(eventually { gate.arrived == 1 && running.server.connectionCount == 4 })

      async let stopped = running.server.stop(within: 100)
      #expect(try idle.readToEnd() == "")
      #expect(try untouched.readToEnd() == "")
      guard case .closed(let closing) = try socket.next() else { throw Unexpected() }
      #expect(closing.code == .goingAway)
      #expect(closing.reason.hasPrefix("restarting; retry in "))
      #expect(throws: RawClient.Failure.system(ECONNREFUSED)) { try running.connect() }
      gate.open()
      let last = try busy.answer()
      #expect(last.text == "slow")
      #expect(!last.head.keepsAlive)
      #expect(try busy.readToEnd() == "")
      #expect(await stopped)
    }
  }

  @Test(arguments: Variant.allCases)
  func `unfinished requests are aborted at the deadline`(variant: Variant) async throws {
    let gate = Gate()
    try await serving(Self.slow(gate), variant) { running in
      let busy = try running.connect()
      try busy.send(get("/slow"))
      #expect(eventually { gate.arrived == 1 })
      #expect(await running.server.stop(within: 0) == false)
      #expect(busy.isOver())
      #expect(running.server.connectionCount == 0)
      gate.open()
    }
  }

  @Test func `a partly received request may be completed`() async throws {
    try await serving(garden()) { running in
      let client = try running.connect()
      try client.send("GET /hello HTT")
      #expect(eventually { running.server.connectionCount == 1 })
      // The server has read it once it responds to a later client.
      #expect(try running.servesOthers())
      async let stopped = running.server.stop(within: 100)
      #expect(eventually { (try? running.connect()) == nil })
      try client.send("P/1.1\r\nHost: a\r\n\r\n")
      let answer = try client.answer()
      #expect(answer.text == "hello ")
      #expect(client.isOver())
      #expect(await stopped)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a request behind a discarded body is answered`(polling: EventLoop.Polling) async throws {
    try await serving(garden(), Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsee")
      #expect(try client.answer(to: .post).head.keepsAlive)
      let idle = try running.connect()
      #expect(eventually { running.server.connectionCount == 2 })
      async let stopped = running.server.stop(within: 100)
      // The idle connection is closed, so this loop is draining.
      #expect(try idle.readToEnd() == "")
      try client.send("ds of q" + get("/hello?2"))
      let last = try client.answer()
      #expect(last.text == "hello 2")
      #expect(!last.head.keepsAlive)
      #expect(client.isOver())
      #expect(await stopped)
    }
  }

  @Test func `a connection closes after the discarded body`() async throws {
    try await serving(garden(), clock: ManualClock()) { running in
      let client = try running.connect()
      try client.send("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsee")
      #expect(try client.answer(to: .post).head.keepsAlive)
      let idle = try running.connect()
      #expect(eventually { running.server.connectionCount == 2 })
      async let stopped = running.server.stop(within: 100)
      #expect(try idle.readToEnd() == "")
      idle.close()
      try client.send("ds of q")
      #expect(client.isOver())
      client.close()
      #expect(await stopped)
    }
  }

  @Test func `an unused server stops`() async throws {
    for variant in Variant.allCases { try await serving(garden(), variant) { _ in } }
  }
}

struct Unexpected: Error {}
