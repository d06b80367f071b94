#if !canImport(CryptoKit)
/// A key for signatures with Ed25519 (RFC 8032): EdDSA of RFC 8037.
public struct Ed25519: Sendable, Hashable {
  /// Length of a secret key and of a public key.
  public static let keyBytes = 32
  static let signatureBytes = 64

  public let secret: [UInt8]
  /// The public key.
  public let point: [UInt8]

  /// Makes a new key.
  public init() throws(CryptoError) {
    let made = try OpenSSL.makeEd25519()
    secret = made.secret
    point = made.point
  }

  /// The key with a secret of `keyBytes` bytes.
  public init(secret: [UInt8]) throws(CryptoError) {
    point = try OpenSSL.pointOfEd25519(secret.span)
    self.secret = secret
  }

  /// Whether these bytes are a point of the curve.
  public static func isPoint(_ bytes: [UInt8]) -> Bool { OpenSSL.isPointOfEd25519(bytes.span) }

  public func signature(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try OpenSSL.signEd25519(bytes.span, secret.span)
  }

  public static func isSignature(_ signature: [UInt8], of bytes: [UInt8], by point: [UInt8]) -> Bool {
    OpenSSL.verifyEd25519(signature.span, of: bytes.span, point.span)
  }
}
#endif
