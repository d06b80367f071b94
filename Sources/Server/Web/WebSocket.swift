public import ParleyWire

/// A response that upgrades the connection to a WebSocket. The server validates the handshake. The route must check
/// the credential and the origin before it returns this response.
public struct WebSocketUpgrade {
  public var options: WebSocketOptions
  /// The supported subprotocols in order of preference. The server selects the first that the client offered.
  public var subprotocols: [String]
  /// Creates the handler after the handshake.
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
  /// The maximum size of a message, in bytes after decompression; a larger one closes with 1009. Nil uses the default
  /// of `Limits`.
  public var messageLimit: Int?
  /// The bound of inflated bytes; above it the socket closes with 1008. Nil for none.
  public var inflation: InflationRate?
  /// The permessage-deflate policy; nil declines the extension.
  public var deflate: PerMessageDeflate.Policy?
  /// Maximum size of the output queue, in bytes.
  public var queue: Int
  /// The action when the output queue is full.
  public var overflow: Overflow

  public enum Overflow: Sendable {
    /// `send` returns false; `drained` is called when there is room again.
    case refuse
    /// Closes the socket with this code after the queued messages; disconnects a peer that does not read them.
    case close(CloseCode)
  }

  public init(
    messageLimit: Int? = nil, inflation: InflationRate? = nil,
    deflate: PerMessageDeflate.Policy? = PerMessageDeflate.Policy(), queue: Int = 1 << 20, overflow: Overflow = .refuse
  ) {
    self.messageLimit = messageLimit
    self.inflation = inflation
    self.deflate = deflate
    self.queue = queue
    self.overflow = overflow
  }
}

/// A token bucket of bytes that compressed messages inflate to.
public struct InflationRate: Sendable {
  public var burst: Int
  public var perSecond: Int

  public init(burst: Int, perSecond: Int) {
    self.burst = burst
    self.perSecond = max(perSecond, 1)
  }
}

/// Receives the events of a socket, always on its event loop.
public protocol WebSocketHandler: AnyObject {
  func opened(on loop: isolated any Actor)
  func received(_ message: WebSocketMessage, on loop: isolated any Actor)
  /// Called after `send` returned false, when the queue has room again.
  func drained(on loop: isolated any Actor)
  /// Called after the socket closed. The code is the peer's or ours; `CloseCode.lost` without a close frame.
  func closed(_ closing: WebSocketSession.Closing, on loop: isolated any Actor)
}

public enum WebSocketMessage: Sendable {
  /// UTF-8, checked.
  case text([UInt8])
  case binary([UInt8])
}

/// The sending side of a socket, for its handler and for publishers on the same event loop.
public protocol WebSocket: AnyObject {
  var subprotocol: String? { get }
  /// Whether permessage-deflate was negotiated.
  var isCompressed: Bool { get }
  /// Bytes in the output queue.
  var queued: Int { get }
  /// Returns false without sending if the queue is full or the socket is closing.
  @discardableResult
  func send(_ message: WebSocketMessage) -> Bool
  /// Sends a frame that was encoded once for many sockets.
  @discardableResult
  func send(_ frame: SharedFrame) -> Bool
  func close(_ code: CloseCode, reason: String)
  /// Counts the buffers of the handler, which have this size now, against the memory budget. Above it the socket closes.
  func charge(_ bytes: Int)
  /// Changes the maximum size of later messages; nil uses the default of `Limits`.
  func setMessageLimit(_ limit: Int?)
  /// Stops reading messages from the peer until `resume`: backpressure.
  func pause()
  func resume()
}
