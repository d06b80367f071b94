// Walks over a page from tag to tag, as a browser would cut it, without a tree. Each byte is looked at once, whatever stands in
// the page: what is not ended (a comment, a quoted value, a script) goes on to the end.

import ParleyWire

struct HTMLScanner {
  private let bytes: [UInt8]
  private var index = 0

  /// Attributes of one tag, and bytes of a name: what goes beyond is of no interest.
  private static let mostAttributes = 32
  private static let longestName = 24

  struct Tag {
    /// In lower case; empty where it is too long to be one of interest.
    let name: String
    /// The first of each name, as it stands in the page.
    var attributes: [String: Range<Int>] = [:]
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next tag that begins an element.
  mutating func next() -> Tag? {
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = start + 1
      guard index < bytes.count else { return nil }
      if ASCII.isAlpha(bytes[index]) { return tag() }
      if has("!--", at: index) {
        skipComment()
      } else if [UInt8(ascii: "!"), UInt8(ascii: "?"), UInt8(ascii: "/")].contains(bytes[index]) {
        skip(to: UInt8(ascii: ">"))
      }
    }
    index = bytes.count
    return nil
  }

  /// What stands before the end tag of an element that holds no others; the end tag is passed.
  mutating func text(of name: String) -> Range<Int> {
    let start = index
    while let bracket = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = bracket + 1
      let after = index + 1 + name.utf8.count
      if has("/" + name, at: index), after >= bytes.count || !ASCII.isAlpha(bytes[after]) {
        skip(to: UInt8(ascii: ">"))
        return start..<bracket
      }
    }
    index = bytes.count
    return start..<index
  }

  subscript(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

  private mutating func tag() -> Tag {
    let start = index
    while index < bytes.count, !Self.endsName(bytes[index]) { index += 1 }
    var tag = Tag(name: lowercase(start..<index))
    while let (name, value) = attribute() {
      if tag.attributes.count < Self.mostAttributes, !name.isEmpty, tag.attributes[name] == nil {
        tag.attributes[name] = value
      }
    }
    return tag
  }

  /// The next attribute of this tag; nil once the tag has ended.
  private mutating func attribute() -> (name: String, value: Range<Int>)? {
    while index < bytes.count, Self.isSpace(bytes[index]) || bytes[index] == UInt8(ascii: "/") { index += 1 }
    guard index < bytes.count else { return nil }
    if bytes[index] == UInt8(ascii: ">") {
      index += 1
      return nil
    }
    let start = index
    // A name may begin with `=` (WHATWG HTML §13.2.5.32), so something is passed each time.
    index += 1
    while index < bytes.count, !Self.endsName(bytes[index]), bytes[index] != UInt8(ascii: "=") { index += 1 }
    let name = lowercase(start..<index)
    skipSpaces()
    guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return (name, index..<index) }
    index += 1
    skipSpaces()
    return (name, value())
  }

  private mutating func value() -> Range<Int> {
    guard index < bytes.count else { return index..<index }
    let quote = bytes[index]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let start = index
      while index < bytes.count, !Self.isSpace(bytes[index]), bytes[index] != UInt8(ascii: ">") { index += 1 }
      return start..<index
    }
    let start = index + 1
    let end = bytes[start...].firstIndex(of: quote) ?? bytes.count
    index = min(end + 1, bytes.count)
    return start..<end
  }

  private mutating func skipComment() {
    index += 3
    // WHATWG HTML §13.2.5.43: `<!-->` and `<!--->` are over at once.
    if has(">", at: index) || has("->", at: index) { return skip(to: UInt8(ascii: ">")) }
    while let dash = bytes[index...].firstIndex(of: UInt8(ascii: "-")) {
      index = dash + 1
      if has("->", at: index) || has("-!>", at: index) { return skip(to: UInt8(ascii: ">")) }
    }
    index = bytes.count
  }

  private mutating func skip(to byte: UInt8) {
    index = (bytes[index...].firstIndex(of: byte) ?? bytes.count - 1) + 1
  }

  private mutating func skipSpaces() {
    while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
  }

  /// In whatever case.
  private func has(_ text: String, at place: Int) -> Bool {
    guard place + text.utf8.count <= bytes.count else { return false }
    return zip(bytes[place...], text.utf8).allSatisfy { ASCII.lowercase($0) == $1 }
  }

  private func lowercase(_ range: Range<Int>) -> String {
    guard range.count <= Self.longestName else { return "" }
    return String(decoding: bytes[range].map(ASCII.lowercase), as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || 9...13 ~= byte && byte != 11 }

  private static func endsName(_ byte: UInt8) -> Bool {
    isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
  }
}
