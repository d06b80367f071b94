/// The text of HTML in mail, without its layout. Quotes have `>` before each line, as in plain text.
enum MailHTML {
  private static let hidden: Set<String> = ["head", "style", "script", "title"]
  private static let blocks: Set<String> = [
    "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "pre", "blockquote", "hr",
  ]
  private static let entities = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "shy": "",
  ]
  private static let maxEntity = 8
  /// Bytes of a tag.
  private static let maxTag = 4_096

  static func text(_ html: String) -> String {
    var reader = Reader()
    var rest = Array(html.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "<": rest = reader.tag(rest)
      case "&": rest = reader.entity(rest)
      case "\n", "\t", "\r", " ": reader.space()
      default: reader.append(String(scalar))
      }
    }
    return reader.finished()
  }

  private struct Reader {
    private var lines: [String] = []
    private var line = ""
    private var hasSpace = false
    private var quoteDepth = 0
    private var hiddenTag: String?

    mutating func append(_ text: String) {
      guard hiddenTag == nil else { return }
      if hasSpace, !line.isEmpty { line += " " }
      hasSpace = false
      line += text
    }

    mutating func space() { hasSpace = true }

    mutating func tag(_ html: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
      if html.starts(with: "!--".unicodeScalars) {
        var rest = html.dropFirst(3)
        while !rest.isEmpty, !rest.starts(with: "-->".unicodeScalars) { rest.removeFirst() }
        return rest.dropFirst(3)
      }
      guard let end = html.prefix(MailHTML.maxTag).firstIndex(of: ">") else {
        append("<")
        return html
      }
      var name = ""
      for scalar in html[..<end].prefix(while: { $0 != " " && $0 != "\n" && $0 != "\t" }) {
        name.unicodeScalars.append(scalar)
      }
      let isEnd = name.hasPrefix("/")
      apply((isEnd ? String(name.dropFirst()) : name).split(separator: "/").first.map { $0.lowercased() } ?? "", isEnd)
      return html[(end + 1)...]
    }

    private mutating func apply(_ name: String, _ isEnd: Bool) {
      if let hiddenTag {
        if isEnd, name == hiddenTag { self.hiddenTag = nil }
        return
      }
      if MailHTML.hidden.contains(name), !isEnd {
        hiddenTag = name
        return
      }
      guard MailHTML.blocks.contains(name) else { return }
      if name == "br" || !line.isEmpty { endLine() }
      if name == "blockquote" { quoteDepth = max(0, quoteDepth + (isEnd ? -1 : 1)) }
      if name == "p", isEnd { endLine() }
      // Outlook separates the quoted message with it.
      if name == "hr", !isEnd { lines.append(mark + String(repeating: "_", count: 32)) }
    }

    private var mark: String { quoteDepth == 0 ? "" : String(repeating: ">", count: min(quoteDepth, 8)) + " " }

    private mutating func endLine() {
      lines.append(mark + line)
      (line, hasSpace) = ("", false)
    }

    mutating func entity(_ html: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
      guard let end = html.prefix(MailHTML.maxEntity + 1).firstIndex(of: ";") else {
        append("&")
        return html
      }
      var name = ""
      name.unicodeScalars.append(contentsOf: html[..<end])
      let digits = name.dropFirst(name.hasPrefix("#x") || name.hasPrefix("#X") ? 2 : 1)
      if name == "nbsp" {
        space()
      } else if let text = MailHTML.entities[name.lowercased()] {
        append(text)
      } else if name.hasPrefix("#"),
        let value = UInt32(digits, radix: digits.count == name.count - 2 ? 16 : 10),
        let scalar = Unicode.Scalar(value)
      {
        append(String(scalar))
      } else {
        append("&\(name);")
      }
      return html[(end + 1)...]
    }

    mutating func finished() -> String {
      if !line.isEmpty { endLine() }
      return lines.joined(separator: "\n")
    }
  }
}
