/// `&amp;`, `&#8212;`, `&#x2014;`. Of HTML's 2,231 names these few are known; others stay text, and whoever wants the
/// character can type it.
enum CharacterReference {
  private static let names: [String: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{a0}", "shy": "\u{ad}", "copy": "©",
    "reg": "®", "trade": "™", "deg": "°", "middot": "·", "bull": "•", "times": "×", "hellip": "…", "ndash": "–",
    "mdash": "—", "laquo": "«", "raquo": "»", "euro": "€", "larr": "←", "rarr": "→",
  ]
  private static let longestName = 6
  private static let longestNumber = 7

  /// The reference that starts with the `&` at `place`, and where it ends.
  static func read(_ text: Span<UInt8>, at place: Int, to end: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    guard place + 2 < end else { return nil }
    if text[place + 1] == UInt8(ascii: "#") {
      let isHex = text[place + 2] | 0x20 == UInt8(ascii: "x")
      return number(text, at: place + (isHex ? 3 : 2), to: end, base: isHex ? 16 : 10)
    }
    return name(text, at: place + 1, to: end)
  }

  private static func name(_ text: Span<UInt8>, at start: Int, to end: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    var place = start
    while place < end, place - start < longestName, ScalarKind.ascii(text[place]) == .word { place += 1 }
    guard place > start, place < end, text[place] == UInt8(ascii: ";") else { return nil }
    let name = String(decoding: (start..<place).map { text[$0] }, as: UTF8.self)
    return names[name].map { ($0, place + 1) }
  }

  // CommonMark 0.31 §2.5: at most seven digits, six of them if hexadecimal; what is no scalar is U+FFFD, and so is zero.
  private static func number(
    _ text: Span<UInt8>, at start: Int, to end: Int, base: UInt32
  ) -> (scalar: Unicode.Scalar, end: Int)? {
    var place = start
    var value: UInt32 = 0
    let longest = base == 16 ? longestNumber - 1 : longestNumber
    while place < end, place - start < longest, let digit = digit(text[place]), digit < base {
      value = value * base + digit
      place += 1
    }
    guard place > start, place < end, text[place] == UInt8(ascii: ";") else { return nil }
    let scalar = value == 0 ? nil : Unicode.Scalar(value)
    return (scalar ?? "\u{fffd}", place + 1)
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
