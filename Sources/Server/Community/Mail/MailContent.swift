import Mail
import ParleyModel

/// The content of a mail, as plain text and as HTML. Both need no picture and no style sheet.
struct MailContent: Sendable {
  var subject: String
  var lead: String
  /// Below the lead, each on one line.
  var facts: [String] = []
  /// A message: its author and its text.
  var quote: (name: String, text: String)?
  var items: [Item] = []
  /// After the quote and the items.
  var note: String?
  var action: (label: String, url: String)?
  /// In small print, each with its link.
  var footer: [(text: String, url: String?)] = []
  var list = MailList.notifications
  var unsubscribe: String?
  let words: MailTexts.Words

  /// An entry of a list, with its page.
  struct Item: Sendable {
    let title: String
    let url: String
    /// One line.
    let facts: String
    /// Each on one line.
    let lines: [String]
  }

  init(subject: String, lead: String, words: MailTexts.Words) {
    self.subject = subject
    self.lead = lead
    self.words = words
  }

  /// Adds the links that end mails of the list, and change the settings.
  mutating func addListFooter(for user: ID<User>, over service: MailService) {
    if let url = service.unsubscribeURL(of: user, from: list) {
      unsubscribe = url
      footer.append((text: words(.unsubscribe), url: url))
    }
    footer.append((text: words(.settings), url: service.origin + "/you/notifications"))
  }

  /// - Parameter id: of the `Message-ID`. A repeated mail has the same.
  func message(
    to address: MailAddress, id: String, from service: MailService, of site: SiteSettings, at now: Int64
  ) -> MailMessage {
    MailMessage(
      from: service.sender, name: site.name, to: address, subject: subject, text: text(of: site.name),
      html: html(of: site), date: now, id: id, language: words.language, unsubscribe: unsubscribe,
      listID: unsubscribe == nil ? nil : "\(list.name).\(service.sender.domain)")
  }

  private func text(of site: String) -> String {
    var parts = [lead]
    if !facts.isEmpty { parts.append(facts.joined(separator: "\n")) }
    if let quote {
      let lines = quote.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      parts.append(lines.map { "> \($0)" }.joined(separator: "\n"))
    }
    for item in items {
      parts.append(([item.title, item.facts] + item.lines.map { "> \($0)" } + [item.url]).joined(separator: "\n"))
    }
    if let note { parts.append(note) }
    if let action { parts.append("\(action.label):\n\(action.url)") }
    // RFC 3676 §4.3: the mark of a signature.
    parts.append(
      (["-- ", site] + footer.map { line in line.url.map { "\(line.text): \($0)" } ?? line.text })
        .joined(separator: "\n"))
    return parts.joined(separator: "\n\n") + "\n"
  }

  private func html(of site: SiteSettings) -> String {
    var html = """
      <!doctype html>
      <html lang="\(Self.escaped(words.language))" dir="\(Self.escaped(words.direction))">
      <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" \
      content="light dark"><title>\(Self.escaped(subject))</title></head>
      <body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
      <div style="max-width:560px;margin:0 auto">
      <p style="margin:0 0 16px;opacity:.7">\(Self.escaped(site.name))</p>
      <p style="margin:0 0 16px"><strong>\(Self.escaped(lead))</strong></p>

      """
    if !facts.isEmpty {
      html += "<p style=\"margin:0 0 16px\">\(facts.map(Self.escaped).joined(separator: "<br>\n"))</p>\n"
    }
    if let quote {
      html += """
        <blockquote dir="auto" style="margin:0 0 16px;padding:0 12px;border-inline-start:3px solid #8c959f;\
        white-space:pre-wrap">\(Self.escaped(quote.text))</blockquote>

        """
    }
    for item in items { html += Self.html(of: item) }
    if let note { html += "<p style=\"margin:0 0 16px\">\(Self.escaped(note))</p>\n" }
    if let action {
      html += """
        <p style="margin:0 0 24px"><a href="\(Self.escaped(action.url))" style="display:inline-block;padding:8px 16px;\
        border-radius:8px;background:hsl(\(site.hue),60%,36%);color:#fff;text-decoration:none">\
        \(Self.escaped(action.label))</a></p>

        """
    }
    html += "<p style=\"margin:0;font-size:13px;opacity:.7\">"
    html += footer.map { line in
      let text = Self.escaped(line.text)
      return line.url.map { "<a href=\"\(Self.escaped($0))\" style=\"color:inherit\">\(text)</a>" } ?? text
    }.joined(separator: "<br>\n")
    return html + "</p>\n</div>\n</body>\n</html>\n"
  }

  private static func html(of item: Item) -> String {
    var html = """
      <p style="margin:0 0 16px"><a href="\(escaped(item.url))" style="color:inherit;font-weight:600"><bdi>\
      \(escaped(item.title))</bdi></a><br>
      <span style="font-size:13px;opacity:.7">\(escaped(item.facts))</span>
      """
    for line in item.lines { html += "<br>\n<bdi>\(escaped(line))</bdi>" }
    return html + "</p>\n"
  }

  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
