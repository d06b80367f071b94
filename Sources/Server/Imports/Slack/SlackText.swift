import ParleyJSON

/// Converts mrkdwn, the markup of Slack, to Markdown (api.slack.com, "Formatting text for app surfaces").
struct SlackText {
  private let raw: String
  private let users: [String: SourceUser]

  init(_ raw: String, _ users: [String: SourceUser]) {
    self.raw = raw
    self.users = users
  }

  /// The first line without markup; nil if it is empty.
  var plain: String? {
    Markdown.title(
      converted.parts.map { part in
        switch part {
        case .markdown(let text): text.replacing("**", with: "").replacing("\\", with: "")
        case .mention(_, let name): "@\(name)"
        }
      }.joined())
  }

  var converted: SourceText {
    var text = SourceText()
    var rest = raw[...]
    while !rest.isEmpty {
      // Code keeps its characters.
      if rest.hasPrefix("```"), let end = rest.dropFirst(3).firstRange(of: "```") {
        let code = Self.unescaped(rest[rest.index(rest.startIndex, offsetBy: 3)..<end.lowerBound])
        text.append("```\n\(code.drop { $0 == "\n" })\(code.hasSuffix("\n") ? "" : "\n")```")
        rest = rest[end.upperBound...]
        if let next = rest.first, next != "\n" { text.append("\n") }
      } else if rest.first == "`", let end = rest.dropFirst().firstIndex(of: "`") {
        text.append("`\(Self.unescaped(rest[rest.index(after: rest.startIndex)..<end]))`")
        rest = rest[rest.index(after: end)...]
      } else {
        let end = rest.dropFirst().firstIndex(of: "`") ?? rest.endIndex
        convert(rest[..<end], into: &text)
        rest = rest[end...]
      }
    }
    return text
  }

  private func convert(_ run: Substring, into text: inout SourceText) {
    var plain = ""
    var before: Character?
    var rest = run
    while let character = rest.first {
      if character == "<", let close = rest.prefix(Self.maxReference).firstIndex(of: ">") {
        let part = reference(rest[rest.index(after: rest.startIndex)..<close])
        switch part {
        case .markdown(let markdown): plain += markdown
        case .mention:
          text.append(plain)
          plain = ""
          text.parts.append(part)
        }
        rest = rest[rest.index(after: close)...]
        before = ">"
        continue
      }
      if let mark = Self.marks[character], Self.opens(before), let end = Self.end(of: character, in: rest) {
        let inner = rest[rest.index(after: rest.startIndex)..<end]
        text.append(plain + mark)
        plain = ""
        convert(inner, into: &text)
        text.append(mark)
        rest = rest[rest.index(after: end)...]
        before = character
        continue
      }
      before = character
      rest = rest.dropFirst()
      switch character {
      case "&":
        let entity = Self.entities.first { rest.hasPrefix($0.name) }
        plain += entity?.text ?? "&"
        if let entity { rest = rest.dropFirst(entity.name.count) }
      // Signs that are text in Slack and markup in Markdown.
      case "[", "]", "\\", "*", "_", "~": plain += "\\\(character)"
      default: plain.append(character)
      }
    }
    text.append(plain)
  }

  /// Characters of an address, a mention or a date, and of a text between two marks.
  private static let (maxReference, maxMarked) = (2_000, 1_000)
  private static let marks: [Character: String] = ["*": "**", "_": "*", "~": "~~"]
  private static let entities: [(name: String, text: String)] = [("lt;", "<"), ("gt;", ">"), ("amp;", "&")]

  private static func opens(_ before: Character?) -> Bool {
    guard let before else { return true }
    return !before.isLetter && !before.isNumber
  }

  /// The closing mark on the same line, after text and before no letter.
  private static func end(of mark: Character, in text: Substring) -> String.Index? {
    let start = text.index(after: text.startIndex)
    guard start < text.endIndex, !text[start].isWhitespace, text[start] != mark else { return nil }
    var index = text.index(after: start)
    var isInside = text[start] == "<"
    // A line of marks without an end takes no quadratic time.
    for _ in 0..<maxMarked where index < text.endIndex && !text[index].isNewline {
      let character = text[index]
      if character == "<" { isInside = true }
      if character == ">" { isInside = false }
      if character == mark, !isInside, !text[text.index(before: index)].isWhitespace {
        let next = text.index(after: index)
        if next == text.endIndex || !text[next].isLetter && !text[next].isNumber { return index }
      }
      index = text.index(after: index)
    }
    return nil
  }

  /// `<@U1>`, `<#C1|name>`, `<!here>`, `<!subteam^S1|@name>`, `<!date^1^…|text>`, `<address|label>`.
  private func reference(_ inner: Substring) -> SourceText.Part {
    let bar = inner.firstIndex(of: "|")
    let target = inner[..<(bar ?? inner.endIndex)]
    let label = bar.map { Self.unescaped(inner[inner.index(after: $0)...]) }
    if target.hasPrefix("@") {
      let id = String(target.dropFirst())
      return .mention(user: id, name: users[id]?.displayName ?? users[id]?.name ?? label ?? id)
    }
    if target.hasPrefix("#") { return .markdown("\\#\(Markdown.label(label ?? String(target.dropFirst())))") }
    if target.hasPrefix("!") {
      let name = target.dropFirst().split(separator: "^").first.map(String.init) ?? ""
      return .markdown(Markdown.label(label ?? "@\(name)"))
    }
    let address = Self.unescaped(target)
    guard Markdown.isAddress(address) else { return .markdown(Markdown.label(label ?? address)) }
    guard let label, label != address, !label.isEmpty else { return .markdown(address) }
    return .markdown(Markdown.link(label, address) ?? address)
  }

  private static func unescaped(_ text: Substring) -> String {
    String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
  }
}
