/// The displayed text of a code span: line ends become spaces, and in a table cell `\|` becomes `|`.
enum CodeSpan {
  static func shown(_ code: ArraySlice<UInt8>, isCell: Bool) -> ArraySlice<UInt8> {
    guard code.contains(where: { $0 == 0x0a || isCell && $0 == UInt8(ascii: "\\") }) else { return code }
    var shown: [UInt8] = []
    for (index, byte) in zip(code.indices, code) {
      let isEscape = isCell && byte == UInt8(ascii: "\\") && code[index...].dropFirst().first == UInt8(ascii: "|")
      if !isEscape { shown.append(byte == 0x0a ? 0x20 : byte) }
    }
    return shown[...]
  }
}

/// Finds the run of backticks that closes a code span. The first failed search records the last run of each length;
/// later searches for an unmatched run return at once. All searches of a text together read it at most twice.
struct Backticks {
  /// The start of the last run of each length.
  private var last: [Int] = []

  mutating func close(_ text: Span<UInt8>, length: Int, from start: Int, to end: Int, _ steps: inout Int) -> Int? {
    guard length <= MarkupLimits.backticks else { return nil }
    if !last.isEmpty && last[length] < start { return nil }
    var seen = last.isEmpty ? [Int](repeating: -1, count: MarkupLimits.backticks + 1) : last
    var position = start
    defer { steps += position - start }
    while position < end {
      guard text[position] == UInt8(ascii: "`") else {
        position += 1
        continue
      }
      let run = position
      while position < end, text[position] == UInt8(ascii: "`") { position += 1 }
      if position - run == length { return run }
      if position - run <= MarkupLimits.backticks { seen[position - run] = run }
    }
    last = seen
    return nil
  }

  // CommonMark 0.31 §6.1: one space is stripped at each end, unless the span is all spaces. A line end is a space.
  static func trimmed(_ text: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    func isSpace(_ position: Int) -> Bool { text[position] == 0x20 || text[position] == UInt8(ascii: "\n") }
    guard range.count >= 2, isSpace(range.lowerBound), isSpace(range.upperBound - 1) else { return range }
    let isBlank = range.allSatisfy(isSpace)
    return isBlank ? range : range.lowerBound + 1..<range.upperBound - 1
  }
}
