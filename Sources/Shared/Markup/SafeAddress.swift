/// The only way to an `href`. An address starts with `http://`, `https://` or `mailto:`, after everything that could
/// disguise another scheme has been decoded; nothing is cut off, mended or guessed. What a browser could read in two ways
/// is no address: a control character anywhere, a host with anything but letters, digits, `.`, `-`, `_` and a port.
enum SafeAddress {
  private static let web = ["http://", "https://"].map { Array($0.utf8) }
  private static let mail = Array("mailto:".utf8)

  /// Appends the address as an `href` holds it, before HTML's escapes. Nil when it is not safe.
  static func append(_ address: [UInt8], to strings: inout [UInt8]) -> Range<Int>? {
    guard isSafe(address) else { return nil }
    let start = strings.count
    for byte in address {
      if mayStand(byte) {
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

  /// No name or password before the host: `https://bank.example@evil.example` is not what it looks like.
  private static func hasPlainHost(_ address: [UInt8], from start: Int) -> Bool {
    let text = address.span
    var place = start
    var isNamed = false
    while place < text.count {
      let byte = text[place]
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      let (scalar, length) = text.scalar(at: place)
      if ScalarKind(scalar) == .word {
        isNamed = true
      } else if byte == UInt8(ascii: ":") {
        return isNamed && isPort(text, from: place + 1)
      } else if byte != UInt8(ascii: ".") && byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
        return false
      }
      place += length
    }
    return isNamed
  }

  private static func isPort(_ text: Span<UInt8>, from start: Int) -> Bool {
    var place = start
    while place < text.count, text[place] >= UInt8(ascii: "0"), text[place] <= UInt8(ascii: "9") { place += 1 }
    guard place < text.count else { return true }
    return text[place] == UInt8(ascii: "/") || text[place] == UInt8(ascii: "?") || text[place] == UInt8(ascii: "#")
  }

  private static func mayStand(_ byte: UInt8) -> Bool {
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
