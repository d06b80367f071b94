/// RFC 2104: authenticates bytes with a secret key. Compare codes with `ConstantTime.isEqual`.
public enum HMAC {
  public static func sha256(of bytes: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
    try CryptoLibrary.hmac(.sha256, bytes.span, key: key.span)
  }

  /// For one-time passwords (RFC 4226 §5.3), which no authenticator app computes otherwise. A weakness of SHA-1 in
  /// collisions does not concern HMAC.
  public static func sha1(of bytes: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
    try CryptoLibrary.hmac(.sha1, bytes.span, key: key.span)
  }
}
