import JSON
import Model
import ParleyKit

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
    let page = try await desk.client.send(.forums(limit: min(100, try number(settings))))
    if settings.isOn(.json) { return lines(page.elements.map(\.representation)) }
    return Outcome(
      .well, page.elements.map { "\($0.forum.room)  \(Terminal.plain($0.forum.title))" }.joined(separator: "\n"))
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
      let lookup = MessageLookup.stretch(1...Int.max, of: place, .descending, limit: try number(settings))
      let messages = try await parley.cache.messages(lookup).map(\.message)
      guard !messages.isEmpty else { throw fault }
      return await kept(messages.reversed(), fault, parley, settings)
    }
  }

  static let search = TalkCommand(
    name: "search", usage: "WORDS [--limit N] [--json]",
    meaning: "Looks for messages: words, \"phrases\", -not, begin*.", operands: ["WORDS"], settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    await desk.sendWaiting()
    let words = settings.operands[0]
    do {
      let page = try await desk.client.send(.search(q: words, limit: try number(settings)))
      if settings.isOn(.json) { return lines(page.elements.map(\.representation)) }
      let found = page.elements.map(\.message.message)
      return found.isEmpty ? Outcome(.wrong, "Nothing was found.") : try await show(found, at: desk)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try desk.parley else { throw fault }
      let found = try await parley.cache.search(words, limit: try number(settings)).messages.compactMap(\.message)
      guard !found.isEmpty else { throw fault }
      return await kept(found, fault, parley, settings)
    }
  }

  // MARK: Showing

  /// What this device has, and why it is no more.
  private static func kept(
    _ messages: [Message], _ fault: ClientFault, _ parley: Parley, _ settings: Settings
  ) async -> Outcome {
    Terminal.complain("\(fault.sentence) This is what is kept here.")
    if settings.isOn(.json) { return lines(messages.map(Self.raw)) }
    var names: [ID<Account>: String] = [:]
    for author in Set(messages.map(\.author)) { names[author] = await parley.cache.person(author)?.account.name }
    return show(messages, names)
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
    show(messages, try await desk.names(of: Set(messages.map(\.author))))
  }

  /// Each on a line. An outcome would take what sets names off for something that others wrote.
  private static func show(_ messages: [Message], _ names: [ID<Account>: String]) -> Outcome {
    for message in messages {
      let name = Terminal.bold(Terminal.plain(names[message.author] ?? "-"))
      let text = message.content.map { Terminal.plain($0.text) } ?? "(deleted)"
      Terminal.print("\(Timestamp.format(Int(message.createdAt)))  \(name)  \(text)\n")
    }
    return Outcome(.well, "")
  }
}
