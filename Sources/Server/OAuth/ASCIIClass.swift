/// Classes of bytes in URIs (RFC 3986 §2) and in OAuth parameters (RFC 6749, appendix A).
enum ASCIIClass {
  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
  }

  static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: isLetter(byte) || isDigit(byte)
    }
  }

  /// Bytes of a URI, besides `#`: unreserved, reserved and `%`.
  static func isOfURI(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || ":/?[]@!$&'()*+,;=%".utf8.contains(byte)
  }

  /// VSCHAR: printable ASCII.
  static func isPrintable(_ byte: UInt8) -> Bool { 0x20...0x7e ~= byte }
}
