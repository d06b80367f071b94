internal import ParleyCrypto

/// The server's side of the opening handshake (RFC 6455 §4). The caller checks Origin, credentials and limits first.
public enum WebSocketHandshake {
  /// The negotiated subprotocol and extensions.
  public struct Agreement: Sendable, Hashable {
    public var subprotocol: String?
    public var deflate: PerMessageDeflate?

    public init(subprotocol: String? = nil, deflate: PerMessageDeflate? = nil) {
      self.subprotocol = subprotocol
      self.deflate = deflate
    }
  }

  /// The response to an invalid request.
  public struct Refusal: Error, Sendable {
    public var status: Status
    public var reason: String
    public var fields = Fields()
  }

  static let version = "13"

  /// Returns the fields of the 101 response and the negotiated parameters.
  ///
  /// - Parameter subprotocols: supported subprotocols, preferred first. A client that offers none of them is connected
  ///   without one, and may close (RFC 6455 §4.2.2).
  public static func accept(
    _ head: RequestHead, subprotocols: [String] = [], deflate policy: PerMessageDeflate.Policy? = nil
  ) throws(Refusal) -> (fields: Fields, agreement: Agreement) {
    let key = try checkedKey(head)
    let accepted: String
    do { accepted = try acceptance(of: key) } catch {
      throw Refusal(status: .internalServerError, reason: "there is no SHA-1 here")
    }
    var agreement = Agreement()
    var fields = Fields([
      "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accepted,
    ])

    let offeredProtocols = try offeredSubprotocols(head.fields)
    if let chosen = subprotocols.first(where: { offeredProtocols.contains($0) }) {
      agreement.subprotocol = chosen
      fields.add("Sec-WebSocket-Protocol", chosen)
    }

    guard let offers = ExtensionElement.list(head.fields.all("sec-websocket-extensions")) else {
      throw Refusal(status: .badRequest, reason: "Sec-WebSocket-Extensions is malformed")
    }
    if let policy, let (agreed, answer) = PerMessageDeflate.accept(offers, by: policy) {
      agreement.deflate = agreed
      fields.add("Sec-WebSocket-Extensions", answer)
    }
    return (fields, agreement)
  }

  /// Validates the request (RFC 6455 §4.2.1), the most likely errors first.
  private static func checkedKey(_ head: RequestHead) throws(Refusal) -> String {
    guard head.method == .get else {
      throw Refusal(status: .methodNotAllowed, reason: "a WebSocket opens with GET", fields: Fields(["Allow": "GET"]))
    }
    guard head.version == .http11 else { throw Refusal(status: .badRequest, reason: "a WebSocket needs HTTP/1.1") }
    guard head.fields.hasToken("upgrade", "websocket"), head.fields.hasToken("connection", "upgrade") else {
      throw upgradeRequired("this is a WebSocket: Upgrade: websocket and Connection: Upgrade are needed")
    }
    guard head.fields.all("sec-websocket-version") == [version] else {
      throw upgradeRequired("Sec-WebSocket-Version is not 13")
    }
    guard head.fields.all("host").count == 1 else { throw Refusal(status: .badRequest, reason: "one Host is needed") }
    // One reader would take the following bytes for a body, another for frames.
    // `Content-Length: 0`, as the JDK's client sends it, is no body.
    guard head.framing == .none || head.framing == .length(0) else {
      throw Refusal(status: .badRequest, reason: "the request has a body")
    }
    let keys = head.fields.all("sec-websocket-key")
    guard keys.count == 1, let key = keys.first, Base64.decode(key)?.count == 16 else {
      throw Refusal(status: .badRequest, reason: "Sec-WebSocket-Key is not 16 bytes in base64")
    }
    return key
  }

  /// RFC 6455 §4.4 requires the version, RFC 9110 §15.5.22 the protocol.
  private static func upgradeRequired(_ reason: String) -> Refusal {
    Refusal(
      status: .upgradeRequired, reason: reason,
      fields: Fields(["Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": version]))
  }

  /// RFC 6455 §4.1: unique tokens.
  private static func offeredSubprotocols(_ fields: Fields) throws(Refusal) -> [String] {
    let offered = fields.list("sec-websocket-protocol")
    let areTokens = offered.allSatisfy { $0.utf8.allSatisfy(ASCII.isToken) }
    guard areTokens, Set(offered).count == offered.count, fields.has("sec-websocket-protocol") == !offered.isEmpty
    else {
      throw Refusal(status: .badRequest, reason: "Sec-WebSocket-Protocol is malformed")
    }
    return offered
  }

  /// RFC 6455 §1.3.
  static func acceptance(of key: String) throws(CryptoError) -> String {
    Base64.encode(try Digest.sha1(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }
}
