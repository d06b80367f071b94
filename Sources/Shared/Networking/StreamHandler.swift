/// Handles the events of a stream, on its loop.
public protocol StreamHandler: AnyObject {
  /// The connection is established, including the TLS handshake.
  func opened(on loop: isolated EventLoop)
  /// Input from the peer. The span is valid during the call. Not called while reading is paused.
  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop)
  /// End of input.
  func ended(on loop: isolated EventLoop)
  /// The output queue has drained to the low-water mark after it was full.
  func drained(on loop: isolated EventLoop)
  /// The turn requested with `requestTurn`.
  func resumed(on loop: isolated EventLoop)
  /// The deadline has expired.
  func expired(on loop: isolated EventLoop)
  /// The stream is closed. The last call. The error is nil if this side closed it or the peer closed it cleanly.
  func closed(_ error: StreamError?, on loop: isolated EventLoop)
}

public enum StreamError: Error, Sendable, CustomStringConvertible {
  case system(SystemError)
  case tls(String)

  public var description: String {
    switch self {
    case .system(let error): error.description
    case .tls(let reason): "TLS: \(reason)"
    }
  }
}
