public import ParleyCrypto
import ParleyJSON
import ParleyWire

/// The key of an account at a certificate authority: ECDSA on P-256 (ES256).
public struct ACMEKey: Sendable {
  private let key: P256
  /// The public key as a JSON Web Key, in the form that RFC 7638 digests: sorted members, no spaces.
  private let publicKey: [UInt8]
  /// RFC 7638.
  let thumbprint: String

  public init(_ key: P256) throws(CryptoError) {
    self.key = key
    // The point is 04, x and y (SEC 1 §2.3.3).
    let (x, y) = (Array(key.point[1..<33]), Array(key.point[33...]))
    publicKey = Array(
      #"{"crv":"P-256","kty":"EC","x":"\#(Base64.encode(x, .url))","y":"\#(Base64.encode(y, .url))"}"#.utf8)
    thumbprint = Base64.encode(try Digest.sha256(of: publicKey), .url)
  }

  /// RFC 8555 §8.1.
  func keyAuthorization(_ token: String) -> String { "\(token).\(thumbprint)" }

  /// The signed body of a request (RFC 8555 §6.2).
  ///
  /// - Parameters:
  ///   - payload: nil for a POST-as-GET.
  ///   - account: the URL of the account; nil sends the public key instead.
  func sign(_ payload: [UInt8]?, to url: String, nonce: String, account: String?) throws(CryptoError) -> [UInt8] {
    var header = JSONWriter()
    header.object { json in
      json.field("alg", "ES256")
      if let account { json.field("kid", account) } else { json.field("jwk", JSONRaw(trusted: publicKey)) }
      json.field("nonce", nonce)
      json.field("url", url)
    }
    let (protected, content) = (Base64.encode(header.bytes, .url), Base64.encode(payload ?? [], .url))
    let signature = try key.signature(of: Array("\(protected).\(content)".utf8))
    var body = JSONWriter()
    body.object { json in
      json.field("protected", protected)
      json.field("payload", content)
      json.field("signature", Base64.encode(signature, .url))
    }
    return body.bytes
  }
}
