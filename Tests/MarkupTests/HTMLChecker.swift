/// A strict HTML checker: every tag is exactly as listed, every element is closed in order, every `<`, `&`, quote and
/// control character of text is escaped.
struct HTMLChecker {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  private static let open: Set<String> = [
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code", "em", "strong", "del",
    "table", "thead", "tbody", "tr", "th", "td",
    "span class=\"spoiler\"", "span class=\"mention\"", "span class=\"hashtag\"",
    "th align=\"left\"", "th align=\"right\"", "th align=\"center\"",
    "td align=\"left\"", "td align=\"right\"", "td align=\"center\"",
  ]
  private static let void: Set<String> = [
    "br", "hr", "input type=\"checkbox\" disabled=\"\"", "input type=\"checkbox\" checked=\"\" disabled=\"\"",
  ]
  private static let references = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].map { Array($0.utf8) }
  private static let rel = "\" rel=\"nofollow noopener noreferrer ugc\""

  private let bytes: [UInt8]
  private var position = 0
  private var elements: [String] = []

  /// Returns the maximum depth of the elements.
  @discardableResult
  static func check(_ html: String) throws(Fault) -> Int {
    var checker = HTMLChecker(bytes: Array(html.utf8))
    return try checker.read()
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func read() throws(Fault) -> Int {
    var depth = 0
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "<"): try tag()
      case UInt8(ascii: "&"): try reference()
      default: try character()
      }
      depth = max(depth, elements.count)
    }
    guard elements.isEmpty else { throw Fault(description: "open at the end: \(elements)") }
    return depth
  }

  private mutating func character() throws(Fault) {
    let byte = bytes[position]
    let isControl = byte < 0x20 && byte != 0x09 && byte != 0x0a || byte == 0x7f
    let isUnescaped = byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    if isControl || isUnescaped { throw Fault(description: "byte \(byte) at \(position)") }
    position += 1
  }

  private mutating func reference() throws(Fault) {
    guard let reference = Self.references.first(where: { bytes[position...].starts(with: $0) }) else {
      throw Fault(description: "a bare & at \(position)")
    }
    position += reference.count
  }

  private mutating func tag() throws(Fault) {
    guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else {
      throw Fault(description: "a tag without end")
    }
    let tag = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
    position = end + 1
    if tag.hasPrefix("/") {
      guard let last = elements.popLast(), last == tag.dropFirst() else {
        throw Fault(description: "<\(tag)> closes \(elements.last ?? "nothing")")
      }
    } else if tag.hasSuffix(" /") {
      let isListed = Self.void.contains(String(tag.dropLast(2))) || isPicture(String(tag.dropLast(2)))
      guard isListed else { throw Fault(description: "<\(tag)>") }
    } else {
      let name = tag.prefix { $0 != " " }
      guard isListed(tag) else { throw Fault(description: "<\(tag)>") }
      if name == "a" || name == "p", elements.contains(String(name)) {
        throw Fault(description: "<\(name)> inside of its own kind")
      }
      elements.append(String(name))
    }
  }

  private func isListed(_ tag: String) -> Bool {
    if Self.open.contains(tag) { return true }
    if let number = value(of: tag, between: "ol start=\"", and: "\"") { return UInt32(number) != nil }
    if let language = value(of: tag, between: "code class=\"language-", and: "\"") {
      return !language.isEmpty
        && language.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+#._-".contains($0)) }
    }
    guard let link = value(of: tag, between: "a href=\"", and: Self.rel) else { return false }
    let parts = link.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count == 1 || parts.count == 3 && parts[1] == " title=" else { return false }
    let address = parts[0].lowercased()
    return ["http://", "https://", "mailto:"].contains(where: address.hasPrefix)
      && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }
  }

  /// An image of this site with a description. Quotes and signs of tags are escaped in it.
  private func isPicture(_ tag: String) -> Bool {
    guard
      let parts = value(of: tag, between: "img src=\"/", and: "\"")?.split(
        separator: "\"", omittingEmptySubsequences: false)
    else { return false }
    return parts.count == 3 && parts[1] == " alt=" && !parts[2].contains("<")
  }

  private func value(of tag: String, between start: String, and end: String) -> String? {
    guard tag.hasPrefix(start), tag.hasSuffix(end), tag.count >= start.count + end.count else { return nil }
    return String(tag.dropFirst(start.count).dropLast(end.count))
  }
}
