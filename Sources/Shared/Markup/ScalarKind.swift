/// The class of a scalar in the rules of the profile.
enum ScalarKind {
  case space, punctuation, word, other

  init(_ scalar: Unicode.Scalar) {
    self = scalar.isASCII ? Self.ascii(UInt8(truncatingIfNeeded: scalar.value)) : Self.wide(scalar)
  }

  static func ascii(_ byte: UInt8) -> ScalarKind {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      .word
    case 0x09, 0x0a, 0x0c, 0x0d, 0x20: .space
    case 0x21...0x7e: .punctuation
    default: .other
    }
  }

  // CommonMark 0.31 §2.1: Unicode whitespace is Zs, Unicode punctuation is P and S.
  private static func wide(_ scalar: Unicode.Scalar) -> ScalarKind {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      .word
    case .spaceSeparator: .space
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
      .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol:
      .punctuation
    case .lineSeparator, .paragraphSeparator, .control, .format, .surrogate, .privateUse, .unassigned: .other
    @unknown default: .other
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar belongs to a script without spaces between words, or to its punctuation.
  var isEastAsian: Bool {
    switch value {
    case 0x2e80...0xa4cf, 0xac00...0xd7ff, 0xf900...0xfaff, 0xfe30...0xfe4f, 0xff00...0xffef, 0x20000...0x3ffff: true
    default: false
    }
  }

  /// U+200C and U+200D join their neighbours into one word.
  var isJoiner: Bool { value == 0x200c || value == 0x200d }

  var isLetter: Bool {
    if isASCII { return value | 0x20 >= 0x61 && value | 0x20 <= 0x7a }
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
    default: return false
    }
  }
}

// For valid UTF-8.
extension Span<UInt8> {
  /// The scalar that starts at `position`, and its length in bytes.
  func scalar(at position: Int) -> (scalar: Unicode.Scalar, length: Int) {
    let first = UInt32(self[position])
    let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    var value = length == 1 ? first : first & (0x7f >> UInt32(length))
    for offset in 1..<4 where offset < length && position + offset < count {
      value = value << 6 | UInt32(self[position + offset] & 0x3f)
    }
    return (Unicode.Scalar(value) ?? "\u{fffd}", length)
  }

  /// The scalar that ends before `position`, which is greater than 0.
  func scalar(before position: Int) -> Unicode.Scalar {
    var start = position - 1
    while start > 0, self[start] & 0xc0 == 0x80 { start -= 1 }
    return scalar(at: start).scalar
  }
}
