/// Reads the text of one paragraph, heading or table cell, in three steps that are each linear in its length:
///
/// 1. A scan from left to right cuts it into *pieces*. Code, links, mentions and hashtags are recognised here, so what
///    stands in them marks nothing. A run of `*`, `_`, `~~` or `||` becomes a piece and waits on the delimiter list.
/// 2. Delimiters are paired (`Delimiters.swift`): at the end of a link's text for those inside it, at the end for all.
/// 3. The pieces are written out as tokens.
struct InlineParser {
  var pieces: [Piece] = []
  var delimiters = Delimiters()
  var brackets = Brackets()
  private var backticks = Backticks()
  /// What may mark something. `:` may end a scheme, `w` begin `www.`, `@` stand in an address.
  private let marks = ByteSet("\n\\`&<*_~|[]!@#:wW")
  private(set) var steps = 0

  struct Piece {
    enum Kind {
      case text, character, lineBreak, codeSpan, delimiter, bracket
      case linkStart, linkEnd, bareLink, mention, hashtag
      /// Was a link, until one around it closed.
      case nothing
    }
    var kind: Kind
    let start: Int
    var end: Int
    /// A character's scalar, a delimiter's place in its list, a link's index.
    var number = 0
    /// What of a bare link is shown, or the piece that ends a link.
    var inner = 0..<0
  }

  /// What stays of one call to the next inside the text: where the scan is, and where the plain text behind it begins.
  struct Scan {
    let start: Int
    let end: Int
    let isCell: Bool
    var place: Int
    var plain: Int
  }

  mutating func parse(_ text: Span<UInt8>, in range: Range<Int>, isCell: Bool = false, into tree: inout MarkupTree) {
    var scan = Scan(
      start: range.lowerBound, end: range.upperBound, isCell: isCell, place: range.lowerBound, plain: range.lowerBound)
    steps += range.count
    scan.place = marks.first(in: text, from: scan.place, to: scan.end)
    while scan.place < scan.end {
      mark(in: text, &scan, &tree)
      scan.place = marks.first(in: text, from: scan.place, to: scan.end)
    }
    flush(to: scan.end, &scan)
    steps += delimiters.pair(above: Delimiters.none)
    write(text, isCell: isCell, into: &tree)
    steps += pieces.count
    pieces.removeAll(keepingCapacity: true)
    delimiters.removeAll()
    brackets.removeAll()
    backticks = Backticks()
  }

  /// Reads what the byte at the scan's place marks, or goes on behind it.
  private mutating func mark(in text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    switch text[scan.place] {
    case UInt8(ascii: "\n"): lineBreak(text, &scan)
    case UInt8(ascii: "\\"): escape(text, &scan)
    case UInt8(ascii: "`"): codeSpan(text, &scan)
    case UInt8(ascii: "&"): character(text, &scan)
    case UInt8(ascii: "<"): angleLink(text, &scan, &tree)
    case UInt8(ascii: "["): bracket(isPicture: false, &scan)
    case UInt8(ascii: "!"): picture(text, &scan)
    case UInt8(ascii: "]"): closeBracket(text, &scan, &tree)
    case UInt8(ascii: ":"): webAddress(text, &scan, &tree)
    case UInt8(ascii: "w"), UInt8(ascii: "W"): hostAddress(text, &scan, &tree)
    case UInt8(ascii: "@"): mailAddressOrMention(text, &scan, &tree)
    case UInt8(ascii: "#"): hashtag(text, &scan)
    default: delimiterRun(text, &scan)
    }
  }

  /// Ends the plain text behind the scan at `end`, and goes on from there.
  mutating func flush(to end: Int, _ scan: inout Scan) {
    if end > scan.plain { pieces.append(Piece(kind: .text, start: scan.plain, end: end)) }
    scan.plain = end
    scan.place = end
  }

  /// Puts a piece after the plain text before it, and goes on behind it.
  mutating func append(_ piece: Piece, _ scan: inout Scan) {
    flush(to: piece.start, &scan)
    pieces.append(piece)
    scan.plain = piece.end
    scan.place = piece.end
  }

  mutating func count(_ bytes: Int) { steps += bytes }
}

// Marks that need nothing but their own bytes.
extension InlineParser {
  /// Every line end of the text is one of the paragraph. Spaces around it are not shown.
  private mutating func lineBreak(_ text: Span<UInt8>, _ scan: inout Scan) {
    let place = scan.place
    var end = place
    while end > scan.plain, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
    count(place - end)
    flush(to: end, &scan)
    scan.plain = place
    append(Piece(kind: .lineBreak, start: place, end: place + 1), &scan)
  }

  // CommonMark 0.31 §2.4: ASCII punctuation may be escaped, and a backslash before a line end is a break like any other.
  private mutating func escape(_ text: Span<UInt8>, _ scan: inout Scan) {
    let next = scan.place + 1
    guard next < scan.end, ScalarKind.ascii(text[next]) == .punctuation || text[next] == UInt8(ascii: "\n") else {
      scan.place = next
      return
    }
    flush(to: scan.place, &scan)
    scan.plain = next
    scan.place = text[next] == UInt8(ascii: "\n") ? next : next + 1
  }

  private mutating func codeSpan(_ text: Span<UInt8>, _ scan: inout Scan) {
    let start = scan.place
    let inner = run(text, at: start, to: scan.end)
    guard let close = backticks.close(text, length: inner - start, from: inner, to: scan.end, &steps) else {
      scan.place = inner
      return
    }
    var piece = Piece(kind: .codeSpan, start: start, end: close + inner - start)
    piece.inner = Backticks.trimmed(text, inner..<close)
    append(piece, &scan)
  }

  private mutating func character(_ text: Span<UInt8>, _ scan: inout Scan) {
    guard let (scalar, end) = CharacterReference.read(text, at: scan.place, to: scan.end) else {
      scan.place += 1
      return
    }
    append(Piece(kind: .character, start: scan.place, end: end, number: Int(scalar.value)), &scan)
  }

  private mutating func delimiterRun(_ text: Span<UInt8>, _ scan: inout Scan) {
    let start = scan.place
    let end = run(text, at: start, to: scan.end)
    let side = Delimiters.Side(
      of: text[start],
      before: start > scan.start ? text.scalar(before: start) : nil,
      after: end < scan.end ? text.scalar(at: end).scalar : nil)
    let isMark = side.opens || side.closes
    guard isMark, text[start] == UInt8(ascii: "*") || text[start] == UInt8(ascii: "_") || end - start == 2 else {
      scan.place = end
      return
    }
    flush(to: start, &scan)
    let number = delimiters.append(text[start], length: end - start, side: side)
    append(Piece(kind: .delimiter, start: start, end: end, number: number), &scan)
  }

  /// Where the run of the byte at `start` ends.
  private func run(_ text: Span<UInt8>, at start: Int, to limit: Int) -> Int {
    var end = start + 1
    while end < limit, text[end] == text[start] { end += 1 }
    return end
  }
}
