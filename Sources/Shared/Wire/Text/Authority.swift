/// A host and an optional port (RFC 3986 §3.2, without userinfo).
///
/// A name has letters, digits and `-._~`. RFC 3986 also allows `!$&'()*+,;=` and percent-encoding, but DNS names do not
/// contain them, and parsers disagree about them.
public struct Authority: Sendable, Hashable {
  /// Lowercase. An IPv6 address keeps its brackets.
  public let host: String
  public let port: Int?

  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let parts = Authority.parts(bytes.span, in: bytes.indices) else { return nil }
    host = bytes.span.text(parts.host).lowercased()
    port = parts.port
  }

  static func isValid(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    parts(bytes, in: range) != nil
  }

  private static func parts(_ bytes: Span<UInt8>, in range: Range<Int>) -> (host: Range<Int>, port: Int?)? {
    var end = range.lowerBound
    if end < range.upperBound, bytes[end] == UInt8(ascii: "[") {
      while end < range.upperBound, bytes[end] != UInt8(ascii: "]") { end &+= 1 }
      guard end < range.upperBound, isIPv6(bytes, in: range.lowerBound &+ 1..<end) else { return nil }
      end &+= 1
    } else {
      while end < range.upperBound, isNameByte(bytes[end]) { end &+= 1 }
      // The maximum length of a DNS name is 255.
      guard 1...255 ~= end &- range.lowerBound else { return nil }
    }
    let host = range.lowerBound..<end
    if end == range.upperBound { return (host, nil) }
    guard bytes[end] == UInt8(ascii: ":") else { return nil }
    if end &+ 1 == range.upperBound { return (host, nil) }
    guard range.upperBound &- end <= 6, let port = bytes.decimal(in: end &+ 1..<range.upperBound), port <= 65_535
    else { return nil }
    return (host, port)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }

  /// RFC 3986 §3.2.2: eight groups, or fewer and one `::`; the last two may be IPv4. Zones are rejected.
  static func isIPv6(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    var groups = 0
    var isShortened = false
    var index = range.lowerBound
    if range.count >= 2, bytes[index] == UInt8(ascii: ":") {
      guard bytes[index &+ 1] == UInt8(ascii: ":") else { return false }
      isShortened = true
      index &+= 2
    }
    while index < range.upperBound {
      let start = index
      while index < range.upperBound, ASCII.hexValue(bytes[index]) != nil { index &+= 1 }
      if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
        groups += 2
        return isIPv4(bytes, in: start..<range.upperBound) && (isShortened ? groups < 8 : groups == 8)
      }
      guard 1...4 ~= index &- start else { return false }
      groups += 1
      guard index < range.upperBound else { break }
      guard bytes[index] == UInt8(ascii: ":"), index &+ 1 < range.upperBound else { return false }
      index &+= 1
      if bytes[index] == UInt8(ascii: ":") {
        guard !isShortened else { return false }
        isShortened = true
        index &+= 1
      }
    }
    return isShortened ? groups < 8 : groups == 8
  }

  static func isIPv4(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    var start = range.lowerBound
    for part in 0..<4 {
      var end = start
      while end < range.upperBound, ASCII.isDigit(bytes[end]) { end &+= 1 }
      guard end &- start <= 3, let number = bytes.decimal(in: start..<end), number <= 255 else { return false }
      guard end &- start == 1 || bytes[start] != UInt8(ascii: "0") else { return false }
      if part == 3 { return end == range.upperBound }
      guard end < range.upperBound, bytes[end] == UInt8(ascii: ".") else { return false }
      start = end &+ 1
    }
    return false
  }
}
