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

// Inline links: `[text](address "title")`, and pictures: `![text](attachment:1)`. Reference links are not supported.
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
    guard let bracket = brackets.pop(), position + 1 < scan.end, text[position + 1] == UInt8(ascii: "(") else { return }
    if bracket.isPicture, let (number, end) = attachment(text, at: position + 1, to: scan.end) {
      close(bracket, as: .pictureStart, number, to: position, &scan)
      return append(Piece(kind: .pictureEnd, start: position, end: end, number: number), &scan)
    }
    guard !isBlank(text, pieces[bracket.piece].end..<position) else { return }
    var target = LinkTarget(at: position + 1, to: scan.end)
    let (link, end) = (target.read(text, into: &tree), target.position)
    count(end - position)
    guard let link else { return }
    tree.links.append(link)
    close(bracket, as: .linkStart, tree.links.count - 1, to: position, &scan)
    if !bracket.isPicture { brackets.closeAll() }
    append(Piece(kind: .linkEnd, start: position, end: end), &scan)
  }

  /// Turns a bracket into the start of a link or picture whose text ends at `position`.
  private mutating func close(
    _ bracket: Brackets.Open, as kind: Piece.Kind, _ number: Int, to position: Int, _ scan: inout Scan
  ) {
    flush(to: position, &scan)
    count(delimiters.pair(above: bracket.delimiter))
    while let piece = brackets.popNamed(after: bracket.piece) { unname(piece) }
    pieces[bracket.piece].kind = kind
    pieces[bracket.piece].number = number
    pieces[bracket.piece].inner = pieces.count..<pieces.count
    brackets.name(bracket.piece)
  }

  /// Reads `(attachment:1)`: the number, and the end.
  private func attachment(_ text: Span<UInt8>, at parenthesis: Int, to limit: Int) -> (number: Int, end: Int)? {
    let scheme = "(attachment:"
    var position = parenthesis + scheme.utf8.count
    guard position < limit, text.matches(scheme, at: parenthesis) else { return nil }
    var number = 0
    while position < limit, let digit = digit(text[position]), number > 0 || digit > 0 {
      number = number * 10 + digit
      guard number <= MarkupLimits.attachment else { return nil }
      position += 1
    }
    guard number > 0, position < limit, text[position] == UInt8(ascii: ")") else { return nil }
    return (number, position + 1)
  }

  private func digit(_ byte: UInt8) -> Int? {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int(byte - UInt8(ascii: "0")) : nil
  }

  /// A link with blank text stays text.
  private mutating func isBlank(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let shown = range.firstIndex { ScalarKind.ascii(text[$0]) != .space } ?? range.upperBound
    count(shown - range.lowerBound)
    return shown == range.upperBound
  }

  /// Links and pictures do not nest; mentions and hashtags in a link's text become text.
  private mutating func unname(_ piece: Int) {
    switch pieces[piece].kind {
    case .linkStart, .pictureStart:
      pieces[pieces[piece].inner.lowerBound].kind = .nothing
      pieces[piece].kind = .nothing
    case .bareLink:
      let shown = pieces[piece].inner
      pieces[piece] = Piece(kind: .text, start: shown.lowerBound, end: shown.upperBound)
    case .text, .character, .lineBreak, .codeSpan, .delimiter, .bracket, .linkEnd, .pictureEnd, .mention, .hashtag,
      .nothing:
      pieces[piece].kind = .text
    }
  }
}
