public import ParleyCrypto
import ParleyWire

/// Proof Key for Code Exchange (RFC 7636), with the method S256 alone.
public enum PKCE {
  public static let method = "S256"
  private static let verifierBytes = 43...128

  /// Whether the text is a challenge: Base64 for URLs of a SHA-256 (§4.2).
  public static func isChallenge(_ text: String) -> Bool {
    text.utf8.count == 43 && Base64.decode(text, .url)?.count == 32
  }

  /// Whether the text is a verifier: 43 to 128 unreserved characters (§4.1).
  public static func isVerifier(_ text: String) -> Bool {
    verifierBytes.contains(text.utf8.count) && text.utf8.allSatisfy(ASCIIClass.isUnreserved)
  }

  public static func challenge(of verifier: String) throws(CryptoError) -> String {
    Base64.encode(try Digest.sha256(of: Array(verifier.utf8)), .url)
  }

  /// Whether the verifier is that of the challenge (§4.6).
  public static func isRight(_ verifier: String, for challenge: String) -> Bool {
    guard isVerifier(verifier), let own = try? Self.challenge(of: verifier) else { return false }
    return ConstantTime.isEqual(Array(own.utf8), Array(challenge.utf8))
  }
}
