/// Character classes of the search index. The table is fixed here because the properties of the Swift library change
/// with Unicode: text indexed years ago must be found and removed by the same words.
///
/// A change here or in `SearchText.prepare` needs a new `SearchText.version`.
enum SearchCharacter: Hashable {
  /// Letter, combining mark or space; the tokenizer handles it.
  case plain
  /// Script without spaces between words, or with suffixes on words, such as Korean.
  case unspaced
  /// Emoji or other symbol. The tokenizer knows only some of them, so each is mapped to a letter of the unused private
  /// plane 15.
  case symbol(Unicode.Scalar)
  /// Regional indicator: two of them form a flag.
  case flagHalf(Unicode.Scalar)
  /// Fullwidth form.
  case wide(Unicode.Scalar)
  /// Often omitted or invisible: combining accents, vowel points, joiners, skin tones.
  case dropped

  init(_ scalar: Unicode.Scalar) {
    let value = scalar.value
    switch value {
    // The most frequent characters first.
    case 0..<0xa2, 0xb0..<0x300, 0x370..<0x591: self = .plain
    case 0x4e00...0x9fff, 0x3041...0x3096, 0x30a1...0x30fa, 0x30fc...0x30ff, 0xac00...0xd7a3: self = .unspaced

    // Soft hyphen; combining accents; points and signs of Hebrew and Arabic; joiners and directions; variations; tags.
    case 0xad, 0x300...0x36f: self = .dropped
    case 0x591...0x5bd, 0x5bf, 0x5c1...0x5c2, 0x5c4...0x5c5, 0x5c7: self = .dropped
    case 0x610...0x61a, 0x640, 0x64b...0x65f, 0x670, 0x6d6...0x6dc, 0x6df...0x6e4, 0x6e7...0x6e8, 0x6ea...0x6ed:
      self = .dropped
    case 0x200c...0x200f, 0x2060...0x2064, 0x20d0...0x20ff, 0xfe00...0xfe0f, 0xfeff: self = .dropped
    case 0x1f3fb...0x1f3ff, 0xe0000...0xe01ef: self = .dropped

    // Thai, Lao, Burmese, Khmer: letters and combining marks without digits and punctuation.
    case 0xe01...0xe3a, 0xe40...0xe4e, 0xe81...0xece, 0xa9e0...0xa9ef, 0xa9fa...0xa9fe, 0xaa60...0xaa76,
      0xaa7a...0xaa7f:
      self = .unspaced
    case 0x1000...0x103f, 0x1050...0x108f, 0x109a...0x109d, 0x1780...0x17d3, 0x17d7, 0x17dc...0x17dd: self = .unspaced
    // Han, kana, bopomofo and Hangul: syllables, parts, halfwidth and compatibility forms, and the planes of rare ones.
    case 0x1100...0x11ff, 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303c, 0x3099...0x309a,
      0x309d...0x309f, 0x3105...0x312f, 0x3131...0x318e, 0x31a0...0x31bf, 0x31f0...0x31ff, 0x3400...0x4dbf:
      self = .unspaced
    case 0xa960...0xa97f, 0xd7b0...0xd7ff, 0xf900...0xfaff, 0xff66...0xff9f, 0xffa0...0xffdc: self = .unspaced
    case 0x16fe0...0x16fe1, 0x17000...0x18cff, 0x1aff0...0x1b2ff, 0x20000...0x3ffff: self = .unspaced

    case 0xa2...0xa9, 0xae, 0x203c, 0x2049, 0x20a0...0x20cf, 0x2122, 0x2190...0x2bff, 0x2e80...0x2fff, 0x3030, 0x303d,
      0x3297, 0x3299:
      self = .symbol(Self.privateLetter(value))
    case 0x1f1e6...0x1f1ff: self = .flagHalf(Self.privateLetter(value))
    case 0x1f000...0x1fbff: self = .symbol(Self.privateLetter(value))

    case 0xff10...0xff19, 0xff21...0xff3a, 0xff41...0xff5a: self = .wide(Unicode.Scalar(UInt8(value - 0xfee0)))
    default: self = .plain
    }
  }

  /// Values below U+3400 and from U+1F000 on do not collide there.
  private static func privateLetter(_ value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(0xf_0000 | value & 0xffff) ?? "\u{f0000}"
  }
}
