/// A position in one line of the source, in bytes and in columns. A tab extends to the next multiple of four columns
/// and may be consumed in part.
struct LineCursor {
  let end: Int
  private(set) var position: Int
  private(set) var column = 0
  /// The first byte other than space and tab. The line's end if the line is blank.
  private(set) var text: Int
  private var textColumn = 0
  /// The remaining columns of a partly consumed tab.
  private(set) var tabRest = 0

  init(_ source: Span<UInt8>, _ range: Range<Int>) {
    position = range.lowerBound
    end = range.upperBound
    text = range.lowerBound
    findText(source)
  }

  var isBlank: Bool { text == end }
  var indent: Int { textColumn - column }

  private mutating func findText(_ source: Span<UInt8>) {
    text = position
    textColumn = column
    while text < end, source[text] == 0x20 || source[text] == 0x09 {
      textColumn += source[text] == 0x09 ? 4 - textColumn % 4 : 1
      text += 1
    }
  }

  /// Skips at most `count` columns of space.
  mutating func skip(columns count: Int, in source: Span<UInt8>) {
    let goal = min(column + count, textColumn)
    while column < goal {
      let width = source[position] == 0x09 ? 4 - column % 4 : 1
      tabRest = max(0, column + width - goal)
      column = min(column + width, goal)
      if tabRest == 0 { position += 1 }
    }
  }

  mutating func skipSpace() {
    position = text
    column = textColumn
    tabRest = 0
  }

  /// Skips space and `count` bytes of text without tabs.
  mutating func skip(bytes count: Int, in source: Span<UInt8>) {
    position = text + count
    column = textColumn + count
    tabRest = 0
    findText(source)
  }
}
