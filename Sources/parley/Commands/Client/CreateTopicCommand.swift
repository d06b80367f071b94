import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let createTopic = Command.client(
    "create-topic", alias: "new-topic", usage: "FORUM TITLE TEXT [--json]", operands: ["FORUM", "TITLE", "TEXT"],
    summary: "start a topic in a forum",
    description: """
      Starts a topic with a first message, and prints its id, for parley read and parley post. TEXT - reads standard input.
      FORUM is the title of a forum or its id.
      """,
    settings: [.json], operations: ["createTopic"], run: CreateTopicCommand.run)
}

enum CreateTopicCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let text = try settings.messageText(2)
    await session.sendOutbox()
    let forum = try await session.forum(settings.operands[0])
    // The key makes a retry safe.
    let topic = try await session.client.send(
      .createTopic(in: forum, title: settings.operands[1], text: text, clientID: Outbox.Clock.randomName()))
    return ClientOutput.result(topic.representation, settings, topic.id.description)
  }
}
