/// An attachment of Slack or embed of Discord: a quote with author, title, text, fields and pictures. All members
/// are Markdown.
struct MessageCard {
  /// Before the quote.
  var introduction: String?
  var author: String?
  var title: String?
  var text: String?
  var fields: [Field] = []
  var links: [String] = []
  var footer: String?

  struct Field {
    var title: String?
    var value: String?
  }

  /// Nil for an empty card.
  var markdown: String? {
    var lines = [author, title.map { "**\($0)**" }, text].compactMap { $0 }
    lines += fields.compactMap(\.markdown) + links + [footer].compactMap { $0 }
    let quote = lines.isEmpty ? nil : MarkdownText.quoted(lines.joined(separator: "\n"))
    let parts = [introduction, quote].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "\n")
  }
}

extension MessageCard.Field {
  fileprivate var markdown: String? {
    guard let title else { return value }
    guard let value else { return "**\(title)**" }
    return "**\(title)**\(value.contains("\n") ? "\n" : " ")\(value)"
  }
}
