import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let react = Command.client(
    "react", usage: "MESSAGE ACTION [--remove] [--json]", operands: ["MESSAGE", "ACTION"],
    summary: "add a reaction, like, star, repost or pin to a message",
    description: """
      Adds a reaction to the message with the number MESSAGE. ACTION is an emoji, the :name: of an emoji of the site, or
      like, star, repost or pin.
      """,
    settings: [ReactCommand.remove, .json], operations: ["setAction", "removeAction"], run: ReactCommand.run)
}

enum ReactCommand {
  fileprivate static let remove = Setting(
    name: "remove", value: nil, summary: "remove your reaction", isFlagOnly: true)

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let message = try settings.messageID(settings.operands[0])
    let text = settings.operands[1]
    guard let type = ActionType(text) ?? ActionType("reaction:" + text) else {
      throw Settings.UsageError(
        message: "\"\(text)\" is not an action. Use an emoji, :name:, like, star, repost or pin.")
    }
    await session.sendOutbox()
    guard settings.isOn(remove) else {
      let changed = try await session.send(.setAction(on: message, type: type), about: message)
      return ClientOutput.result(changed.representation, settings, "")
    }
    try await session.send(.removeAction(on: message, type: type), about: message)
    guard settings.isOn(.json) else { return Outcome(.success, "") }
    return ClientOutput.lines([try await session.send(.getMessage(message), about: message).representation])
  }
}
