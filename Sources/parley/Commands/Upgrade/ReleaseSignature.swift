import ParleyCrypto
import ParleyWire

/// A public key of minisign: an optional comment, then in base64 the algorithm, the id of the key and an Ed25519 key.
struct ReleaseKey {
  let id: [UInt8]
  fileprivate let point: [UInt8]

  fileprivate static let idBytes = 8

  /// Nil for another text.
  init?(_ text: String) {
    guard let line = text.split(whereSeparator: \.isNewline).last(where: { !$0.hasPrefix("untrusted comment:") }),
      let bytes = Base64.decode(String(line)), bytes.count == 2 + Self.idBytes + Ed25519.keyBytes,
      bytes.starts(with: Array("Ed".utf8))
    else { return nil }
    id = Array(bytes[2..<(2 + Self.idBytes)])
    point = Array(bytes[(2 + Self.idBytes)...])
  }
}

/// A signature of minisign: a comment, the signature of the BLAKE2b digest of the file, a trusted comment, and the signature of both.
struct ReleaseSignature {
  /// Signed: `timestamp:1700000000`, tab, `file:NAME`, tab, `hashed`.
  let comment: String
  private let keyID: [UInt8]
  private let signature: [UInt8]
  private let global: [UInt8]

  private static let signatureBytes = 64
  private static let trusted = "trusted comment: "

  /// Nil for another text, also for the signatures of older programs, which sign the file itself.
  init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4, lines[0].hasPrefix("untrusted comment:"), lines[2].hasPrefix(Self.trusted),
      let bytes = Base64.decode(String(lines[1])), bytes.starts(with: Array("ED".utf8)),
      bytes.count == 2 + ReleaseKey.idBytes + Self.signatureBytes,
      let global = Base64.decode(String(lines[3])), global.count == Self.signatureBytes
    else { return nil }
    comment = String(lines[2].dropFirst(Self.trusted.count))
    keyID = Array(bytes[2..<(2 + ReleaseKey.idBytes)])
    signature = Array(bytes[(2 + ReleaseKey.idBytes)...])
    self.global = global
  }

  /// The signed name of the file; nil without one.
  var name: String? {
    comment.split(separator: "\t").first { $0.hasPrefix("file:") }.map { String($0.dropFirst("file:".count)) }
  }

  func isMade(by key: ReleaseKey) -> Bool { keyID == key.id }

  /// Whether the key has signed a file with this BLAKE2b digest, and the comment.
  func isRight(forDigest digest: [UInt8], by key: ReleaseKey) -> Bool {
    isMade(by: key) && Ed25519.isSignature(signature, of: digest, by: key.point)
      && Ed25519.isSignature(global, of: signature + Array(comment.utf8), by: key.point)
  }
}
