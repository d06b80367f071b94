import ParleyJSON

/// Converts the Markdown of Discourse: uploads, quotations and mentions.
struct DiscourseText {
  private var raw: String

  init(_ raw: String) { self.raw = raw.replacing("\r\n", with: "\n") }

  /// Replaces `![label|690x400](upload://key.png)` and `[name|attachment](upload://key.pdf) (12 KB)`.
  mutating func replaceUploads(_ replacement: (_ key: String, _ label: String, _ isPicture: Bool) -> String) {
    var output = ""
    var rest = raw[...]
    while let found = rest.firstRange(of: "](upload://"), let end = rest[found.upperBound...].firstIndex(of: ")"),
      let open = rest[..<found.lowerBound].lastIndex(of: "[")
    {
      let isPicture = open > rest.startIndex && rest[rest.index(before: open)] == "!"
      output += rest[..<(isPicture ? rest.index(before: open) : open)]
      let label = rest[rest.index(after: open)..<found.lowerBound].split(
        separator: "|", omittingEmptySubsequences: false
      ).first
      let key = rest[found.upperBound..<end].split(separator: ".", omittingEmptySubsequences: false).first
      output += replacement(String(key ?? ""), String(label ?? ""), isPicture)
      rest = rest[rest.index(after: end)...]
      // The size in parentheses, which the app shows itself.
      if !isPicture, rest.hasPrefix(" ("), let close = rest.prefix(24).firstIndex(of: ")") {
        rest = rest[rest.index(after: close)...]
      }
    }
    raw = output + rest
  }

  /// - Parameter find: the key of a user by name.
  func converted(_ find: (String) -> String?) -> SourceText {
    var text = SourceText()
    var plain = ""
    var before: Character?
    var rest = Self.quotations(raw)[...]
    var isInCode = false
    while let character = rest.first {
      rest = rest.dropFirst()
      if character == "`" { isInCode.toggle() }
      if character == "@", !isInCode, before.map({ !$0.isLetter && !$0.isNumber && $0 != "/" }) ?? true {
        var name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "-") }
        while let last = name.last, last == "." || last == "-" { name = name.dropLast() }
        if !name.isEmpty, let key = find(String(name)) {
          text.append(plain)
          plain = ""
          text.parts.append(.mention(user: key, name: String(name)))
          rest = rest[name.endIndex...]
          before = name.last
          continue
        }
      }
      plain.append(character)
      before = character
    }
    text.append(plain)
    return text
  }

  /// `[quote="ada, post:3, topic:17"]` blocks as quotations.
  private static func quotations(_ text: String) -> String {
    guard text.contains("[quote") else { return text }
    var lines: [String] = []
    var depth = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = line
      let mark = String(repeating: "> ", count: min(depth, 8))
      if line.hasPrefix("[quote"), let close = line.firstIndex(of: "]") {
        let attributes = line[..<close].split(separator: "\"").dropFirst().first ?? ""
        let name = attributes.split(separator: ",").first.map { $0.filter { $0 != "[" && $0 != "]" } } ?? ""
        depth += 1
        if !name.isEmpty { lines.append(mark + "> **\(name)**:") }
        line = line[line.index(after: close)...]
        if line.isEmpty { continue }
      }
      let inner = String(repeating: "> ", count: min(depth, 8))
      guard let end = line.firstRange(of: "[/quote]") else {
        lines.append(inner + line)
        continue
      }
      if end.lowerBound > line.startIndex { lines.append(inner + line[..<end.lowerBound]) }
      depth = max(0, depth - 1)
      lines.append(String(repeating: "> ", count: min(depth, 8)) + line[end.upperBound...])
    }
    return lines.joined(separator: "\n")
  }

  /// Text of HTML, for descriptions.
  static func withoutTags(_ html: String) -> String {
    var text = ""
    var isInTag = false
    for character in html {
      switch character {
      case "<": isInTag = true
      case ">" where isInTag: isInTag = false
      default: if !isInTag { text.append(character) }
      }
    }
    return text
  }

  /// A tag as a hashtag; nil if nothing of it can be one.
  static func hashtag(_ tag: String) -> String? {
    let name = tag.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    return name.contains { $0.isLetter } ? "#\(name)" : nil
  }
}
