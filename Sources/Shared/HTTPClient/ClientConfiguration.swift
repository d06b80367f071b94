/// Timeouts in seconds, and the size of the connection pool.
public struct ClientConfiguration: Sendable, Hashable {
  /// For the name lookup, and for each address: TCP connect and TLS handshake.
  public var connectTimeout = 10
  /// Between two reads or writes of an active request.
  public var inactivityTimeout = 30
  /// For the peer's Close frame after ours.
  public var closeTimeout = 2
  /// Until an idle pooled connection is closed.
  public var idleTimeout = 10
  /// Idle connections per destination.
  public var maxIdleConnections = 4

  public init() {}

  /// `connectTimeout` in the unit of the event loop's clock.
  var connectNanoseconds: Int64 { Int64(connectTimeout) * 1_000_000_000 }
}

/// Fixed limits on the memory and threads that servers can occupy.
enum ClientLimits {
  /// Interim responses (RFC 9110 §15.2) before the final one.
  static let maxInterimResponses = 8
  /// Concurrent name lookups of one client. Each occupies a thread.
  static let maxLookups = 16
  /// Buffered bytes of a response body. Above it, reading from the socket pauses (backpressure).
  static let waiting = 262_144
  /// Bytes of one WebSocket message.
  static let message = 16 << 20
  /// Buffered bytes of WebSocket messages. Above it, reading from the socket pauses.
  static let waitingMessages = 4 << 20
}
