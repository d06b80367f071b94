import ParleyWire

/// The character encoding of a page: UTF-8, or windows-1252 for older pages. Of other encodings only ASCII text is read.
enum PageCharset: Sendable, Hashable {
  case utf8, windows1252
  /// Not declared: UTF-8 if valid, else windows-1252, as browsers do.
  case unspecified
  case other

  /// Detects the byte order mark, which overrides every declaration (WHATWG Encoding §6).
  init?(byteOrderMarkOf page: [UInt8]) {
    if page.starts(with: [0xef, 0xbb, 0xbf]) {
      self = .utf8
    } else if page.starts(with: [0xfe, 0xff]) || page.starts(with: [0xff, 0xfe]) {
      self = .other
    } else {
      return nil
    }
  }

  /// WHATWG Encoding §4.2: the labels of Latin-1 and ASCII mean windows-1252.
  init(label: String) {
    switch label.lowercased() {
    case "utf-8", "utf8", "unicode-1-1-utf-8": self = .utf8
    case "iso-8859-1", "iso8859-1", "latin1", "l1", "us-ascii", "ascii", "windows-1252", "cp1252", "x-cp1252":
      self = .windows1252
    default: self = .other
    }
  }

  /// Nil if the bytes can't be decoded.
  func text(_ bytes: ArraySlice<UInt8>) -> String? {
    switch self {
    case .utf8: String(decoding: bytes, as: UTF8.self)
    case .windows1252: Self.western(bytes)
    case .unspecified: String(validating: bytes, as: UTF8.self) ?? Self.western(bytes)
    case .other: bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }
  }

  private static func western(_ bytes: ArraySlice<UInt8>) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in bytes { scalars.append(scalar(byte)) }
    return String(scalars)
  }

  /// Decodes one byte of windows-1252. Numeric character references of HTML use it too.
  static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    guard 0x80...0x9f ~= byte else { return Unicode.Scalar(byte) }
    return upper[Int(byte) - 0x80]
  }

  /// 0x80 to 0x9f; five of them are undefined and map to themselves.
  private static let upper = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ".unicodeScalars)
}
