public import ParleyCrypto
import ParleyJSON
import ParleyWire

/// Identifies the site to push services (RFC 8292). A subscription takes messages of the key alone with which it was made.
public struct VAPID: Sendable {
  private let key: P256
  /// The public URL of the site, for the operator of the push service.
  private let subject: String

  /// RFC 8292 §2: at most a day. Half of it, for clocks that differ.
  static let lifetime: Int64 = 12 * 3_600

  public init(_ key: P256, subject: String) {
    self.key = key
    self.subject = subject
  }

  /// The public key, as browsers take it.
  public var publicKey: String { Base64.encode(key.point, .url) }

  /// The field `Authorization` of a request to a push service.
  ///
  /// - Parameters:
  ///   - audience: the origin of the push service.
  ///   - now: seconds since 1970.
  func authorization(for audience: String, now: Int64) throws(CryptoError) -> String {
    "vapid t=\(try token(for: audience, expiresAt: now + Self.lifetime)), k=\(publicKey)"
  }

  /// RFC 7519, signed with ES256.
  func token(for audience: String, expiresAt: Int64) throws(CryptoError) -> String {
    var claims = JSONWriter()
    claims.object { json in
      json.field("aud", audience)
      json.field("exp", Int(expiresAt))
      json.field("sub", subject)
    }
    let text = [Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8), claims.bytes].map { Base64.encode($0, .url) }
      .joined(separator: ".")
    return "\(text).\(Base64.encode(try key.signature(of: Array(text.utf8)), .url))"
  }
}
