// Scans a page from tag to tag, with a browser's tokenization but without a tree. Every byte is visited once: an unterminated
// comment, quoted value or script extends to the end of the page.

import ParleyWire

struct HTMLScanner {
  private let bytes: [UInt8]
  private var index = 0

  /// Limits of attributes per tag and of bytes per name. Tags beyond them are irrelevant for metadata.
  private static let maxAttributes = 32
  private static let maxNameBytes = 24

  struct Tag {
    /// In lower case; empty if longer than `maxNameBytes`.
    let name: String
    /// The first attribute of each name, undecoded.
    var attributes: [String: Range<Int>] = [:]
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next start tag.
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

  /// The raw text up to the end tag of `name`. Skips the end tag.
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
      if tag.attributes.count < Self.maxAttributes, !name.isEmpty, tag.attributes[name] == nil {
        tag.attributes[name] = value
      }
    }
    return tag
  }

  /// The next attribute; nil at the end of the tag.
  private mutating func attribute() -> (name: String, value: Range<Int>)? {
    while index < bytes.count, Self.isSpace(bytes[index]) || bytes[index] == UInt8(ascii: "/") { index += 1 }
    guard index < bytes.count else { return nil }
    if bytes[index] == UInt8(ascii: ">") {
      index += 1
      return nil
    }
    let start = index
    // A name may begin with `=` (WHATWG HTML §13.2.5.32). Skipping one byte guarantees progress.
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
    // WHATWG HTML §13.2.5.43: `<!-->` and `<!--->` are empty comments.
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

  /// Compares without case.
  private func has(_ text: String, at offset: Int) -> Bool {
    guard offset + text.utf8.count <= bytes.count else { return false }
    return zip(bytes[offset...], text.utf8).allSatisfy { ASCII.lowercase($0) == $1 }
  }

  private func lowercase(_ range: Range<Int>) -> String {
    guard range.count <= Self.maxNameBytes else { return "" }
    return String(decoding: bytes[range].map(ASCII.lowercase), as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || 9...13 ~= byte && byte != 11 }

  private static func endsName(_ byte: UInt8) -> Bool {
    isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
  }
}
