import TestSupport
import Testing

@testable import ParleyWire

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

extension PerMessageDeflate {
  fileprivate init(keepsContext: Bool, windowBits: Int = 15) {
    self.init(
      serverKeepsContext: keepsContext, clientKeepsContext: keepsContext, serverWindowBits: windowBits,
      clientWindowBits: windowBits)
  }
}

struct WebSocketDeflateTests {
  static let limit = 2000
  static let long = utf8(String(repeating: "ada: the garden is open. ", count: 40))

  private func server(keepsContext: Bool = false) -> WebSocketSession {
    WebSocketSession(
      role: .server, messageLimit: Self.limit, deflate: PerMessageDeflate(keepsContext: keepsContext),
      streams: DeflateStreams())
  }

  private func deflated(_ plain: [UInt8]) throws -> [UInt8] { try Deflater().deflate(message: plain.span) }

  /// RFC 7692 §7.2.3.1: "Hello".
  static let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]

  @Test func `a compressed message is inflated`() throws {
    Peer.expect({ server() }, Peer.frame(1, Self.hello, reserved: 4), actions: [.text(utf8("Hello"))])
    Peer.expect({ server() }, Peer.frame(1, try deflated(Self.long), reserved: 4), actions: [.text(Self.long)])
    Peer.expect({ server() }, Peer.frame(2, [0], reserved: 4), actions: [.binary([])])
  }

  @Test func `a message may be uncompressed`() {
    Peer.expect({ server() }, Peer.frame(1, utf8("Hello")), actions: [.text(utf8("Hello"))])
  }

  @Test func `a compressed message is fragmented around a ping`() {
    // RFC 7692 §7.2.3.1.
    let bytes =
      Peer.frame(1, Array(Self.hello[..<3]), fin: false, reserved: 4) + Peer.frame(9, [1]) + Peer.frame(0, fin: false)
      + Peer.frame(0, Array(Self.hello[3...]))
    let actions: [Peer.Action] = [.ping([1]), .send(Peer.frame(10, [1], key: nil)), .text(utf8("Hello"))]
    Peer.expect({ server() }, bytes, actions: actions)
  }

  @Test func `with context takeover a message may refer to the previous one`() {
    // RFC 7692 §7.2.3.2: the second "Hello" is a match in the first.
    let bytes = Peer.frame(1, Self.hello, reserved: 4) + Peer.frame(1, [0xf2, 0x00, 0x11, 0x00, 0x00], reserved: 4)
    Peer.expect({ server(keepsContext: true) }, bytes, actions: [.text(utf8("Hello")), .text(utf8("Hello"))])
  }

  // Some clients go on with their context although they agreed to `client_no_context_takeover`.

  @Test func `a message may refer to the previous one although that was not agreed`() throws {
    let again = Peer.frame(1, [0xf2, 0x00, 0x11, 0x00, 0x00], reserved: 4)
    let bytes = Peer.frame(1, Self.hello, reserved: 4) + again + Peer.frame(1, utf8("plain")) + again
    let hello = Peer.Action.text(utf8("Hello"))
    Peer.expect({ server() }, bytes, actions: [hello, hello, .text(utf8("plain")), hello])
    // A first message has nothing to refer to.
    Peer.expect({ server() }, again, actions: Peer.refused(.deflate))
    // A message may not refer to more than was sent.
    let deflater = try Deflater()
    _ = try deflater.deflate(message: Self.long.span)
    let far = Peer.frame(1, try deflater.deflate(message: Self.long.span), reserved: 4)
    Peer.expect({ server() }, Peer.frame(1, Self.hello, reserved: 4) + far, actions: [hello] + Peer.refused(.deflate))
  }

  @Test func `a client that keeps its context is understood for as long as it does`() throws {
    let deflater = try Deflater()
    var session = server()
    var random = Seeded(seed: 7692)
    var maxFootprint = 0
    for number in 0..<200 {
      let noise = (0..<Int.random(in: 1...300, using: &random)).map { _ in UInt8.random(in: 97...122, using: &random) }
      let text = utf8("{\"id\":\(number),\"do\":\"send\",\"text\":\"") + noise
      var actions: [Peer.Action] = []
      session.receive(Peer.frame(1, try deflater.deflate(message: text.span), reserved: 4).span, into: &actions)
      try #require(actions == [.text(text)])
      maxFootprint = max(maxFootprint, session.footprint)
    }
    #expect(maxFootprint > 30_000)
    #expect(maxFootprint <= 65_536 + 4_096)
  }

  @Test func `the window of a client that never needs it is released`() throws {
    var session = server()
    let bytes = Peer.frame(1, try deflated(Self.long), reserved: 4)
    for number in 1...20 {
      var actions: [Peer.Action] = []
      session.receive(bytes.span, into: &actions)
      try #require(actions == [.text(Self.long)])
      #expect((session.footprint == 0) == (number > 8))
    }
  }

  static let faults: [(name: String, bytes: [UInt8], fault: WebSocketFault)] = [
    ("RSV1 on a continuation", Peer.frame(1, fin: false) + Peer.frame(0, reserved: 4), .reservedBits),
    ("RSV1 on a ping", Peer.frame(9, reserved: 4), .reservedBits),
    ("RSV1 on a close", Peer.frame(8, reserved: 4), .reservedBits),
    ("RSV2", Peer.frame(1, hello, reserved: 2), .reservedBits),
    ("no DEFLATE", Peer.frame(1, [0xff, 0xff], reserved: 4), .deflate),
    ("nothing at all", Peer.frame(1, [], reserved: 4), .deflate),
    ("half a message", Peer.frame(1, Array(hello[..<3]), reserved: 4), .deflate),
    ("a stored byte that is not text", Peer.frame(1, [0, 1, 0, 0xfe, 0xff, 0xff, 0], reserved: 4), .text),
    ("a wrong character before wrong DEFLATE", Peer.frame(1, [0, 1, 0, 0xfe, 0xff, 0xff, 6], reserved: 4), .text),
    ("half a character", Peer.frame(1, [0, 1, 0, 0xfe, 0xff, 0xce, 0], reserved: 4), .text),
  ]

  @Test(arguments: faults) func `a fault ends the session`(name: String, bytes: [UInt8], fault: WebSocketFault) {
    Peer.expect({ server() }, bytes + Peer.frame(1), actions: Peer.refused(fault))
  }

  @Test func `an invalid character ends the session before the end of the message`() {
    let bytes = Peer.frame(1, [0, 9, 0, 0xf6, 0xff, 0x61, 0xff, 0x61, 0x61], fin: false, reserved: 4)
    #expect(Peer.actions(server(), [Array(bytes.dropLast(2))]) == Peer.refused(.text))
  }

  @Test func `a message that inflates beyond the limit is refused within bounded memory`() throws {
    let bomb = Peer.frame(2, try deflated([UInt8](repeating: 0, count: 1_000_000)), fin: false, reserved: 4)
    for pieces in [[bomb], bomb.map { [$0] }] {
      var session = server()
      var actions: [Peer.Action] = []
      var maxFootprint = 0
      for piece in pieces {
        session.receive(piece.span, into: &actions)
        maxFootprint = max(maxFootprint, session.footprint)
      }
      #expect(actions == Peer.refused(.tooLong))
      #expect(maxFootprint < Self.limit + 100 + 40_000 + 4096)
      #expect(session.footprint == 0)
    }
  }

  @Test func `inflated bytes are bounded over several messages`() throws {
    let bytes = Peer.frame(1, try deflated(Self.long), reserved: 4)
    var session = server()
    session.inflatable = Self.long.count * 2 + 500
    var actions: [Peer.Action] = []
    for _ in 0..<3 { session.receive(bytes.span, into: &actions) }
    #expect(actions == [.text(Self.long), .text(Self.long)] + Peer.refused(.tooManyInflated))
    // A message above both limits is too long.
    session = server()
    session.inflatable = Self.limit + 500
    actions = []
    session.receive(
      Peer.frame(1, try deflated([UInt8](repeating: 97, count: 10_000)), reserved: 4).span, into: &actions)
    #expect(actions == Peer.refused(.tooLong))
  }

  @Test func `a compressed message of exactly the limit is accepted`() throws {
    let plain = [UInt8](repeating: 0, count: Self.limit)
    let bytes = Peer.frame(2, try deflated(plain), reserved: 4)
    #expect(Peer.actions(server(), [bytes]) == [.binary(plain)])
  }

  @Test func `a frame that is longer compressed than inflated is inflated in parts`() throws {
    // 40 KB of empty stored blocks, then "Hello".
    let empty: [UInt8] = [0x00, 0x00, 0x00, 0xff, 0xff]
    let payload = (0..<8000).flatMap { _ in empty } + Self.hello
    #expect(Peer.actions(server(), [Peer.frame(1, payload, reserved: 4)]) == [.text(utf8("Hello"))])
  }

  @Test func `sessions with shared streams are independent`() throws {
    let streams = DeflateStreams()
    var actions: [Peer.Action] = []
    var sessions = (0..<10).map { _ in
      WebSocketSession(
        role: .server, messageLimit: Self.limit, deflate: PerMessageDeflate(keepsContext: false), streams: streams)
    }
    let payload = try deflated(Self.long)
    let first = Peer.frame(1, Array(payload[..<9]), fin: false, reserved: 4)
    let last = Peer.frame(0, Array(payload[9...]))
    for _ in 0..<3 {
      for index in sessions.indices { sessions[index].receive(first.span, into: &actions) }
      for index in sessions.indices { sessions[index].receive(last.span, into: &actions) }
    }
    #expect(actions == Array(repeating: .text(Self.long), count: 30))

    // The next session reuses an inflater after a fault or a partial message.
    for bytes in [Peer.frame(1, [0xff], reserved: 4), first + Peer.frame(8)] {
      sessions[0].receive(bytes.span, into: &actions)
      sessions.removeFirst()
      actions = []
      for index in sessions.indices { sessions[index].receive((first + last).span, into: &actions) }
      #expect(actions == Array(repeating: .text(Self.long), count: sessions.count))
    }
  }

  @Test func `a long message is sent compressed, a short one uncompressed`() throws {
    var session = server()
    let sent = session.send(text: Self.long)
    let bytes = try #require(sent)
    #expect(bytes[0] == 0xc1)
    #expect(bytes.count < Self.long.count / 4)
    let short = utf8(String(repeating: "a", count: WebSocketFrame.smallestDeflated - 1))
    #expect(session.send(text: short) == Peer.frame(1, short, key: nil))
    #expect(session.sendPing(Array(Self.long[..<125])) == Peer.frame(9, Array(Self.long[..<125]), key: nil))
    #expect(session.footprint == 0)
  }

  @Test func `incompressible data is sent uncompressed`() throws {
    var random = Seeded(seed: 3)
    let noise = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
    var session = server()
    #expect(session.send(binary: noise) == Peer.frame(2, noise, key: nil))
  }

  @Test func `a shared frame is compressed once and read by every client`() throws {
    let shared = SharedFrame(text: Self.long, deflatedBy: DeflateStreams())
    let session = server()
    let bytes = try #require(session.frame(of: shared))
    #expect(bytes == shared.deflated)
    let client = WebSocketSession(
      role: .client(nextMask: { 0 }), messageLimit: Self.limit, deflate: PerMessageDeflate(keepsContext: false),
      streams: DeflateStreams())
    #expect(Peer.actions(client, [bytes, bytes]) == [.text(Self.long), .text(Self.long)])
  }

  @Test func `a session without compatible compression gets the uncompressed frame`() {
    let shared = SharedFrame(text: Self.long, deflatedBy: DeflateStreams())
    #expect(server(keepsContext: true).frame(of: shared) == shared.plain)
    let small = PerMessageDeflate(keepsContext: false, windowBits: 10)
    for deflate in [small, nil] {
      let session = WebSocketSession(role: .server, messageLimit: 1, deflate: deflate, streams: DeflateStreams())
      #expect(session.frame(of: shared) == shared.plain)
    }
  }

  static let agreements: [PerMessageDeflate?] =
    [nil]
    + [8, 9, 12, 15].flatMap { bits in
      [false, true].map { PerMessageDeflate(keepsContext: $0, windowBits: bits) }
    }

  @Test(arguments: agreements) func `client and server exchange messages`(deflate: PerMessageDeflate?) throws {
    var random = Seeded(seed: 6455)
    let streams = DeflateStreams()
    var keys = Seeded(seed: 1)
    var client = WebSocketSession(
      role: .client(nextMask: { UInt32(truncatingIfNeeded: keys.next()) }), messageLimit: 100_000, deflate: deflate,
      streams: streams)
    var server = WebSocketSession(role: .server, messageLimit: 100_000, deflate: deflate, streams: streams)
    let words = ["ada", "grace", "garden", "forum", "日本語", " ", "\n", "{\"id\":", "}"]

    /// Delivers the bytes in random pieces.
    func deliver(_ bytes: [UInt8], to receiver: inout WebSocketSession) -> [Peer.Action] {
      var actions: [Peer.Action] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(Int.random(in: 1...5000, using: &random)))
        rest = rest.dropFirst(piece.count)
        receiver.receive(piece.span, into: &actions)
      }
      return actions
    }

    for turn in 0..<60 {
      let count = Int.random(in: 0...(turn % 10 == 0 ? 9000 : 100), using: &random)
      let text = (0..<count).flatMap { _ in utf8(words.randomElement(using: &random) ?? "") }
      let request = client.send(text: text)
      #expect(deliver(try #require(request), to: &server) == [.text(text)])
      let reply = server.send(binary: text)
      #expect(deliver(try #require(reply), to: &client) == [.binary(text)])
    }
    if deflate?.serverKeepsContext != true {
      #expect(client.footprint == 0)
      #expect(server.footprint == 0)
    }

    let farewell = client.close(.normal, reason: "done")
    let actions = deliver(try #require(farewell), to: &server)
    #expect(actions.last == .closed(.init(cause: .peer, code: .normal, reason: "done")))
    guard case .send(let echo)? = actions.first else {
      Issue.record("the server did not answer the close")
      return
    }
    #expect(deliver(echo, to: &client) == [.closed(.init(cause: .us, code: .normal, reason: ""))])
  }
}
