/// Parses the block structure line by line, as CommonMark does but without lazy continuation: a line belongs to a quote
/// or list item only if its own markers or indentation say so. Each line is processed in three steps:
///
/// 1. The open containers consume their markers at the line start. Containers without one are closed with their
///    content.
/// 2. The rest of the line may open containers and a leaf: heading, fence, thematic break or table.
/// 3. Remaining text continues the open paragraph or starts a new one.
///
/// The text of leaves is appended to `content`, without markers and indentation. A leaf is parsed when it closes, so
/// tokens are in text order and never move.
struct BlockParser {
  let source: [UInt8]
  private(set) var content: [UInt8] = []
  private(set) var lines: [SourceLine] = []
  private(set) var tree = MarkupTree()
  private(set) var inlines = InlineParser()
  private(set) var steps = 0
  private var containers: [Container] = []
  private var depth = 0
  private var leaf = Leaf.none
  /// Whether the previous line was blank, outside of quotes: the next block may make a list loose.
  private var isAfterBlank = false
  private let lineEnds = ByteSet("\n\r")

  struct Container {
    enum Kind { case quote, list, item }
    let kind: Kind
    /// The index of its token.
    let token: Int
    /// A list's bullet or number delimiter.
    var marker: UInt8 = 0
    /// The indentation of an item's text.
    var width = 0
    var isEmpty = true
  }

  enum Leaf {
    case none
    case paragraph(start: Int, lastLine: Int)
    /// The language is in the content, directly before the code.
    case code(Fence, language: Range<Int>)
    case table(TableColumns, hasBody: Bool)
  }

  init(source: [UInt8]) {
    self.source = source
    content.reserveCapacity(source.count)
    tree.tokens.reserveCapacity(source.count / 16 + 4)
  }

  mutating func parse() {
    var start = 0
    while start < source.count {
      let end = lineEnds.first(in: source.span, from: start, to: source.count)
      steps += end - start
      read(start..<end)
      start = end + (source[end...].starts(with: [0x0d, 0x0a]) ? 2 : 1)
    }
    closeLeaf()
    closeContainers(downTo: 0)
  }

  private mutating func read(_ range: Range<Int>) {
    var line = LineCursor(source.span, range)
    steps += line.text - range.lowerBound + containers.count + 1
    let matched = matchContainers(&line)
    if matched < containers.count { closeLeaf() }
    let isInQuote = matched > 0 && containers[matched - 1].kind == .quote
    closeContainers(downTo: matched)
    if case .code(let fence, _) = leaf { return readCode(&line, fence) }
    if line.isBlank {
      closeLeaf()
      isAfterBlank = !isInQuote
      return
    }
    openBlocks(&line)
    isAfterBlank = false
  }

  /// Returns the number of containers that stay open. A list stays open until a block that is not its item.
  private func matchContainers(_ line: inout LineCursor) -> Int {
    for (number, container) in containers.enumerated() {
      switch container.kind {
      case .list: break
      case .quote:
        guard !line.isBlank, line.indent < 4, source[line.text] == UInt8(ascii: ">") else { return number }
        skipQuoteMarker(&line)
      case .item:
        if line.isBlank ? container.isEmpty : line.indent < container.width { return number }
        line.skip(columns: container.width, in: source.span)
      }
    }
    return containers.count
  }

  private func skipQuoteMarker(_ line: inout LineCursor) {
    line.skip(bytes: 1, in: source.span)
    line.skip(columns: 1, in: source.span)
  }

  private mutating func openBlocks(_ line: inout LineCursor) {
    while !line.isBlank {
      guard line.indent < 4 else { break }
      if openTable(&line) || readHeading(&line) || openFence(&line) || readRule(&line) { return }
      guard openQuote(&line) || openItem(&line) else { break }
    }
    if !line.isBlank { readText(&line) }
  }

  private mutating func readText(_ line: inout LineCursor) {
    switch leaf {
    case .paragraph(let start, _):
      content.append(0x0a)
      leaf = .paragraph(start: start, lastLine: content.count)
    case .table(let columns, let hasBody) where source[line.text..<line.end].contains(UInt8(ascii: "|")):
      leaf = .table(columns, hasBody: true)
      return readRow(line.text..<line.end, columns, hasBody ? RowLocation.body : RowLocation.firstOfBody)
    case .none, .code, .table:
      beginBlock()
      leaf = .paragraph(start: content.count, lastLine: content.count)
    }
    append(line.text..<line.end)
  }

  /// Copies text of the source into the content and records its source offset.
  private mutating func append(_ range: Range<Int>) {
    lines.append(SourceLine(content: content.count, source: range.lowerBound))
    content.append(contentsOf: source[range])
  }
}

// Opening and closing.
extension BlockParser {
  /// Closes the open leaf and list and registers a new block with its parent.
  private mutating func beginBlock() {
    closeLeaf()
    if containers.last?.kind == .list { closeContainers(downTo: containers.count - 1) }
    fillParent()
  }

  /// Registers a child of the innermost container. A blank line between two children makes a list loose.
  private mutating func fillParent() {
    guard let parent = containers.indices.last else { return }
    if isAfterBlank, !containers[parent].isEmpty {
      switch containers[parent].kind {
      case .quote: break
      case .list: tree.tokens[containers[parent].token].detail |= ListStyle.loose
      case .item: tree.tokens[containers[parent - 1].token].detail |= ListStyle.loose
      }
    }
    containers[parent].isEmpty = false
  }

  private mutating func open(_ container: Container, _ token: Token) {
    containers.append(container)
    tree.tokens.append(token)
  }

  private mutating func closeContainers(downTo count: Int) {
    while containers.count > count {
      // A list stays open when its item closes.
      let container = containers.removeLast()
      switch container.kind {
      case .quote: tree.tokens.append(.leave(.quote))
      case .list: tree.tokens.append(.leave(.list, detail: tree.tokens[container.token].detail))
      case .item: tree.tokens.append(.leave(.item))
      }
      if container.kind != .list { depth -= 1 }
    }
  }

  private mutating func closeLeaf() {
    switch leaf {
    case .none: break
    case .paragraph(let start, _): writeParagraph(start..<content.count)
    case .code(_, let language):
      tree.tokens.append(.leaf(.codeBlock, language.lowerBound..<content.count, number: language.count))
    case .table: tree.tokens.append(.leave(.table))
    }
    leaf = .none
  }

  private mutating func writeParagraph(_ range: Range<Int>) {
    let start = range.lowerBound + readTask(range)
    tree.tokens.append(.enter(.paragraph))
    parseInlines(start..<range.upperBound)
    tree.tokens.append(.leave(.paragraph))
  }

  /// `[ ] ` or `[x] ` at the start of an item makes it a task. Returns the bytes consumed.
  private mutating func readTask(_ range: Range<Int>) -> Int {
    guard let item = containers.last, item.kind == .item, item.token == tree.tokens.count - 1, range.count > 4,
      content[range.lowerBound] == UInt8(ascii: "["), content[range.lowerBound + 2] == UInt8(ascii: "]"),
      content[range.lowerBound + 3] == 0x20 || content[range.lowerBound + 3] == 0x09
    else { return 0 }
    switch content[range.lowerBound + 1] {
    case 0x20: tree.tokens[item.token].detail = TaskState.open
    case UInt8(ascii: "x"), UInt8(ascii: "X"): tree.tokens[item.token].detail = TaskState.done
    default: return 0
    }
    return 4
  }

  private mutating func parseInlines(_ range: Range<Int>, isCell: Bool = false) {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, content[start] == 0x20 || content[start] == 0x09 { start += 1 }
    while start < end, content[end - 1] == 0x20 || content[end - 1] == 0x09 { end -= 1 }
    steps += range.count - (end - start)
    let content = content
    inlines.parse(content.span, in: start..<end, isCell: isCell, into: &tree)
  }
}

// Quotes and lists.
extension BlockParser {
  private mutating func openQuote(_ line: inout LineCursor) -> Bool {
    guard source[line.text] == UInt8(ascii: ">"), depth < MarkupLimits.containers else { return false }
    beginBlock()
    skipQuoteMarker(&line)
    depth += 1
    open(Container(kind: .quote, token: tree.tokens.count), .enter(.quote))
    return true
  }

  private mutating func openItem(_ line: inout LineCursor) -> Bool {
    guard depth < MarkupLimits.containers, let marker = ListMarker(source.span, at: line.text, to: line.end) else {
      return false
    }
    // CommonMark 0.31 §5.2: only a non-empty item, numbered 1 if ordered, may interrupt a paragraph.
    if case .paragraph = leaf, !marker.mayEndParagraph { return false }
    closeLeaf()
    if containers.last?.kind != .list || containers.last?.marker != marker.kind {
      beginBlock()
      let detail = marker.number == nil ? 0 : ListStyle.ordered
      open(
        Container(kind: .list, token: tree.tokens.count, marker: marker.kind),
        .enter(.list, detail: detail, number: marker.number ?? 0))
    }
    fillParent()
    let width = skipMarker(marker, &line)
    depth += 1
    open(Container(kind: .item, token: tree.tokens.count, width: width), .enter(.item))
    return true
  }

  /// Skips the marker and its space. Returns the indentation of the item's text.
  private func skipMarker(_ marker: ListMarker, _ line: inout LineCursor) -> Int {
    let indent = line.indent
    line.skip(bytes: marker.length, in: source.span)
    let space = line.isBlank || line.indent > 4 ? 1 : line.indent
    line.skip(columns: space, in: source.span)
    return indent + marker.length + space
  }
}

// Headings, rules, fences.
extension BlockParser {
  private mutating func readHeading(_ line: inout LineCursor) -> Bool {
    guard let heading = Heading(source.span, line.text..<line.end) else { return false }
    steps += line.end - line.text
    beginBlock()
    let start = content.count
    append(heading.text)
    tree.tokens.append(.enter(.heading, detail: heading.level))
    parseInlines(start..<content.count)
    tree.tokens.append(.leave(.heading, detail: heading.level))
    return true
  }

  private mutating func readRule(_ line: inout LineCursor) -> Bool {
    steps += line.end - line.text
    guard Rule.isRule(source.span, line.text..<line.end) else { return false }
    beginBlock()
    tree.tokens.append(.leaf(.rule))
    return true
  }

  private mutating func openFence(_ line: inout LineCursor) -> Bool {
    guard let fence = Fence(source.span, line.text..<line.end, indent: line.indent) else { return false }
    steps += line.end - line.text
    beginBlock()
    let start = content.count
    content.append(contentsOf: source[fence.language])
    leaf = .code(fence, language: start..<content.count)
    return true
  }

  private mutating func readCode(_ line: inout LineCursor, _ fence: Fence) {
    isAfterBlank = false
    if line.indent < 4, fence.isClosed(by: source.span, line.text..<line.end) { return closeLeaf() }
    line.skip(columns: fence.indent, in: source.span)
    for _ in 0..<line.tabRest { content.append(0x20) }
    content.append(contentsOf: source[(line.tabRest > 0 ? line.position + 1 : line.position)..<line.end])
    content.append(0x0a)
  }
}

// Tables.
extension BlockParser {
  /// A delimiter row makes the previous line a table head if both have the same number of cells.
  private mutating func openTable(_ line: inout LineCursor) -> Bool {
    guard case .paragraph(let start, let lastLine) = leaf,
      let columns = TableColumns(source.span, line.text..<line.end)
    else { return false }
    let head = lastLine..<content.count
    steps += head.count + line.end - line.text
    guard TableRow(content.span, head).cells.count == columns.alignments.count else { return false }
    leaf = .none
    if start < lastLine { writeParagraph(start..<lastLine - 1) }
    tree.tokens.append(.enter(.table))
    leaf = .table(columns, hasBody: false)
    writeRow(head, columns, RowLocation.head)
    return true
  }

  private mutating func readRow(_ range: Range<Int>, _ columns: TableColumns, _ location: UInt8) {
    let start = content.count
    append(range)
    writeRow(start..<content.count, columns, location)
  }

  private mutating func writeRow(_ range: Range<Int>, _ columns: TableColumns, _ location: UInt8) {
    steps += range.count
    tree.tokens.append(.enter(.row, detail: location))
    for (number, cell) in TableRow(content.span, range).cells.enumerated() {
      let alignment = number < columns.alignments.count ? columns.alignments[number] : Alignment.none
      tree.tokens.append(.enter(.cell, detail: alignment))
      parseInlines(cell, isCell: true)
      tree.tokens.append(.leave(.cell))
    }
    tree.tokens.append(.leave(.row, detail: location))
  }
}
