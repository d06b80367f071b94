import ParleyCrypto
import ParleyModel

/// Something that lets in whoever knows it: 256 random bits. The place keeps only the digest, so a stolen database opens
/// no door.
public struct Secret: Sendable {
  public let text: String
  let digest: [UInt8]

  static let byteCount = 32
  /// What is longer is no secret of ours, and not worth a digest.
  static let mostBytes = 128

  /// Of what is spelled out to others, such as an invite: still more than anyone can try.
  static let codeByteCount = 16

  /// A new one.
  static func make(byteCount: Int = byteCount) throws(Refusal) -> Secret {
    do {
      let text = Hex.text(try SecureRandom.bytes(byteCount))
      return Secret(text: text, digest: try Digest.sha256(of: Array(text.utf8)))
    } catch {
      throw .unavailable
    }
  }

  /// One that somebody shows.
  init?(shown text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.mostBytes, let digest = try? Digest.sha256(of: Array(text.utf8)) else {
      return nil
    }
    self.text = text
    self.digest = digest
  }

  private init(text: String, digest: [UInt8]) {
    self.text = text
    self.digest = digest
  }
}
