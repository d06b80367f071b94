// The marks that begin a block, read from the first byte of a line that is no space.

/// CommonMark 0.31 §5.2: `-`, `+`, `*`, or up to nine digits and `.` or `)`, and then space.
struct ListMarker {
  /// The bullet, or what ends the number. Another one is another list.
  let kind: UInt8
  let number: Int?
  let length: Int
  let mayEndParagraph: Bool

  init?(_ source: Span<UInt8>, at start: Int, to end: Int) {
    var place = start
    var number = 0
    while place < end, place - start < 9, source[place] >= UInt8(ascii: "0"), source[place] <= UInt8(ascii: "9") {
      number = number * 10 + Int(source[place] - UInt8(ascii: "0"))
      place += 1
    }
    guard place < end else { return nil }
    kind = source[place]
    switch kind {
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"):
      guard place == start else { return nil }
      self.number = nil
    case UInt8(ascii: "."), UInt8(ascii: ")"):
      guard place > start else { return nil }
      self.number = number
    default: return nil
    }
    place += 1
    guard place == end || source[place] == 0x20 || source[place] == 0x09 else { return nil }
    length = place - start
    while place < end, source[place] == 0x20 || source[place] == 0x09 { place += 1 }
    mayEndParagraph = place < end && (self.number ?? 1) == 1
  }
}

/// CommonMark 0.31 §4.2: one to six `#`, space, the text, and perhaps a closing run of `#`.
struct Heading {
  let level: UInt8
  let text: Range<Int>

  init?(_ source: Span<UInt8>, _ line: Range<Int>) {
    var start = line.lowerBound
    while start < line.upperBound, source[start] == UInt8(ascii: "#") { start += 1 }
    let marks = start - line.lowerBound
    guard marks >= 1, marks <= 6, start == line.upperBound || Self.isSpace(source[start]) else { return nil }
    var end = line.upperBound
    while end > start, Self.isSpace(source[end - 1]) { end -= 1 }
    var closing = end
    while closing > start, source[closing - 1] == UInt8(ascii: "#") { closing -= 1 }
    if closing == start || Self.isSpace(source[closing - 1]) { end = closing }
    level = UInt8(truncatingIfNeeded: marks)
    text = start..<end
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// CommonMark 0.31 §4.1: three or more `*`, `-` or `_`, and nothing else but space.
enum Rule {
  static func isRule(_ source: Span<UInt8>, _ line: Range<Int>) -> Bool {
    let mark = source[line.lowerBound]
    guard mark == UInt8(ascii: "*") || mark == UInt8(ascii: "-") || mark == UInt8(ascii: "_") else { return false }
    var marks = 0
    for place in line {
      if source[place] == mark {
        marks += 1
      } else if source[place] != 0x20 && source[place] != 0x09 {
        return false
      }
    }
    return marks >= 3
  }
}

/// CommonMark 0.31 §4.5: three or more backticks or tildes, and the language.
struct Fence {
  let mark: UInt8
  let length: Int
  let indent: Int
  /// Empty where there is none, or one that could not be a class of its own.
  let language: Range<Int>

  init?(_ source: Span<UInt8>, _ line: Range<Int>, indent: Int) {
    mark = source[line.lowerBound]
    guard mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~") else { return nil }
    var place = line.lowerBound
    while place < line.upperBound, source[place] == mark { place += 1 }
    length = place - line.lowerBound
    guard length >= 3 else { return nil }
    let mark = mark
    if mark == UInt8(ascii: "`"), (place..<line.upperBound).contains(where: { source[$0] == mark }) { return nil }
    self.indent = indent
    while place < line.upperBound, source[place] == 0x20 || source[place] == 0x09 { place += 1 }
    var end = place
    while end < line.upperBound, Self.mayStandInLanguage(source[end]) { end += 1 }
    let isWord = end == line.upperBound || source[end] == 0x20 || source[end] == 0x09
    language = isWord && end - place <= MarkupLimits.language ? place..<end : place..<place
  }

  func isClosed(by source: Span<UInt8>, _ line: Range<Int>) -> Bool {
    var place = line.lowerBound
    while place < line.upperBound, source[place] == mark { place += 1 }
    guard place - line.lowerBound >= length else { return false }
    while place < line.upperBound, source[place] == 0x20 || source[place] == 0x09 { place += 1 }
    return place == line.upperBound
  }

  private static func mayStandInLanguage(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "#"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: ScalarKind.ascii(byte) == .word
    }
  }
}
