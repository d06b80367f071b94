public import ParleyWire

/// A handler's answer that turns the connection into a WebSocket. The server checks the handshake itself; whatever the
/// route wanted to ask first (who is it, from where) has been asked.
public struct WebSocketUpgrade {
  public var options: WebSocketOptions
  /// What the route speaks, the best first; the first that the client offered is chosen.
  public var subprotocols: [String]
  /// Makes the handler, once the handshake is done.
  public var open: (any WebSocket) -> any WebSocketHandler

  public init(
    options: WebSocketOptions = WebSocketOptions(), subprotocols: [String] = [],
    open: @escaping (any WebSocket) -> any WebSocketHandler
  ) {
    self.options = options
    self.subprotocols = subprotocols
    self.open = open
  }
}

public struct WebSocketOptions: Sendable {
  /// The largest message that is taken, in bytes after inflating; a larger one closes with 1009. Nil: the server's
  /// usual limit.
  public var messageLimit: Int?
  /// Whether, and how, permessage-deflate is agreed to.
  public var deflate: PerMessageDeflate.Policy?
  /// How many bytes may wait to be sent.
  public var queue: Int
  /// What happens when they would be more.
  public var overflow: Overflow

  public enum Overflow: Sendable {
    /// `send` refuses, and `drained` says when it would take more.
    case refuse
    /// The socket closes with this code, behind what waits; who takes nothing is cut off after a moment.
    case close(CloseCode)
  }

  public init(
    messageLimit: Int? = nil, deflate: PerMessageDeflate.Policy? = PerMessageDeflate.Policy(), queue: Int = 1 << 20,
    overflow: Overflow = .refuse
  ) {
    self.messageLimit = messageLimit
    self.deflate = deflate
    self.queue = queue
    self.overflow = overflow
  }
}

/// What hears a socket, always on its loop.
public protocol WebSocketHandler: AnyObject {
  func opened(on loop: isolated any Actor)
  func received(_ message: WebSocketMessage, on loop: isolated any Actor)
  /// After `send` had refused: there is room again.
  func drained(on loop: isolated any Actor)
  /// The socket is gone. The code is the peer's or ours; `CloseCode.lost` when it ended without one.
  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor)
}

public enum WebSocketMessage: Sendable {
  /// UTF-8, checked.
  case text([UInt8])
  case binary([UInt8])
}

/// The sending side of a socket, for its handler and for whoever publishes on the same loop.
public protocol WebSocket: AnyObject {
  var subprotocol: String? { get }
  /// Whether the peer takes compressed messages.
  var isCompressed: Bool { get }
  /// Bytes that wait to be sent.
  var queued: Int { get }
  /// False when nothing was sent: the queue is full, or the socket is closing.
  @discardableResult
  func send(_ message: WebSocketMessage) -> Bool
  /// What was encoded once for many: a message, or several.
  @discardableResult
  func send(_ frame: SharedFrame) -> Bool
  func close(_ code: CloseCode, reason: String)
  /// Takes no more messages from the peer until `resume`: what it sends waits with it.
  func pause()
  func resume()
}
