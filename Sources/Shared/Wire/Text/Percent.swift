/// Percent-encoding (RFC 3986 §2.1).
public enum Percent {
  /// Decodes the text; nil if a `%` is not followed by two hexadecimal digits or the result is not UTF-8.
  public static func decode(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    return decode(bytes.span, in: bytes.indices, plusIsSpace: false)
  }

  static func decode(_ bytes: Span<UInt8>, in range: Range<Int>, plusIsSpace: Bool) -> String? {
    var output: [UInt8] = []
    output.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= range.upperBound, let high = ASCII.hexValue(bytes[index]),
          let low = ASCII.hexValue(bytes[index + 1])
        else { return nil }
        output.append(high << 4 | low)
        index += 2
      } else {
        output.append(plusIsSpace && byte == UInt8(ascii: "+") ? 32 : byte)
      }
    }
    return String(validating: output, as: UTF8.self)
  }

  /// Whether every `%` is followed by two hexadecimal digits.
  static func isEncoded(_ text: String) -> Bool {
    var digitsNeeded = 0
    for byte in text.utf8 {
      if digitsNeeded > 0 {
        guard ASCII.hexValue(byte) != nil else { return false }
        digitsNeeded -= 1
      } else if byte == UInt8(ascii: "%") {
        digitsNeeded = 2
      }
    }
    return digitsNeeded == 0
  }

  /// The characters that stay unencoded besides letters, digits and `-._~`.
  public enum Allowed: Sendable {
    /// None. Safe in every part of a URL.
    case unreserved
    /// The characters of a path segment (`pchar`, RFC 3986 §3.3).
    case segment
    /// `segment` and slashes.
    case path

    func contains(_ byte: UInt8) -> Bool {
      if ASCII.isAlpha(byte) || ASCII.isDigit(byte) { return true }
      switch byte {
      case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): return true
      case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
        UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
        UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
        return self != .unreserved
      case UInt8(ascii: "/"): return self == .path
      default: return false
      }
    }
  }

  public static func encode(_ text: String, allowing allowed: Allowed = .unreserved) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var output: [UInt8] = []
    for byte in text.utf8 {
      if allowed.contains(byte) {
        output.append(byte)
      } else {
        output.append(UInt8(ascii: "%"))
        output.append(digits[Int(byte >> 4)])
        output.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}
