import ParleyCrypto
import ParleyModel

/// A bearer secret of 256 random bits. The database stores only its digest, so a stolen database grants no access.
public struct Secret: Sendable {
  public let text: String
  let digest: [UInt8]

  static let byteCount = 32
  /// Longer input is rejected before it is hashed.
  static let maxBytes = 128

  /// The length of codes that users pass on, such as invites: 128 bits cannot be guessed.
  static let codeByteCount = 16

  /// Generates a secret.
  static func make(byteCount: Int = byteCount) throws(Refusal) -> Secret {
    do {
      let text = Hex.text(try SecureRandom.bytes(byteCount))
      return Secret(text: text, digest: try Digest.sha256(of: Array(text.utf8)))
    } catch {
      throw .unavailable
    }
  }

  /// The digits of 256 bits in base 62, and of 32 bits.
  static let tokenDigits = 43
  static let checksumDigits = 6

  /// The beginning of a credential.
  enum Prefix: String {
    case token = "parley_"
    /// A refresh token of an app.
    case refresh = "parley_refresh_"
    /// The secret of an app.
    case app = "parley_app_"
  }

  /// Generates a credential: `parley_`, 256 random bits and their CRC-32, so that a scanner recognizes a published one.
  static func makeToken(_ prefix: Prefix = .token) throws(Refusal) -> Secret {
    do {
      let random = Base62.text(try SecureRandom.bytes(byteCount), count: tokenDigits)
      let checksum = CRC32.checksum(Array(random.utf8))
      let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> $0) }
      let text = "\(prefix.rawValue)\(random)\(Base62.text(bytes, count: checksumDigits))"
      return Secret(text: text, digest: try Digest.sha256(of: Array(text.utf8)))
    } catch {
      throw .unavailable
    }
  }

  /// Parses a secret from a request.
  init?(parsing text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.maxBytes, let digest = try? Digest.sha256(of: Array(text.utf8)) else {
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
