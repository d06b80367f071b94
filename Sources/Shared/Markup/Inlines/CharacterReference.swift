/// Character references: `&amp;`, `&#8212;`, `&#x2014;`. Only these of HTML's 2,231 names are supported; the others
/// stay text, since users can type the character itself.
enum CharacterReference {
  private static let names: [String: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{a0}", "shy": "\u{ad}", "copy": "©",
    "reg": "®", "trade": "™", "deg": "°", "middot": "·", "bull": "•", "times": "×", "hellip": "…", "ndash": "–",
    "mdash": "—", "laquo": "«", "raquo": "»", "euro": "€", "larr": "←", "rarr": "→",
  ]
  private static let longestName = 6
  private static let longestNumber = 7

  /// The reference that starts with the `&` at `position`, and its end.
  static func read(_ text: Span<UInt8>, at position: Int, to end: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    guard position + 2 < end else { return nil }
    if text[position + 1] == UInt8(ascii: "#") {
      let isHex = text[position + 2] | 0x20 == UInt8(ascii: "x")
      return number(text, at: position + (isHex ? 3 : 2), to: end, base: isHex ? 16 : 10)
    }
    return name(text, at: position + 1, to: end)
  }

  private static func name(_ text: Span<UInt8>, at start: Int, to end: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    var position = start
    while position < end, position - start < longestName, ScalarKind.ascii(text[position]) == .word { position += 1 }
    guard position > start, position < end, text[position] == UInt8(ascii: ";") else { return nil }
    let name = String(decoding: (start..<position).map { text[$0] }, as: UTF8.self)
    return names[name].map { ($0, position + 1) }
  }

  // CommonMark 0.31 §2.5: at most seven decimal or six hexadecimal digits; zero and invalid scalars become U+FFFD.
  private static func number(
    _ text: Span<UInt8>, at start: Int, to end: Int, base: UInt32
  ) -> (scalar: Unicode.Scalar, end: Int)? {
    var position = start
    var value: UInt32 = 0
    let longest = base == 16 ? longestNumber - 1 : longestNumber
    while position < end, position - start < longest, let digit = digit(text[position]), digit < base {
      value = value * base + digit
      position += 1
    }
    guard position > start, position < end, text[position] == UInt8(ascii: ";") else { return nil }
    let scalar = value == 0 ? nil : Unicode.Scalar(value)
    return (scalar ?? "\u{fffd}", position + 1)
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
