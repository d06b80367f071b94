import ParleyKit
import ParleyModel

extension Command {
  static let directMessage = Command.client(
    "dm", usage: "USER TEXT [--json]", operands: ["USER", "TEXT"], summary: "post a direct message to a user",
    description: """
      Posts a message to your direct conversation with a user, and creates it if there is none. Prints the number of the
      message. USER is a name, with or without @. TEXT - reads standard input.
      """,
    settings: [.json], operations: ["createConversation", "postMessage"], run: DirectMessageCommand.run)
}

enum DirectMessageCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let name = settings.operands[0].hasPrefix("@") ? String(settings.operands[0].dropFirst()) : settings.operands[0]
    guard let name = UserName(name)?.text else {
      throw Settings.UsageError(message: "\"\(settings.operands[0])\" is not the name of a user.")
    }
    let text = try settings.messageText(1)
    let conversation: ID<Conversation>
    do throws(ClientFault) {
      conversation = try await session.client.send(
        Request<Resource<OwnConversation>>.createConversation(.direct, with: [.name(name)], isDistinct: true)
      ).conversation.id
    } catch {
      guard
        error.problem?.errors.contains(where: { $0.field.hasPrefix("participants") }) == true
          || error.problem?.code == "not_found"
      else { throw error }
      throw CommandRefusal(
        message: "There is no user \(name) to write to. parley api GET '/users?query=\(name)' searches users.")
    }
    return try await OutboxCommand.post(Draft(text), in: conversation, try session.openCache(), settings)
  }
}
