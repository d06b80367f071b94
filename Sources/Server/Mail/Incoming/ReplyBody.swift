// The text of a reply: the first part that is a text, plain rather than HTML.

struct ReplyBody {
  private(set) var text: String?
  private(set) var attachmentCount = 0

  init(_ message: MailPart) {
    text = Self.part(of: message).flatMap { Self.text(of: $0) }.map { ReplyText.withoutQuotes($0) }
    message.visit { part in
      // Signatures of the message are no files of the user.
      if part.disposition == "attachment", !part.type.value.hasSuffix("signature") { attachmentCount += 1 }
    }
  }

  private static func part(of message: MailPart) -> MailPart? {
    guard !message.type.value.hasPrefix("multipart/") else {
      let found = message.parts.lazy.compactMap { part(of: $0) }
      let isAlternative = message.type.value == "multipart/alternative"
      return (isAlternative ? found.first { $0.type.value == "text/plain" } : nil) ?? found.first
    }
    guard message.disposition != "attachment", ["text/plain", "text/html"].contains(message.type.value) else {
      return nil
    }
    return message
  }

  private static func text(of part: MailPart) -> String? {
    guard let content = part.content(limit: MailLimits.text),
      let text = MailCharset.text(content, in: part.type["charset"])
    else { return nil }
    let lines = TransferEncoding.normalized(text)
    if part.type.value == "text/html" { return MailHTML.text(lines) }
    guard part.type["format"]?.lowercased() == "flowed" else { return lines }
    return FlowedText.unfolded(lines, deletesSpace: part.type["delsp"]?.lowercased() == "yes")
  }
}

/// Texts whose lines go on after a space (RFC 3676).
enum FlowedText {
  static func unfolded(_ text: String, deletesSpace: Bool) -> String {
    var lines: [String] = []
    var (open, openDepth): (String?, Int) = (nil, 0)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let depth = line.prefix { $0 == ">" }.count
      var content = line.dropFirst(depth)
      if content.first == " " { content.removeFirst() }
      let isSignature = content == "-- "
      if let begun = open, isSignature || depth != openDepth {
        lines.append(begun)
        open = nil
      }
      let mark = depth == 0 ? "" : String(repeating: ">", count: depth) + " "
      let whole = (open ?? mark) + content
      if content.last == " ", !isSignature {
        open = deletesSpace ? String(whole.dropLast()) : whole
        openDepth = depth
      } else {
        lines.append(whole)
        open = nil
      }
    }
    if let open { lines.append(open) }
    return lines.joined(separator: "\n")
  }
}
