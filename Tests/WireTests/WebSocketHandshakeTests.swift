import Testing

@testable import ParleyWire

struct WebSocketHandshakeTests {
  /// RFC 6455 §1.3.
  static let sample: [(String, String)] = [
    ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Origin", "http://example.com"),
    ("Sec-WebSocket-Protocol", "chat, superchat"), ("Sec-WebSocket-Version", "13"),
  ]

  private func head(
    method: ParleyWire.Method = .get, version: Version = .http11, framing: Framing = .none,
    without removed: String = "",
    adding added: [(String, String)] = []
  ) -> RequestHead {
    var fields = Fields()
    for (name, value) in Self.sample where name != removed { fields.add(name, value) }
    for (name, value) in added { fields.add(name, value) }
    return RequestHead(
      method: method, target: Target(path: "/chat"), version: version, fields: fields, framing: framing)
  }

  private func status(_ head: RequestHead) -> Int {
    do throws(WebSocketHandshake.Refusal) {
      _ = try WebSocketHandshake.accept(head)
      return 101
    } catch {
      return error.status.code
    }
  }

  @Test func `the RFC's example is accepted`() throws {
    let (fields, agreement) = try WebSocketHandshake.accept(head(), subprotocols: ["chat"])
    #expect(fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(fields["upgrade"] == "websocket")
    #expect(fields["connection"] == "Upgrade")
    #expect(fields["sec-websocket-protocol"] == "chat")
    #expect(agreement == WebSocketHandshake.Agreement(subprotocol: "chat"))
  }

  @Test func `without a common subprotocol the response has none`() throws {
    let (fields, agreement) = try WebSocketHandshake.accept(head(), subprotocols: ["parley.v1"])
    #expect(!fields.has("sec-websocket-protocol"))
    #expect(agreement.subprotocol == nil)
  }

  @Test func `the subprotocol is chosen by the server's preference`() throws {
    let (_, agreement) = try WebSocketHandshake.accept(head(), subprotocols: ["new", "superchat", "chat"])
    #expect(agreement.subprotocol == "superchat")
  }

  static let replaced: [(name: String, values: [String], status: Int)] = [
    ("Upgrade", ["WebSocket"], 101), ("Upgrade", ["h2c, websocket"], 101), ("Upgrade", ["h2c"], 426),
    ("Upgrade", [], 426),
    ("Connection", ["keep-alive, UPGRADE"], 101), ("Connection", ["keep-alive", "Upgrade"], 101),
    ("Connection", ["keep-alive"], 426), ("Connection", [], 426),
    ("Host", [], 400), ("Host", ["a", "b"], 400),
    ("Sec-WebSocket-Version", [], 426), ("Sec-WebSocket-Version", ["8"], 426),
    ("Sec-WebSocket-Version", ["13, 8"], 426),
    ("Sec-WebSocket-Version", ["13", "13"], 426), ("Sec-WebSocket-Version", ["013"], 426),
    ("Sec-WebSocket-Key", [], 400),
    ("Sec-WebSocket-Key", ["dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="], 400),
    ("Sec-WebSocket-Key", ["dGhlIHNhbXBsZSBub25jZQ"], 400), ("Sec-WebSocket-Key", ["dGhlIHNhbXBsZSBub25j"], 400),
    ("Sec-WebSocket-Key", ["dGhlIHNhbXBsZSBub25jZR=="], 400), ("Sec-WebSocket-Key", [""], 400),
    ("Sec-WebSocket-Key", ["not base64 at all!!!!!=="], 400), ("Sec-WebSocket-Key", ["dGhlIHNhbXBsZSBub25jZWU="], 400),
    ("Sec-WebSocket-Protocol", [], 101), ("Sec-WebSocket-Protocol", ["a", "b"], 101),
    ("Sec-WebSocket-Protocol", ["a, a"], 400), ("Sec-WebSocket-Protocol", ["a", "a"], 400),
    ("Sec-WebSocket-Protocol", [""], 400), ("Sec-WebSocket-Protocol", [","], 400),
    ("Sec-WebSocket-Protocol", ["a b"], 400),
    ("Sec-WebSocket-Protocol", ["a;b"], 400), ("Sec-WebSocket-Protocol", ["\"a\""], 400),
    ("Sec-WebSocket-Extensions", ["foo; bar=1; baz=\"x\", permessage-deflate"], 101),
    ("Sec-WebSocket-Extensions", ["foo;"], 400), ("Sec-WebSocket-Extensions", ["foo; a="], 400),
    ("Sec-WebSocket-Extensions", ["foo bar"], 400), ("Sec-WebSocket-Extensions", ["foo; a=\"b c\""], 400),
    ("Sec-WebSocket-Extensions", ["foo; a=\"b"], 400), ("Sec-WebSocket-Extensions", ["foo; a=\"\""], 400),
  ]

  @Test(arguments: replaced) func `each field is checked`(name: String, values: [String], status expected: Int) {
    #expect(status(head(without: name, adding: values.map { (name, $0) })) == expected)
  }

  @Test func `the request line and the body are checked`() {
    #expect(status(head(method: .post)) == 405)
    #expect(status(head(version: .http10)) == 400)
    #expect(status(head(framing: .length(3))) == 400)
    #expect(status(head(framing: .chunked)) == 400)
    // The JDK's client.
    #expect(status(head(framing: .length(0))) == 101)
  }

  @Test func `another version gets a response with the supported one`() {
    let other = head(without: "Sec-WebSocket-Version", adding: [("Sec-WebSocket-Version", "8")])
    do throws(WebSocketHandshake.Refusal) {
      _ = try WebSocketHandshake.accept(other)
      Issue.record("version 8 was accepted")
    } catch {
      #expect(error.fields["sec-websocket-version"] == "13")
      #expect(error.fields["upgrade"] == "websocket")
    }
  }

  static let nonce = Array("the sample nonce".utf8)

  @Test func `the client's request matches the RFC's example`() {
    let fields = WebSocketClientHandshake(nonce: Self.nonce, subprotocols: ["chat", "superchat"], deflate: .init())
      .fields
    #expect(fields["sec-websocket-key"] == "dGhlIHNhbXBsZSBub25jZQ==")
    #expect(fields["sec-websocket-version"] == "13")
    #expect(fields["sec-websocket-protocol"] == "chat, superchat")
    #expect(
      fields["sec-websocket-extensions"]
        == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits")
  }

  typealias Failure = WebSocketClientHandshake.Failure

  static let answers: [(status: Status, replaced: String, value: String?, failure: Failure?)] = [
    (101, "", nil, nil), (200, "", nil, .notUpgraded(200)), (426, "", nil, .notUpgraded(426)),
    (101, "Upgrade", nil, .upgradeField), (101, "Upgrade", "h2c", .upgradeField), (101, "Upgrade", "WEBSOCKET", nil),
    (101, "Connection", nil, .connectionField), (101, "Connection", "close", .connectionField),
    (101, "Connection", "close, upgrade", nil),
    (101, "Sec-WebSocket-Accept", nil, .acceptField),
    (101, "Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOO=", .acceptField),
    (101, "Sec-WebSocket-Protocol", nil, nil), (101, "Sec-WebSocket-Protocol", "superchat", nil),
    (101, "Sec-WebSocket-Protocol", "Chat", .subprotocol),
    (101, "Sec-WebSocket-Protocol", "chat, superchat", .subprotocol),
    (101, "Sec-WebSocket-Extensions", "x-webkit-deflate-frame", .extensions),
    (101, "Sec-WebSocket-Extensions", "permessage-deflate, permessage-deflate", .extensions),
    (101, "Sec-WebSocket-Extensions", "permessage-deflate;", .extensions),
    (101, "Sec-WebSocket-Extensions", "permessage-deflate", .extensions),
    (101, "Sec-WebSocket-Extensions", "permessage-deflate; server_no_context_takeover", nil),
    (
      101, "Sec-WebSocket-Extensions", "permessage-deflate; server_no_context_takeover; client_max_window_bits",
      .extensions
    ),
    (101, "Sec-WebSocket-Extensions", "permessage-deflate; server_no_context_takeover; client_max_window_bits=10", nil),
  ]

  @Test(arguments: answers) func `the client rejects anything it did not offer`(
    status: Status, replaced: String, value: String?, failure: Failure?
  ) throws {
    var fields = Fields()
    let sample = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
      ("Sec-WebSocket-Protocol", "chat"),
    ]
    for (name, plain) in sample where name != replaced { fields.add(name, plain) }
    if let value { fields.add(replaced, value) }
    let handshake = WebSocketClientHandshake(nonce: Self.nonce, subprotocols: ["chat", "superchat"], deflate: .init())
    do throws(Failure) {
      _ = try handshake.read(status, fields)
      #expect(failure == nil)
    } catch {
      #expect(error == failure)
    }
  }

  @Test func `an extension that was not offered fails the handshake`() {
    let fields = Fields([
      "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
      "Sec-WebSocket-Extensions": "permessage-deflate",
    ])
    #expect(throws: Failure.extensions) { try WebSocketClientHandshake(nonce: Self.nonce).read(101, fields) }
  }

  @Test func `client and server complete the handshake`() throws {
    for policy in [
      PerMessageDeflate.Policy(), .init(keepsContext: true), .init(windowBits: 9),
      .init(keepsContext: true, windowBits: 12),
    ] {
      let client = WebSocketClientHandshake(nonce: Self.nonce, subprotocols: ["parley.v1"], deflate: policy)
      var asked = client.fields
      asked.add("Host", "garden.example")
      let head = RequestHead(method: .get, target: Target(path: "/"), fields: asked)
      let (fields, agreed) = try WebSocketHandshake.accept(head, subprotocols: ["parley.v1"], deflate: policy)
      #expect(try client.read(.switchingProtocols, fields) == agreed)
      #expect(agreed.subprotocol == "parley.v1")
      #expect(agreed.deflate?.serverKeepsContext == policy.keepsContext)
      #expect(agreed.deflate?.clientKeepsContext == policy.keepsContext)
      #expect(agreed.deflate?.serverWindowBits == policy.windowBits)
      #expect(agreed.deflate?.clientWindowBits == policy.windowBits)
    }
  }
}
