// Markers that start a block, parsed from the first non-space byte of a line.

/// CommonMark 0.31 §5.2: `-`, `+`, `*`, or up to nine digits and `.` or `)`, followed by space.
struct ListMarker {
  /// The bullet or the number's delimiter. A different one starts a new list.
  let kind: UInt8
  let number: Int?
  let length: Int
  let mayEndParagraph: Bool

  init?(_ source: Span<UInt8>, at start: Int, to end: Int) {
    var position = start
    var number = 0
    while position < end, position - start < 9, source[position] >= UInt8(ascii: "0"),
      source[position] <= UInt8(ascii: "9")
    {
      number = number * 10 + Int(source[position] - UInt8(ascii: "0"))
      position += 1
    }
    guard position < end else { return nil }
    kind = source[position]
    switch kind {
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"):
      guard position == start else { return nil }
      self.number = nil
    case UInt8(ascii: "."), UInt8(ascii: ")"):
      guard position > start else { return nil }
      self.number = number
    default: return nil
    }
    position += 1
    guard position == end || source[position] == 0x20 || source[position] == 0x09 else { return nil }
    length = position - start
    while position < end, source[position] == 0x20 || source[position] == 0x09 { position += 1 }
    mayEndParagraph = position < end && (self.number ?? 1) == 1
  }
}

/// CommonMark 0.31 §4.2: one to six `#`, space, the text, and an optional closing run of `#`.
struct Heading {
  let level: UInt8
  let text: Range<Int>

  init?(_ source: Span<UInt8>, _ line: Range<Int>) {
    var start = line.lowerBound
    while start < line.upperBound, source[start] == UInt8(ascii: "#") { start += 1 }
    let count = start - line.lowerBound
    guard count >= 1, count <= 6, start == line.upperBound || Self.isSpace(source[start]) else { return nil }
    var end = line.upperBound
    while end > start, Self.isSpace(source[end - 1]) { end -= 1 }
    var closing = end
    while closing > start, source[closing - 1] == UInt8(ascii: "#") { closing -= 1 }
    if closing == start || Self.isSpace(source[closing - 1]) { end = closing }
    level = UInt8(truncatingIfNeeded: count)
    text = start..<end
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// CommonMark 0.31 §4.1: a thematic break of three or more `*`, `-` or `_` and spaces.
enum Rule {
  static func isRule(_ source: Span<UInt8>, _ line: Range<Int>) -> Bool {
    let character = source[line.lowerBound]
    guard character == UInt8(ascii: "*") || character == UInt8(ascii: "-") || character == UInt8(ascii: "_") else {
      return false
    }
    var count = 0
    for position in line {
      if source[position] == character {
        count += 1
      } else if source[position] != 0x20 && source[position] != 0x09 {
        return false
      }
    }
    return count >= 3
  }
}

/// CommonMark 0.31 §4.5: three or more backticks or tildes, and an info string.
struct Fence {
  let character: UInt8
  let length: Int
  let indent: Int
  /// Empty if there is none or it is not a valid class name.
  let language: Range<Int>

  init?(_ source: Span<UInt8>, _ line: Range<Int>, indent: Int) {
    character = source[line.lowerBound]
    guard character == UInt8(ascii: "`") || character == UInt8(ascii: "~") else { return nil }
    var position = line.lowerBound
    while position < line.upperBound, source[position] == character { position += 1 }
    length = position - line.lowerBound
    guard length >= 3 else { return nil }
    let character = character
    if character == UInt8(ascii: "`"), (position..<line.upperBound).contains(where: { source[$0] == character }) {
      return nil
    }
    self.indent = indent
    while position < line.upperBound, source[position] == 0x20 || source[position] == 0x09 { position += 1 }
    var end = position
    while end < line.upperBound, Self.isAllowedInLanguage(source[end]) { end += 1 }
    let isWord = end == line.upperBound || source[end] == 0x20 || source[end] == 0x09
    language = isWord && end - position <= MarkupLimits.language ? position..<end : position..<position
  }

  func isClosed(by source: Span<UInt8>, _ line: Range<Int>) -> Bool {
    var position = line.lowerBound
    while position < line.upperBound, source[position] == character { position += 1 }
    guard position - line.lowerBound >= length else { return false }
    while position < line.upperBound, source[position] == 0x20 || source[position] == 0x09 { position += 1 }
    return position == line.upperBound
  }

  private static func isAllowedInLanguage(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "#"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: ScalarKind.ascii(byte) == .word
    }
  }
}
