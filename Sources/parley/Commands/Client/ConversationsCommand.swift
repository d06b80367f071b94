import ParleyJSON
import ParleyKit

extension Command {
  static let listConversations = Command.client(
    "conversations", usage: "[--limit N] [--json]", summary: "list your conversations",
    description: "Lists your conversations with their unread counts, the last active first.",
    settings: [.limit, .json], operations: ["listConversations"], run: ConversationsCommand.run)
}

enum ConversationsCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    await session.sendOutbox()
    let parley = try session.openCache()
    let list = parley.conversations()
    let shown: [ShownConversation]
    do {
      try await parley.sync.verifyUser()
      shown = try await list.fresh()
    } catch let fault as ClientFault where fault.isTemporary {
      guard await parley.cache.replica.cursor != nil else { throw fault }
      ClientOutput.logCached(fault)
      shown = try await parley.cache.ownConversations()
    }
    let first = shown.prefix(try settings.limit())
    if settings.isOn(.json) {
      return ClientOutput.lines(
        first.map { item in
          .object { json in
            json.field("conversation", item.conversation)
            json.field("title", item.title)
            json.field("unread_count", item.unread)
          }
        })
    }
    return Outcome(
      .success,
      first.map { item in
        let unread = item.unread.map { $0 == 0 ? "" : "  \($0) unread" } ?? ""
        return "\(item.conversation.id)  \(Terminal.plain(item.title))\(unread)"
      }.joined(separator: "\n"))
  }
}
