// `@name` and `#tag`. The parser does not check whether the user exists.
extension InlineParser {
  /// ASCII letters and digits in parts joined by one `.`, `_` or `-`: `ada.lovelace`.
  mutating func mention(_ text: Span<UInt8>, _ scan: inout Scan) {
    let sign = scan.position
    scan.position += 1
    guard text.startsWord(at: sign, from: scan.start) else { return }
    var end = sign + 1
    var position = end
    while position < scan.end {
      if ScalarKind.ascii(text[position]) == .word {
        end = position + 1
      } else if end != position || position == sign + 1 || !Self.joinsName(text[position]) {
        break
      }
      position += 1
    }
    count(position - sign)
    name(.mention, sign..<end, limit: MarkupLimits.name, text, &scan)
  }

  private static func joinsName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  /// Letters, marks and digits of every script and `_`, with at least one letter and no `_` at the end. A joiner is
  /// allowed between two of them, as Persian and the scripts of India need it.
  mutating func hashtag(_ text: Span<UInt8>, _ scan: inout Scan) {
    let sign = scan.position
    scan.position += 1
    guard text.startsWord(at: sign, from: scan.start) else { return }
    var position = sign + 1
    var end = position
    var hasLetter = false
    while position < scan.end {
      let (scalar, length) = text.scalar(at: position)
      let isPart = ScalarKind(scalar) == .word
      guard isPart || scalar == "_" || scalar.isJoiner && end == position else { break }
      hasLetter = hasLetter || scalar.isLetter
      position += length
      if isPart { end = position }
    }
    count(position - sign)
    scan.position = end
    guard hasLetter else { return }
    name(.hashtag, sign..<end, limit: MarkupLimits.hashtag, text, &scan)
  }

  private mutating func name(
    _ kind: Piece.Kind, _ range: Range<Int>, limit: Int, _ text: Span<UInt8>, _ scan: inout Scan
  ) {
    // In scalars, without the sign.
    let length = range.count { text[$0] & 0xc0 != 0x80 } - 1
    guard length > 0, length <= limit, text.endsWord(at: range.upperBound, to: scan.end) else { return }
    append(Piece(kind: kind, start: range.lowerBound, end: range.upperBound), &scan)
    brackets.name(pieces.count - 1)
  }
}
