/// The `[` and `![` that wait for their `]`.
struct Brackets {
  struct Open {
    let piece: Int
    /// The last delimiter before it: those after it are paired when the link closes.
    let delimiter: Int
    let isPicture: Bool
  }

  private var open: [Open] = []
  /// A link closed: no `[` below this one may become a link around it.
  private var closedBelow = 0
  /// Pieces that name something, in order. A link takes out those inside it.
  private var named: [Int] = []

  mutating func removeAll() {
    open.removeAll(keepingCapacity: true)
    named.removeAll(keepingCapacity: true)
    closedBelow = 0
  }

  mutating func push(_ bracket: Open) { open.append(bracket) }

  /// The bracket that a `]` closes, if it may become a link.
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

// `[text](address "title")`. There are no references: what a link points at stands beside it.
extension InlineParser {
  mutating func bracket(isPicture: Bool, _ scan: inout Scan) {
    let start = scan.place
    flush(to: start, &scan)
    brackets.push(Brackets.Open(piece: pieces.count, delimiter: delimiters.last, isPicture: isPicture))
    append(Piece(kind: .bracket, start: start, end: start + (isPicture ? 2 : 1)), &scan)
  }

  mutating func picture(_ text: Span<UInt8>, _ scan: inout Scan) {
    guard scan.place + 1 < scan.end, text[scan.place + 1] == UInt8(ascii: "[") else {
      scan.place += 1
      return
    }
    bracket(isPicture: true, &scan)
  }

  mutating func closeBracket(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let place = scan.place
    scan.place += 1
    guard let bracket = brackets.pop(), place + 1 < scan.end, text[place + 1] == UInt8(ascii: "("),
      !isBlank(text, pieces[bracket.piece].end..<place)
    else { return }
    var target = LinkTarget(at: place + 1, to: scan.end)
    let (link, end) = (target.read(text, into: &tree), target.place)
    count(end - place)
    guard let link else { return }
    flush(to: place, &scan)
    count(delimiters.pair(above: bracket.delimiter))
    while let piece = brackets.popNamed(after: bracket.piece) { unname(piece) }
    tree.links.append(link)
    pieces[bracket.piece].kind = .linkStart
    pieces[bracket.piece].number = tree.links.count - 1
    pieces[bracket.piece].inner = pieces.count..<pieces.count
    brackets.name(bracket.piece)
    if !bracket.isPicture { brackets.closeAll() }
    append(Piece(kind: .linkEnd, start: place, end: end), &scan)
  }

  /// A link with nothing to press on is text.
  private mutating func isBlank(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let shown = range.firstIndex { ScalarKind.ascii(text[$0]) != .space } ?? range.upperBound
    count(shown - range.lowerBound)
    return shown == range.upperBound
  }

  /// There is no link in a link, and what else its text names is only text.
  private mutating func unname(_ piece: Int) {
    switch pieces[piece].kind {
    case .linkStart:
      pieces[pieces[piece].inner.lowerBound].kind = .nothing
      pieces[piece].kind = .nothing
    case .bareLink:
      let shown = pieces[piece].inner
      pieces[piece] = Piece(kind: .text, start: shown.lowerBound, end: shown.upperBound)
    default:
      pieces[piece].kind = .text
    }
  }
}
