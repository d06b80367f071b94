/// Why there was no answer, or not all of it. An answer that says no is an answer.
public enum CallFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name leads nowhere.
  case unknownHost(String)
  /// Nobody took the connection: nothing was sent.
  case unreachable(String)
  /// Whoever took it could not prove to be the one that was meant: nothing was sent.
  case untrusted(String)
  /// Nothing came for as long as was to be waited.
  case timedOut
  /// The connection broke before the answer was whole; whether the request was read, nobody knows.
  case interrupted(String)
  /// What came is not HTTP, or breaks a limit of the heads.
  case malformed(String)
  /// The answer is longer than the caller wants.
  case tooLarge
  /// What was to be sent can't be: an address that is not encoded, or a source of bytes that failed.
  case unsendable(String)
  /// The caller gave up.
  case cancelled

  /// Nothing of the request left this machine, so to ask again asks for the first time.
  public var isBeforeSending: Bool {
    switch self {
    case .unknownHost, .unreachable, .untrusted: true
    case .timedOut, .interrupted, .malformed, .tooLarge, .unsendable, .cancelled: false
    }
  }

  public var description: String {
    switch self {
    case .unknownHost(let name): "there is no \(name)"
    case .unreachable(let reason): "it can't be reached: \(reason)"
    case .untrusted(let reason): "it could not prove who it is: \(reason)"
    case .timedOut: "it did not answer in time"
    case .interrupted(let reason): "the connection broke: \(reason)"
    case .malformed(let reason): "what came is not HTTP: \(reason)"
    case .tooLarge: "the answer is too long"
    case .unsendable(let reason): "it can't be sent: \(reason)"
    case .cancelled: "given up"
    }
  }
}
