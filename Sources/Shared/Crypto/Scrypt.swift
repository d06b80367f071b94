#if !canImport(CryptoKit)
/// RFC 7914: derives a key from a password with high CPU and memory cost, against guessing. The parameters are stored
/// with the key, so that they can be raised later.
///
/// Derivation takes tens of milliseconds: never call it on a queue that serves connections.
public struct Scrypt: Hashable, Sendable {
  /// N: a power of two.
  public let cost: Int
  /// r
  public let blockSize: Int
  /// p
  public let parallelism: Int

  /// The maximum memory, about 128 × N × r bytes. Higher parameters are rejected.
  public static let memoryLimit = 256 << 20

  public init(cost: Int, blockSize: Int, parallelism: Int) {
    self.cost = cost
    self.blockSize = blockSize
    self.parallelism = parallelism
  }

  public func key(password: [UInt8], salt: [UInt8], byteCount: Int) throws(CryptoError) -> [UInt8] {
    try OpenSSL.scrypt(self, password: password.span, salt: salt.span, byteCount: byteCount)
  }
}
#endif
