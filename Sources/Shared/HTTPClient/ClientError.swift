/// The reason for a missing or incomplete response. A 4xx or 5xx status is a response, not an error.
public enum ClientError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name has no address.
  case unknownHost(String)
  /// No address accepted the connection. Nothing was sent.
  case unreachable(String)
  /// The certificate check failed. Nothing was sent.
  case untrusted(String)
  case timedOut
  /// The connection closed before the response was complete. The server may have processed the request.
  case interrupted(String)
  /// The response is not valid HTTP or exceeds the limits of the head.
  case malformed(String)
  /// The response body exceeds `ClientRequest.maxResponseBytes`.
  case tooLarge
  /// The request can't be sent: the target is not encoded, or the source of the body failed.
  case invalidRequest(String)
  case cancelled

  /// Whether the error occurred before the first byte of the request was sent. A retry is then safe for any method.
  public var isBeforeSending: Bool {
    switch self {
    case .unknownHost, .unreachable, .untrusted: true
    case .timedOut, .interrupted, .malformed, .tooLarge, .invalidRequest, .cancelled: false
    }
  }

  public var description: String {
    switch self {
    case .unknownHost(let name): "unknown host \(name)"
    case .unreachable(let reason): "can't connect: \(reason)"
    case .untrusted(let reason): "TLS verification failed: \(reason)"
    case .timedOut: "the request timed out"
    case .interrupted(let reason): "connection lost: \(reason)"
    case .malformed(let reason): "invalid HTTP response: \(reason)"
    case .tooLarge: "the response is too large"
    case .invalidRequest(let reason): "the request can't be sent: \(reason)"
    case .cancelled: "cancelled"
    }
  }
}
