import ParleyJSON
import ParleyKit
import ParleyModel

/// Looking around. Without an answer, what is kept on this device is shown.
extension TalkCommand {
  private static let limit = Setting(
    name: "limit", value: "N", meaning: "how many, at most 200", fallback: "20", isFlagOnly: true)

  private static func number(_ settings: Settings) throws(Settings.Mistake) -> Int {
    try settings.number(limit, in: 1...200) ?? 20
  }

  static let forums = TalkCommand(
    name: "forums", usage: "[--limit N] [--json]", meaning: "Lists the forums, the liveliest first.",
    settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    await desk.sendWaiting()
    func list(_ forums: [Forum]) -> Outcome {
      Outcome(.well, forums.map { "\($0.room)  \(Terminal.plain($0.title))" }.joined(separator: "\n"))
    }
    do {
      let page = try await desk.client.send(.forums(limit: min(100, try number(settings))))
      return settings.isOn(.json) ? lines(page.elements.map(\.representation)) : list(page.elements.map(\.forum))
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try desk.parley else { throw fault }
      let forums = await parley.cache.replica.forums.values.map(\.forum).sorted { $0.activity > $1.activity }
        .prefix(try number(settings))
      guard !forums.isEmpty else { throw fault }
      complainOfAge(fault)
      return settings.isOn(.json) ? lines(forums.map(raw)) : list(Array(forums))
    }
  }

  static let conversations = TalkCommand(
    name: "conversations", usage: "[--limit N] [--json]",
    meaning: "Lists one's own conversations, the last active first, with how many messages wait to be read.",
    settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    await desk.sendWaiting()
    let parley = try desk.openCopy()
    let list = parley.conversations()
    let shown: [ShownConversation]
    do {
      try await parley.sync.verifyPerson()
      shown = try await list.fresh()
    } catch let fault as ClientFault where fault.isTemporary {
      guard await parley.cache.replica.cursor != nil else { throw fault }
      complainOfAge(fault)
      shown = try await parley.cache.ownConversations()
    }
    let first = shown.prefix(try number(settings))
    if settings.isOn(.json) {
      return lines(
        first.map { one in
          .object { json in
            json.field("conversation", one.conversation)
            json.field("title", one.title)
            json.field("unread_count", one.unread)
          }
        })
    }
    return Outcome(
      .well,
      first.map { one in
        let unread = one.unread.map { $0 == 0 ? "" : "  \($0) unread" } ?? ""
        return "\(one.conversation.id)  \(Terminal.plain(one.title))\(unread)"
      }.joined(separator: "\n"))
  }

  static let read = TalkCommand(
    name: "read", usage: "PLACE [--limit N] [--json]",
    meaning: "Shows the newest messages of a conversation, by its number, or of a forum's room, by its title.",
    operands: ["PLACE"], settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    await desk.sendWaiting()
    do {
      let place = try await desk.conversation(settings.operands[0])
      let page = try await desk.client.send(.messages(in: place, limit: try number(settings)))
      let messages = Array(page.elements.reversed())
      if settings.isOn(.json) { return lines(messages.map(\.representation)) }
      return try await show(messages.map(\.message), at: desk)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try desk.parley, let place = await desk.held(settings.operands[0], parley) else { throw fault }
      // With what waits to be sent.
      let shown = try await parley.cache.newest(try number(settings), in: place)
      guard !shown.isEmpty else { throw fault }
      return await kept(shown, fault, parley, settings)
    }
  }

  static let search = TalkCommand(
    name: "search", usage: "WORDS [--limit N] [--json]",
    meaning: "Looks for messages: words, \"phrases\", -not, begin*.", operands: ["WORDS"], settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    await desk.sendWaiting()
    let words = settings.operands[0]
    do throws(SearchQuery.Fault) { _ = try SearchQuery(words) } catch {
      throw Settings.Mistake(sentence: sentence(error, words))
    }
    do {
      let page = try await desk.client.send(.search(q: words, limit: try number(settings)))
      if settings.isOn(.json) { return lines(page.elements.map(\.representation)) }
      let found = page.elements.map(\.message.message)
      return found.isEmpty ? Outcome(.wrong, "Nothing was found.") : try await show(found, at: desk)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try desk.parley else { throw fault }
      let found = try await parley.cache.search(words, limit: try number(settings)).messages
      guard !found.isEmpty else { throw fault }
      return await kept(found, fault, parley, settings)
    }
  }

  private static func sentence(_ fault: SearchQuery.Fault, _ words: String) -> String {
    switch fault {
    case .empty: "\"\(words)\" has no word to look for."
    case .onlyExclusions: "\"\(words)\" says only what should not be found."
    case .tooLong(let limit): "That is too much to look for: at most \(limit) bytes."
    case .tooManyTerms(let limit): "That is too much to look for: at most \(limit) words."
    case .tooManyBeginnings(let limit): "At most \(limit) words may be the beginnings of others."
    }
  }

  // MARK: Showing

  /// What this device has, and why it is no more.
  private static func kept(
    _ messages: [ShownMessage], _ fault: ClientFault, _ parley: Parley, _ settings: Settings
  ) async -> Outcome {
    complainOfAge(fault)
    if settings.isOn(.json) {
      return lines(messages.flatMap { shown in shown.message.map { [raw($0)] } ?? shown.waiting.prefix(1).map(raw) })
    }
    for shown in messages {
      let name = shown.author == nil ? nil : await parley.cache.person(shown.author ?? ID(0))?.account.name
      let files = (shown.message?.content?.attachments.count ?? 0) + shown.pendingFiles.count
      show(at: shown.displayDate, name, shown.isDeleted ? nil : shown.text, files, shown.isUnsent)
    }
    return Outcome(.well, "")
  }

  static func complainOfAge(_ fault: ClientFault) {
    Terminal.complain("\(fault.sentence) This is what is kept here.")
  }

  static func raw(_ value: some JSONWritable) -> JSONRaw {
    var json = JSONWriter()
    json.value(value)
    return JSONRaw(trusted: json.bytes)
  }

  static func lines(_ values: [JSONRaw]) -> Outcome {
    Outcome(.well, values.map { String(decoding: $0.compact.bytes, as: UTF8.self) }.joined(separator: "\n"))
  }

  private static func show(_ messages: [Message], at desk: Desk) async throws -> Outcome {
    let names = try await desk.names(of: Set(messages.map(\.author)))
    for message in messages {
      show(
        at: message.createdAt, names[message.author], message.content?.text,
        message.content?.attachments.count ?? 0)
    }
    return Outcome(.well, "")
  }

  /// Each on a line. An outcome would take what sets names off for something that others wrote.
  private static func show(
    at time: Int64, _ author: String?, _ text: String?, _ files: Int, _ isWaiting: Bool = false
  ) {
    var parts = [Timestamp.format(Int(time)), Terminal.bold(Terminal.plain(author ?? "-"))]
    parts.append(text.map(Terminal.plain) ?? "(deleted)")
    if files > 0 { parts.append(files == 1 ? "(a file)" : "(\(files) files)") }
    if isWaiting { parts.append("(waits)") }
    Terminal.print(parts.filter { !$0.isEmpty }.joined(separator: "  ") + "\n")
  }
}
