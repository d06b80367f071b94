/// RFC 7914: makes a key of a password, slowly and with much memory, so that guessing is dear. A value of this type
/// says how dear; it is stored beside the key, so that it can be raised later.
///
/// It takes tens of milliseconds: never on a queue that serves connections.
public struct Scrypt: Hashable, Sendable {
  /// N: a power of two.
  public let cost: Int
  /// r
  public let blockSize: Int
  /// p
  public let parallelism: Int

  /// What needs more (128 × N × r bytes, mostly) is refused.
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
