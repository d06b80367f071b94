/// The destination and title of an inline link: CommonMark 0.31 §6.3. Every form ends at a byte that starts another
/// link's target, so that unterminated targets are not read repeatedly.
struct LinkTarget {
  private(set) var position: Int
  private let end: Int

  init(at parenthesis: Int, to end: Int) {
    position = parenthesis + 1
    self.end = end
  }

  /// Reads up to and including the closing parenthesis. Nil if the target is malformed or unsafe.
  mutating func read(_ text: Span<UInt8>, into tree: inout MarkupTree) -> Link? {
    skipSpace(text)
    guard let destination = destination(text) else { return nil }
    let gap = position
    skipSpace(text)
    var title: Range<Int>?
    if position > gap, position < end, text[position] != UInt8(ascii: ")") {
      title = quoted(text)
      if title == nil { return nil }
      skipSpace(text)
    }
    guard position < end, text[position] == UInt8(ascii: ")") else { return nil }
    position += 1
    guard let address = SafeAddress.append(Self.decoded(text, destination), to: &tree.strings) else { return nil }
    guard let title else { return Link(address: address, title: nil) }
    let start = tree.strings.count
    tree.strings.append(contentsOf: Self.decoded(text, title))
    return Link(address: address, title: start..<tree.strings.count)
  }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while position < end, text[position] == 0x20 || text[position] == 0x09 || text[position] == 0x0a { position += 1 }
  }

  private mutating func destination(_ text: Span<UInt8>) -> Range<Int>? {
    guard position < end else { return nil }
    return text[position] == UInt8(ascii: "<") ? angled(text) : bare(text)
  }

  private mutating func angled(_ text: Span<UInt8>) -> Range<Int>? {
    let start = position + 1
    position = start
    while position < end, text[position] != UInt8(ascii: ">") {
      if text[position] == UInt8(ascii: "<") || text[position] == 0x0a { return nil }
      position += isEscape(text) ? 2 : 1
    }
    guard position < end else { return nil }
    position += 1
    return start..<position - 1
  }

  private mutating func bare(_ text: Span<UInt8>) -> Range<Int>? {
    let start = position
    var depth = 0
    while position < end, text[position] > 0x20, text[position] != 0x7f {
      if text[position] == UInt8(ascii: "(") {
        depth += 1
        if depth > MarkupLimits.parentheses { return nil }
      } else if text[position] == UInt8(ascii: ")") {
        if depth == 0 { break }
        depth -= 1
      }
      position += isEscape(text) ? 2 : 1
      if position - start > MarkupLimits.address { return nil }
    }
    return position > start && depth == 0 ? start..<position : nil
  }

  /// A title: `"…"`, `'…'` or `(…)`.
  private mutating func quoted(_ text: Span<UInt8>) -> Range<Int>? {
    let open = text[position]
    guard open == UInt8(ascii: "\"") || open == UInt8(ascii: "'") || open == UInt8(ascii: "(") else { return nil }
    let close = open == UInt8(ascii: "(") ? UInt8(ascii: ")") : open
    let start = position + 1
    position = start
    while position < end, text[position] != close {
      if open == UInt8(ascii: "("), text[position] == open { return nil }
      position += isEscape(text) ? 2 : 1
    }
    guard position < end else { return nil }
    position += 1
    return start..<position - 1
  }

  private func isEscape(_ text: Span<UInt8>) -> Bool {
    text[position] == UInt8(ascii: "\\") && position + 1 < end && ScalarKind.ascii(text[position + 1]) == .punctuation
  }

  /// Decodes backslash escapes and character references, so that the safety check sees the same bytes as a browser.
  private static func decoded(_ text: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var position = range.lowerBound
    while position < range.upperBound {
      let next = position + 1
      if text[position] == UInt8(ascii: "\\"), next < range.upperBound, ScalarKind.ascii(text[next]) == .punctuation {
        bytes.append(text[next])
        position += 2
      } else if text[position] == UInt8(ascii: "&"),
        let (scalar, end) = CharacterReference.read(text, at: position, to: range.upperBound)
      {
        bytes.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
        position = end
      } else {
        bytes.append(text[position])
        position = next
      }
    }
    return bytes
  }
}
