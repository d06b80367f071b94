import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let read = Command.client(
    "read", usage: "CONVERSATION [--limit N] [--json]", operands: ["CONVERSATION"],
    summary: "print the newest messages of a conversation",
    description:
      "Prints the newest messages of a conversation. CONVERSATION is an id, or the title of a forum or conversation.",
    settings: [.limit, .json], run: ReadCommand.run)
}

enum ReadCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    await session.sendOutbox()
    do {
      let conversation = try await session.conversation(settings.operands[0])
      let page = try await session.client.send(.listMessages(in: conversation, limit: try settings.limit()))
      let messages = Array(page.elements.reversed())
      if settings.isOn(.json) { return ClientOutput.lines(messages.map(\.representation)) }
      return try await ClientOutput.print(messages.map(\.message), session)
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try session.parley,
        let conversation = await session.cachedConversation(settings.operands[0], parley)
      else { throw fault }
      // Includes unsent messages of the outbox.
      let shown = try await parley.cache.newest(try settings.limit(), in: conversation)
      guard !shown.isEmpty else { throw fault }
      return await ClientOutput.printCached(shown, fault, parley, settings)
    }
  }
}
