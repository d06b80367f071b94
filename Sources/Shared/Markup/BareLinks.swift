// Addresses that stand in the text as they are: `https://…`, `www.…`, `ada@example.org`, and any of them in `<…>`.
extension InlineParser {
  private static let mailScheme = "mailto:"

  /// At a `:`. The scheme is the plain text behind it.
  mutating func webAddress(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let colon = scan.place
    scan.place += 1
    guard colon + 3 < scan.end, text[colon + 1] == UInt8(ascii: "/"), text[colon + 2] == UInt8(ascii: "/"),
      let start = schemeStart(text, before: colon, scan)
    else { return }
    bareLink(start..<addressEnd(text, from: colon + 3, to: scan.end), prefix: [], text, &scan, &tree)
  }

  private func schemeStart(_ text: Span<UInt8>, before colon: Int, _ scan: Scan) -> Int? {
    for scheme in ["https", "http"] {
      let start = colon - scheme.utf8.count
      guard start >= scan.plain, text.matches(scheme, at: start) else { continue }
      return start == scan.start || !Self.mayStandInScheme(text[start - 1]) ? start : nil
    }
    return nil
  }

  private static func mayStandInScheme(_ byte: UInt8) -> Bool {
    ScalarKind.ascii(byte) == .word || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".")
  }

  /// At a `w`. A host that starts with `www.` and has another dot needs no scheme.
  mutating func hostAddress(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let start = scan.place
    scan.place += 1
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

  /// Where an address ends: at what cannot stand in one, and before what more likely belongs to the sentence.
  private mutating func addressEnd(_ text: Span<UInt8>, from start: Int, to limit: Int) -> Int {
    var end = start
    var parentheses = 0
    while end < limit {
      let (scalar, length) = text.scalar(at: end)
      guard Self.mayStandInAddress(scalar) else { break }
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

  // RFC 3986 §2, without brackets; and letters and digits of every script, as people paste them.
  private static func mayStandInAddress(_ scalar: Unicode.Scalar) -> Bool {
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
      scan.place = max(scan.place, range.upperBound)
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

  // CommonMark 0.31 §6.5. Nothing inside is decoded, and a scheme that is not safe leaves it text.
  mutating func angleLink(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    let start = scan.place
    var end = start + 1
    while end < scan.end, text[end] > 0x20, text[end] != UInt8(ascii: "<"), text[end] != UInt8(ascii: ">") { end += 1 }
    count(end - start)
    scan.place += 1
    guard end < scan.end, text[end] == UInt8(ascii: ">"), end - start <= MarkupLimits.address else { return }
    let shown = start + 1..<end
    var written = shown.map { text[$0] }
    if let at = written.firstIndex(of: UInt8(ascii: "@")), at > 0, written[..<at].allSatisfy(Self.mayStandInMailbox),
      domainEnd(text, from: start + 2 + at, to: end) == end
    {
      written = Array(Self.mailScheme.utf8) + written
    }
    guard let address = SafeAddress.append(written, to: &tree.strings) else { return }
    appendLink(address, source: start..<end + 1, shown: shown, &scan, &tree)
  }

  /// At an `@`: what stands before it decides.
  mutating func mailAddressOrMention(_ text: Span<UInt8>, _ scan: inout Scan, _ tree: inout MarkupTree) {
    guard let range = mailAddress(text, at: scan.place, scan) else { return mention(text, &scan) }
    var written = range.map { text[$0] }
    var start = range.lowerBound
    let scheme = Self.mailScheme.utf8.count
    if start - scheme >= scan.plain, text.matches(Self.mailScheme, at: start - scheme) { start -= scheme }
    written = Array(Self.mailScheme.utf8) + written
    guard let address = SafeAddress.append(written, to: &tree.strings) else {
      scan.place = range.upperBound
      return
    }
    appendLink(address, source: start..<range.upperBound, shown: start..<range.upperBound, &scan, &tree)
  }

  private mutating func mailAddress(_ text: Span<UInt8>, at sign: Int, _ scan: Scan) -> Range<Int>? {
    var start = sign
    while start > scan.plain, sign - start <= MarkupLimits.name, Self.mayStandInMailbox(text[start - 1]) { start -= 1 }
    count(sign - start)
    guard sign - start <= MarkupLimits.name else { return nil }
    while start < sign, ScalarKind.ascii(text[start]) != .word { start += 1 }
    guard start < sign, text.startsWord(at: start, from: scan.start) else { return nil }
    return domainEnd(text, from: sign + 1, to: scan.end).map { start..<$0 }
  }

  private static func mayStandInMailbox(_ byte: UInt8) -> Bool {
    ScalarKind.ascii(byte) == .word || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
  }

  /// Where a domain of at least two labels ends.
  private mutating func domainEnd(_ text: Span<UInt8>, from start: Int, to limit: Int) -> Int? {
    var labels = 0
    var place = start
    var end = start
    defer { count(place - start) }
    while place < limit, ScalarKind.ascii(text[place]) == .word {
      while place < limit, ScalarKind.ascii(text[place]) == .word || text[place] == UInt8(ascii: "-") {
        place += 1
        if text[place - 1] != UInt8(ascii: "-") { end = place }
      }
      labels += 1
      guard end == place, place < limit, text[place] == UInt8(ascii: ".") else { break }
      place += 1
    }
    return labels > 1 && text.endsWord(at: end, to: limit) ? end : nil
  }
}

extension Span<UInt8> {
  /// Whether the lower-case word stands here, in any case. The caller knows that nothing before `place` is asked for.
  func matches(_ word: String, at place: Int) -> Bool {
    guard place >= 0, place + word.utf8.count <= count else { return false }
    return word.utf8.enumerated().allSatisfy { offset, byte in
      let own = self[place + offset]
      return own == byte || own >= UInt8(ascii: "A") && own <= UInt8(ascii: "Z") && own | 0x20 == byte
    }
  }

  /// Whether a name, a tag or an address may start here: not inside a word, and not behind a sign that takes it for its own.
  func startsWord(at place: Int, from start: Int) -> Bool {
    guard place > start else { return true }
    switch self[place - 1] {
    case UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "&"), UInt8(ascii: "/"): return false
    default: return !isWord(scalar(before: place))
    }
  }

  func endsWord(at place: Int, to end: Int) -> Bool {
    guard place < end else { return true }
    return self[place] != UInt8(ascii: "@") && !isWord(scalar(at: place).scalar)
  }

  private func isWord(_ scalar: Unicode.Scalar) -> Bool {
    ScalarKind(scalar) == .word && !scalar.isEastAsian
  }
}
