/// What stands in the parentheses of a link: CommonMark 0.31 §6.3, inline links. Every form ends at a byte that begins
/// another link's target, so that targets without an end don't read one another again and again.
struct LinkTarget {
  private(set) var place: Int
  private let end: Int

  init(at parenthesis: Int, to end: Int) {
    place = parenthesis + 1
    self.end = end
  }

  /// Reads to behind the closing parenthesis. Nil when there is no target, or none that is safe.
  mutating func read(_ text: Span<UInt8>, into tree: inout MarkupTree) -> Link? {
    skipSpace(text)
    guard let destination = destination(text) else { return nil }
    let gap = place
    skipSpace(text)
    var title: Range<Int>?
    if place > gap, place < end, text[place] != UInt8(ascii: ")") {
      title = quoted(text)
      if title == nil { return nil }
      skipSpace(text)
    }
    guard place < end, text[place] == UInt8(ascii: ")") else { return nil }
    place += 1
    guard let address = SafeAddress.append(Self.decoded(text, destination), to: &tree.strings) else { return nil }
    guard let title else { return Link(address: address, title: nil) }
    let start = tree.strings.count
    tree.strings.append(contentsOf: Self.decoded(text, title))
    return Link(address: address, title: start..<tree.strings.count)
  }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while place < end, text[place] == 0x20 || text[place] == 0x09 || text[place] == 0x0a { place += 1 }
  }

  private mutating func destination(_ text: Span<UInt8>) -> Range<Int>? {
    guard place < end else { return nil }
    return text[place] == UInt8(ascii: "<") ? angled(text) : bare(text)
  }

  private mutating func angled(_ text: Span<UInt8>) -> Range<Int>? {
    let start = place + 1
    place = start
    while place < end, text[place] != UInt8(ascii: ">") {
      if text[place] == UInt8(ascii: "<") || text[place] == 0x0a { return nil }
      place += isEscape(text) ? 2 : 1
    }
    guard place < end else { return nil }
    place += 1
    return start..<place - 1
  }

  private mutating func bare(_ text: Span<UInt8>) -> Range<Int>? {
    let start = place
    var depth = 0
    while place < end, text[place] > 0x20, text[place] != 0x7f {
      if text[place] == UInt8(ascii: "(") {
        depth += 1
        if depth > MarkupLimits.parentheses { return nil }
      } else if text[place] == UInt8(ascii: ")") {
        if depth == 0 { break }
        depth -= 1
      }
      place += isEscape(text) ? 2 : 1
      if place - start > MarkupLimits.address { return nil }
    }
    return place > start && depth == 0 ? start..<place : nil
  }

  /// A title in `"…"`, `'…'` or `(…)`.
  private mutating func quoted(_ text: Span<UInt8>) -> Range<Int>? {
    let open = text[place]
    guard open == UInt8(ascii: "\"") || open == UInt8(ascii: "'") || open == UInt8(ascii: "(") else { return nil }
    let close = open == UInt8(ascii: "(") ? UInt8(ascii: ")") : open
    let start = place + 1
    place = start
    while place < end, text[place] != close {
      if open == UInt8(ascii: "("), text[place] == open { return nil }
      place += isEscape(text) ? 2 : 1
    }
    guard place < end else { return nil }
    place += 1
    return start..<place - 1
  }

  private func isEscape(_ text: Span<UInt8>) -> Bool {
    text[place] == UInt8(ascii: "\\") && place + 1 < end && ScalarKind.ascii(text[place + 1]) == .punctuation
  }

  /// Without its backslashes and character references. What a browser would see is what is judged.
  private static func decoded(_ text: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var place = range.lowerBound
    while place < range.upperBound {
      let next = place + 1
      if text[place] == UInt8(ascii: "\\"), next < range.upperBound, ScalarKind.ascii(text[next]) == .punctuation {
        bytes.append(text[next])
        place += 2
      } else if text[place] == UInt8(ascii: "&"),
        let (scalar, end) = CharacterReference.read(text, at: place, to: range.upperBound)
      {
        bytes.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
        place = end
      } else {
        bytes.append(text[place])
        place = next
      }
    }
    return bytes
  }
}
