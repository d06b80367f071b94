public import ParleyCrypto
public import ParleyModel
import ParleyWire

/// An authenticator with one passkey, whose answers a test can change before they are signed.
public struct SoftwareAuthenticator: Sendable {
  public enum Key: Sendable {
    case es256(P256)
    case edDSA(Ed25519)
    case rs256(RSA)

    public static func make(_ algorithm: Int) throws -> Key {
      switch algorithm {
      case -8: .edDSA(try Ed25519())
      case -257: .rs256(try RSA())
      default: .es256(try P256())
      }
    }
  }

  public var key: Key
  public var credentialID: [UInt8]
  /// The page that the browser shows.
  public var origin: String
  /// The host that the passkey is for.
  public var host: String
  public var signCount: UInt32 = 0
  /// User present, user verified, backup eligible, backed up.
  public var flags: UInt8 = 0b0001_1101
  public var userHandle: [UInt8] = []

  // Changes of the answers.
  public var type: String?
  /// Further members of the client data, as JSON.
  public var clientData = ""
  public var format = "none"
  /// After the authenticator data.
  public var trailing: [UInt8] = []
  /// In place of the COSE_Key.
  public var coseKey: [UInt8]?

  public init(_ key: Key, at origin: String, host: String) throws {
    (self.key, self.origin, self.host) = (key, origin, host)
    credentialID = try SecureRandom.bytes(16)
  }

  /// The client data for a challenge.
  func clientData(_ ceremony: String, _ challenge: String) -> [UInt8] {
    Array(
      """
      {"type":"\(type ?? ceremony)","challenge":"\(challenge)","origin":"\(origin)"\(clientData)}
      """.utf8)
  }

  /// The first members of the authenticator data.
  private func data(_ more: UInt8) throws -> [UInt8] {
    try Digest.sha256(of: Array(host.utf8)) + [flags | more] + bigEndian(UInt64(signCount), 4)
  }

  public func create(_ challenge: String) throws -> PasskeyRegistration {
    let key = coseKey ?? Self.coseKey(of: key)
    let credential =
      [UInt8](repeating: 0, count: 16) + bigEndian(UInt64(credentialID.count), 2) + credentialID + key
    let data = try data(0b0100_0000) + credential + trailing
    let attestation =
      [0xa3] + CBOR.text("fmt") + CBOR.text(format) + CBOR.text("attStmt") + [0xa0] + CBOR.text("authData")
      + CBOR.bytes(data)
    return PasskeyRegistration(
      id: Base64.encode(credentialID, .url),
      clientData: Base64.encode(clientData("webauthn.create", challenge), .url),
      attestation: Base64.encode(attestation, .url), transports: ["internal", "hybrid"])
  }

  public func get(_ challenge: String) throws -> PasskeyAssertion {
    let client = clientData("webauthn.get", challenge)
    let data = try data(0) + trailing
    let signed = data + (try Digest.sha256(of: client))
    return PasskeyAssertion(
      id: Base64.encode(credentialID, .url), clientData: Base64.encode(client, .url),
      authenticatorData: Base64.encode(data, .url), signature: Base64.encode(try signature(of: signed), .url),
      userHandle: userHandle.isEmpty ? nil : Base64.encode(userHandle, .url))
  }

  private func signature(of bytes: [UInt8]) throws -> [UInt8] {
    switch key {
    case .es256(let key): try key.signatureDER(of: bytes)
    case .edDSA(let key): try key.signature(of: bytes)
    case .rs256(let key): try key.signature(of: bytes)
    }
  }

  public static func coseKey(of key: Key) -> [UInt8] {
    switch key {
    case .es256(let key):
      [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21] + CBOR.bytes(Array(key.point[1...32])) + [0x22]
        + CBOR.bytes(Array(key.point[33...64]))
    case .edDSA(let key): [0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21] + CBOR.bytes(key.point)
    case .rs256(let key): rsaKey(modulus: key.modulus, exponent: key.exponent)
    }
  }

  public static func rsaKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
    [0xa4, 1, 3, 3, 0x39, 1, 0, 0x20] + CBOR.bytes(modulus) + [0x21] + CBOR.bytes(exponent)
  }
}

/// Writes strings of CBOR.
private enum CBOR {
  static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + text.utf8 }

  static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }

  private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
    switch count {
    case ..<24: [kind << 5 | UInt8(count)]
    case ..<256: [kind << 5 | 24, UInt8(count)]
    default: [kind << 5 | 25] + bigEndian(UInt64(count), 2)
    }
  }
}

private func bigEndian(_ number: UInt64, _ byteCount: Int) -> [UInt8] {
  (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}
