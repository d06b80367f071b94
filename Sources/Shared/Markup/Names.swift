// `@name` and `#tag`. Whether there is a person of that name is not asked here.
extension InlineParser {
  /// Letters and digits of ASCII, in parts that one `.`, `_` or `-` joins: `ada.lovelace`.
  mutating func mention(_ text: Span<UInt8>, _ scan: inout Scan) {
    let sign = scan.place
    scan.place += 1
    guard text.startsWord(at: sign, from: scan.start) else { return }
    var end = sign + 1
    var place = end
    while place < scan.end {
      if ScalarKind.ascii(text[place]) == .word {
        end = place + 1
      } else if end != place || place == sign + 1 || !Self.joinsName(text[place]) {
        break
      }
      place += 1
    }
    count(place - sign)
    name(.mention, sign..<end, limit: MarkupLimits.name, text, &scan)
  }

  private static func joinsName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  /// Letters, marks and digits of every script and `_`, with a letter among them and no `_` at the end. A joiner stands
  /// between two of them, as Persian and the scripts of India need it.
  mutating func hashtag(_ text: Span<UInt8>, _ scan: inout Scan) {
    let sign = scan.place
    scan.place += 1
    guard text.startsWord(at: sign, from: scan.start) else { return }
    var place = sign + 1
    var end = place
    var hasLetter = false
    while place < scan.end {
      let (scalar, length) = text.scalar(at: place)
      let isPart = ScalarKind(scalar) == .word
      guard isPart || scalar == "_" || scalar.isJoiner && end == place else { break }
      hasLetter = hasLetter || scalar.isLetter
      place += length
      if isPart { end = place }
    }
    count(place - sign)
    scan.place = end
    guard hasLetter else { return }
    name(.hashtag, sign..<end, limit: MarkupLimits.hashtag, text, &scan)
  }

  private mutating func name(
    _ kind: Piece.Kind, _ range: Range<Int>, limit: Int, _ text: Span<UInt8>, _ scan: inout Scan
  ) {
    // Scalars, without the sign.
    let length = range.count { text[$0] & 0xc0 != 0x80 } - 1
    guard length > 0, length <= limit, text.endsWord(at: range.upperBound, to: scan.end) else { return }
    append(Piece(kind: kind, start: range.lowerBound, end: range.upperBound), &scan)
    brackets.name(pieces.count - 1)
  }
}
