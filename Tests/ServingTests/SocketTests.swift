import ParleyNetworking
import Synchronization
import Testing
import Web

@testable import ParleyWire

/// WebSockets (RFC 6455), from the upgrade to the close.
struct SocketTests {
  private static func site(
    _ options: WebSocketOptions = WebSocketOptions(), limits: Limits = Limits(),
    closings: Collected<WebSocketSession.Closing> = Collected(), drains: Collected<Int> = Collected(),
    gate: Gate = Gate()
  ) -> Application {
    garden(limits: limits) { routes in
      routes.on(.get, "/slow") { _, _ in
        await gate.wait()
        return .text("slow")
      }
      routes.on(.get, "/socket") { _, _ in
        Response(
          .switchingProtocols,
          body: .webSocket(
            WebSocketUpgrade(options: options, subprotocols: ["parley.1", "parley.0"]) {
              EchoSocket($0, closings: closings, drains: drains)
            }))
      }
      routes.on(.get, "/private") { request, _ throws(Problem) in
        guard request.head.target.query == "ada" else {
          throw Problem(.forbidden, code: "forbidden", title: "Not yours.")
        }
        return Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
      routes.on(.get, "/late") { _, _ in
        await Task.yield()
        try? await Task.sleep(for: .milliseconds(20))
        return Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade { EchoSocket($0) }))
      }
      routes.on(.get, "/news") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade(options: options) { News($0, closings) }))
      }
      routes.on(.get, "/one-by-one") { _, _ in
        Response(.switchingProtocols, body: .webSocket(WebSocketUpgrade(options: options) { OneByOne($0) }))
      }
    }
  }

  private static let handshake = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ].map { $0 + "\r\n" }.joined()

  @Test(arguments: Variant.allCases)
  func `a route may refuse, and the connection stays HTTP`(variant: Variant) async throws {
    try await serving(Self.site(), variant) { running in
      let client = try running.connect()
      try client.send("GET /private HTTP/1.1\r\nHost: a\r\n\(Self.handshake)\r\n" + get("/hello?2"))
      let refusal = try client.answer()
      #expect(refusal.status == 403)
      #expect(refusal.head.keepsAlive)
      #expect(try client.answer().text == "hello 2")
      try client.send("GET /private?ada HTTP/1.1\r\nHost: a\r\n\(Self.handshake)\r\n")
      let accepted = try client.answer()
      #expect(accepted.status == 101)
      // The example of RFC 6455 §1.3.
      #expect(accepted.head.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }
  }

  @Test func `a plain request for a WebSocket route is refused`() async throws {
    try await serving(Self.site()) { running in
      let client = try running.connect()
      try client.send(get("/socket"))
      let answer = try client.answer()
      #expect(answer.status == 426)
      #expect(answer.text.contains(#""type":"http://garden.example/docs/errors#"#), "\(answer.text)")
      #expect(answer.head.fields["upgrade"] == "websocket")
      #expect(answer.head.fields["sec-websocket-version"] == "13")
      #expect(client.isOver())
      let other = try running.connect()
      try other.send("HEAD /socket HTTP/1.1\r\nHost: a\r\n\r\n")
      let head = try other.answer(to: .head)
      #expect(head.status == 405 && head.head.fields["allow"] == "GET")
    }
  }

  @Test(arguments: Variant.allCases, [false, true])
  func `frames sent with the handshake are not lost`(variant: Variant, isEncrypted: Bool) async throws {
    try await serving(Self.site(), variant, tls: isEncrypted ? Identity.garden.server : nil) { running in
      let early = (0..<300).map { "early \($0)" }
      for path in ["/socket", "/late"] {
        let client = try SocketClient(
          running, path, tls: isEncrypted ? Identity.garden.client : nil,
          sendingWithHandshake: early.flatMap { SocketClient.frame(text: $0) })
        for text in early { #expect(try client.next() == .text(Array(text.utf8))) }
        try client.send(text: "later")
        #expect(try client.next() == .text(Array("later".utf8)))
      }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases, ["/socket", "/one-by-one"])
  func `messages before the client's FIN are echoed`(polling: EventLoop.Polling, path: String) async throws {
    let gate = Gate()
    let site = Self.site(gate: gate)
    try await serving(site, Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send(get("/slow") + "GET \(path) HTTP/1.1\r\nHost: a\r\n\(Self.handshake)\r\n")
      for number in 0..<10 { try client.send(SocketClient.frame(text: "\(number)")) }
      client.finishSending()
      #expect(eventually { gate.arrived == 1 })
      // The server has read the FIN once it answers a later client.
      #expect(try running.servesOthers())
      gate.open()
      #expect(try client.answer().text == "slow")
      #expect(try client.answer().status == 101)
      for number in 0..<10 { #expect(try client.read(3) == [0x81, 1] + "\(number)".utf8) }
      #expect(client.isOver())
    }
  }

  @Test(arguments: Variant.allCases, [nil, PerMessageDeflate.Policy(), PerMessageDeflate.Policy(keepsContext: true)])
  func `messages are echoed`(variant: Variant, deflate: PerMessageDeflate.Policy?) async throws {
    let options = WebSocketOptions(messageLimit: 2 << 20, deflate: deflate)
    try await serving(Self.site(options), variant) { running in
      let client = try SocketClient(running, deflate: deflate, subprotocols: ["other", "parley.0"])
      #expect(client.agreement.subprotocol == "parley.0")
      #expect((client.agreement.deflate != nil) == (deflate != nil))
      for size in [0, 1, 125, 126, 127, 1_000, 65_535, 65_536, 1_000_000] {
        let text = [UInt8](repeating: UInt8(ascii: "p"), count: size)
        try client.send(text: String(decoding: text, as: UTF8.self))
        #expect(try client.next() == .text(text))
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        try client.send(binary: bytes)
        #expect(try client.next() == .binary(bytes))
      }
      try client.ping([1, 2, 3])
      #expect(try client.next() == .pong([1, 2, 3]))
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `fragments may be split anywhere, with a ping between`(polling: EventLoop.Polling) async throws {
    try await serving(Self.site(), Variant(polling: polling)) { running in
      let client = try SocketClient(running)
      let mask: [UInt8] = [0, 0, 0, 0]
      let frames: [UInt8] =
        [0x01, 0x82] + mask + Array("ga".utf8) + [0x89, 0x81] + mask + [7] + [0x80, 0x84] + mask + Array("rden".utf8)
      for byte in frames { try client.raw.send([byte]) }
      #expect(try client.next() == .pong([7]))
      #expect(try client.next() == .text(Array("garden".utf8)))
    }
  }

  @Test(arguments: Variant.allCases)
  func `either side may close`(variant: Variant) async throws {
    let closings = Collected<WebSocketSession.Closing>()
    try await serving(Self.site(closings: closings), variant) { running in
      let client = try SocketClient(running)
      try client.close(.normal, reason: "enough")
      guard case .closed(let closing) = try client.next() else { throw Unexpected() }
      #expect(closing.code == .normal)
      #expect(client.raw.isOver())
      #expect(eventually { closings.all == [.init(cause: .peer, code: .normal, reason: "enough")] })

      let lost = try SocketClient(running)
      lost.raw.reset()
      #expect(eventually { closings.all.last?.cause == .lost })

      let other = try SocketClient(running, "/one-by-one")
      try other.send(text: "close")
      guard case .closed(let ours) = try other.next() else { throw Unexpected() }
      #expect(ours == .init(cause: .peer, code: .policy, reason: "as requested"))
      #expect(other.raw.isOver())
    }
  }

  @Test(arguments: [
    ([UInt8](repeating: 0, count: 0) + [0xff, 0x80, 0, 0, 0, 0], CloseCode.protocolError),
    ([0x81, 0x01, 0x61], .protocolError),
    ([0x81, 0x81, 0, 0, 0, 0, 0xff], .badData),
    ([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], .tooLong),
  ])
  func `a protocol error closes the socket with its code`(bytes: [UInt8], code: CloseCode) async throws {
    let closings = Collected<WebSocketSession.Closing>()
    try await serving(Self.site(closings: closings)) { running in
      let client = try SocketClient(running)
      try client.raw.send(bytes)
      guard case .closed(let closing) = try client.next() else { throw Unexpected() }
      #expect(closing.code == code)
      #expect(client.raw.isOver())
      #expect(eventually { closings.count == 1 })
    }
  }

  @Test func `inflated bytes are bounded by a rate`() async throws {
    let options = WebSocketOptions(inflation: InflationRate(burst: 50_000, perSecond: 10_000))
    let text = String(repeating: "a", count: 20_000)
    let clock = ManualClock()
    try await serving(Self.site(options), clock: clock) { running in
      let client = try SocketClient(running, deflate: PerMessageDeflate.Policy())
      for _ in 0..<2 {
        try client.send(text: text)
        #expect(try client.next() == .text(Array(text.utf8)))
      }
      clock.advance(milliseconds: 1_000)
      try client.send(text: text)
      #expect(try client.next() == .text(Array(text.utf8)))
      try client.send(text: text)
      guard case .closed(let closing) = try client.next() else {
        Issue.record("a fourth message was accepted")
        return
      }
      #expect(closing.code == .policy)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a silent peer is pinged and then disconnected`(polling: EventLoop.Polling) async throws {
    var limits = Limits()
    limits.socketIdleTime = 2
    let closings = Collected<WebSocketSession.Closing>()
    let site = Self.site(limits: limits, closings: closings)
    try await serving(site, Variant(polling: polling), clock: ManualClock()) { running in
      let alive = try SocketClient(running)
      for _ in 0..<3 {
        // The pong to the last ping may arrive only now, and resets the timeout.
        _ = await running.tenths {
          alive.raw.readAvailable()
          return !alive.raw.received.isEmpty
        }
        #expect(try alive.next() == .ping([]))
        // The pong is sent with these.
        try alive.ping([7])
        #expect(try alive.next() == .pong([7]))
      }
      try alive.close(.normal)
      #expect(alive.raw.isOver())
      let silent = try SocketClient(running)
      await running.advance(1_000)
      #expect(try silent.raw.read(2) == [0x89, 0])
      #expect(closings.count == 1)
      await running.advance(1_000)
      #expect(silent.raw.isOver())
      #expect(eventually { closings.all.map(\.cause) == [.peer, .lost] })
    }
  }

  @Test(arguments: Variant.allCases, [false, true])
  func `a slow reader applies backpressure and loses no message`(variant: Variant, isEncrypted: Bool) async throws {
    let drains = Collected<Int>()
    let options = WebSocketOptions(deflate: nil, queue: 100_000)
    try await serving(
      Self.site(options, drains: drains), variant, tls: isEncrypted ? Identity.garden.server : nil
    ) { running in
      let client = try SocketClient(running, tls: isEncrypted ? Identity.garden.client : nil, receiveBuffer: 4_096)
      let messages = (0..<120).map { [UInt8](repeating: UInt8($0), count: 70_000) }
      // Forty messages fit without reading; the others are sent and read in turn.
      for message in messages.prefix(40) { try client.send(binary: message) }
      for message in messages.prefix(40) { #expect(try client.next() == .binary(message)) }
      for message in messages.dropFirst(40) {
        try client.send(binary: message)
        #expect(try client.next() == .binary(message))
      }
      // The handler is called once when there is room.
      #expect(drains.count < 200)
    }
  }

  @Test(arguments: Variant.allCases)
  func `a slow consumer is closed if the route requires it`(variant: Variant) async throws {
    let closings = Collected<WebSocketSession.Closing>()
    let options = WebSocketOptions(deflate: nil, queue: 100_000, overflow: .close(.tryLater))
    try await serving(Self.site(options, closings: closings), variant) { running in
      let client = try SocketClient(running, "/news", receiveBuffer: 4_096)
      try client.send(text: "go")
      // The server publishes until the close; the connection ends after the close timeout.
      #expect(eventually { closings.count == 1 })
      #expect(eventually { running.server.connectionCount == 0 })
      #expect(client.raw.isOver())
    }
  }

  @Test(arguments: Variant.allCases)
  func `a peer that floods with pings without reading is disconnected`(variant: Variant) async throws {
    let closings = Collected<WebSocketSession.Closing>()
    let options = WebSocketOptions(deflate: nil, queue: 100_000)
    try await serving(Self.site(options, closings: closings), variant) { running in
      let client = try SocketClient(running, receiveBuffer: 4_096)
      let ping: [UInt8] = [0x89, 0xfd, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 125)
      let pings = Array(repeating: ping, count: 500).flatMap { $0 }
      do { for _ in 0..<2_000 { try client.raw.send(pings) } } catch {}
      #expect(eventually { running.server.connectionCount == 0 })
      #expect(eventually { closings.count == 1 })
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a flood of pings before a close still notifies the handler`(polling: EventLoop.Polling) async throws {
    let closings = Collected<WebSocketSession.Closing>()
    let options = WebSocketOptions(deflate: nil, queue: 0)
    try await serving(Self.site(options, closings: closings), Variant(polling: polling)) { running in
      let client = try SocketClient(running)
      let ping: [UInt8] = [0x89, 0xfd, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 125)
      // The pongs exceed the output queue, and all pings arrive in one read.
      let pings = Array(repeating: ping, count: 600).flatMap { $0 }
      let close: [UInt8] = [0x88, 0x80, 0, 0, 0, 0]
      try client.raw.send(pings + close)
      #expect(client.raw.isOver())
      #expect(eventually { closings.count == 1 })
    }
  }

  @Test(arguments: Variant.allCases, [nil, PerMessageDeflate.Policy()])
  func `a paused socket receives no message until it is resumed`(
    variant: Variant, deflate: PerMessageDeflate.Policy?
  ) async throws {
    try await serving(Self.site(WebSocketOptions(deflate: deflate)), variant) { running in
      let client = try SocketClient(running, "/one-by-one", deflate: deflate)
      let texts = (0..<1_000).map { "message \($0) \(String(repeating: "x", count: $0))" }
      for text in texts { try client.send(text: text) }
      for text in texts { #expect(try client.next() == .text(Array(text.utf8))) }
      try client.close(.normal)
      guard case .closed(let closing) = try client.next() else { throw Unexpected() }
      #expect(closing.code == .normal)
    }
  }
}

/// Publishes without regard to backpressure until it is closed.
private final class News: WebSocketHandler {
  private let socket: any WebSocket
  private let closings: Collected<WebSocketSession.Closing>
  private var task: Task<Void, Never>?

  init(_ socket: any WebSocket, _ closings: Collected<WebSocketSession.Closing>) {
    self.socket = socket
    self.closings = closings
  }

  func opened(on loop: isolated any Actor) {}

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    task = Task {
      _ = loop
      let news = SharedFrame(binary: [UInt8](repeating: 1, count: 10_000))
      while socket.send(news) { await Task.yield() }
    }
  }

  func drained(on loop: isolated any Actor) {}

  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {
    task?.cancel()
    closings.add(closing)
  }
}

/// Processes one message at a time.
private final class OneByOne: WebSocketHandler {
  private let socket: any WebSocket
  private var isThinking = false

  init(_ socket: any WebSocket) { self.socket = socket }

  func opened(on loop: isolated any Actor) {}

  func received(_ message: WebSocketMessage, on loop: isolated any Actor) {
    if case .text(let bytes) = message, bytes == Array("close".utf8) {
      return socket.close(.policy, reason: "as requested")
    }
    precondition(!isThinking, "a message came although the socket is paused")
    isThinking = true
    socket.pause()
    Task {
      _ = loop
      await Task.yield()
      isThinking = false
      socket.send(message)
      socket.resume()
    }
  }

  func drained(on loop: isolated any Actor) {}
  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor) {}
}
