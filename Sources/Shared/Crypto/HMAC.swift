/// RFC 2104: authenticates bytes with a secret key. Compare codes with `ConstantTime.isEqual`.
public enum HMAC {
  public static func sha256(of bytes: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
    try OpenSSL.hmacSHA256(bytes.span, key: key.span)
  }
}
