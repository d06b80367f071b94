/// WebSocket close codes of the API, beyond those of RFC 6455. Clients reconnect after codes from 4000 and give up
/// after codes from 4500.
public enum CloseReason: Int, Sendable, Hashable, CaseIterable {
  /// Slow consumer: did not read for too long.
  case tooSlow = 4000
  /// The server can't serve the connection now. Reconnect.
  case unavailable = 4001
  /// Did not authenticate in time.
  case unidentified = 4500
  /// The session or token of the connection was revoked or has expired.
  case ended = 4501

  /// The reason text of the close frame, such as `session_ended`.
  public var code: String {
    switch self {
    case .tooSlow: "too_slow"
    case .unavailable: "unavailable"
    case .unidentified: "unauthenticated"
    case .ended: "session_ended"
    }
  }
}
