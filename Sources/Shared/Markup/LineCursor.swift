/// A place in one line of the source, in bytes and in columns. A tab reaches to the next column that four divides, and may
/// be used up in part.
struct LineCursor {
  let end: Int
  private(set) var place: Int
  private(set) var column = 0
  /// The first byte that is no space or tab, and its column. The line's end if it is blank.
  private(set) var text: Int
  private var textColumn = 0
  /// Columns that are left of a tab that is used up in part.
  private(set) var tabRest = 0

  init(_ source: Span<UInt8>, _ range: Range<Int>) {
    place = range.lowerBound
    end = range.upperBound
    text = range.lowerBound
    findText(source)
  }

  var isBlank: Bool { text == end }
  var indent: Int { textColumn - column }

  private mutating func findText(_ source: Span<UInt8>) {
    text = place
    textColumn = column
    while text < end, source[text] == 0x20 || source[text] == 0x09 {
      textColumn += source[text] == 0x09 ? 4 - textColumn % 4 : 1
      text += 1
    }
  }

  /// Goes `count` columns of space on.
  mutating func skip(columns count: Int, in source: Span<UInt8>) {
    let goal = min(column + count, textColumn)
    while column < goal {
      let width = source[place] == 0x09 ? 4 - column % 4 : 1
      tabRest = max(0, column + width - goal)
      column = min(column + width, goal)
      if tabRest == 0 { place += 1 }
    }
  }

  mutating func skipSpace() {
    place = text
    column = textColumn
    tabRest = 0
  }

  /// Goes behind `count` bytes of the text, which are no tabs.
  mutating func skip(marks count: Int, in source: Span<UInt8>) {
    place = text + count
    column = textColumn + count
    tabRest = 0
    findText(source)
  }
}
