public import ParleyCrypto
import ParleyWire

/// The keys of a subscription, which the browser has made.
public struct PushKeys: Sendable, Hashable {
  public static let authBytes = 16

  /// A point of P-256: `p256dh`.
  public let point: [UInt8]
  /// `auth`
  public let auth: [UInt8]

  /// The keys are checked before they are stored.
  public init(point: [UInt8], auth: [UInt8]) {
    self.point = point
    self.auth = auth
  }

  /// The point in a text of a browser; nil if it is not on the curve.
  public static func point(_ text: String) -> [UInt8]? { decode(text).flatMap { P256.isPoint($0) ? $0 : nil } }

  /// `auth` in a text of a browser.
  public static func secret(_ text: String) -> [UInt8]? { decode(text).flatMap { $0.count == authBytes ? $0 : nil } }

  /// Some libraries add padding.
  private static func decode(_ text: String) -> [UInt8]? {
    var text = text[...]
    while text.last == "=" { text.removeLast() }
    return Base64.decode(String(text), .url)
  }

  /// Encrypts a message with a new key and salt (RFC 8291).
  ///
  /// - Parameter size: content and padding, in bytes. Longer content has no padding.
  public func encrypt(_ content: [UInt8], size: Int) throws(CryptoError) -> [UInt8] {
    try encrypt(
      content, size: size, key: P256(), salt: SecureRandom.bytes(ContentCoding.saltBytes))
  }

  func encrypt(
    _ content: [UInt8], size: Int, key: P256, salt: [UInt8], recordSize: Int = Self.recordSize
  ) throws(CryptoError) -> [UInt8] {
    let info = Array("WebPush: info\0".utf8) + point + key.point
    let secret = try HKDF.sha256(try key.agree(with: point), salt: auth, info: info, byteCount: 32)
    return try ContentCoding.encrypt(
      content, secret: secret, salt: salt, keyID: key.point, recordSize: recordSize,
      padding: max(0, size - content.count))
  }

  /// RFC 8030 §7.2: the size of a message that all push services take.
  static let recordSize = 4_096
  /// The most content of a message: without the header of RFC 8188 §2.1, the delimiter and the tag.
  static let maxContent = recordSize - (ContentCoding.saltBytes + 5 + P256.pointBytes) - ContentCoding.overhead
}
