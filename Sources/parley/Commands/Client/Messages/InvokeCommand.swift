import ParleyKit
import ParleyModel

extension Command {
  static let invoke = Command.client(
    "invoke", alias: "run", usage: "CONVERSATION TEXT [--json]", operands: ["CONVERSATION", "TEXT"],
    summary: "use a slash command",
    description: """
      Uses a slash command in a conversation. TEXT is the command with its text, and - reads standard input:

          parley invoke garden "/weather Kyoto"

      Prints the reply of the program, if it answers within 3 seconds. Exit status 1 if the program can't be reached, or
      gives no answer.
      """,
    settings: [.json], operations: ["invokeCommand"], run: InvokeCommand.run)
}

enum InvokeCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let text = try settings.messageText(1)
    let conversation = try await session.conversation(settings.operands[0])
    let (name, rest) = parts(of: text)
    // The key makes a retry safe.
    let used = try await session.send(
      .invokeCommand(name, rest, in: conversation, clientID: Outbox.Clock.randomName()), about: conversation)
    let lines = used.replies.flatMap { reply in
      reply.text.map { Terminal.plainLines($0) } ?? [reply.message.map { "message \($0)" } ?? ""]
    }
    return ClientOutput.result(used.representation, settings, lines.joined(separator: "\n"))
  }

  /// The name without its slash, and the text after it.
  static func parts(of text: String) -> (name: String, text: String) {
    let text = text.hasPrefix("/") ? text.dropFirst() : text[...]
    let name = text.prefix { !$0.isWhitespace }
    return (String(name), String(text[name.endIndex...].drop { $0.isWhitespace }))
  }
}
