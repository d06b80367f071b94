/// The bracket stack: `[` and `![` without their `]`.
struct Brackets {
  struct Open {
    let piece: Int
    /// The last delimiter before it. Later delimiters are paired when the link closes.
    let delimiter: Int
    let isPicture: Bool
  }

  private var open: [Open] = []
  /// Set when a link closes: a `[` below this index cannot become a link around it.
  private var closedBelow = 0
  /// Pieces that are entities, in order. A link removes those inside it.
  private var named: [Int] = []

  mutating func removeAll() {
    open.removeAll(keepingCapacity: true)
    named.removeAll(keepingCapacity: true)
    closedBelow = 0
  }

  mutating func push(_ bracket: Open) { open.append(bracket) }

  /// Pops the bracket closed by a `]`. Nil if it cannot become a link.
  mutating func pop() -> Open? {
    guard let bracket = open.popLast() else { return nil }
    let isOpen = bracket.isPicture || open.count >= closedBelow
    closedBelow = min(closedBelow, open.count)
    return isOpen ? bracket : nil
  }

  mutating func closeAll() { closedBelow = open.count }

  mutating func name(_ piece: Int) { named.append(piece) }

  mutating func popNamed(after piece: Int) -> Int? {
    guard let last = named.last, last > piece else { return nil }
    return named.popLast()
  }
}

// Inline links: `[text](address "title")`. Reference links are not supported.
extension InlineParser {
  mutating func bracket(isPicture: Bool, _ scan: inout Scan) {
    let start = scan.position
    flush(to: start, &scan)
    brackets.push(Brackets.Open(piece: pieces.count, delimiter: delimiters.last, isPicture: isPicture))
    append(Piece(kind: .bracket, start: start, end: start + (isPicture ? 2 : 1)), &scan)
  }

  mutating func picture(_ text: Span<UInt8>, _ scan: inout Scan) {
    guard scan.position + 1 < scan.end, text[scan.position + 1] == UInt8(ascii: "[") else {
      scan.position += 1
      return
    }
    bracket(isPicture: true, &scan)
  }

  mutating func closeBracket(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let position = scan.position
    scan.position += 1
    guard let bracket = brackets.pop(), position + 1 < scan.end, text[position + 1] == UInt8(ascii: "("),
      !isBlank(text, pieces[bracket.piece].end..<position)
    else { return }
    var target = LinkTarget(at: position + 1, to: scan.end)
    let (link, end) = (target.read(text, into: &tree), target.position)
    count(end - position)
    guard let link else { return }
    flush(to: position, &scan)
    count(delimiters.pair(above: bracket.delimiter))
    while let piece = brackets.popNamed(after: bracket.piece) { unname(piece) }
    tree.links.append(link)
    pieces[bracket.piece].kind = .linkStart
    pieces[bracket.piece].number = tree.links.count - 1
    pieces[bracket.piece].inner = pieces.count..<pieces.count
    brackets.name(bracket.piece)
    if !bracket.isPicture { brackets.closeAll() }
    append(Piece(kind: .linkEnd, start: position, end: end), &scan)
  }

  /// A link with blank text stays text.
  private mutating func isBlank(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let shown = range.firstIndex { ScalarKind.ascii(text[$0]) != .space } ?? range.upperBound
    count(shown - range.lowerBound)
    return shown == range.upperBound
  }

  /// Links do not nest; mentions and hashtags in a link's text become text.
  private mutating func unname(_ piece: Int) {
    switch pieces[piece].kind {
    case .linkStart:
      pieces[pieces[piece].inner.lowerBound].kind = .nothing
      pieces[piece].kind = .nothing
    case .bareLink:
      let shown = pieces[piece].inner
      pieces[piece] = Piece(kind: .text, start: shown.lowerBound, end: shown.upperBound)
    case .text, .character, .lineBreak, .codeSpan, .delimiter, .bracket, .linkEnd, .mention, .hashtag, .nothing:
      pieces[piece].kind = .text
    }
  }
}
