/// The delimiter row of a table, `---|:-:`, with at least one `|`.
struct TableColumns {
  let alignments: [UInt8]

  init?(_ source: Span<UInt8>, _ line: Range<Int>) {
    var hasBar = false
    for position in line {
      switch source[position] {
      case UInt8(ascii: "|"): hasBar = true
      case UInt8(ascii: "-"), UInt8(ascii: ":"), 0x20, 0x09: break
      default: return nil
      }
    }
    guard hasBar else { return nil }
    var alignments: [UInt8] = []
    for cell in TableRow(source, line).cells {
      guard let alignment = Self.alignment(source, cell) else { return nil }
      alignments.append(alignment)
    }
    self.alignments = alignments
  }

  private static func alignment(_ source: Span<UInt8>, _ cell: Range<Int>) -> UInt8? {
    guard !cell.isEmpty else { return nil }
    let isLeft = source[cell.lowerBound] == UInt8(ascii: ":")
    let isRight = source[cell.upperBound - 1] == UInt8(ascii: ":")
    let line = cell.lowerBound + (isLeft ? 1 : 0)..<max(cell.lowerBound + 1, cell.upperBound - (isRight ? 1 : 0))
    guard !line.isEmpty, line.allSatisfy({ source[$0] == UInt8(ascii: "-") }) else { return nil }
    return (isLeft ? Alignment.left : 0) | (isRight ? Alignment.right : 0)
  }
}

/// The cells of a row, without the space around them. `\|` is part of a cell.
struct TableRow {
  let cells: [Range<Int>]

  init(_ text: Span<UInt8>, _ row: Range<Int>) {
    var cells: [Range<Int>] = []
    let row = Self.trimmed(text, row)
    var start = row.lowerBound
    if start < row.upperBound, text[start] == UInt8(ascii: "|") { start += 1 }
    var position = start
    while position < row.upperBound {
      if text[position] == UInt8(ascii: "|") {
        cells.append(Self.trimmed(text, start..<position))
        start = position + 1
      }
      position += text[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    if start < row.upperBound { cells.append(Self.trimmed(text, start..<row.upperBound)) }
    self.cells = cells
  }

  private static func trimmed(_ text: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
    while start < end, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
    return start..<end
  }
}
