/// Why a socket is closed by us, beyond what the protocol itself knows. The numbers are the contract's: from 4000 on the
/// client comes back, from 4500 on it gives up.
public enum CloseReason: Int, Sendable, Hashable, CaseIterable {
  /// It took nothing of what was sent for too long.
  case tooSlow = 4000
  case unavailable = 4001
  /// It asked for more than it may.
  case tooMuch = 4002
  /// Nobody said who they are in time.
  case unidentified = 4500
  /// The session or token by which they came has ended.
  case ended = 4501
  /// What came is no command.
  case malformed = 4502

  public var code: String {
    switch self {
    case .tooSlow: "too_slow"
    case .unavailable: "unavailable"
    case .tooMuch: "too_much"
    case .unidentified: "unauthenticated"
    case .ended: "session_ended"
    case .malformed: "malformed"
    }
  }
}
