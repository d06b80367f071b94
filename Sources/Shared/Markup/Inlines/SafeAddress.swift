/// Validates every `href`. After decoding of everything that could disguise another scheme, an address starts with
/// `http://`, `https://` or `mailto:`; it is never trimmed, repaired or guessed. An address that a browser could
/// interpret in two ways is rejected: one with a control character, or a host beyond letters, digits, `.`, `-`, `_` and
/// a port.
enum SafeAddress {
  private static let web = ["http://", "https://"].map { Array($0.utf8) }
  private static let mail = Array("mailto:".utf8)

  /// Appends the percent-encoded address, before HTML escaping. Nil if it is not safe.
  static func append(_ address: [UInt8], to strings: inout [UInt8]) -> Range<Int>? {
    guard isSafe(address) else { return nil }
    let start = strings.count
    for byte in address {
      if isUnescaped(byte) {
        strings.append(byte)
      } else {
        strings.append(UInt8(ascii: "%"))
        strings.append(hexDigit(byte >> 4))
        strings.append(hexDigit(byte & 15))
      }
    }
    return start..<strings.count
  }

  static func isSafe(_ address: [UInt8]) -> Bool {
    guard address.count <= MarkupLimits.address, address.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return false }
    if starts(address, with: mail) { return address.count > mail.count }
    guard let scheme = web.first(where: { starts(address, with: $0) }) else { return false }
    return hasPlainHost(address, from: scheme.count)
  }

  private static func starts(_ address: [UInt8], with scheme: [UInt8]) -> Bool {
    address.count >= scheme.count && zip(address, scheme).allSatisfy { lowercase($0) == $1 }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// Rejects credentials before the host: `https://bank.example@evil.example` is deceptive.
  private static func hasPlainHost(_ address: [UInt8], from start: Int) -> Bool {
    let text = address.span
    var position = start
    var isNamed = false
    while position < text.count {
      let byte = text[position]
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      let (scalar, length) = text.scalar(at: position)
      if ScalarKind(scalar) == .word {
        isNamed = true
      } else if byte == UInt8(ascii: ":") {
        return isNamed && isPort(text, from: position + 1)
      } else if byte != UInt8(ascii: ".") && byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
        return false
      }
      position += length
    }
    return isNamed
  }

  private static func isPort(_ text: Span<UInt8>, from start: Int) -> Bool {
    var position = start
    while position < text.count, text[position] >= UInt8(ascii: "0"), text[position] <= UInt8(ascii: "9") {
      position += 1
    }
    guard position < text.count else { return true }
    return text[position] == UInt8(ascii: "/") || text[position] == UInt8(ascii: "?")
      || text[position] == UInt8(ascii: "#")
  }

  private static func isUnescaped(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
      UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "?"),
      UInt8(ascii: "@"), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
