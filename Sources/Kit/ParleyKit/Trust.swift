/// The certificates to accept.
public enum Trust: Sendable, Hashable {
  /// Certificates with a chain to the system's roots and the server's name.
  case system
  /// One self-signed certificate, by its SHA-256 fingerprint.
  case fingerprint([UInt8])

  /// A fingerprint of 64 hexadecimal digits, with or without colons.
  public init?(fingerprint text: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for byte in text.utf8 where byte != UInt8(ascii: ":") {
      guard let digit = Self.digit(byte) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard bytes.count == 32, high == nil else { return nil }
    self = .fingerprint(bytes)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
