/// Base64 (RFC 4648), strict: each byte sequence has exactly one encoding. White space, missing or extra padding and
/// stray bits in the last character are rejected.
public enum Base64 {
  public enum Alphabet: Sendable {
    /// RFC 4648 §4, padded with `=`.
    case standard
    /// RFC 4648 §5, without padding, for URLs and tokens.
    case url
  }

  public static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(character(UInt8(bits >> bitCount & 63), alphabet))
      }
    }
    if bitCount > 0 { text.append(character(UInt8(bits << (6 - bitCount) & 63), alphabet)) }
    if alphabet == .standard {
      while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes the text; nil if it is not the exact output of `encode`.
  public static func decode(_ text: String, _ alphabet: Alphabet = .standard) -> [UInt8]? {
    let count = text.utf8.count
    var body = text.utf8[...]
    if alphabet == .standard {
      guard count.isMultiple(of: 4) else { return nil }
      if body.last == UInt8(ascii: "=") { body.removeLast() }
      if body.last == UInt8(ascii: "=") { body.removeLast() }
    }
    let length = body.count
    // One character after a group of four has six bits, less than a byte.
    guard length % 4 != 1 else { return nil }

    var bytes: [UInt8] = []
    bytes.reserveCapacity(length * 3 / 4)
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for character in body {
      guard let value = value(character, alphabet) else { return nil }
      bits = bits << 6 | UInt32(value)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
      }
    }
    // RFC 4648 §3.5: the unused bits are zero.
    guard bits & (1 << bitCount - 1) == 0 else { return nil }
    return bytes
  }

  private static func character(_ value: UInt8, _ alphabet: Alphabet) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: alphabet == .standard ? UInt8(ascii: "+") : UInt8(ascii: "-")
    default: alphabet == .standard ? UInt8(ascii: "/") : UInt8(ascii: "_")
    }
  }

  private static func value(_ character: UInt8, _ alphabet: Alphabet) -> UInt8? {
    switch (character, alphabet) {
    case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): character - UInt8(ascii: "A")
    case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): character - UInt8(ascii: "a") + 26
    case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): character - UInt8(ascii: "0") + 52
    case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .url): 62
    case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .url): 63
    default: nil
    }
  }
}
