import Testing

@testable import ParleyWire

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

struct WebSocketSessionTests {
  static let limit = 1000

  private func server() -> WebSocketSession {
    WebSocketSession(role: .server, messageLimit: Self.limit, streams: DeflateStreams())
  }

  private func client() -> WebSocketSession {
    WebSocketSession(role: .client(nextMask: { 0x0403_0201 }), messageLimit: Self.limit, streams: DeflateStreams())
  }

  static let long = [UInt8](repeating: 0x61, count: limit)

  static let messages: [(name: String, bytes: [UInt8], actions: [Peer.Action])] = [
    ("nothing", [], []),
    ("a text", Peer.frame(1, utf8("Hello")), [.text(utf8("Hello"))]),
    ("an empty text", Peer.frame(1), [.text([])]),
    ("a binary", Peer.frame(2, [0, 0xff, 0xc0]), [.binary([0, 0xff, 0xc0])]),
    ("an empty binary", Peer.frame(2), [.binary([])]),
    ("a text of the limit", Peer.frame(1, long), [.text(long)]),
    (
      "two texts", Peer.frame(1, utf8("ada")) + Peer.frame(1, utf8("grace")),
      [.text(utf8("ada")), .text(utf8("grace"))]
    ),
    ("a key of zeros", Peer.frame(1, utf8("ada"), key: [0, 0, 0, 0]), [.text(utf8("ada"))]),
    ("fragments", Peer.frame(1, utf8("gar"), fin: false) + Peer.frame(0, utf8("den")), [.text(utf8("garden"))]),
    (
      "many fragments with other keys",
      Peer.frame(2, [1], fin: false) + Peer.frame(0, [2], fin: false, key: [9, 8, 7, 6]) + Peer.frame(0, [], fin: false)
        + Peer.frame(0, [3]),
      [.binary([1, 2, 3])]
    ),
    ("fragments of nothing", Peer.frame(1, fin: false) + Peer.frame(0, fin: false) + Peer.frame(0), [.text([])]),
    (
      "a character over two fragments", Peer.frame(1, [0xce], fin: false) + Peer.frame(0, [0xba]), [.text(utf8("κ"))]
    ),
    (
      "control frames between fragments",
      Peer.frame(1, utf8("gar"), fin: false) + Peer.frame(9, utf8("?")) + Peer.frame(10, utf8("!"))
        + Peer.frame(0, utf8("den")),
      [.ping(utf8("?")), .send(Peer.frame(10, utf8("?"), key: nil)), .pong(utf8("!")), .text(utf8("garden"))]
    ),
    (
      "a ping", Peer.frame(9, utf8("are you there")),
      [
        .ping(utf8("are you there")), .send(Peer.frame(10, utf8("are you there"), key: nil)),
      ]
    ),
    ("an empty ping", Peer.frame(9), [.ping([]), .send([0x8a, 0])]),
    (
      "the longest ping", Peer.frame(9, Array(long[..<125])),
      [
        .ping(Array(long[..<125])), .send(Peer.frame(10, Array(long[..<125]), key: nil)),
      ]
    ),
    ("an unsolicited pong", Peer.frame(10, utf8("x")), [.pong(utf8("x"))]),
    (
      "fragments of the limit together", Peer.frame(2, Array(long[..<999]), fin: false) + Peer.frame(0, [0x61]),
      [.binary(long)]
    ),
  ]

  @Test(arguments: messages) func `messages and control frames are reassembled`(
    name: String, bytes: [UInt8], actions: [Peer.Action]
  ) {
    Peer.expect(server, bytes, actions: actions)
  }

  static let faults: [(name: String, bytes: [UInt8], fault: WebSocketFault)] = [
    ("an unmasked client frame", Peer.frame(1, utf8("a"), key: nil), .unmasked),
    ("an unmasked ping", Peer.frame(9, key: nil), .unmasked),
    ("RSV1 without its extension", Peer.frame(1, reserved: 4), .reservedBits),
    ("RSV1 on a ping", Peer.frame(9, reserved: 4), .reservedBits),
    ("RSV2", Peer.frame(1, reserved: 2), .reservedBits),
    ("RSV3", Peer.frame(2, reserved: 1), .reservedBits),
    ("a reserved data opcode", Peer.frame(3), .reservedOpcode),
    ("a reserved control opcode", Peer.frame(11), .reservedOpcode),
    ("a fragmented ping", Peer.frame(9, fin: false), .fragmentedControl),
    ("a fragmented close", Peer.frame(8, fin: false), .fragmentedControl),
    ("a ping of 126 bytes", Peer.frame(9, Array(long[..<126])), .longControl),
    ("a continuation of nothing", Peer.frame(0, utf8("a")), .unexpectedContinuation),
    ("a last continuation of nothing", Peer.frame(0, utf8("a"), fin: false), .unexpectedContinuation),
    ("a text inside a text", Peer.frame(1, utf8("a"), fin: false) + Peer.frame(1, utf8("b")), .messageIncomplete),
    ("a binary inside a text", Peer.frame(1, fin: false) + Peer.frame(2), .messageIncomplete),
    ("a length of five in two bytes", [0x81, 0xfe, 0, 5], .nonMinimalLength),
    ("a length of five in eight bytes", [0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 5], .nonMinimalLength),
    ("a negative length", [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0], .lengthTooLarge),
    ("one byte too long", Peer.frame(2, long + [0]), .tooLong),
    ("far too long", [0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4], .tooLong),
    ("fragments too long together", Peer.frame(2, long, fin: false) + Peer.frame(0, [0]), .tooLong),
    ("text that is not UTF-8", Peer.frame(1, [0xce, 0xba, 0xff]), .text),
    ("a surrogate", Peer.frame(1, [0xed, 0xa0, 0x80]), .text),
    ("text that ends inside a character", Peer.frame(1, [0xce]), .text),
    ("fragments that end inside a character", Peer.frame(1, [0xce], fin: false) + Peer.frame(0), .text),
    ("a wrong byte in the first fragment", Peer.frame(1, [0xf5], fin: false), .text),
    ("half a close code", Peer.frame(8, [3]), .closeTooShort),
    ("a close reason that is not UTF-8", Peer.frame(8, [0x03, 0xe8, 0xff]), .closeReason),
    ("a close reason that ends inside a character", Peer.frame(8, [0x03, 0xe8, 0xce]), .closeReason),
  ]

  @Test(arguments: faults) func `a fault sends Close and ends the session`(
    name: String, bytes: [UInt8], fault: WebSocketFault
  ) {
    Peer.expect(server, bytes + Peer.frame(1, utf8("never seen")), actions: Peer.refused(fault))
    Peer.expect(server, Peer.frame(1, utf8("seen")) + bytes, actions: [.text(utf8("seen"))] + Peer.refused(fault))
  }

  @Test func `a masked server frame is refused`() {
    let actions = Peer.actions(client(), [Peer.frame(1, utf8("a"))])
    #expect(
      actions.last == .closed(.init(cause: .fault(.masked), code: .protocolError, reason: WebSocketFault.masked.reason))
    )
  }

  @Test func `an invalid byte ends the session before the end of the frame`() {
    // Autobahn 6.4.3: a frame of 20 bytes, the fifth is invalid.
    var bytes = Peer.frame(1, utf8("κόσμ") + [0xf4, 0x90] + [UInt8](repeating: 0x61, count: 10))
    bytes.removeLast(10)
    #expect(Peer.actions(server(), [bytes]) == Peer.refused(.text))
    bytes.removeLast()
    #expect(Peer.actions(server(), [bytes]) == [])
  }

  @Test(
    arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]
      as [UInt16])
  func `a valid close code is echoed`(number: UInt16) throws {
    let code = try #require(CloseCode(number))
    Peer.expect(
      server, Peer.frame(8, Peer.closing(number, "leaving 🌱")) + Peer.frame(1, utf8("too late")),
      actions: [
        .send(Peer.frame(8, Peer.closing(number), key: nil)),
        .closed(.init(cause: .peer, code: code, reason: "leaving 🌱")),
      ])
  }

  @Test(arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] as [UInt16])
  func `a reserved close code is a fault`(number: UInt16) {
    Peer.expect(server, Peer.frame(8, Peer.closing(number)), actions: Peer.refused(.closeCode))
  }

  @Test func `a close without a code is answered without one`() {
    Peer.expect(
      server, Peer.frame(8), actions: [.send([0x88, 0]), .closed(.init(cause: .peer, code: .unnamed, reason: ""))])
  }

  @Test func `a close inside a message drops its received part`() {
    Peer.expect(
      server, Peer.frame(1, utf8("gar"), fin: false) + Peer.frame(8, Peer.closing(1000)) + Peer.frame(0, utf8("den")),
      actions: [
        .send(Peer.frame(8, Peer.closing(1000), key: nil)), .closed(.init(cause: .peer, code: .normal, reason: "")),
      ])
  }

  @Test func `after our close data is ignored, pings are answered, and the peer's close ends the session`() {
    let closed: () -> WebSocketSession = {
      var session = self.server()
      #expect(session.close(.goingAway, reason: "bye") == Peer.frame(8, Peer.closing(1001, "bye"), key: nil))
      return session
    }
    Peer.expect(
      closed,
      Peer.frame(1, utf8("unread")) + Peer.frame(0, [0xff]) + Peer.frame(9, utf8("?"))
        + Peer.frame(2, Self.long + Self.long)
        + Peer.frame(8, Peer.closing(1000)),
      actions: [
        .ping(utf8("?")), .send(Peer.frame(10, utf8("?"), key: nil)),
        .closed(.init(cause: .us, code: .normal, reason: "")),
      ])
  }

  @Test func `a fault after our close sends no second one`() {
    var session = server()
    _ = session.close(.normal)
    let fault = WebSocketFault.reservedOpcode
    #expect(
      Peer.actions(session, [Peer.frame(3)]) == [
        .closed(.init(cause: .fault(fault), code: fault.code, reason: fault.reason))
      ])
  }

  @Test func `frames before the peer's close are still answered`() {
    var session = server()
    var actions: [WebSocketSession.Action] = []
    session.receive((Peer.frame(1, utf8("garden")) + Peer.frame(8, [0x03, 0xe8])).span, into: &actions)
    #expect(actions.first == .text(utf8("garden")))
    #expect(session.send(text: "open") != nil)
    #expect(session.sendPing() == nil)
    session.finish()
    #expect(session.send(text: "too late") == nil)
  }

  @Test func `no frame is sent after a close`() {
    var session = server()
    #expect(session.isOpen)
    _ = session.close(.normal)
    #expect(!session.isOpen)
    #expect(session.send(text: "too late") == nil)
    #expect(session.send(binary: [1]) == nil)
    #expect(session.sendPing() == nil)
    #expect(session.close(.normal) == nil)
    #expect(session.frame(of: SharedFrame(text: utf8("too late"))) == nil)
  }

  @Test func `a close in the middle of a message drops it`() {
    var session = server()
    var actions: [Peer.Action] = []
    session.receive(Peer.frame(1, Self.long, fin: false).span, into: &actions)
    #expect(session.footprint >= Self.limit)
    _ = session.close(.normal)
    #expect(session.footprint == 0)
    session.receive((Peer.frame(0, utf8("rest")) + Peer.frame(8)).span, into: &actions)
    #expect(actions == [.closed(.init(cause: .us, code: .unnamed, reason: ""))])
  }

  @Test func `a transport that ends without a close is lost`() {
    var session = server()
    var actions: [Peer.Action] = []
    session.transportEnded(into: &actions)
    session.transportEnded(into: &actions)
    session.receive(Peer.frame(1).span, into: &actions)
    #expect(actions == [.closed(.init(cause: .lost, code: .lost, reason: ""))])
  }

  @Test func `a long reason is cut between characters`() {
    var session = server()
    let bytes = session.close(.normal, reason: String(repeating: "日", count: 100))
    #expect(bytes == Peer.frame(8, Peer.closing(1000, String(repeating: "日", count: 41)), key: nil))
  }

  @Test func `a reserved code is not sent`() {
    var session = server()
    #expect(session.close(.lost) == [0x88, 0])
  }

  @Test func `a server does not mask and a client does`() {
    var server = server()
    var client = client()
    #expect(server.send(text: "Hello") == [0x81, 5] + utf8("Hello"))
    #expect(server.send(binary: [7]) == [0x82, 1, 7])
    #expect(server.sendPing([1]) == [0x89, 1, 1])
    #expect(client.send(text: "Hello") == Peer.frame(1, utf8("Hello"), key: [1, 2, 3, 4]))
    #expect(client.sendPing() == Peer.frame(9, key: [1, 2, 3, 4]))
    #expect(client.close(.normal) == Peer.frame(8, Peer.closing(1000), key: [1, 2, 3, 4]))
  }

  @Test(arguments: [0, 1, 125, 126, 127, 128, 65535, 65536, 70000]) func `every length has its shortest encoding`(
    length: Int
  ) {
    var session = server()
    let message = [UInt8](repeating: 0x61, count: length)
    #expect(session.send(binary: message) == Peer.frame(2, message, key: nil))
  }

  @Test func `a shared frame equals the frame of each session`() {
    let shared = SharedFrame(text: utf8("the garden is open"), deflatedBy: DeflateStreams())
    var session = server()
    #expect(session.frame(of: shared) == session.send(text: "the garden is open"))
    #expect(client().frame(of: shared) == nil)
  }

  @Test func `a client answers a ping with a mask`() {
    Peer.expect(
      client, Peer.frame(9, [1], key: nil), actions: [.ping([1]), .send(Peer.frame(10, [1], key: [1, 2, 3, 4]))])
  }

  @Test func `between messages a session uses no buffer memory`() {
    var session = server()
    var actions: [Peer.Action] = []
    session.receive(
      (Peer.frame(1, Self.long) + Peer.frame(9, [1]) + Peer.frame(2, fin: false) + Peer.frame(0)).span, into: &actions)
    #expect(actions.count == 4)
    #expect(session.footprint == 0)
  }

  @Test func `fragments use at most the limit`() {
    var session = server()
    var actions: [Peer.Action] = []
    session.receive(Peer.frame(2, [0], fin: false).span, into: &actions)
    for _ in 1..<Self.limit {
      session.receive(Peer.frame(0, [0], fin: false).span, into: &actions)
      #expect(session.footprint <= Self.limit + 64)
    }
    #expect(actions == [])
    session.receive(Peer.frame(0, [0], fin: false).span, into: &actions)
    #expect(actions == Peer.refused(.tooLong))
  }
}
