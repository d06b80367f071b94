/// The escapes of RFC 8259 §7. `check` rejects invalid escapes while a text is read, so that decoding cannot fail.
enum JSONEscape {
  /// Returns the offset after the escape at `backslash`, both halves of a surrogate pair included.
  static func check(_ text: Span<UInt8>, at backslash: Int) throws(JSONError) -> Int {
    guard backslash + 1 < text.count else { throw .malformed(.unexpectedEnd, offset: text.count) }
    let letter = text[backslash + 1]
    guard letter == UInt8(ascii: "u") else {
      guard short(letter) != nil else { throw .malformed(.invalidEscape, offset: backslash) }
      return backslash + 2
    }
    let unit = try checkedUnit(text, at: backslash)
    guard unit & 0xf800 == 0xd800 else { return backslash + 6 }
    guard unit < 0xdc00 else { throw .malformed(.loneSurrogate, offset: backslash) }
    let second = backslash + 6
    guard second < text.count else { throw .malformed(.unexpectedEnd, offset: second) }
    guard text[second] == UInt8(ascii: "\\") else { throw .malformed(.loneSurrogate, offset: backslash) }
    guard second + 1 < text.count else { throw .malformed(.unexpectedEnd, offset: text.count) }
    guard text[second + 1] == UInt8(ascii: "u") else { throw .malformed(.loneSurrogate, offset: backslash) }
    guard try checkedUnit(text, at: second) & 0xfc00 == 0xdc00 else {
      throw .malformed(.loneSurrogate, offset: backslash)
    }
    return backslash + 12
  }

  private static func checkedUnit(_ text: Span<UInt8>, at backslash: Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for offset in backslash + 2..<backslash + 6 {
      guard offset < text.count else { throw .malformed(.unexpectedEnd, offset: offset) }
      guard let digit = hexValue(text[offset]) else { throw .malformed(.invalidEscape, offset: backslash) }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// The scalar of a checked escape and the offset after it.
  private static func scalar(_ text: Span<UInt8>, at backslash: Int) -> (scalar: Unicode.Scalar, end: Int) {
    let letter = text[backslash + 1]
    guard letter == UInt8(ascii: "u") else {
      return (Unicode.Scalar(short(letter) ?? letter), backslash + 2)
    }
    let first = unit(text, at: backslash)
    guard first & 0xf800 == 0xd800 else { return (Unicode.Scalar(first) ?? "\u{fffd}", backslash + 6) }
    let second = unit(text, at: backslash + 6)
    return (Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 | (second & 0x3ff)) ?? "\u{fffd}", backslash + 12)
  }

  private static func unit(_ text: Span<UInt8>, at backslash: Int) -> UInt32 {
    var unit: UInt32 = 0
    for offset in backslash + 2..<backslash + 6 { unit = unit << 4 | UInt32(hexValue(text[offset]) ?? 0) }
    return unit
  }

  /// Decodes checked contents of a string to UTF-8. No escape is shorter than its decoded bytes.
  static func decoded(_ text: Span<UInt8>, _ contents: Range<Int>) -> [UInt8] {
    [UInt8](capacity: contents.count) { output in
      var offset = contents.lowerBound
      while offset < contents.upperBound {
        let byte = text[offset]
        if byte != UInt8(ascii: "\\") {
          output.append(byte)
          offset += 1
          continue
        }
        let escape = scalar(text, at: offset)
        for byte in UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter { output.append(byte) }
        offset = escape.end
      }
    }
  }

  /// Whether checked contents decode to `name`. Decodes incrementally and stops at the first difference, so that
  /// escaped keys cost no more than plain ones.
  static func matches(_ text: Span<UInt8>, _ contents: Range<Int>, _ name: Span<UInt8>) -> Bool {
    var offset = contents.lowerBound
    var matched = 0
    while offset < contents.upperBound {
      guard text[offset] == UInt8(ascii: "\\") else {
        guard matched < name.count, name[matched] == text[offset] else { return false }
        matched += 1
        offset += 1
        continue
      }
      let escape = scalar(text, at: offset)
      for byte in UTF8.encode(escape.scalar) ?? UTF8.encodedReplacementCharacter {
        guard matched < name.count, name[matched] == byte else { return false }
        matched += 1
      }
      offset = escape.end
    }
    return matched == name.count
  }

  private static func short(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0c
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "r"): 0x0d
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    if byte &- 0x30 < 10 { return byte &- 0x30 }
    let letter = byte | 0x20
    return letter &- 0x61 < 6 ? letter &- 0x57 : nil
  }
}

// Escaping for the writer: only quotes, backslashes and control characters are escaped.
extension JSONEscape {
  /// Tests eight bytes at a time.
  static func isNeeded(_ text: Span<UInt8>) -> Bool {
    guard text.count >= 8 else {
      if text.count >= 4 {
        return isNeeded(UInt64(text.halfWord(at: 0)) | UInt64(text.halfWord(at: text.count - 4)) << 32)
      }
      for offset in text.indices where isNeeded(text[offset]) { return true }
      return false
    }
    var offset = 0
    while offset + 8 < text.count {
      if isNeeded(text.word(at: offset)) { return true }
      offset += 8
    }
    // The last eight bytes may overlap those before.
    return isNeeded(text.word(at: text.count - 8))
  }

  /// Whether one of eight bytes is a control character, a quote or a backslash. Subtracting sets the high bit of each
  /// byte that is too small; a borrow can only reach a byte above one that is.
  private static func isNeeded(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
    let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
    let small = (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
    return small & (ones &* 0x80) != 0
  }

  /// An upper bound of the bytes that escaping adds.
  static func room(for text: Span<UInt8>) -> Int {
    var room = 0
    for offset in text.indices {
      let byte = text[offset]
      room += (byte < 0x20 ? 5 : 0) + (byte == UInt8(ascii: "\"") ? 1 : 0) + (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
    return room
  }

  /// The bytes that escaping adds.
  static func added(to text: Span<UInt8>) -> Int {
    guard isNeeded(text) else { return 0 }
    var added = 0
    for offset in text.indices where isNeeded(text[offset]) { added += letter(for: text[offset]) == nil ? 5 : 1 }
    return added
  }

  @inline(__always)
  static func append(_ byte: UInt8, to output: inout OutputSpan<UInt8>) {
    guard isNeeded(byte) else { return output.append(byte) }
    output.append(UInt8(ascii: "\\"))
    if let letter = letter(for: byte) { return output.append(letter) }
    output.append(UInt8(ascii: "u"))
    output.append(UInt8(ascii: "0"))
    output.append(UInt8(ascii: "0"))
    output.append(hexDigit(byte >> 4))
    output.append(hexDigit(byte & 15))
  }

  private static func isNeeded(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func letter(for byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
    case 0x08: UInt8(ascii: "b")
    case 0x09: UInt8(ascii: "t")
    case 0x0a: UInt8(ascii: "n")
    case 0x0c: UInt8(ascii: "f")
    case 0x0d: UInt8(ascii: "r")
    default: nil
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
