import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let edit = Command.client(
    "edit", usage: "MESSAGE TEXT [--json]", operands: ["MESSAGE", "TEXT"], summary: "replace the text of your message",
    description: """
      Replaces the text of your message with the number MESSAGE. TEXT - reads standard input. The earlier text stays in the
      list of revisions.
      """,
    settings: [.json], operations: ["editMessage"], run: EditCommand.run)
}

enum EditCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let message = try settings.messageID(settings.operands[0])
    let text = try settings.messageText(1)
    await session.sendOutbox()
    let edited = try await session.send(.editMessage(message, text: text), about: message)
    return ClientOutput.result(edited.representation, settings, "")
  }
}
