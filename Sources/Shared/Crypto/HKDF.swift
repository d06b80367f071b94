/// RFC 5869 with SHA-256: keys from a secret that is long, but not uniform.
public enum HKDF {
  /// At most 32 bytes, the first block of the expansion.
  public static func sha256(
    _ secret: [UInt8], salt: [UInt8], info: [UInt8], byteCount: Int
  ) throws(CryptoError) -> [UInt8] {
    let key = try HMAC.sha256(of: secret, key: salt)
    return Array(try HMAC.sha256(of: info + [1], key: key).prefix(byteCount))
  }
}
