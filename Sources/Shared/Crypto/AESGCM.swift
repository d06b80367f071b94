#if !canImport(CryptoKit)
/// AES-128-GCM and AES-256-GCM (NIST SP 800-38D), by the length of the key. A nonce must never repeat under a key. Secrets
/// at rest have `SealedBox`.
public enum AESGCM {
  public static let nonceBytes = 12
  public static let tagBytes = 16

  /// The cipher text and its tag.
  public static func seal(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
    let none: [UInt8] = []
    return try OpenSSL.seal(text.span, key: key.span, nonce: nonce.span, context: none.span)
  }

  /// Nil if the tag is wrong.
  public static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8]? {
    let none: [UInt8] = []
    return try OpenSSL.unseal(sealed.span, key: key.span, nonce: nonce.span, context: none.span)
  }
}
#endif
