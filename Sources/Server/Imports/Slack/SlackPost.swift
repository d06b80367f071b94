import ParleyJSON

/// A message of a file of a day.
struct SlackPost {
  /// The id in its channel.
  let ts: String
  let time: Int64
  let author: SourceUser
  /// The `ts` of the first message of the thread.
  let thread: String?
  let raw: String
  let editedAt: Int64?
  let reactions: [SourceReaction]
  let fileCount: Int
  /// The reason, if the message is not imported.
  let isLeftOut: String?
  private let files: [String]
  private let blocks: [SlackAttachment]
  private let isAction: Bool

  /// Subtypes with the text of a user or a program. Others are notices.
  private static let written: Set<String> = [
    "", "bot_message", "thread_broadcast", "me_message", "file_share", "file_comment", "file_mention",
    "reply_broadcast",
    "slackbot_response", "reminder_add", "bot_add",
  ]
  /// The author of messages without one.
  private static let program = "USLACKBOT"

  init(_ value: JSONValue, _ file: String, _ clock: SourceClock) throws(ImportFault) {
    guard var object = value.part, let ts = object.words("ts"), SourceKey.isValid(ts) else {
      throw ImportFault("\(file) has a message without ts. Make a new export.")
    }
    self.ts = ts
    let what = "A message of \(file)"
    let time = try clock.seconds(ts, of: what)
    self.time = time
    raw = object.text("text") ?? ""
    let thread = object.words("thread_ts")
    self.thread = thread.flatMap { SourceKey.isValid($0) ? $0 : nil }
    if let thread, thread > ts, thread.utf8.count == ts.utf8.count {
      throw ImportFault("\(file) has a reply before the first message of its thread. Make a new export.")
    }
    var edited = object.part("edited")
    editedAt = try edited?.words("ts").map { text throws(ImportFault) in max(time, try clock.seconds(text, of: what)) }
    author = Self.author(&object)
    reactions = object.parts("reactions").prefix(ImportLimits.reactions).compactMap { reaction in
      var reaction = reaction
      guard let name = reaction.words("name") else { return nil }
      return SourceReaction(
        EmojiNames.action(name), by: Array(reaction.texts("users").prefix(ImportLimits.reactionUsers)))
    }
    let attached = object.parts("files").prefix(ImportLimits.attachments).map { part in
      var part = part
      return (
        name: part.words("title") ?? part.words("name") ?? "file",
        address: part.words("permalink") ?? part.words("url_private")
      )
    }
    fileCount = attached.count
    files = attached.map { file in
      "📎 " + (file.address.flatMap { Markdown.link(file.name, $0) } ?? Markdown.label(file.name))
    }
    blocks = object.parts("attachments").compactMap { SlackAttachment($0) }
    let subtype = object.text("subtype") ?? ""
    isAction = subtype == "me_message"
    if !Self.written.contains(subtype) {
      isLeftOut = subtype == "tombstone" ? "deleted messages" : "notices of joins, topics and calls"
    } else {
      isLeftOut = raw.isEmpty && files.isEmpty && blocks.isEmpty ? "messages without content" : nil
    }
  }

  private static func author(_ object: inout JSONObject) -> SourceUser {
    var profile = object.part("user_profile")
    var bot = object.part("bot_profile")
    if let id = object.key("user") {
      var user = SourceUser(id, name: profile?.words("name") ?? id)
      user.displayName = profile?.words("display_name") ?? profile?.words("real_name")
      return user
    }
    let name = object.words("username") ?? bot?.words("name") ?? "Slackbot"
    var user = SourceUser(object.key("bot_id") ?? program, name: name, displayName: name)
    user.isBot = true
    return user
  }

  func text(of users: [String: SourceUser]) -> SourceText {
    var text = SlackText(raw, users).converted
    if isAction, !text.isEmpty { text.parts = [.markdown("*")] + text.parts + [.markdown("*")] }
    for block in blocks { text.appendBlock(block.markdown(users)) }
    if !files.isEmpty { text.appendBlock(files.joined(separator: "\n")) }
    return text
  }
}

/// A card below a message, of a program or a link.
struct SlackAttachment {
  private var object: JSONObject

  init?(_ object: JSONObject) {
    self.object = object
    // Previews of links repeat the page.
    if self.object.words("from_url") != nil || self.object.words("original_url") != nil { return nil }
  }

  func markdown(_ users: [String: SourceUser]) -> String {
    var object = object
    func text(_ raw: String) -> String {
      SlackText(raw, users).converted.parts.map { part in
        switch part {
        case .markdown(let markdown): markdown
        case .mention(_, let name): "@\(name)"
        }
      }.joined()
    }
    var lines: [String] = []
    if let pretext = object.words("pretext") { lines.append(text(pretext)) }
    if let title = object.words("title") {
      lines.append("**\(object.words("title_link").flatMap { Markdown.link(title, $0) } ?? Markdown.label(title))**")
    }
    if let body = object.words("text") { lines.append(text(body)) }
    for var field in object.parts("fields") {
      lines.append("**\(Markdown.label(field.text("title") ?? ""))** \(text(field.text("value") ?? ""))")
    }
    if lines.isEmpty, let fallback = object.words("fallback") { lines.append(text(fallback)) }
    return lines.isEmpty ? "" : Markdown.quote(lines.joined(separator: "\n"))
  }
}
