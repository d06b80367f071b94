import ParleyCrypto
import ParleyJSON
import ParleyWire

/// The signing algorithms (RFC 7518 §3.1, RFC 8037 §3.1). `none` and those with the client's secret as the key are not among
/// them.
public enum SigningAlgorithm: String, Sendable, Hashable, CaseIterable {
  case rs256 = "RS256"
  case es256 = "ES256"
  case edDSA = "EdDSA"
}

/// A public key that signs tokens, from a JWK (RFC 7517).
public struct SigningKey: Sendable, Hashable {
  let id: String?
  let material: Material

  enum Material: Sendable, Hashable {
    case rsa(modulus: [UInt8], exponent: [UInt8])
    case p256(point: [UInt8])
    case ed25519(point: [UInt8])
  }

  /// A key signs with one algorithm: the token has no choice.
  var algorithm: SigningAlgorithm {
    switch material {
    case .rsa: .rs256
    case .p256: .es256
    case .ed25519: .edDSA
    }
  }

  /// Nil for a key of another kind or for another use, which a key set may contain (RFC 7517 §5).
  init?(json value: JSONValue) {
    guard let members = try? Members(value), let material = members.material else { return nil }
    id = members.id
    self.material = material
    guard members.use.map({ $0 == "sig" }) ?? true, members.operations.map({ $0.contains("verify") }) ?? true,
      members.algorithm.map({ $0 == algorithm.rawValue }) ?? true
    else { return nil }
  }

  private struct Members {
    let id: String?
    let use: String?
    let algorithm: String?
    let operations: [String]?
    let material: Material?

    init(_ value: JSONValue) throws(JSONError) {
      var object = try value.object()
      id = try object.optional("kid")
      use = try object.optional("use")
      algorithm = try object.optional("alg")
      operations = try object.optional("key_ops")
      switch (try object.string("kty"), try object.optional("crv") ?? "") {
      case ("RSA", _):
        let (modulus, exponent) = (Self.bytes(try object.string("n")), Self.bytes(try object.string("e")))
        guard let modulus, let exponent, RSA.isKey(modulus: modulus, exponent: exponent) else {
          material = nil
          return
        }
        material = .rsa(modulus: modulus, exponent: exponent)
      case ("EC", "P-256"):
        // RFC 7518 §6.2.1.2: coordinates of the full length.
        let (x, y) = (Self.bytes(try object.string("x")), Self.bytes(try object.string("y")))
        guard let x, let y, x.count == 32, y.count == 32, P256.isPoint([4] + x + y) else {
          material = nil
          return
        }
        material = .p256(point: [4] + x + y)
      case ("OKP", "Ed25519"):
        guard let point = Self.bytes(try object.string("x")), Ed25519.isPoint(point) else {
          material = nil
          return
        }
        material = .ed25519(point: point)
      default: material = nil
      }
    }

    private static func bytes(_ text: String) -> [UInt8]? { Base64.decode(text, .url) }
  }

  func isSignature(_ signature: [UInt8], of bytes: [UInt8]) throws(CryptoError) -> Bool {
    switch material {
    case .rsa(let modulus, let exponent):
      try RSA.isSignature(signature, of: bytes, modulus: modulus, exponent: exponent)
    case .p256(let point): try P256.isSignature(signature, of: bytes, by: point)
    case .ed25519(let point): Ed25519.isSignature(signature, of: bytes, by: point)
    }
  }
}

/// The keys of an issuer (RFC 7517 §5).
public struct KeySet: Sendable, Hashable {
  public static let maxBytes = 262_144
  public static let maxKeys = 100

  let keys: [SigningKey]

  public init(_ bytes: [UInt8]) throws(OIDCFault) {
    let values = try OIDCFault.reading(.keys) { () throws(JSONError) in
      var object = try JSONValue(parsing: bytes).object()
      return try object.value("keys").array()
    }
    guard values.count <= Self.maxKeys else { throw OIDCFault(.keys, "more than \(Self.maxKeys) keys") }
    keys = values.compactMap { SigningKey(json: $0) }
  }

  /// The key of a token. A token names its key unless there is but one (OpenID Connect Core §10.1).
  func key(_ id: String?, for algorithm: SigningAlgorithm) -> SigningKey? {
    let fitting = keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == id) }
    return fitting.count == 1 ? fitting[0] : nil
  }

  /// Whether the set has a key of the token.
  public func knowsKey(of token: SignedToken) -> Bool { key(token.keyID, for: token.algorithm) != nil }
}
