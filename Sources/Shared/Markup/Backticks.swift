/// Finds the run of backticks that closes a code span. The first search that fails has seen every run there is, and from
/// then on a run without a partner is known at once. So all searches of a text together read it twice at most.
struct Backticks {
  /// The last place of a run, by its length.
  private var last: [Int] = []

  mutating func close(_ text: Span<UInt8>, length: Int, from start: Int, to end: Int, _ steps: inout Int) -> Int? {
    guard length <= MarkupLimits.backticks else { return nil }
    if !last.isEmpty && last[length] < start { return nil }
    var seen = last.isEmpty ? [Int](repeating: -1, count: MarkupLimits.backticks + 1) : last
    var place = start
    defer { steps += place - start }
    while place < end {
      guard text[place] == UInt8(ascii: "`") else {
        place += 1
        continue
      }
      let run = place
      while place < end, text[place] == UInt8(ascii: "`") { place += 1 }
      if place - run == length { return run }
      if place - run <= MarkupLimits.backticks { seen[place - run] = run }
    }
    last = seen
    return nil
  }

  // CommonMark 0.31 §6.1: a space at each end goes, unless there is nothing but spaces. A line end counts as one.
  static func trimmed(_ text: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    func isSpace(_ place: Int) -> Bool { text[place] == 0x20 || text[place] == UInt8(ascii: "\n") }
    guard range.count >= 2, isSpace(range.lowerBound), isSpace(range.upperBound - 1) else { return range }
    let isBlank = range.allSatisfy(isSpace)
    return isBlank ? range : range.lowerBound + 1..<range.upperBound - 1
  }
}
