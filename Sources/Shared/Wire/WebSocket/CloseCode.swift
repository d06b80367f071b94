/// A WebSocket close code (RFC 6455 §7.4).
public struct CloseCode: Sendable, Hashable {
  public let number: UInt16

  private init(known number: UInt16) { self.number = number }

  /// Whether a Close frame may carry the code. Unassigned and reserved codes are rejected.
  public init?(_ number: UInt16) {
    switch number {
    case 1000...1003, 1007...1014, 3000...4999: self.number = number
    default: return nil
    }
  }

  public static let normal = CloseCode(known: 1000)
  public static let goingAway = CloseCode(known: 1001)
  public static let protocolError = CloseCode(known: 1002)
  public static let unsupported = CloseCode(known: 1003)
  public static let badData = CloseCode(known: 1007)
  public static let policy = CloseCode(known: 1008)
  public static let tooLong = CloseCode(known: 1009)
  public static let internalError = CloseCode(known: 1011)
  public static let restarting = CloseCode(known: 1012)
  public static let tryLater = CloseCode(known: 1013)

  /// Local only: the peer's Close frame had no code.
  public static let unnamed = CloseCode(known: 1005)
  /// Local only: the connection ended without a Close frame.
  public static let lost = CloseCode(known: 1006)

  /// The reason of `goingAway`: a random reconnect delay, so that clients do not return all at once.
  public static var restartReason: String { "restarting; retry in \(Int.random(in: 500...10_000)) ms" }

  var mayTravel: Bool { CloseCode(number) != nil }
}
