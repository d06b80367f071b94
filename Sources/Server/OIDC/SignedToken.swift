import ParleyCrypto
import ParleyJSON
import ParleyWire

/// A JSON Web Token (RFC 7519) in its compact form (RFC 7515 §7.1), before its signature is checked.
public struct SignedToken: Sendable {
  public static let maxBytes = 32_768

  let algorithm: SigningAlgorithm
  let keyID: String?
  /// `typ`, in lower case and without `application/` (RFC 7515 §4.1.9).
  let type: String?
  private let payload: [UInt8]
  private let signed: [UInt8]
  private let signature: [UInt8]

  public init(_ text: String) throws(OIDCFault) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard text.utf8.count <= Self.maxBytes, parts.count == 3, let header = Base64.decode(parts[0], .url),
      let payload = Base64.decode(parts[1], .url), let signature = Base64.decode(parts[2], .url)
    else { throw OIDCFault(.malformed, "no signed token") }
    let named = try OIDCFault.reading(.malformed) { () throws(JSONError) in
      var object = try JSONValue(parsing: header).object()
      return (
        algorithm: try object.string("alg"), key: try object.optional("kid") as String?,
        type: try object.optional("typ") as String?, isCritical: object.member("crit") != nil
      )
    }
    // RFC 7515 §4.1.11: extensions that must be understood. A key in the header is never read: a forger could name any.
    guard !named.isCritical else { throw OIDCFault(.malformed, "critical extensions") }
    guard let algorithm = SigningAlgorithm(rawValue: named.algorithm) else {
      throw OIDCFault(.algorithm, named.algorithm)
    }
    self.algorithm = algorithm
    keyID = named.key
    let type = named.type?.lowercased()
    self.type = type.map { $0.hasPrefix("application/") ? String($0.dropFirst(12)) : $0 }
    self.payload = payload
    self.signature = signature
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// The claims. Throws unless a key of the issuer has signed them.
  func claims(signedBy keys: KeySet) throws(OIDCFault) -> JSONValue {
    guard let key = keys.key(keyID, for: algorithm) else { throw OIDCFault(.unknownKey, keyID ?? "no kid") }
    let isRight: Bool
    do { isRight = try key.isSignature(signature, of: signed) } catch { throw OIDCFault(.signature, "\(error)") }
    guard isRight else { throw OIDCFault(.signature) }
    return try OIDCFault.reading(.malformed) { () throws(JSONError) in try JSONValue(parsing: payload) }
  }
}

/// Claims that all tokens have (RFC 7519 §4.1), in seconds since 1970.
struct RegisteredClaims {
  let issuer: String
  let subject: String?
  let audience: [String]
  let expiresAt: Int64?
  let issuedAt: Int64
  let notBefore: Int64?

  /// Clocks may differ by so much, in seconds.
  static let skew: Int64 = 60
  /// OpenID Connect Core §2: ASCII of at most 255 characters.
  static let maxSubjectBytes = 255

  init(_ object: inout JSONObject) throws(JSONError) {
    issuer = try object.string("iss")
    subject = try object.optional("sub")
    audience = try object.read("aud") { value throws(JSONError) in
      value.kind == .string ? [try value.string()] : try value.array { item throws(JSONError) in try item.string() }
    }
    expiresAt = try object.optional("exp", Self.time)
    issuedAt = try object.read("iat", Self.time)
    notBefore = try object.optional("nbf", Self.time)
  }

  /// A NumericDate (RFC 7519 §2), which may have a fraction.
  static func time(_ value: JSONValue) throws(JSONError) -> Int64 {
    let seconds = try value.double()
    guard 0...1e11 ~= seconds else { throw value.error(.outOfRange) }
    return Int64(seconds)
  }

  /// - Parameter now: in seconds.
  func check(for issuer: Issuer, at now: Int64) throws(OIDCFault) {
    guard self.issuer == issuer.url else { throw OIDCFault(.issuer, self.issuer) }
    guard audience.contains(issuer.clientID) else { throw OIDCFault(.audience, audience.joined(separator: " ")) }
    if let expiresAt, now - Self.skew >= expiresAt { throw OIDCFault(.expired, "\(now - expiresAt) s ago") }
    guard issuedAt <= now + Self.skew else { throw OIDCFault(.issuedAt, "in \(issuedAt - now) s") }
    if let notBefore, notBefore > now + Self.skew { throw OIDCFault(.issuedAt, "valid in \(notBefore - now) s") }
    if let subject, subject.isEmpty || subject.utf8.count > Self.maxSubjectBytes { throw OIDCFault(.subject) }
  }
}
