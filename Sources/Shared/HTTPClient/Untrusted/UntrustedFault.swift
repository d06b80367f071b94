/// The reason for a failed fetch.
public enum UntrustedFault: Error, Sendable, Hashable {
  /// Not an http(s) URL, or it resolves to an internal address. Both cases are one, so that the caller can't map the
  /// internal network.
  case refused
  /// The name has no address.
  case unknownHost
  /// No connection, no HTTP, or no trusted certificate.
  case unreachable
  case timedOut
  case tooManyRedirects
  /// The response has a status other than 200.
  case status(Int)
  /// The media type is not in `AcceptedContent`.
  case wrongType
  case tooLarge
  /// `UntrustedLimits.maxFetches` is reached.
  case busy
}
