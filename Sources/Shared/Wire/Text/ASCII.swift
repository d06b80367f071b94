/// Character classes of RFC 9110 and RFC 3986.
public enum ASCII {
  @inlinable public static func lowercase(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  @inlinable public static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  @inlinable public static func isAlpha(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  /// The value of a hexadecimal digit.
  @inlinable public static func hexValue(_ byte: UInt8) -> UInt8? {
    if byte &- 0x30 < 10 { return byte &- 0x30 }
    let letter = byte | 0x20
    return letter &- 0x61 < 6 ? letter &- 0x57 : nil
  }

  /// RFC 9110 §5.6.2: the characters of a token, as a bit set of two 64-bit words.
  @inlinable public static func isToken(_ byte: UInt8) -> Bool {
    // ! # $ % & ' * + - . 0-9 · A-Z ^ _ ` a-z | ~
    let low: UInt64 = 0x03ff_6cfa_0000_0000
    let high: UInt64 = 0x57ff_ffff_c7ff_fffe
    if byte < 64 { return low >> UInt64(byte) & 1 == 1 }
    return byte < 128 && high >> UInt64(byte & 63) & 1 == 1
  }

  /// RFC 9110 §5.5: the characters of a field value: white space, visible ASCII and obs-text.
  @inlinable public static func isFieldContent(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7f || byte == 9
  }
}
