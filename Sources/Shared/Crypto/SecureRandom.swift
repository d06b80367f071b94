/// Cryptographically secure random bytes for tokens, salts and keys.
public enum SecureRandom {
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] { try CryptoLibrary.random(count) }
}
