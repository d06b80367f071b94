/// Finds the ends of tokens: a function takes the offset of the first byte and returns the offset after the last one.
enum JSONScanner {
  @inline(__always)
  static func space(in text: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while offset < text.count {
      let byte = text[offset]
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { break }
      offset += 1
    }
    return offset
  }

  @inline(__always)
  static func string(in text: Span<UInt8>, from start: Int) throws(JSONError) -> (end: Int, isEscaped: Bool) {
    var offset = start + 1
    var isEscaped = false
    while offset < text.count {
      let byte = text[offset]
      if byte == UInt8(ascii: "\"") { return (offset + 1, isEscaped) }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        offset = try JSONEscape.check(text, at: offset)
      } else if byte < 0x20 {
        throw .malformed(.controlCharacter, offset: offset)
      } else {
        offset += 1
      }
    }
    throw .malformed(.unexpectedEnd, offset: offset)
  }

  /// RFC 8259 §6: `[ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ("e" / "E") [ "+" / "-" ] 1*digit ]`
  static func number(in text: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
    var offset = start
    if text[offset] == UInt8(ascii: "-") { offset += 1 }
    if offset < text.count, text[offset] == UInt8(ascii: "0") {
      offset += 1
      if offset < text.count, isDigit(text[offset]) { throw .malformed(.invalidNumber, offset: offset) }
    } else {
      offset = try digits(in: text, from: offset)
    }
    if offset < text.count, text[offset] == UInt8(ascii: ".") {
      offset = try digits(in: text, from: offset + 1)
    }
    if offset < text.count, text[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if offset < text.count, text[offset] == UInt8(ascii: "+") || text[offset] == UInt8(ascii: "-") { offset += 1 }
      offset = try digits(in: text, from: offset)
    }
    return offset
  }

  /// At least one digit.
  private static func digits(in text: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
    var offset = start
    while offset < text.count, isDigit(text[offset]) { offset += 1 }
    guard offset > start else {
      throw .malformed(start < text.count ? .invalidNumber : .unexpectedEnd, offset: start)
    }
    return offset
  }

  static func literal(_ word: StaticString, in text: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
    var offset = start
    for scalar in word.description.utf8 {
      guard offset < text.count else { throw .malformed(.unexpectedEnd, offset: offset) }
      guard text[offset] == scalar else { throw .malformed(.unexpectedByte, offset: offset) }
      offset += 1
    }
    return offset
  }

  static func equal(_ left: Range<Int>, _ right: Range<Int>, in text: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where text[left.lowerBound + index] != text[right.lowerBound + index] { return false }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
