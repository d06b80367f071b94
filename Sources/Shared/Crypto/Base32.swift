/// RFC 4648 §6 without padding: texts that people type.
public enum Base32 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  public static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (buffer, bits) = (0, 0)
    for byte in bytes {
      buffer = (buffer << 8 | Int(byte)) & 0xffff
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(digits[buffer >> bits & 31])
      }
    }
    if bits > 0 { text.append(digits[buffer << (5 - bits) & 31]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads both cases. Nil for other digits, and for a text that no whole bytes have.
  public static func bytes(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (buffer, bits) = (0, 0)
    for digit in text.utf8 {
      guard let value = digits.firstIndex(of: digit >= 0x61 && digit <= 0x7a ? digit - 0x20 : digit) else { return nil }
      buffer = (buffer << 5 | value) & 0xffff
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(buffer >> bits & 0xff))
      }
    }
    return bits < 5 && buffer & (1 << bits - 1) == 0 ? bytes : nil
  }
}
