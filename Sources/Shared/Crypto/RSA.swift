#if !canImport(CryptoKit)
/// A key for signatures with RSA, PKCS #1 v1.5 and SHA-256 (RFC 8017 §8.2): RS256 of RFC 7518 §3.3.
public struct RSA: Sendable, Hashable {
  /// A shorter key is too weak, and a longer one costs too much work.
  public static let modulusBits = 2_048...8_192
  static let maxModulusBytes = modulusBits.upperBound / 8
  /// Exponents beyond 32 bits are in no use.
  static let maxExponentBytes = 4
  static let maxSecretBytes = 8_192

  /// In DER.
  let secret: [UInt8]
  /// The modulus of the public key, without leading zeros.
  public let modulus: [UInt8]
  /// The exponent of the public key.
  public let exponent: [UInt8] = [1, 0, 1]

  /// Makes a new key.
  public init(bits: Int = modulusBits.lowerBound) throws(CryptoError) {
    let secret = try OpenSSL.makeRSA(bits: Int32(clamping: bits))
    self.secret = secret
    modulus = try OpenSSL.modulusOfRSA(secret.span)
  }

  /// Whether these numbers are a public key of an allowed length: an odd modulus and an odd exponent above 1, both without
  /// leading zeros.
  public static func isKey(modulus: [UInt8], exponent: [UInt8]) -> Bool {
    guard let first = modulus.first, first > 0, let last = modulus.last, last & 1 == 1, let high = exponent.first,
      high > 0, let low = exponent.last, low & 1 == 1, exponent != [1], exponent.count <= maxExponentBytes
    else { return false }
    return modulusBits.contains(modulus.count * 8 - first.leadingZeroBitCount)
  }

  public func signature(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    let digest = try Digest.sha256(of: bytes)
    return try OpenSSL.signRSA(digest.span, secret.span)
  }

  public static func isSignature(
    _ signature: [UInt8], of bytes: [UInt8], modulus: [UInt8], exponent: [UInt8]
  ) throws(CryptoError) -> Bool {
    guard isKey(modulus: modulus, exponent: exponent) else { return false }
    let digest = try Digest.sha256(of: bytes)
    return OpenSSL.verifyRSA(signature.span, of: digest.span, modulus: modulus.span, exponent: exponent.span)
  }
}
#endif
