// Decodes character references in HTML text. Of the 2,231 named references it knows the common ones: the Latin-1 letters and
// typographic characters. Others stay as they are.

import ParleyWire

enum HTMLText {
  private static let maxNameBytes = 8

  static func decoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    let bytes = Array(text.utf8)
    var output: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "&"), let (scalar, end) = reference(bytes, at: index + 1) {
        output += Array(String(scalar).utf8)
        index = end
      } else {
        output.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Parses the reference after an `&`.
  private static func reference(_ bytes: [UInt8], at start: Int) -> (Unicode.Scalar, end: Int)? {
    guard start < bytes.count else { return nil }
    if bytes[start] == UInt8(ascii: "#") { return number(bytes, at: start + 1) }
    var end = start
    while end < bytes.count, end - start < maxNameBytes, ASCII.isAlpha(bytes[end]) || ASCII.isDigit(bytes[end]) {
      end += 1
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else { return nil }
    return names[String(decoding: bytes[start..<end], as: UTF8.self)].map { ($0, end + 1) }
  }

  /// WHATWG HTML §13.2.5.80: an invalid code point becomes U+FFFD, 0x80 to 0x9f are windows-1252, the semicolon is optional.
  private static func number(_ bytes: [UInt8], at start: Int) -> (Unicode.Scalar, end: Int)? {
    let isHex = start < bytes.count && ASCII.lowercase(bytes[start]) == UInt8(ascii: "x")
    let first = isHex ? start + 1 : start
    var (end, value): (Int, UInt32) = (first, 0)
    while end < bytes.count, let digit = ASCII.hexValue(bytes[end]), isHex || digit < 10 {
      // Saturates above the last code point.
      value = min(value * (isHex ? 16 : 10) + UInt32(digit), 0x11_0000)
      end += 1
    }
    guard end > first else { return nil }
    if end < bytes.count, bytes[end] == UInt8(ascii: ";") { end += 1 }
    if 0x80...0x9f ~= value { return (PageCharset.scalar(UInt8(truncatingIfNeeded: value)), end) }
    return (value == 0 ? "\u{fffd}" : Unicode.Scalar(value) ?? "\u{fffd}", end)
  }

  private static let names: [String: Unicode.Scalar] = {
    var names: [String: Unicode.Scalar] = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—", "lsquo": "‘",
      "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "hellip": "…", "bull": "•",
      "lsaquo": "‹", "rsaquo": "›", "euro": "€", "trade": "™", "larr": "←", "rarr": "→", "OElig": "Œ",
      "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "ensp": "\u{2002}", "emsp": "\u{2003}",
      "thinsp": "\u{2009}", "zwnj": "\u{200c}", "zwj": "\u{200d}",
    ]
    // U+00A0 to U+00FF.
    let latin = """
      nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro \
      para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil \
      Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
      Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml \
      igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute \
      thorn yuml
      """
    for (offset, name) in latin.split(separator: " ").enumerated() {
      names[String(name)] = Unicode.Scalar(UInt8(truncatingIfNeeded: 0xa0 + offset))
    }
    return names
  }()
}
