import ParleyJSON

/// The channel of a file of DiscordChatExporter.
struct DiscordChannel {
  enum Kind {
    case channel, thread, `private`
  }

  let id: String
  let kind: Kind
  let name: String
  let topic: String?
  /// The category of a channel, the channel of a thread.
  let category: String?
  let categoryID: String?

  /// Nil for the JSON of another program.
  init?(_ value: JSONValue) {
    guard var object = value.part, let id = object.key("id"), let name = object.text("name") else { return nil }
    self.id = id
    self.name = name
    topic = object.words("topic")
    category = object.words("category")
    categoryID = object.key("categoryId")
    // Older versions write the number of the type.
    switch object.text("type") ?? object.number("type").map(String.init) ?? "" {
    case "GuildPublicThread", "GuildNewsThread", "PublicThread", "10", "11": kind = .thread
    // A private thread is not for all readers of its channel.
    case "DirectTextChat", "DirectGroupTextChat", "GuildPrivateThread", "PrivateThread", "1", "3", "12":
      kind = .private
    default: kind = .channel
    }
  }

  /// The id of the channel of a thread.
  func parent(of thread: String) -> String { categoryID ?? "parent-\(thread)" }
}

/// A message of DiscordChatExporter.
struct DiscordPost {
  let id: String
  let time: Int64
  let author: SourceUser
  /// Users of mentions and reactions.
  let others: [SourceUser]
  let roles: [SourceGroup]
  let emoji: [SourceEmoji]
  let files: [SourceAttachment]
  let reactions: [SourceReaction]
  let editedAt: Int64?
  let isPinned: Bool
  let replyTo: String?
  /// The reason, if the message is not imported.
  let isLeftOut: String?
  private let content: String
  private let mentions: [(key: String, names: [String])]
  private let blocks: [String]

  init(_ value: JSONValue, _ file: String, _ clock: SourceClock) throws(ImportFault) {
    guard var object = value.part, let id = object.key("id"), var sender = object.part("author"),
      let author = Self.user(&sender)
    else { throw ImportFault("\(file) has a message without an id or an author. Export it again.") }
    self.id = id
    self.author = author.user
    roles = author.roles
    let what = "A message of \(file)"
    let time = try clock.time(object.text("timestamp"), of: what)
    self.time = time
    editedAt = try object.words("timestampEdited").map { text throws(ImportFault) in
      max(time, try clock.time(text, of: what))
    }
    isPinned = object.flag("isPinned")
    content = object.text("content") ?? ""
    var reference = object.part("reference")
    replyTo = reference?.key("messageId")
    // Ids grow with time.
    if let parent = replyTo.flatMap({ Int($0) }), let own = Int(id), parent >= own {
      throw ImportFault("\(file) has a reply to a later message, which would be a reply cycle. Export it again.")
    }
    let type = object.text("type") ?? ""

    var others: [SourceUser] = []
    var mentions: [(key: String, names: [String])] = []
    for var mentioned in object.parts("mentions") {
      guard let (user, _) = Self.user(&mentioned) else { continue }
      mentions.append((user.key, [user.displayName, user.name].compactMap(\.self)))
      others.append(user)
    }
    var emoji: [SourceEmoji] = []
    for var inline in object.parts("inlineEmojis") { if let found = Self.emoji(&inline) { emoji.append(found) } }
    var reactions: [SourceReaction] = []
    for var reaction in object.parts("reactions").prefix(ImportLimits.reactions) {
      guard var picture = reaction.part("emoji") else { continue }
      if let found = Self.emoji(&picture) { emoji.append(found) }
      let users = reaction.parts("users").prefix(ImportLimits.reactionUsers)
        .compactMap { user in
          var user = user
          return Self.user(&user)?.user
        }
      others += users
      if let action = Self.action(&picture) { reactions.append(SourceReaction(action, by: users.map(\.key))) }
    }
    self.others = others
    self.mentions = mentions
    self.emoji = emoji
    self.reactions = reactions
    files = object.parts("attachments").prefix(ImportLimits.attachments).compactMap { Self.file($0) }
    blocks =
      object.parts("embeds").compactMap { Self.embed($0) } + object.parts("stickers").compactMap { Self.sticker($0) }
    switch type {
    case "Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23", "":
      isLeftOut = content.isEmpty && files.isEmpty && blocks.isEmpty ? "messages without content" : nil
    default: isLeftOut = "notices of joins, pins, calls and threads"
    }
  }

  // MARK: Parts

  private static func user(_ object: inout JSONObject) -> (user: SourceUser, roles: [SourceGroup])? {
    guard let id = object.key("id"), let name = object.words("name") else { return nil }
    var user = SourceUser(id, name: name)
    user.displayName = object.words("nickname")
    user.isBot = object.flag("isBot")
    user.avatar = object.words("avatarUrl").map { content($0) }
    let roles = object.parts("roles").compactMap { role -> SourceGroup? in
      var role = role
      guard let id = role.key("id"), let name = role.words("name") else { return nil }
      return SourceGroup(id, name: name, hue: role.text("color").flatMap { Hue.of(hex: $0) })
    }
    return (user, roles)
  }

  private static func content(_ address: String) -> SourceContent {
    address.contains("://") ? .missing(address) : .file(address)
  }

  /// A custom emoji: those of Unicode have no id.
  private static func emoji(_ object: inout JSONObject) -> SourceEmoji? {
    guard let id = object.key("id"), let name = object.words("name"), let address = object.words("imageUrl") else {
      return nil
    }
    return SourceEmoji(id, name: EmojiNames.custom(name), picture: content(address))
  }

  private static func action(_ object: inout JSONObject) -> String? {
    guard let name = object.words("name") else { return nil }
    guard object.key("id") != nil else { return "reaction:\(name)" }
    return "reaction::\(EmojiNames.custom(name)):"
  }

  private static func file(_ object: JSONObject) -> SourceAttachment? {
    var object = object
    guard let id = object.key("id"), let address = object.words("url") else { return nil }
    return SourceAttachment(id, name: object.words("fileName") ?? "file", content(address))
  }

  private static func sticker(_ object: JSONObject) -> String? {
    var object = object
    return object.words("name").map { "*\(Markdown.label($0))*" }
  }

  /// An embed as a quotation.
  private static func embed(_ object: JSONObject) -> String? {
    var object = object
    var lines: [String] = []
    var author = object.part("author")
    if let name = author?.words("name") { lines.append(Markdown.label(name)) }
    let address = object.words("url")
    if let title = object.words("title") {
      lines.append("**\(address.flatMap { Markdown.link(title, $0) } ?? Markdown.label(title))**")
    } else if let address, Markdown.isAddress(address) {
      lines.append(address)
    }
    if let description = object.words("description") { lines.append(description) }
    for var field in object.parts("fields") {
      lines.append("**\(Markdown.label(field.text("name") ?? ""))** \(field.text("value") ?? "")")
    }
    var footer = object.part("footer")
    if let text = footer?.words("text") { lines.append("*\(Markdown.label(text))*") }
    // A preview of a link that stands in the message itself.
    guard !lines.isEmpty, lines != [address ?? ""] else { return nil }
    return Markdown.quote(lines.joined(separator: "\n"))
  }

  // MARK: Text

  /// The Markdown of Discord is that of Parley besides mentions, emoji, times and spoilers.
  func text(of users: [String: SourceUser]) -> SourceText {
    var text = SourceText()
    var plain = ""
    var rest = content[...]
    let names = mentions.flatMap { mention in mention.names.map { (key: mention.key, name: "@" + $0) } }
      .sorted { $0.name.utf8.count > $1.name.utf8.count }
    while let character = rest.first {
      if character == "<", let (part, end) = token(rest) {
        switch part {
        case .markdown(let markdown): plain += markdown
        case .mention:
          text.append(plain)
          plain = ""
          text.parts.append(part)
        }
        rest = rest[end...]
      } else if character == "@", let named = names.first(where: { rest.hasPrefix($0.name) }) {
        text.append(plain)
        plain = ""
        text.parts.append(.mention(user: named.key, name: String(named.name.dropFirst())))
        rest = rest.dropFirst(named.name.count)
      } else {
        plain.append(character)
        rest = rest.dropFirst()
      }
    }
    text.append(plain)
    for block in blocks { text.appendBlock(block) }
    return text
  }

  /// `<@1>`, `<@!1>`, `<@&1>`, `<#1>`, `<:name:1>`, `<a:name:1>`, `<t:1:R>`.
  private func token(_ text: Substring) -> (SourceText.Part, end: String.Index)? {
    guard let close = text.prefix(120).firstIndex(of: ">") else { return nil }
    let inner = text[text.index(after: text.startIndex)..<close]
    let end = text.index(after: close)
    func digits(_ text: Substring) -> String? {
      !text.isEmpty && text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? String(text) : nil
    }
    if inner.hasPrefix("@&") { return digits(inner.dropFirst(2)).map { (.markdown("@\($0)"), end) } }
    if inner.hasPrefix("@") {
      let id = digits(inner.dropFirst().first == "!" ? inner.dropFirst(2) : inner.dropFirst())
      guard let id else { return nil }
      let name = mentions.first { $0.key == id }?.names.first ?? id
      return (.mention(user: id, name: name), end)
    }
    if inner.hasPrefix("#") { return digits(inner.dropFirst()).map { (.markdown("\\#\($0)"), end) } }
    let parts = inner.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 3, parts[0].isEmpty || parts[0] == "a", digits(parts[2]) != nil {
      return (.markdown(":\(EmojiNames.custom(String(parts[1]))):"), end)
    }
    if parts.count >= 2, parts[0] == "t", let seconds = Int(parts[1]), (0...253_402_300_799).contains(seconds) {
      return (.markdown(Timestamp.format(seconds * 1_000).prefix(16).replacing("T", with: " ") + " UTC"), end)
    }
    return nil
  }
}

enum Hue {
  /// The hue of `#rrggbb` in degrees; nil for grey and black, which stand for no colour.
  static func of(hex: String) -> Int? {
    let digits = hex.drop { $0 == "#" }
    guard digits.utf8.count == 6, let value = Int(digits, radix: 16) else { return nil }
    let (red, green, blue) = (value >> 16, value >> 8 & 255, value & 255)
    let (high, low) = (max(red, green, blue), min(red, green, blue))
    guard high > low else { return nil }
    let range = high - low
    let hue =
      high == red
      ? 60 * (green - blue) / range : high == green ? 120 + 60 * (blue - red) / range : 240 + 60 * (red - green) / range
    return (hue + 360) % 360
  }
}
