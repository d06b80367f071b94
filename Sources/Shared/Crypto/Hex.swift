/// Hexadecimal with two digits per byte. Writes lowercase, reads both cases.
public enum Hex {
  public static func text(_ bytes: [UInt8]) -> String {
    let digits = [UInt8](capacity: bytes.count * 2) { output in
      for byte in bytes {
        output.append(digit(byte >> 4))
        output.append(digit(byte & 15))
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Nil if the text is not pairs of hexadecimal digits.
  public static func bytes(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      guard let value = value(character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    if digit &- 0x30 < 10 { return digit &- 0x30 }
    let letter = digit | 0x20
    return letter &- 0x61 < 6 ? letter &- 0x57 : nil
  }
}
