/// Why nothing was fetched.
public enum OutgoingFault: Error, Sendable, Hashable {
  /// No address of the web, or one that leads inside. Whoever asks is not told which, or this would be a map of the inside.
  case refused
  /// Its name has no address.
  case unknownHost
  /// Nobody answers there, or not by HTTP, or without a certificate that can be trusted.
  case unreachable
  case tooSlow
  case tooManyRedirects
  /// The answer is no success.
  case status(Int)
  /// It is of another type than was asked for.
  case wrongType
  case tooLarge
  /// The server is asking enough others at the moment.
  case busy
}
