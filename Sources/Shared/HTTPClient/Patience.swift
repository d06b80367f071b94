/// How long is waited for what, in seconds, and how many connections are kept.
public struct Patience: Sendable, Hashable {
  /// To find the host, and for each of its addresses to take the connection and to prove itself.
  public var connecting = 10
  /// Between two signs of life of a request that is under way.
  public var silence = 30
  /// For the other side to close a WebSocket after us.
  public var closing = 2
  /// A connection without a request, until it is closed.
  public var resting = 10
  /// Connections to one destination that rest.
  public var restingConnections = 4

  public init() {}

  /// In nanoseconds, as a loop counts.
  var toConnect: Int64 { Int64(connecting) * 1_000_000_000 }
}

/// What a server may make us hold.
enum CallLimits {
  /// Interim answers (RFC 9110 §15.2) before the one that counts.
  static let interimAnswers = 8
  /// Names of one client that are looked up at once, which takes a thread each.
  static let lookups = 16
  /// Bytes of a body that wait to be taken before the socket is left alone.
  static let waiting = 262_144
  /// One message of a WebSocket.
  static let message = 16 << 20
  /// Bytes of messages that wait to be taken before the socket is left alone.
  static let waitingMessages = 4 << 20
}
