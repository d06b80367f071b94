import ParleyCrypto

/// The content of a message as digests see it.
enum DigestedContent {
  static func bytes(_ text: String, replyTo reply: Int?, files: String) -> [UInt8] {
    var content = Array(text.utf8)
    append(replyTo: reply, files: files, to: &content)
    return content
  }

  /// Completes the bytes of a text: NUL, the id of the parent, NUL, the ids of the files, separated by commas.
  static func append(replyTo reply: Int?, files: String, to text: inout [UInt8]) {
    text.append(0)
    if let reply { text.append(contentsOf: "\(reply)".utf8) }
    text.append(0)
    text.append(contentsOf: files.utf8)
  }
}

/// The proof of a content: its salted digest, and the salt until the content is erased. A digest without its salt tells nothing
/// about the content, however short that was.
struct ContentProof: Hashable {
  static let saltBytes = 16
  static let digestBytes = 32

  let digest: [UInt8]
  let salt: [UInt8]?

  init(of content: [UInt8]) throws(CryptoError) {
    let salt = try SecureRandom.bytes(Self.saltBytes)
    digest = try Digest.sha256(of: salt + content)
    self.salt = salt
  }

  /// Nil unless the bytes are a digest, or a digest and a salt.
  init?(stored: [UInt8]) {
    guard stored.count == Self.digestBytes || stored.count == Self.digestBytes + Self.saltBytes else { return nil }
    digest = Array(stored.prefix(Self.digestBytes))
    salt = stored.count > Self.digestBytes ? Array(stored.suffix(Self.saltBytes)) : nil
  }

  var stored: [UInt8] { digest + (salt ?? []) }

  /// Whether the salt is there and this is the content.
  func proves(_ content: [UInt8]) throws(CryptoError) -> Bool {
    guard let salt else { return false }
    return try Digest.sha256(of: salt + content) == digest
  }
}
