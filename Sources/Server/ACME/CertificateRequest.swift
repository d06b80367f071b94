import ParleyCrypto
import ParleyWire

/// A new key, and the request for its certificate (RFC 2986).
struct CertificateRequest {
  /// The private key in PEM (RFC 5208).
  let key: String
  /// The request in DER.
  let bytes: [UInt8]

  /// The names stand in `subjectAltName` alone: authorities ignore the subject, or refuse a long one.
  init(_ names: [String]) throws(CryptoError) {
    let pair = try P256()
    let algorithm = DER.sequence(DER.ecPublicKey, DER.p256)
    let secret = DER.sequence(
      DER.integer(1), DER.octets(pair.secret), DER.tagged(1, DER.bits(pair.point)))
    key = Self.pem("PRIVATE KEY", DER.sequence(DER.integer(0), algorithm, DER.octets(secret)))

    let alternatives = DER.element(0x30, names.flatMap { DER.element(0x82, Array($0.utf8)) })
    let extensions = DER.sequence(DER.sequence(DER.subjectAlternativeName, DER.octets(alternatives)))
    let info = DER.sequence(
      DER.integer(0), DER.sequence(), DER.sequence(algorithm, DER.bits(pair.point)),
      DER.tagged(0, DER.sequence(DER.extensionRequest, DER.set(extensions))))
    bytes = DER.sequence(info, DER.sequence(DER.ecdsaWithSHA256), DER.bits(try pair.signatureDER(of: info)))
  }

  private static func pem(_ label: String, _ bytes: [UInt8]) -> String {
    var text = "-----BEGIN \(label)-----\n"
    var rest = Base64.encode(bytes)[...]
    while !rest.isEmpty {
      text += rest.prefix(64) + "\n"
      rest = rest.dropFirst(64)
    }
    return text + "-----END \(label)-----\n"
  }
}
