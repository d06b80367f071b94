/// The client's side of the opening handshake (RFC 6455 §4.1).
public struct WebSocketClientHandshake: Sendable {
  private let key: String
  private let subprotocols: [String]
  private let policy: PerMessageDeflate.Policy?

  /// The reason why a response was rejected.
  public enum Failure: Error, Sendable, Hashable {
    /// An ordinary HTTP response.
    case notUpgraded(Status)
    case upgradeField, connectionField, acceptField, subprotocol, extensions
  }

  /// - Parameter nonce: 16 random bytes, new for each connection.
  public init(nonce: [UInt8], subprotocols: [String] = [], deflate policy: PerMessageDeflate.Policy? = nil) {
    precondition(nonce.count == 16, "RFC 6455 §4.1: the nonce has 16 bytes")
    key = Base64.encode(nonce)
    self.subprotocols = subprotocols
    self.policy = policy
  }

  /// The request fields, without Host and the caller's own fields.
  public var fields: Fields {
    var fields = Fields([
      "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key,
      "Sec-WebSocket-Version": WebSocketHandshake.version,
    ])
    if !subprotocols.isEmpty { fields.add("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")) }
    if let policy { fields.add("Sec-WebSocket-Extensions", PerMessageDeflate.offer(policy)) }
    return fields
  }

  /// Validates the server's response. It must not select an extension or subprotocol that was not offered.
  public func read(_ status: Status, _ fields: Fields) throws(Failure) -> WebSocketHandshake.Agreement {
    guard status == .switchingProtocols else { throw .notUpgraded(status) }
    guard fields.all("upgrade").map({ $0.lowercased() }) == ["websocket"] else { throw .upgradeField }
    guard fields.hasToken("connection", "upgrade") else { throw .connectionField }
    let expected: String
    do { expected = try WebSocketHandshake.acceptance(of: key) } catch { throw .acceptField }
    guard fields.all("sec-websocket-accept") == [expected] else { throw .acceptField }

    var agreement = WebSocketHandshake.Agreement()
    let chosen = fields.all("sec-websocket-protocol")
    if let subprotocol = chosen.first {
      guard chosen.count == 1, subprotocols.contains(subprotocol) else { throw .subprotocol }
      agreement.subprotocol = subprotocol
    }
    guard let extensions = ExtensionElement.list(fields.all("sec-websocket-extensions")) else { throw .extensions }
    if let answer = extensions.first {
      guard extensions.count == 1, let policy, let agreed = PerMessageDeflate.read(answer, to: policy) else {
        throw .extensions
      }
      agreement.deflate = agreed
    }
    return agreement
  }
}
