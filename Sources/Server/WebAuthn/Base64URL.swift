import ParleyModel
import ParleyWire

/// The binary members of WebAuthn's JSON (level 3 §5.1): Base64 for URLs, without padding.
public enum Base64URL {
  public static func text(_ bytes: [UInt8]) -> String { Base64.encode(bytes, .url) }

  static func bytes(_ text: String) -> [UInt8]? {
    // A longer text is not decoded.
    guard text.utf8.count <= CBORReader.maxBytes / 3 * 4 + 4 else { return nil }
    return Base64.decode(text, .url)
  }

  static func decode(_ text: String) throws(PasskeyFault) -> [UInt8] {
    guard let bytes = bytes(text) else { throw .malformed }
    return bytes
  }
}
