import ParleyJSON

/// A message as Slack's webhooks take it: `text`, or `blocks` in its place, and `attachments`.
struct SlackMessage {
  private let body: LooseJSON

  init(_ body: LooseJSON) { self.body = body }

  var markdown: String {
    let blocks = SlackBlocks(body["blocks"]).markdown
    let text = body["text"].text.map { body["mrkdwn"].isFalse ? Self.plain($0) : Self.markdown($0, linksNames) }
    let main = blocks ?? text
    let cards = body["attachments"].items.compactMap(Self.attachment)
    return ([main].compactMap { $0 } + cards).joined(separator: "\n\n")
  }

  /// Whether `@name` in the text is a mention, which Slack otherwise has as `<@user>` only.
  private var linksNames: Bool { body["link_names"].isTrue || body["link_names"].int == 1 }

  private static func markdown(_ text: String, _ linksNames: Bool) -> String {
    let markdown = SlackMarkup.markdown(text)
    return linksNames ? markdown.replacing("@", with: String(MarkdownText.mention)) : markdown
  }

  private static func attachment(_ attachment: LooseJSON) -> String? {
    var card = MessageCard()
    card.introduction = attachment["pretext"].text.map(SlackMarkup.markdown)
    card.author = attachment["author_name"].text.map { link($0, to: attachment["author_link"].text) }
    card.title = attachment["title"].text.map { link($0, to: attachment["title_link"].text) }
    let texts = [attachment["text"].text.map(SlackMarkup.markdown), SlackBlocks(attachment["blocks"]).markdown]
    card.text = texts.compactMap { $0 }.joined(separator: "\n\n")
    if card.text?.isEmpty == true { card.text = nil }
    card.fields = attachment["fields"].items.map { field in
      MessageCard.Field(
        title: field["title"].text.map(plain), value: field["value"].text.map(SlackMarkup.markdown))
    }
    card.links = ["image_url", "thumb_url"].compactMap { attachment[$0].text }.filter(MarkdownText.isWebAddress)
      .map { MarkdownText.link(nil, to: $0) }
    card.links += attachment["actions"].items.compactMap { action in
      guard let address = action["url"].text else { return nil }
      return link(action["text"].text ?? address, to: address)
    }
    card.footer = attachment["footer"].text.map(plain)
    return card.markdown ?? attachment["fallback"].text.map(plain)
  }

  static func plain(_ text: String) -> String { MarkdownText.escaped(SlackMarkup.decoded(text)) }

  static func link(_ text: String, to address: String?) -> String {
    let label = SlackMarkup.decoded(text)
    guard let address else { return MarkdownText.escaped(label) }
    return MarkdownText.link(label, to: address)
  }
}

/// Blocks of Slack's Block Kit. Blocks and elements that Markdown can't say are left out.
private struct SlackBlocks {
  private let blocks: [LooseJSON]

  init(_ blocks: LooseJSON) { self.blocks = blocks.items }

  /// Nil without any text.
  var markdown: String? {
    let parts = blocks.compactMap(Self.block).filter { !$0.isEmpty }
    return parts.isEmpty ? nil : parts.joined(separator: "\n\n")
  }

  private static func block(_ block: LooseJSON) -> String? {
    switch block["type"].text {
    case "header": text(block["text"]).map { "### " + $0.split(separator: "\n").joined(separator: " ") }
    case "section": lines([text(block["text"])] + block["fields"].items.map(text) + [element(block["accessory"])])
    case "context", "actions":
      block["elements"].items.compactMap { text($0) ?? element($0) }.joined(separator: " · ")
    case "divider": "---"
    case "image", "video":
      lines([
        picture(
          text(block["title"]), block["alt_text"].text,
          to: block["image_url"].text ?? block["title_url"].text ?? block["video_url"].text),
        block["description"]["text"].text.map(SlackMessage.plain),
      ])
    case "markdown": block["text"].text
    case "rich_text": lines(block["elements"].items.map(SlackRichText.markdown))
    default: nil
    }
  }

  private static func lines(_ lines: [String?]) -> String? {
    let present = lines.compactMap { $0 }.filter { !$0.isEmpty }
    return present.isEmpty ? nil : present.joined(separator: "\n")
  }

  /// A text object.
  private static func text(_ object: LooseJSON) -> String? {
    guard let text = object["text"].text else { return nil }
    return switch object["type"].text {
    case "mrkdwn": SlackMarkup.markdown(text)
    case "plain_text": SlackMessage.plain(text)
    default: nil
    }
  }

  /// A picture or a button with an address.
  private static func element(_ element: LooseJSON) -> String? {
    switch element["type"].text {
    case "image": picture(nil, element["alt_text"].text, to: element["image_url"].text)
    case "button":
      element["url"].text.map { SlackMessage.link(element["text"]["text"].text ?? $0, to: $0) }
    default: nil
    }
  }

  private static func picture(_ title: String?, _ description: String?, to address: String?) -> String? {
    guard let address else { return title }
    return SlackMessage.link(description ?? title ?? address, to: address)
  }
}

/// An element of a `rich_text` block.
private enum SlackRichText {
  static func markdown(_ element: LooseJSON) -> String? {
    switch element["type"].text {
    case "rich_text_section": inlines(element)
    case "rich_text_quote": MarkdownText.quoted(inlines(element))
    case "rich_text_preformatted":
      fenced(element["elements"].items.compactMap { $0["text"].text ?? $0["url"].text }.joined())
    case "rich_text_list": list(element)
    default: nil
    }
  }

  private static func list(_ list: LooseJSON) -> String {
    let indentation = String(repeating: "   ", count: min(max(list["indent"].int ?? 0, 0), 8))
    let first = 1 + min(max(list["offset"].int ?? 0, 0), 100_000)
    let items = list["elements"].items.map { inlines($0).replacing("\n", with: " ") }
    let isOrdered = list["style"].text == "ordered"
    return items.enumerated()
      .map { number, item in "\(indentation)\(isOrdered ? "\(first + number)." : "-") \(item)" }
      .joined(separator: "\n")
  }

  private static func fenced(_ code: String) -> String {
    var longest = 0
    var ticks = 0
    for byte in code.utf8 {
      ticks = byte == UInt8(ascii: "`") ? ticks + 1 : 0
      longest = max(longest, ticks)
    }
    let fence = String(repeating: "`", count: min(max(3, longest + 1), 32))
    return "\(fence)\n\(code)\(code.hasSuffix("\n") ? "" : "\n")\(fence)"
  }

  private static func inlines(_ section: LooseJSON) -> String {
    section["elements"].items.compactMap(inline).joined()
  }

  private static func inline(_ element: LooseJSON) -> String? {
    switch element["type"].text {
    case "text": element["text"].text.map { styled($0, element["style"]) }
    case "link": element["url"].text.map { MarkdownText.link(element["text"].text, to: $0) }
    case "emoji": element["name"].text.map { emoji(named: $0, element["unicode"].text) }
    case "user": element["user_id"].text.map { "\(MarkdownText.mention)\(MarkdownText.escaped($0))" }
    case "channel": element["channel_id"].text.map { "#\(MarkdownText.escaped($0))" }
    case "broadcast": "\(MarkdownText.mention)room"
    case "date", "color": (element["fallback"].text ?? element["value"].text).map(MarkdownText.escaped)
    default: nil
    }
  }

  /// - Parameter codes: hexadecimal scalars with hyphens, such as `1f469-200d-1f680`.
  private static func emoji(named name: String, _ codes: String?) -> String {
    let scalars = codes?.split(separator: "-").prefix(16).map { UInt32($0, radix: 16).flatMap { Unicode.Scalar($0) } }
    guard let scalars, !scalars.isEmpty, scalars.allSatisfy({ $0?.properties.generalCategory != .control && $0 != nil })
    else { return ":\(MarkdownText.escaped(name)):" }
    return MarkdownText.escaped(String(String.UnicodeScalarView(scalars.compactMap { $0 })))
  }

  /// Each line alone, since a run of emphasis has no blank line, and without the spaces at its ends.
  private static func styled(_ text: String, _ style: LooseJSON) -> String {
    var marks = ""
    if style["strike"].isTrue { marks += "~~" }
    if style["bold"].isTrue { marks += "**" }
    if style["italic"].isTrue { marks += "*" }
    let isCode = style["code"].isTrue
    guard isCode || !marks.isEmpty else { return MarkdownText.escaped(text) }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        let start = line.prefix { $0 == " " }
        let end = line.dropFirst(start.count).reversed().prefix { $0 == " " }
        let words = String(line.dropFirst(start.count).dropLast(end.count))
        guard !words.isEmpty else { return String(line) }
        let inner = isCode && !words.contains("`") ? "`\(words)`" : MarkdownText.escaped(words)
        return "\(start)\(marks)\(inner)\(String(marks.reversed()))\(String(end))"
      }
      .joined(separator: "\n")
  }
}
