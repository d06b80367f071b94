#if !canImport(CryptoKit)
/// Secrets at rest: AES-256-GCM (NIST SP 800-38D) with a random nonce per secret.
///
/// A sealed secret is a version byte, the nonce, the cipher text and the tag.
public struct SealedBox: Sendable {
  public static let keyBytes = 32
  private static let version: UInt8 = 1

  private let key: [UInt8]

  /// Nil unless the key has `keyBytes` bytes.
  public init?(key: [UInt8]) {
    guard key.count == Self.keyBytes else { return nil }
    self.key = key
  }

  /// - Parameter context: the purpose and the owner. The secret opens in the same context alone, so that a sealed
  ///   secret can't be moved to another row.
  public func seal(_ secret: [UInt8], for context: String) throws(CryptoError) -> [UInt8] {
    // 2³² secrets under one key may have random nonces (SP 800-38D §8.3).
    let nonce = try SecureRandom.bytes(AESGCM.nonceBytes)
    return [Self.version] + nonce
      + (try OpenSSL.seal(secret.span, key: key.span, nonce: nonce.span, context: Array(context.utf8).span))
  }

  /// A key for another purpose. It tells nothing about the key of the box, or about keys for other purposes.
  public func derivedKey(for purpose: String) throws(CryptoError) -> [UInt8] {
    try HMAC.sha256(of: Array("key for \(purpose)".utf8), key: key)
  }

  /// Nil if the secret was sealed with another key or in another context, or has been changed.
  public func open(_ sealed: [UInt8], for context: String) throws(CryptoError) -> [UInt8]? {
    guard sealed.count >= 1 + AESGCM.nonceBytes + AESGCM.tagBytes, sealed[0] == Self.version else { return nil }
    let nonce = Array(sealed[1..<1 + AESGCM.nonceBytes])
    let text = Array(sealed[(1 + AESGCM.nonceBytes)...])
    return try OpenSSL.unseal(text.span, key: key.span, nonce: nonce.span, context: Array(context.utf8).span)
  }
}
#endif
