import ParleyKit
import ParleyModel

extension Command {
  static let press = Command.client(
    "press", usage: "MESSAGE BUTTON [--json]", operands: ["MESSAGE", "BUTTON"],
    summary: "press a button under the message of a bot",
    description: """
      Presses a button of the message with the number MESSAGE. BUTTON is the label of the button or its id. The bot learns of
      it and may change the message.
      """,
    settings: [.json], operations: ["pressButton"], run: PressCommand.run)
}

enum PressCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let message = try settings.messageID(settings.operands[0])
    let buttons = try await session.send(.getMessage(message), about: message).message.content?.buttons ?? []
    guard let button = button(settings.operands[1], among: buttons) else {
      let names = buttons.map { "\"\(Terminal.plain($0.label))\"" }.joined(separator: ", ")
      let has = names.isEmpty ? "no buttons" : "the buttons \(names)"
      throw Settings.UsageError(message: "The message \(message) has \(has).")
    }
    let press = try await session.send(.pressButton(button.id, of: message), about: message)
    return ClientOutput.result(press.representation, settings, "")
  }

  /// An id wins over a label.
  static func button(_ text: String, among buttons: [MessageButton]) -> MessageButton? {
    buttons.first { $0.id == text } ?? buttons.first { $0.label == text }
      ?? buttons.first { $0.label.lowercased() == text.lowercased() }
  }
}
