#if !canImport(CryptoKit)
/// A key of the curve P-256 (FIPS 186-5), for ECDH and ECDSA.
public struct P256: Sendable, Hashable {
  public static let secretBytes = 32
  /// Without compression (SEC 1 §2.3.3).
  public static let pointBytes = 65
  static let signatureBytes = 64

  /// The private key.
  public let secret: [UInt8]
  /// The public key.
  public let point: [UInt8]

  /// Makes a new key.
  public init() throws(CryptoError) {
    let made = try OpenSSL.makeP256()
    secret = made.secret
    point = made.point
  }

  /// Nil if the secret is not of the curve.
  public init?(secret: [UInt8]) {
    guard let point = OpenSSL.pointOfP256(secret.span) else { return nil }
    self.secret = secret
    self.point = point
  }

  /// Whether these bytes are a public key. A point off the curve would reveal parts of a secret that is used with it.
  public static func isPoint(_ bytes: [UInt8]) -> Bool { OpenSSL.isPointOfP256(bytes.span) }

  /// ECDH: the secret that this key and another one share.
  public func agree(with point: [UInt8]) throws(CryptoError) -> [UInt8] {
    try OpenSSL.agreeP256(secret.span, with: point.span)
  }

  /// ECDSA with SHA-256, as two numbers of 32 bytes: ES256 of RFC 7518 §3.4.
  public func signature(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    let digest = try Digest.sha256(of: bytes)
    return try OpenSSL.signP256(digest.span, secret.span)
  }

  public static func isSignature(
    _ signature: [UInt8], of bytes: [UInt8], by point: [UInt8]
  ) throws(CryptoError) -> Bool {
    let digest = try Digest.sha256(of: bytes)
    return OpenSSL.verifyP256(signature.span, of: digest.span, point.span)
  }
  /// The same in DER (RFC 3279 §2.2.3), as authenticators and certificates have it.
  public func signatureDER(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    let digest = try Digest.sha256(of: bytes)
    return try OpenSSL.signP256DER(digest.span, secret.span)
  }

  public static func isSignature(
    der signature: [UInt8], of bytes: [UInt8], by point: [UInt8]
  ) throws(CryptoError) -> Bool {
    let digest = try Digest.sha256(of: bytes)
    return OpenSSL.verifyP256(der: signature.span, of: digest.span, point.span)
  }
}
#endif
