import ParleyKit
import ParleyModel

extension Command {
  static let post = Command.client(
    "post", usage: "CONVERSATION TEXT [--json]", operands: ["CONVERSATION", "TEXT"], summary: "post a message",
    description: "Posts a message. TEXT - reads standard input. Offline, the message is queued in the outbox.",
    settings: [.json], operations: ["postMessage"], run: PostCommand.run)
}

enum PostCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let text = try settings.messageText(1)
    let parley = try session.openCache()
    let conversation = try await session.conversation(settings.operands[0], parley)
    return try await OutboxCommand.post(Draft(text), in: conversation, parley, settings)
  }
}
