import ParleyJSON

/// Text that means the same in Markdown.
enum Markdown {
  /// Escapes what would be a link.
  static func label(_ text: String) -> String {
    var label = ""
    for character in text {
      if character == "[" || character == "]" || character == "\\" { label.append("\\") }
      label.append(character.isNewline ? " " : character)
    }
    return label
  }

  /// Nil for an address that is no web or mail address.
  static func link(_ label: String, _ address: String) -> String? {
    guard isAddress(address) else { return nil }
    return "[\(Markdown.label(label))](\(address.replacing("(", with: "%28").replacing(")", with: "%29")))"
  }

  static func isAddress(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://") || text.hasPrefix("mailto:"))
      && !text.unicodeScalars.contains { $0.properties.isWhitespace || $0 == "<" || $0 == ">" }
  }

  static func quote(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? ">" : "> \($0)" }.joined(
      separator: "\n")
  }

  /// A line of at most `limit` characters without white space at its ends, for a title.
  static func title(_ text: String, limit: Int = 80) -> String? {
    let line = text.split(whereSeparator: \.isNewline).lazy
      .map { $0.drop { $0.isWhitespace || $0 == "#" || $0 == ">" || $0 == "*" } }
      .first { !$0.isEmpty }
    guard let line else { return nil }
    guard line.count > limit else { return String(line) }
    let cut = line.prefix(limit)
    let words = cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut
    return (words.isEmpty ? String(cut) : String(words)) + "…"
  }
}

extension StringProtocol {
  fileprivate func trimmingPrefix(_ isTrimmed: (Character) -> Bool) -> SubSequence { drop(while: isTrimmed) }
}
