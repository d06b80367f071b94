import ParleyCrypto
public import ParleyModel

/// The public key of a passkey, from a COSE_Key (RFC 9052 §7) of one of the offered algorithms.
public enum COSEKey: Hashable, Sendable {
  case es256(point: [UInt8])
  case edDSA(point: [UInt8])
  case rs256(modulus: [UInt8], exponent: [UInt8])

  /// The numbers of the algorithms (RFC 9053), the preferred one first: EdDSA, ES256, RS256.
  public static let algorithms = [-8, -7, -257]

  /// Labels of members (RFC 9052 §7.1, RFC 9053 §7, RFC 8230 §4).
  private enum Label {
    static let kind = 1
    static let algorithm = 3
    static let curve = -1
    static let x = -2
    static let y = -3
    static let modulus = -1
    static let exponent = -2
  }

  /// - Parameter bytes: the whole key, without other members (WebAuthn §6.5.1).
  public init(_ bytes: [UInt8]) throws(PasskeyFault) {
    guard let value = try? CBORReader.value(of: bytes) else { throw .malformed }
    try self.init(value)
  }

  init(_ value: CBORValue) throws(PasskeyFault) {
    guard let kind = value[Label.kind]?.int, let algorithm = value[Label.algorithm]?.int else { throw .malformed }
    switch algorithm {
    case -7:
      // An uncompressed point of the curve P-256.
      guard kind == 2, value[Label.curve]?.int == 1, value.pairCount == 5, let x = value[Label.x]?.byteString,
        let y = value[Label.y]?.byteString, x.count == 32, y.count == 32, P256.isPoint([4] + x + y)
      else { throw .key }
      self = .es256(point: [4] + x + y)
    case -8:
      // Ed25519.
      guard kind == 1, value[Label.curve]?.int == 6, value.pairCount == 4, let x = value[Label.x]?.byteString,
        Ed25519.isPoint(x)
      else { throw .key }
      self = .edDSA(point: x)
    case -257:
      guard kind == 3, value.pairCount == 4, let modulus = value[Label.modulus]?.byteString,
        let exponent = value[Label.exponent]?.byteString, RSA.isKey(modulus: modulus, exponent: exponent)
      else { throw .key }
      self = .rs256(modulus: modulus, exponent: exponent)
    default: throw .algorithm
    }
  }

  /// WebAuthn §6.5.5: the signature of ES256 is in DER.
  func isSignature(_ signature: [UInt8], of bytes: [UInt8]) throws(CryptoError) -> Bool {
    switch self {
    case .es256(let point): try P256.isSignature(der: signature, of: bytes, by: point)
    case .edDSA(let point): Ed25519.isSignature(signature, of: bytes, by: point)
    case .rs256(let modulus, let exponent):
      try RSA.isSignature(signature, of: bytes, modulus: modulus, exponent: exponent)
    }
  }
}
