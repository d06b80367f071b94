import OIDC
import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleyWire

/// An issuer with one key of each algorithm.
struct TestIssuer {
  static let now: Int64 = 1_800_000_000
  static let url = "https://id.example.org"
  static let nonce = "n-1"

  let issuer: Issuer
  let p256: P256
  let ed25519: Ed25519
  let rsa: RSA

  init(acr: String? = nil, roles: GroupRoles? = nil) throws {
    issuer = Issuer(
      id: "work", name: "Work", url: Self.url, clientID: "parley", clientSecret: "secret", acr: acr, roles: roles)
    (p256, ed25519, rsa) = (try P256(), try Ed25519(), try Self.sharedRSA.get())
  }

  /// A key of RSA takes long to make.
  private static let sharedRSA = Result { try RSA() }

  func keys() throws -> KeySet { try KeySet(Array(#"{"keys":[\#(jwks.joined(separator: ","))]}"#.utf8)) }

  var jwks: [String] {
    let encode = { (bytes: [UInt8]) in Base64.encode(bytes, .url) }
    let (x, y) = (encode(Array(p256.point[1...32])), encode(Array(p256.point[33...])))
    return [
      #"{"kty":"EC","crv":"P-256","kid":"ec","x":"\#(x)","y":"\#(y)"}"#,
      #"{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"\#(encode(ed25519.point))"}"#,
      #"{"kty":"RSA","kid":"rsa","n":"\#(encode(rsa.modulus))","e":"\#(encode(rsa.exponent))"}"#,
    ]
  }

  /// The claims of a right ID token, with changes; `null` removes one.
  static func claims(_ changes: String = "{}") -> String {
    let right =
      #"{"iss":"\#(url)","sub":"s-1","aud":"parley","iat":\#(now),"exp":\#(now + 300),"nonce":"\#(nonce)"}"#
    return merged(right, changes)
  }

  static func logout(_ changes: String = "{}") -> String {
    merged(
      #"{"iss":"\#(url)","sub":"s-1","aud":"parley","iat":\#(now),"jti":"j-1","events":{"\#(LogoutToken.event)":{}}}"#,
      changes)
  }

  private static func merged(_ text: String, _ changes: String) -> String {
    var members: [(String, String)] = []
    for source in [text, changes] {
      guard var object = try? JSONValue(parsing: Array(source.utf8)).object() else { continue }
      for (name, value) in object.members() {
        members.removeAll { $0.0 == name }
        if !value.isNull { members.append((name, String(decoding: value.raw.bytes, as: UTF8.self))) }
      }
    }
    return "{" + members.map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",") + "}"
  }

  func token(_ claims: String, header: String = #"{"alg":"ES256","kid":"ec"}"#) throws -> SignedToken {
    let text = [header, claims].map { Base64.encode(Array($0.utf8), .url) }.joined(separator: ".")
    let signature: [UInt8] =
      if header.contains("RS256") {
        try rsa.signature(of: Array(text.utf8))
      } else if header.contains("EdDSA") {
        try ed25519.signature(of: Array(text.utf8))
      } else {
        try p256.signature(of: Array(text.utf8))
      }
    return try SignedToken("\(text).\(Base64.encode(signature, .url))")
  }

  func idToken(_ claims: String, since: Int64? = nil, at now: Int64 = Self.now) throws -> IDToken {
    try IDToken(
      token(claims), signedBy: keys(), of: issuer, nonce: Self.nonce, at: now, authenticatedSince: since)
  }
}
