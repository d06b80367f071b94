/// Cryptographically secure random bytes for tokens, salts and keys.
public enum SecureRandom {
  /// Far more than a key has.
  private static let maxBytes = 1_048_576

  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    guard 0...maxBytes ~= count else { throw CryptoError(operation: .random, reason: "no such count") }
    return try CryptoLibrary.random(count)
  }
}
