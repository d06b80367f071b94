/// Where a stretch of the content stands in the source. Between two stretches are marks of quotes and lists, or indentation.
struct SourceLine: Sendable {
  let content: Int
  let source: Int
}

/// From places in the content to places in the source. Asked in rising order, so all answers together walk the lines once.
struct LineMap {
  private let lines: [SourceLine]
  private var current = 0

  init(_ lines: [SourceLine]) { self.lines = lines }

  mutating func sourcePlace(of place: Int) -> Int {
    while current + 1 < lines.count, lines[current + 1].content <= place { current += 1 }
    return lines[current].source + place - lines[current].content
  }
}

/// Counts the scalars before a place of UTF-8. Asked in rising order, so all answers together walk the text once.
struct ScalarCount {
  private let bytes: [UInt8]
  private var place = 0
  private var count = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func before(_ end: Int) -> Int {
    while place < end {
      if bytes[place] & 0xc0 != 0x80 { count += 1 }
      place += 1
    }
    return count
  }
}
