// Step 3: converts pieces to tokens.
extension InlineParser {
  mutating func write(_ text: Span<UInt8>, isCell: Bool, into tree: inout MarkupTree) {
    var depth = 0
    for piece in pieces {
      switch piece.kind {
      case .text, .bracket: tree.tokens.append(.leaf(.text, piece.start..<piece.end))
      case .character: tree.tokens.append(.leaf(.character, number: piece.number))
      case .lineBreak: tree.tokens.append(.leaf(.lineBreak))
      case .codeSpan: tree.tokens.append(.leaf(isCell ? .cellCodeSpan : .codeSpan, piece.inner))
      case .delimiter: write(delimiters.runs[piece.number], at: piece.start, &depth, into: &tree)
      case .linkStart:
        tree.tokens.append(.enter(.link, number: piece.number))
        appendEntity(.link, piece.start..<pieces[piece.inner.lowerBound].end, tree.links[piece.number].address, &tree)
      case .linkEnd: tree.tokens.append(.leave(.link))
      case .pictureStart: tree.tokens.append(.enter(.picture, detail: UInt8(piece.number)))
      case .pictureEnd: tree.tokens.append(.leave(.picture, detail: UInt8(piece.number)))
      case .bareLink:
        tree.tokens.append(.enter(.link, number: piece.number))
        tree.tokens.append(.leaf(.text, piece.inner))
        tree.tokens.append(.leave(.link))
        appendEntity(.link, piece.start..<piece.end, tree.links[piece.number].address, &tree)
      case .mention:
        tree.tokens.append(.leaf(.mention, piece.start..<piece.end))
        appendEntity(.mention, piece.start..<piece.end, piece.start + 1..<piece.end, &tree)
      case .hashtag:
        tree.tokens.append(.leaf(.hashtag, piece.start..<piece.end))
        appendEntity(.hashtag, piece.start..<piece.end, piece.start + 1..<piece.end, &tree)
      case .nothing: break
      }
    }
  }

  private func appendEntity(
    _ kind: MarkupEntity.Kind, _ range: Range<Int>, _ value: Range<Int>, _ tree: inout MarkupTree
  ) {
    tree.entities.append(FoundEntity(kind: kind, start: range.lowerBound, end: range.upperBound, value: value))
  }

  /// A run closes with its first bytes and opens with its last ones. Unused bytes between them are text.
  private func write(_ run: Delimiters.Run, at start: Int, _ depth: inout Int, into tree: inout MarkupTree) {
    var pair = run.firstClose
    while pair != Delimiters.none {
      if depth <= MarkupLimits.emphasis { tree.tokens.append(.leave(delimiters.pairs[pair].kind)) }
      depth -= 1
      pair = delimiters.pairs[pair].next
    }
    if run.rest > 0 { tree.tokens.append(.leaf(.text, start..<start + run.rest)) }
    pair = run.firstOpen
    while pair != Delimiters.none {
      depth += 1
      if depth <= MarkupLimits.emphasis { tree.tokens.append(.enter(delimiters.pairs[pair].kind)) }
      pair = delimiters.pairs[pair].next
    }
  }
}
