/// Parses the text of one paragraph, heading or table cell in three steps, each linear in its length:
///
/// 1. A scan from left to right splits it into *pieces*. Code, links, mentions and hashtags are recognised here, so
///    delimiters inside them are text. A run of `*`, `_`, `~~` or `||` becomes a piece on the delimiter list.
/// 2. Delimiters are paired (`Delimiters.swift`): those in a link's text when the link ends, the others at the end.
/// 3. The pieces are written as tokens.
struct InlineParser {
  var pieces: [Piece] = []
  var delimiters = Delimiters()
  var brackets = Brackets()
  private var backticks = Backticks()
  /// Bytes that may start an inline. `:` may end a scheme, `w` may start `www.`, `@` may be in an address.
  private let specialBytes = ByteSet("\n\\`&<*_~|[]!@#:wW")
  private(set) var steps = 0

  struct Piece {
    enum Kind {
      case text, character, lineBreak, codeSpan, delimiter, bracket
      case linkStart, linkEnd, pictureStart, pictureEnd, bareLink, mention, hashtag
      /// A former link or picture, removed when a link around it closed.
      case nothing
    }
    var kind: Kind
    let start: Int
    var end: Int
    /// A character's scalar, a delimiter's index in its list, a link's index, or the number of an attachment.
    var number = 0
    /// The displayed range of a bare link, or the piece that ends a link or picture.
    var inner = 0..<0
  }

  /// The state of the scan: its position and the start of the plain text before it.
  struct Scan {
    let start: Int
    let end: Int
    let isCell: Bool
    var position: Int
    var plain: Int
  }

  mutating func parse(_ text: Span<UInt8>, in range: Range<Int>, isCell: Bool = false, into tree: inout MarkupTree) {
    var scan = Scan(
      start: range.lowerBound, end: range.upperBound, isCell: isCell, position: range.lowerBound,
      plain: range.lowerBound)
    steps += range.count
    scan.position = specialBytes.first(in: text, from: scan.position, to: scan.end)
    while scan.position < scan.end {
      readInline(in: text, &scan, &tree)
      scan.position = specialBytes.first(in: text, from: scan.position, to: scan.end)
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

  /// Parses the inline that starts with the byte at the scan's position, or skips the byte.
  private mutating func readInline(in text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    switch text[scan.position] {
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

  /// Ends the pending plain text at `end` and continues from there.
  mutating func flush(to end: Int, _ scan: inout Scan) {
    if end > scan.plain { pieces.append(Piece(kind: .text, start: scan.plain, end: end)) }
    scan.plain = end
    scan.position = end
  }

  /// Appends the pending plain text and a piece, and continues after it.
  mutating func append(_ piece: Piece, _ scan: inout Scan) {
    flush(to: piece.start, &scan)
    pieces.append(piece)
    scan.plain = piece.end
    scan.position = piece.end
  }

  mutating func count(_ bytes: Int) { steps += bytes }
}

// Line breaks, escapes, code spans, character references and delimiter runs.
extension InlineParser {
  /// Every line end is a line break. Spaces around it are dropped.
  private mutating func lineBreak(_ text: Span<UInt8>, _ scan: inout Scan) {
    let position = scan.position
    var end = position
    while end > scan.plain, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
    count(position - end)
    flush(to: end, &scan)
    scan.plain = position
    append(Piece(kind: .lineBreak, start: position, end: position + 1), &scan)
  }

  // CommonMark 0.31 §2.4: ASCII punctuation may be escaped. A backslash before a line end is dropped.
  private mutating func escape(_ text: Span<UInt8>, _ scan: inout Scan) {
    let next = scan.position + 1
    guard next < scan.end, ScalarKind.ascii(text[next]) == .punctuation || text[next] == UInt8(ascii: "\n") else {
      scan.position = next
      return
    }
    flush(to: scan.position, &scan)
    scan.plain = next
    scan.position = text[next] == UInt8(ascii: "\n") ? next : next + 1
  }

  private mutating func codeSpan(_ text: Span<UInt8>, _ scan: inout Scan) {
    let start = scan.position
    let inner = run(text, at: start, to: scan.end)
    guard let close = backticks.close(text, length: inner - start, from: inner, to: scan.end, &steps) else {
      scan.position = inner
      return
    }
    var piece = Piece(kind: .codeSpan, start: start, end: close + inner - start)
    piece.inner = Backticks.trimmed(text, inner..<close)
    append(piece, &scan)
  }

  private mutating func character(_ text: Span<UInt8>, _ scan: inout Scan) {
    guard let (scalar, end) = CharacterReference.read(text, at: scan.position, to: scan.end) else {
      scan.position += 1
      return
    }
    append(Piece(kind: .character, start: scan.position, end: end, number: Int(scalar.value)), &scan)
  }

  private mutating func delimiterRun(_ text: Span<UInt8>, _ scan: inout Scan) {
    let start = scan.position
    let end = run(text, at: start, to: scan.end)
    let side = Delimiters.Side(
      of: text[start],
      before: start > scan.start ? text.scalar(before: start) : nil,
      after: end < scan.end ? text.scalar(at: end).scalar : nil)
    let isFlanking = side.opens || side.closes
    guard isFlanking, text[start] == UInt8(ascii: "*") || text[start] == UInt8(ascii: "_") || end - start == 2 else {
      scan.position = end
      return
    }
    flush(to: start, &scan)
    let number = delimiters.append(text[start], length: end - start, side: side)
    append(Piece(kind: .delimiter, start: start, end: end, number: number), &scan)
  }

  /// The end of the run of the byte at `start`.
  private func run(_ text: Span<UInt8>, at start: Int, to limit: Int) -> Int {
    var end = start + 1
    while end < limit, text[end] == text[start] { end += 1 }
    return end
  }
}
