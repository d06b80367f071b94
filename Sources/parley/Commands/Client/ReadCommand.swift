import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let read = Command.client(
    "read", usage: "CONVERSATION [--before N | --after N | --around N] [--limit N] [--json]",
    operands: ["CONVERSATION"], summary: "print messages of a conversation",
    description: """
      Prints the newest messages of a conversation, or those near a message, the oldest first: number, local time, author
      and text. The lines of a longer text are indented. CONVERSATION is an id, the title of a forum or conversation, or
      @NAME for the direct conversation with a user. parley reply, react, edit and delete take the numbers.
      """,
    settings: [ReadCommand.before, ReadCommand.after, ReadCommand.around, .limit, .json], operations: ["listMessages"],
    run: ReadCommand.run)
}

enum ReadCommand {
  fileprivate static let before = Setting(
    name: "before", value: "N", summary: "messages before this number", isFlagOnly: true)
  fileprivate static let after = Setting(
    name: "after", value: "N", summary: "messages after this number", isFlagOnly: true)
  fileprivate static let around = Setting(
    name: "around", value: "N", summary: "messages around this number", isFlagOnly: true)

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let bounds = (
      before: try settings.messageID(before), after: try settings.messageID(after),
      around: try settings.messageID(around)
    )
    guard [bounds.before, bounds.after, bounds.around].compactMap(\.self).count < 2 else {
      throw Settings.UsageError(message: "--before, --after and --around exclude each other.")
    }
    await session.sendOutbox()
    do {
      let conversation = try await session.conversation(settings.operands[0])
      let request = Request<Page<Resource<MessageView>>>.listMessages(
        in: conversation, before: bounds.before, after: bounds.after, around: bounds.around,
        limit: try settings.limit())
      let page = try await session.send(settings.isOn(.json) ? request : request.includingNames(), about: conversation)
      let messages = Array(page.elements.reversed())
      if settings.isOn(.json) { return ClientOutput.lines(messages.map(\.representation)) }
      return ClientOutput.print(messages.map(\.message), try IncludedNames(page.representation))
    } catch let fault as ClientFault where fault.isTemporary {
      guard [bounds.before, bounds.after, bounds.around].allSatisfy({ $0 == nil }), let parley = try session.parley,
        let conversation = await session.cachedConversation(settings.operands[0], parley)
      else { throw fault }
      // Includes unsent messages of the outbox.
      let shown = try await parley.cache.newest(try settings.limit(), in: conversation)
      guard !shown.isEmpty else { throw fault }
      return await ClientOutput.printCached(shown, fault, parley, settings)
    }
  }
}
