import ParleyKit
import ParleyModel

extension Command {
  static let reply = Command.client(
    "reply", usage: "MESSAGE TEXT [--json]", operands: ["MESSAGE", "TEXT"], summary: "reply to a message",
    description: """
      Posts a reply to the message with the number MESSAGE, and prints the number of the reply. TEXT - reads standard
      input. Offline, the reply is queued if the message is in the local cache.
      """,
    settings: [.json], operations: ["postMessage", "getMessage"], run: ReplyCommand.run)
}

enum ReplyCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let replied = try settings.messageID(settings.operands[0])
    let text = try settings.messageText(1)
    let parley = try session.openCache()
    let conversation = try await session.conversation(of: replied)
    return try await OutboxCommand.post(Draft(text, replyTo: .message(replied)), in: conversation, parley, settings)
  }
}
