// Autolinks: `https://…`, `www.…`, `ada@example.org`, bare or in `<…>`.
extension InlineParser {
  private static let mailScheme = "mailto:"

  /// At a `:`. The scheme is the plain text before it.
  mutating func webAddress(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let colon = scan.position
    scan.position += 1
    guard colon + 3 < scan.end, text[colon + 1] == UInt8(ascii: "/"), text[colon + 2] == UInt8(ascii: "/"),
      let start = schemeStart(text, before: colon, scan)
    else { return }
    bareLink(start..<addressEnd(text, from: colon + 3, to: scan.end), prefix: [], text, &scan, &tree)
  }

  private func schemeStart(_ text: Span<UInt8>, before colon: Int, _ scan: Scan) -> Int? {
    for scheme in ["https", "http"] {
      let start = colon - scheme.utf8.count
      guard start >= scan.plain, text.matches(scheme, at: start) else { continue }
      return start == scan.start || !Self.isAllowedInScheme(text[start - 1]) ? start : nil
    }
    return nil
  }

  private static func isAllowedInScheme(_ byte: UInt8) -> Bool {
    ScalarKind.ascii(byte) == .word || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".")
  }

  /// At a `w`. A host that starts with `www.` and has another dot needs no scheme.
  mutating func hostAddress(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let start = scan.position
    scan.position += 1
    guard start + 4 < scan.end, text[start + 1] | 0x20 == UInt8(ascii: "w"), text.matches("www.", at: start),
      text.startsWord(at: start, from: scan.start)
    else {
      return
    }
    var dot = start + 4
    while dot < scan.end, ScalarKind.ascii(text[dot]) == .word || text[dot] == UInt8(ascii: "-") || text[dot] >= 0x80 {
      dot += 1
    }
    count(dot - start)
    guard dot > start + 4, dot + 1 < scan.end, text[dot] == UInt8(ascii: "."),
      ScalarKind(text.scalar(at: dot + 1).scalar) == .word
    else { return }
    let end = addressEnd(text, from: dot, to: scan.end)
    bareLink(start..<end, prefix: Array("https://".utf8), text, &scan, &tree)
  }

  /// The end of an address: the first scalar that an address cannot contain, minus trailing sentence punctuation.
  private mutating func addressEnd(_ text: Span<UInt8>, from start: Int, to limit: Int) -> Int {
    var end = start
    var parentheses = 0
    while end < limit {
      let (scalar, length) = text.scalar(at: end)
      guard Self.isAllowedInAddress(scalar) else { break }
      if scalar == "(" { parentheses += 1 }
      if scalar == ")" { parentheses -= 1 }
      end += length
    }
    count(end - start)
    while end > start {
      if text[end - 1] == UInt8(ascii: ")"), parentheses < 0 {
        parentheses += 1
      } else if !Self.endsSentence(text[end - 1]) {
        break
      }
      end -= 1
    }
    return end
  }

  // RFC 3986 §2 without brackets, plus letters and digits of every script, as users paste them.
  private static func isAllowedInAddress(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.isASCII else { return ScalarKind(scalar) == .word }
    switch scalar {
    case "\"", "<", ">", "[", "]", "\\", "^", "`", "{", "|", "}": return false
    default: return scalar.value > 0x20 && scalar.value < 0x7f
    }
  }

  private static func endsSentence(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ":"),
      UInt8(ascii: ";"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "'"):
      true
    default: false
    }
  }

  /// Appends the link, or leaves the range as text when the address is not safe.
  private mutating func bareLink(
    _ range: Range<Int>, prefix: [UInt8], _ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree
  ) {
    guard range.count <= MarkupLimits.address,
      let address = SafeAddress.append(prefix + range.map { text[$0] }, to: &tree.strings)
    else {
      scan.position = max(scan.position, range.upperBound)
      return
    }
    appendLink(address, source: range, shown: range, &scan, &tree)
  }

  private mutating func appendLink(
    _ address: Range<Int>, source: Range<Int>, shown: Range<Int>, _ scan: inout Scan, _ tree: inout MarkupTree
  ) {
    tree.links.append(Link(address: address, title: nil))
    var piece = Piece(kind: .bareLink, start: source.lowerBound, end: source.upperBound)
    piece.number = tree.links.count - 1
    piece.inner = shown
    append(piece, &scan)
    brackets.name(pieces.count - 1)
  }

  // CommonMark 0.31 §6.5. The content is not decoded; an unsafe scheme stays text.
  mutating func angleLink(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let start = scan.position
    var end = start + 1
    while end < scan.end, text[end] > 0x20, text[end] != UInt8(ascii: "<"), text[end] != UInt8(ascii: ">") { end += 1 }
    count(end - start)
    scan.position += 1
    guard end < scan.end, text[end] == UInt8(ascii: ">"), end - start <= MarkupLimits.address else { return }
    let shown = start + 1..<end
    var written = shown.map { text[$0] }
    if let at = written.firstIndex(of: UInt8(ascii: "@")), at > 0, written[..<at].allSatisfy(Self.isAllowedInMailbox),
      domainEnd(text, from: start + 2 + at, to: end) == end
    {
      written = Array(Self.mailScheme.utf8) + written
    }
    guard let address = SafeAddress.append(written, to: &tree.strings) else { return }
    appendLink(address, source: start..<end + 1, shown: shown, &scan, &tree)
  }

  /// At an `@`: a mail address if a mailbox precedes it, otherwise a mention.
  mutating func mailAddressOrMention(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    guard let range = mailAddress(text, at: scan.position, scan) else { return mention(text, &scan) }
    var written = range.map { text[$0] }
    var start = range.lowerBound
    let scheme = Self.mailScheme.utf8.count
    if start - scheme >= scan.plain, text.matches(Self.mailScheme, at: start - scheme) { start -= scheme }
    written = Array(Self.mailScheme.utf8) + written
    guard let address = SafeAddress.append(written, to: &tree.strings) else {
      scan.position = range.upperBound
      return
    }
    appendLink(address, source: start..<range.upperBound, shown: start..<range.upperBound, &scan, &tree)
  }

  private mutating func mailAddress(_ text: Span<UInt8>, at sign: Int, _ scan: Scan) -> Range<Int>? {
    var start = sign
    while start > scan.plain, sign - start <= MarkupLimits.name, Self.isAllowedInMailbox(text[start - 1]) { start -= 1 }
    count(sign - start)
    guard sign - start <= MarkupLimits.name else { return nil }
    while start < sign, ScalarKind.ascii(text[start]) != .word { start += 1 }
    guard start < sign, text.startsWord(at: start, from: scan.start) else { return nil }
    return domainEnd(text, from: sign + 1, to: scan.end).map { start..<$0 }
  }

  private static func isAllowedInMailbox(_ byte: UInt8) -> Bool {
    ScalarKind.ascii(byte) == .word || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
  }

  /// The end of a domain of at least two labels.
  private mutating func domainEnd(_ text: Span<UInt8>, from start: Int, to limit: Int) -> Int? {
    var labels = 0
    var position = start
    var end = start
    defer { count(position - start) }
    while position < limit, ScalarKind.ascii(text[position]) == .word {
      while position < limit, ScalarKind.ascii(text[position]) == .word || text[position] == UInt8(ascii: "-") {
        position += 1
        if text[position - 1] != UInt8(ascii: "-") { end = position }
      }
      labels += 1
      guard end == position, position < limit, text[position] == UInt8(ascii: ".") else { break }
      position += 1
    }
    return labels > 1 && text.endsWord(at: end, to: limit) ? end : nil
  }
}

extension Span<UInt8> {
  /// Whether the lowercase `word` is at `position`, ignoring ASCII case.
  func matches(_ word: String, at position: Int) -> Bool {
    guard position >= 0, position + word.utf8.count <= count else { return false }
    return word.utf8.enumerated().allSatisfy { offset, byte in
      let own = self[position + offset]
      return own == byte || own >= UInt8(ascii: "A") && own <= UInt8(ascii: "Z") && own | 0x20 == byte
    }
  }

  /// Whether a mention, hashtag or address may start here: not inside a word and not after `@`, `#`, `&` or `/`.
  func startsWord(at position: Int, from start: Int) -> Bool {
    guard position > start else { return true }
    switch self[position - 1] {
    case UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "&"), UInt8(ascii: "/"): return false
    default: return !isWord(scalar(before: position))
    }
  }

  func endsWord(at position: Int, to end: Int) -> Bool {
    guard position < end else { return true }
    return self[position] != UInt8(ascii: "@") && !isWord(scalar(at: position).scalar)
  }

  /// Whether a name can't start after the scalar.
  func isWord(_ scalar: Unicode.Scalar) -> Bool {
    ScalarKind(scalar) == .word && !scalar.isEastAsian
  }
}
