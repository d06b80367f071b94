import ParleyWire

/// How the bytes of a page are read. Today's pages are UTF-8; of older ones those of Western Europe are read too, and of all
/// others what is ASCII.
enum PageCharset: Sendable, Hashable {
  case utf8, windows1252
  /// Nobody has said: UTF-8 where it is that, else as browsers have it.
  case guessed
  case other

  /// By the byte-order mark, which rules (WHATWG Encoding §6).
  init?(markOf page: [UInt8]) {
    if page.starts(with: [0xef, 0xbb, 0xbf]) {
      self = .utf8
    } else if page.starts(with: [0xfe, 0xff]) || page.starts(with: [0xff, 0xfe]) {
      self = .other
    } else {
      return nil
    }
  }

  /// WHATWG Encoding §4.2: what the web calls Latin-1 or ASCII is windows-1252.
  init(label: String) {
    switch label.lowercased() {
    case "utf-8", "utf8", "unicode-1-1-utf-8": self = .utf8
    case "iso-8859-1", "iso8859-1", "latin1", "l1", "us-ascii", "ascii", "windows-1252", "cp1252", "x-cp1252":
      self = .windows1252
    default: self = .other
    }
  }

  /// Nil where it can't be read.
  func text(_ bytes: ArraySlice<UInt8>) -> String? {
    switch self {
    case .utf8: String(decoding: bytes, as: UTF8.self)
    case .windows1252: Self.western(bytes)
    case .guessed: String(validating: bytes, as: UTF8.self) ?? Self.western(bytes)
    case .other: bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }
  }

  private static func western(_ bytes: ArraySlice<UInt8>) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in bytes { scalars.append(scalar(byte)) }
    return String(scalars)
  }

  /// One byte of windows-1252, which numbers in HTML mean, too.
  static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    guard 0x80...0x9f ~= byte else { return Unicode.Scalar(byte) }
    return upper[Int(byte) - 0x80]
  }

  /// 0x80 to 0x9f; five of them are nothing.
  private static let upper = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ".unicodeScalars)
}
