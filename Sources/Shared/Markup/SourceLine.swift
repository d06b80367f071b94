/// The source offset of a range of the content. Between two ranges are quote and list markers or indentation.
struct SourceLine: Sendable {
  let content: Int
  let source: Int
}

/// Maps offsets in the content to offsets in the source. Queries are in ascending order, so all together visit the
/// lines once.
struct LineMap {
  private let lines: [SourceLine]
  private var current = 0

  init(_ lines: [SourceLine]) { self.lines = lines }

  mutating func sourcePosition(of offset: Int) -> Int {
    while current + 1 < lines.count, lines[current + 1].content <= offset { current += 1 }
    return lines[current].source + offset - lines[current].content
  }
}

/// Counts the scalars before an offset of UTF-8. Queries are in ascending order, so all together read the text once.
struct ScalarCount {
  private let bytes: [UInt8]
  private var offset = 0
  private var count = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func before(_ end: Int) -> Int {
    while offset < end {
      if bytes[offset] & 0xc0 != 0x80 { count += 1 }
      offset += 1
    }
    return count
  }
}
