import ParleyJSON
import ParleyKit
import ParleyModel

/// Saying something: it is kept before it is sent, so that it is said once, whatever happens to the network, the server or
/// this program.
extension TalkCommand {
  static let post = TalkCommand(
    name: "post", usage: "PLACE TEXT [--json]",
    meaning: "Says something; TEXT - is all of standard input. Without a network it goes with the next command.",
    operands: ["PLACE", "TEXT"], settings: [.json]
  ) { settings in
    let desk = try Desk(settings)
    let text = settings.operands[1] == "-" ? Terminal.input() : settings.operands[1]
    guard !text.isEmpty else { throw Settings.Mistake(sentence: "There is nothing to say.") }
    let parley = try desk.openCopy()
    let place = try await desk.conversation(settings.operands[0], parley)
    return try await say(Draft(text), in: place, parley, settings)
  }

  static let sendFile = TalkCommand(
    name: "send-file", usage: "PLACE FILE [--json]",
    meaning: "Sends a file as a message. Without a network it waits where it lies.",
    operands: ["PLACE", "FILE"], settings: [.json]
  ) { settings in
    let desk = try Desk(settings)
    let parley = try desk.openCopy()
    let place = try await desk.conversation(settings.operands[0], parley)
    let path = try Folder.absolute(settings.operands[1])
    let name = try Folder.source(path).name
    var draft = Draft()
    draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: path, name: name)]
    let watching = await watch(parley, name)
    defer { watching?.cancel() }
    return try await say(draft, in: place, parley, settings)
  }

  /// Draws how far a file has come, where somebody looks.
  private static func watch(_ parley: Parley, _ name: String) async -> Task<Void, Never>? {
    guard let bar = ProgressBar.onTerminal else { return nil }
    let events = await parley.outbox.events()
    return Task {
      for await event in events {
        switch event {
        case .progress(_, _, let sent, let size): bar.show(Progress(Terminal.plain(name), done: sent, of: size))
        case .didSend, .didFail, .cancelled, .signedOut, .stopped: bar.clear()
        }
      }
    }
  }

  private static func say(
    _ draft: Draft, in place: ID<Conversation>, _ parley: Parley, _ settings: Settings
  ) async throws -> Outcome {
    let operation = try await parley.outbox.send(draft, in: place)
    return try await send(operation.id, parley, settings)
  }

  /// What has become of one operation, when all that waits has been tried.
  private static func send(
    _ name: OutboxOperation.Name, _ parley: Parley, _ settings: Settings
  ) async throws -> Outcome {
    let round = try await parley.outbox.sendWaiting()
    Desk.report(round, but: name)
    if let sent = round.sent.first(where: { $0.operation.id == name }) {
      guard let message = sent.message else { return Outcome(.well, "sent \(name)") }
      guard settings.isOn(.json) else { return Outcome(.well, message.description) }
      return lines([try await parley.client.send(.message(message)).representation])
    }
    if let fault = round.failed.first(where: { $0.id == name })?.failure {
      // Whoever asked hears it now, so nothing has to wait for them.
      try await parley.outbox.cancel(name)
      throw fault
    }
    let reason = round.stopped?.sentence ?? "Something that was said before has to go first."
    if let stopped = round.stopped, stopped.isSignedOut {
      return Outcome(.wrong, "\(outcome(of: stopped).sentence) Until then it waits as \(name).")
    }
    Terminal.complain("\(reason) It goes with the next command, or by parley sync.")
    guard settings.isOn(.json) else { return Outcome(.well, "queued \(name)") }
    return lines([.object { json in json.field("queued", name) }])
  }

  // MARK: What waits

  static let outbox = TalkCommand(
    name: "outbox", usage: "[--json]", meaning: "Lists what was not sent yet, oldest first.", settings: [.json]
  ) { settings in
    guard let parley = try Desk(settings).parley else { return Outcome(.well, "") }
    let waiting = await parley.outbox.list()
    if settings.isOn(.json) { return lines(waiting.map(Self.raw)) }
    return Outcome(.well, waiting.map(line).joined(separator: "\n"))
  }

  static let outboxRetry = TalkCommand(
    name: "outbox retry", usage: "NAME [--json]",
    meaning: "Tries again what was refused, by its name or how that begins.", operands: ["NAME"], settings: [.json]
  ) { settings in
    let (parley, name) = try await waiting(settings)
    try await parley.outbox.retry(name)
    return try await send(name, parley, settings)
  }

  static let outboxCancel = TalkCommand(
    name: "outbox cancel", usage: "NAME", meaning: "Lets go of what was not sent yet, by its name or how that begins.",
    operands: ["NAME"]
  ) { settings in
    let (parley, name) = try await waiting(settings)
    try await parley.outbox.cancel(name)
    return Outcome(.well, "let go \(name)")
  }

  private static func waiting(_ settings: Settings) async throws -> (Parley, OutboxOperation.Name) {
    guard let parley = try Desk(settings).parley else { throw OutboxRefusal.unknownOperation }
    let begin = settings.operands[0]
    let found = await parley.outbox.list().map(\.id).filter { $0.hasPrefix(begin) }
    guard let name = found.first else { throw OutboxRefusal.unknownOperation }
    guard found.count == 1 else { throw Settings.Mistake(sentence: "Several begin with \(begin).") }
    return (parley, name)
  }

  private static func line(_ operation: OutboxOperation) -> String {
    var parts = [operation.id, operation.kind.rawValue, operation.conversation.description]
    parts.append(operation.failure.map { "failed: \($0.sentence)" } ?? "waits")
    if let draft = operation.draft {
      if !draft.text.isEmpty { parts.append("\u{201c}\(Terminal.plain(draft.text))\u{201d}") }
      parts += draft.files.map { Terminal.plain($0.name) }
    }
    return parts.joined(separator: "  ")
  }

  private static let whole = Setting(
    name: "whole", value: "PLACE", meaning: "every message of this conversation too, from its beginning on",
    isFlagOnly: true)

  static let sync = TalkCommand(
    name: "sync", usage: "[--whole PLACE] [--json]",
    meaning: "Sends what waits, and keeps what is new on this device, to be read and searched without a network.",
    settings: [whole, .json]
  ) { settings in
    let desk = try Desk(settings)
    let parley = try desk.openCopy()
    try await parley.sync.verifyPerson()
    let round = try await parley.outbox.sendWaiting()
    Desk.report(round)
    try await parley.sync.catchUp()
    if let text = settings.text(whole) { try await fetchWhole(try await desk.conversation(text, parley), parley) }
    let waiting = await parley.outbox.list().count
    guard waiting == 0 else { return Outcome(.wrong, "\(waiting) could not be sent. parley outbox lists what waits.") }
    let replica = await parley.cache.replica
    let (conversations, forums) = (replica.conversations.count, replica.forums.count)
    guard !settings.isOn(.json) else {
      return lines([
        .object { json in
          json.field("cursor", replica.cursor)
          json.field("conversations", conversations)
          json.field("forums", forums)
          json.field("sent", round.sent.count)
        }
      ])
    }
    return Outcome(
      .well,
      "Up to date: \(Amount.count(conversations, "conversation")), \(Amount.count(forums, "forum")).")
  }

  private static func fetchWhole(_ place: ID<Conversation>, _ parley: Parley) async throws {
    let bar = ProgressBar.onTerminal
    let total = await parley.cache.replica.conversations[place]?.conversation.lastSeq ?? 0
    try await parley.sync.fetchAll(
      [place],
      progress: { _, left in
        bar?.show(Progress("conversation \(place)", done: max(0, total - left), of: total))
      })
    bar?.clear()
  }
}
