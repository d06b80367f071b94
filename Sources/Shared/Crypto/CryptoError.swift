/// OpenSSL said no: out of memory, no entropy, an algorithm that the host's policy forbids, parameters without sense.
/// Nothing that a peer sends leads here. For the log, never for an answer.
public struct CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Operation: String, Hashable, Sendable {
    case digest, hmac, scrypt, random
  }

  public let operation: Operation
  /// OpenSSL's own words, as far as it had any.
  public let reason: String

  public var description: String { "\(operation.rawValue): \(reason)" }
}
