#if canImport(CryptoKit)
internal import CryptoKit

/// All calls to CryptoKit: what ParleyKit needs on Apple platforms.
enum AppleCrypto {
  static func digest(_ algorithm: Digest.Algorithm, _ bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var context = try DigestContext(algorithm)
    try context.update(bytes)
    return try context.finish()
  }

  static func hmac(
    _ algorithm: Digest.Algorithm, _ bytes: Span<UInt8>, key: Span<UInt8>
  ) throws(CryptoError) -> [UInt8] {
    let key = SymmetricKey(data: unsafe key.withUnsafeBytes { unsafe Array($0) })
    let bytes = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    return switch algorithm {
    case .sha1: Array(CryptoKit.HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
    case .sha256: Array(CryptoKit.HMAC<SHA256>.authenticationCode(for: bytes, using: key))
    }
  }

  static func random(_ count: Int) throws(CryptoError) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// Compares two spans of the same length.
  static func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    var difference: UInt8 = 0
    for index in 0..<min(left.count, right.count) { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}

struct DigestContext: ~Copyable {
  private enum Hash {
    case sha1(Insecure.SHA1)
    case sha256(SHA256)
  }

  private var hash: Hash

  init(_ algorithm: Digest.Algorithm) throws(CryptoError) {
    hash =
      switch algorithm {
      case .sha1: .sha1(Insecure.SHA1())
      case .sha256: .sha256(SHA256())
      }
  }

  mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
    switch hash {
    case .sha1(var state):
      unsafe bytes.withUnsafeBytes { unsafe state.update(bufferPointer: $0) }
      hash = .sha1(state)
    case .sha256(var state):
      unsafe bytes.withUnsafeBytes { unsafe state.update(bufferPointer: $0) }
      hash = .sha256(state)
    }
  }

  consuming func finish() throws(CryptoError) -> [UInt8] {
    switch hash {
    case .sha1(let state): Array(state.finalize())
    case .sha256(let state): Array(state.finalize())
    }
  }
}
#endif
