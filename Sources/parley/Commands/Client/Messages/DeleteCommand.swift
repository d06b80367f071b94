import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let delete = Command.client(
    "delete", usage: "MESSAGE [--yes] [--json]", operands: ["MESSAGE"], summary: "delete your message",
    description: """
      Deletes your message with the number MESSAGE. It can't be undone. A terminal asks for a confirmation; without one,
      --yes is required.
      """,
    settings: [DeleteCommand.yes, .json], operations: ["deleteMessage"], run: DeleteCommand.run)
}

enum DeleteCommand {
  fileprivate static let yes = Setting(
    name: "yes", value: nil, summary: "delete without a confirmation", isFlagOnly: true, letter: "y")

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let message = try settings.messageID(settings.operands[0])
    if !settings.isOn(yes) {
      guard Terminal.isInputTerminal else {
        throw Settings.UsageError(message: "parley delete needs --yes, because standard input is not a terminal.")
      }
      let text = try await session.send(.getMessage(message), about: message).message.content?.text ?? ""
      guard Terminal.confirms("Delete \u{201c}\(Terminal.plain(String(text.prefix(60))))\u{201d}?") else {
        return Outcome(.failure, "Nothing was deleted.")
      }
    }
    await session.sendOutbox()
    let deleted = try await session.send(.deleteMessage(message), about: message)
    return ClientOutput.result(deleted.representation, settings, "")
  }
}
