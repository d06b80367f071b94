import ParleyJSON
import ParleyWire

/// A message as Discord's webhooks take it. Its text is nearly Markdown; embeds become quotes.
struct DiscordMessage {
  private let body: LooseJSON

  init(_ body: LooseJSON) { self.body = body }

  var markdown: String {
    // Mentions in embeds do not notify.
    let cards = body["embeds"].items.compactMap { Self.card($0).markdown }
    let mentions = DiscordMentions(body["allowed_mentions"])
    let content = body["content"].text.map { Self.markdown($0, mentions) }
    return ([content].compactMap { $0 } + cards).joined(separator: "\n\n")
  }

  private static func card(_ embed: LooseJSON) -> MessageCard {
    var card = MessageCard()
    card.author = linked(embed["author"]["name"].text.map(MarkdownText.escaped), to: embed["author"]["url"].text)
    card.title = linked(embed["title"].text.map(markdown), to: embed["url"].text)
    card.text = embed["description"].text.map(markdown)
    card.fields = embed["fields"].items.map { field in
      MessageCard.Field(title: field["name"].text.map(markdown), value: field["value"].text.map(markdown))
    }
    card.links = ["image", "thumbnail", "video"].compactMap { embed[$0]["url"].text }
      .filter(MarkdownText.isWebAddress).map { MarkdownText.link(nil, to: $0) }
    card.footer = embed["footer"]["text"].text.map(MarkdownText.escaped)
    return card
  }

  /// - Parameter label: Markdown on one line.
  private static func linked(_ label: String?, to address: String?) -> String? {
    guard let address, MarkdownText.isWebAddress(address) else { return label }
    guard let label, !label.contains("\n"), !label.contains("["), !label.contains("]") else {
      return [label, MarkdownText.link(nil, to: address)].compactMap { $0 }.joined(separator: " ")
    }
    return "[\(label)]" + MarkdownText.destination(address)
  }

  static func markdown(_ text: String) -> String { markdown(text, nil) }

  /// Discord's own marks: custom emoji, times and small print.
  ///
  /// - Parameter mentions: those that the sender means; nil for none.
  private static func markdown(_ text: String, _ mentions: DiscordMentions?) -> String {
    let bytes = Array(text.utf8)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let isLineStart = index == 0 || bytes[index - 1] == MarkdownText.newline
      if isLineStart, bytes[index...].starts(with: smallPrint) {
        index += smallPrint.count
        continue
      }
      if bytes[index] == UInt8(ascii: "<"), let (markdown, end) = mark(in: bytes, at: index) {
        output += Array(markdown.utf8)
        index = end
        continue
      }
      if bytes[index] == UInt8(ascii: "@"), mentions?.allow(bytes[(index + 1)...]) == true {
        output += Array(String(MarkdownText.mention).utf8)
      } else {
        output.append(bytes[index])
      }
      index += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static let smallPrint = Array("-# ".utf8)
  /// The longest mark: a name of 32 characters and an id.
  private static let maxMarkBytes = 64

  /// `<:name:id>`, `<a:name:id>` or `<t:seconds:style>`, and its end.
  private static func mark(in bytes: [UInt8], at start: Int) -> (markdown: String, end: Int)? {
    let window = bytes[(start + 1)...].prefix(maxMarkBytes)
    guard let end = window.firstIndex(of: UInt8(ascii: ">")) else { return nil }
    let parts = String(decoding: window[..<end], as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 2 else { return nil }
    switch parts[0] {
    case "", "a":
      guard parts.count == 3, !parts[1].isEmpty, Int(parts[2]) != nil else { return nil }
      return (":\(parts[1]):", end + 1)
    case "t":
      guard let seconds = Int(parts[1]), times.contains(seconds) else { return nil }
      let time = Timestamp.format(seconds * 1_000)
      return ("\(time.prefix(10)) \(time.dropFirst(11).prefix(5)) UTC", end + 1)
    default: return nil
    }
  }

  /// Seconds from 1970 to 9999.
  private static let times = 0...253_402_300_799
}

/// Discord's `allowed_mentions`. Names stand for ids.
private struct DiscordMentions {
  private let allowsNames: Bool
  private let allowsRoom: Bool
  private let names: Set<String>

  init(_ allowed: LooseJSON) {
    let kinds = allowed.isObject ? allowed["parse"].items.compactMap(\.text) : ["users", "roles", "everyone"]
    allowsNames = kinds.contains("users") || kinds.contains("roles")
    allowsRoom = kinds.contains("everyone")
    names = Set((allowed["users"].items + allowed["roles"].items).compactMap { $0.text?.lowercased() })
  }

  /// - Parameter text: the text after the `@`.
  func allow(_ text: ArraySlice<UInt8>) -> Bool {
    var name = text.prefix(Self.maxNameBytes).prefix { ASCII.isAlpha($0) || ASCII.isDigit($0) || Self.joins($0) }
    while let last = name.last, Self.joins(last) { name.removeLast() }
    let key = String(decoding: name, as: UTF8.self).lowercased()
    return key == "room" ? allowsRoom : allowsNames || names.contains(key)
  }

  private static func joins(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  private static let maxNameBytes = 64
}
