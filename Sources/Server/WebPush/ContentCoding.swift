import ParleyCrypto

/// The encrypted content coding `aes128gcm` (RFC 8188).
public enum ContentCoding {
  public static let name = "aes128gcm"
  static let saltBytes = 16
  /// The delimiter after the content, and the tag.
  static let overhead = 1 + AESGCM.tagBytes

  /// Encrypts content as one record.
  ///
  /// - Parameters:
  ///   - secret: the input keying material.
  ///   - keyID: tells the recipient which secret it is, in at most 255 bytes.
  ///   - padding: zeros after the content.
  static func encrypt(
    _ content: [UInt8], secret: [UInt8], salt: [UInt8], keyID: [UInt8], recordSize: Int, padding: Int
  ) throws(CryptoError) -> [UInt8] {
    let plain = content + [2] + [UInt8](repeating: 0, count: padding)
    let keys = try RecordKeys(secret: secret, salt: salt)
    return try header(salt: salt, keyID: keyID, recordSize: recordSize) + keys.seal(plain, number: 0)
  }

  /// RFC 8188 §2.1.
  static func header(salt: [UInt8], keyID: [UInt8], recordSize: Int) -> [UInt8] {
    let size = (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> (24 - 8 * $0)) }
    return salt + size + [UInt8(truncatingIfNeeded: keyID.count)] + keyID
  }
}

/// The key and the nonces of a message (RFC 8188 §2.2 and §2.3).
struct RecordKeys {
  private let key: [UInt8]
  private let nonce: [UInt8]

  init(secret: [UInt8], salt: [UInt8]) throws(CryptoError) {
    key = try HKDF.sha256(
      secret, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), byteCount: 16)
    nonce = try HKDF.sha256(
      secret, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), byteCount: AESGCM.nonceBytes)
  }

  func seal(_ record: [UInt8], number: Int) throws(CryptoError) -> [UInt8] {
    try AESGCM.seal(record, key: key, nonce: nonce(number))
  }

  /// Nil if the record was encrypted with another key.
  func open(_ record: [UInt8], number: Int) throws(CryptoError) -> [UInt8]? {
    try AESGCM.open(record, key: key, nonce: nonce(number))
  }

  private func nonce(_ number: Int) -> [UInt8] {
    nonce.enumerated().map { index, byte in
      let shift = 8 * (nonce.count - 1 - index)
      return shift < 64 ? byte ^ UInt8(truncatingIfNeeded: number >> shift) : byte
    }
  }
}
