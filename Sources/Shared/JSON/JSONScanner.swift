/// Where tokens end. Every function takes the place of a token's first byte and returns the place after its last.
enum JSONScanner {
  @inline(__always)
  static func space(in text: Span<UInt8>, from start: Int) -> Int {
    var place = start
    while place < text.count {
      let byte = text[place]
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { break }
      place += 1
    }
    return place
  }

  @inline(__always)
  static func string(in text: Span<UInt8>, from start: Int) throws(JSONError) -> (end: Int, isEscaped: Bool) {
    var place = start + 1
    var isEscaped = false
    while place < text.count {
      let byte = text[place]
      if byte == UInt8(ascii: "\"") { return (place + 1, isEscaped) }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        place = try JSONEscape.check(text, at: place)
      } else if byte < 0x20 {
        throw .malformed(.controlCharacter, offset: place)
      } else {
        place += 1
      }
    }
    throw .malformed(.unexpectedEnd, offset: place)
  }

  /// RFC 8259 §6: `[ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ("e" / "E") [ "+" / "-" ] 1*digit ]`
  static func number(in text: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
    var place = start
    if text[place] == UInt8(ascii: "-") { place += 1 }
    if place < text.count, text[place] == UInt8(ascii: "0") {
      place += 1
      if place < text.count, isDigit(text[place]) { throw .malformed(.invalidNumber, offset: place) }
    } else {
      place = try digits(in: text, from: place)
    }
    if place < text.count, text[place] == UInt8(ascii: ".") {
      place = try digits(in: text, from: place + 1)
    }
    if place < text.count, text[place] | 0x20 == UInt8(ascii: "e") {
      place += 1
      if place < text.count, text[place] == UInt8(ascii: "+") || text[place] == UInt8(ascii: "-") { place += 1 }
      place = try digits(in: text, from: place)
    }
    return place
  }

  /// One digit at least.
  private static func digits(in text: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
    var place = start
    while place < text.count, isDigit(text[place]) { place += 1 }
    guard place > start else {
      throw .malformed(start < text.count ? .invalidNumber : .unexpectedEnd, offset: start)
    }
    return place
  }

  static func literal(_ word: StaticString, in text: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
    var place = start
    for scalar in word.description.utf8 {
      guard place < text.count else { throw .malformed(.unexpectedEnd, offset: place) }
      guard text[place] == scalar else { throw .malformed(.unexpectedByte, offset: place) }
      place += 1
    }
    return place
  }

  static func equal(_ left: Range<Int>, _ right: Range<Int>, in text: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where text[left.lowerBound + index] != text[right.lowerBound + index] { return false }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
