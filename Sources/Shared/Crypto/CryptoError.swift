/// An OpenSSL failure: out of memory, no entropy, an algorithm forbidden by the system's policy, invalid parameters.
/// Input of a peer cannot cause it. It is logged, never sent in a response.
public struct CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Operation: String, Hashable, Sendable {
    case digest, hmac, scrypt, random, seal, unseal, p256, ed25519, rsa
  }

  public let operation: Operation
  /// OpenSSL's message, if any.
  public let reason: String

  public var description: String { "\(operation.rawValue): \(reason)" }
}
