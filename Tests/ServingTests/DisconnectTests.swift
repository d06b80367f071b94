import ParleyNetworking
import ParleyWire
import Testing
import Web

/// Clients that disconnect, cleanly or not.
struct DisconnectTests {
  @Test(arguments: Variant.allCases)
  func `a client that closes its write side still gets the response`(variant: Variant) async throws {
    let gate = Gate()
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return Response(.ok, [UInt8](repeating: 1, count: 5_000_000), type: .bytes)
      }
    }
    try await serving(site, variant) { running in
      let quick = try running.connect()
      try quick.send(post("/echo", "seeds"))
      quick.finishSending()
      #expect(try quick.answer(to: .post).text == "seeds")
      #expect(try quick.readToEnd() == "")

      let client = try running.connect()
      try client.send(get("/slow"))
      client.finishSending()
      #expect(eventually { gate.arrived == 1 })
      gate.open()
      #expect(try client.answer().body.count == 5_000_000)
      #expect(try client.readToEnd() == "")
    }
  }

  @Test(arguments: Variant.allCases, ["", "G", "GET /hello HTTP/1.1\r\nHo", "GET /hello HTTP/1.1\r\nHost: a\r\n\r"])
  func `a truncated request closes the connection`(variant: Variant, text: String) async throws {
    let calls = Collected<String>()
    try await serving(garden(calls: calls), variant) { running in
      let client = try running.connect()
      try client.send(text)
      client.finishSending()
      #expect(try client.readToEnd() == "")
      #expect(calls.count == 0)
    }
  }

  /// `serving` checks that no connection is left and that all memory was freed.
  @Test(arguments: Variant.allCases, [false, true])
  func `a vanished client is freed in every state`(variant: Variant, isEncrypted: Bool) async throws {
    let gate = Gate()
    let site = garden { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return .text("slow")
      }
      routes.on(.post, "/stuck", bodyLimit: 1 << 30) { request, _ throws(Problem) in
        _ = try await request.body.read()
        await gate.wait()
        return .text("\(try await request.body.collect().count)")
      }
      routes.on(.get, "/endless") { _, _ in
        Response(
          .ok,
          body: .stream(length: nil) { writer in
            while true { try await writer.write([UInt8](repeating: 1, count: 10_000)) }
          })
      }
      routes.on(.get, "/bytes") { _, _ in Response(.ok, [UInt8](repeating: 1, count: 20 << 20), type: .bytes) }
      routes.on(.get, "/socket") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
    }
    let stages = [
      "", "GET /he", get("/hello"), get("/slow"), get("/slow") + get("/slow"), get("/endless"), get("/bytes"),
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsee",
      "POST /stuck HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n" + String(repeating: "x", count: 300_000),
      "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsee",
      chunked("/echo", ["a", "b"]) + "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nse",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n",
      get("/hello", "Connection: close"), "nonsense\r\n\r\n",
      get(
        "/socket", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    try await serving(site, variant, tls: isEncrypted ? Identity.garden.server : nil) { running in
      for byReset in [true, false] {
        for stage in stages {
          let client = try running.connect(tls: isEncrypted ? Identity.garden.client : nil)
          try client.send(stage)
          if byReset { client.reset() } else { client.close() }
        }
        let early = try running.connect()
        if byReset { early.reset() }
      }
      gate.open()
      #expect(eventually { running.server.connectionCount == 0 })
      #expect(try running.servesOthers(tls: isEncrypted ? Identity.garden.client : nil))
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a handler is cancelled when its client disconnects`(polling: EventLoop.Polling) async throws {
    let events = Collected<String>()
    let site = garden { routes in
      routes.on(.get, "/long") { _, _ in
        events.add("began")
        do { try await Task.sleep(for: .seconds(600)) } catch { events.add("cancelled") }
        return .text("long")
      }
    }
    try await serving(site, Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send(get("/long"))
      #expect(eventually { events.count == 1 })
      client.reset()
      #expect(eventually { events.all == ["began", "cancelled"] })
    }
  }
}
