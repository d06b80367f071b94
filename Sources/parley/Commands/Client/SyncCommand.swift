import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let sync = Command.client(
    "sync", usage: "[--whole CONVERSATION] [--json]", summary: "send the outbox and update the local cache",
    description: "Sends the outbox and fetches new events, so that reading and search work offline.",
    settings: [SyncCommand.whole, .json], operations: ["sync"], run: SyncCommand.run)
}

enum SyncCommand {
  fileprivate static let whole = Setting(
    name: "whole", value: "CONVERSATION", summary: "also fetch the whole history of this conversation",
    isFlagOnly: true)

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let parley = try session.openCache()
    try await parley.sync.verifyUser()
    let round = try await parley.outbox.sendWaiting()
    CLISession.log(round)
    try await parley.sync.catchUp()
    if let text = settings.text(whole) { try await fetchAll(try await session.conversation(text, parley), parley) }
    let unsent = await parley.outbox.list().count
    guard unsent == 0 else { return Outcome(.failure, "\(unsent) could not be sent. parley outbox lists them.") }
    let replica = await parley.cache.replica
    let (conversations, forums) = (replica.conversations.count, replica.forums.count)
    guard !settings.isOn(.json) else {
      return ClientOutput.lines([
        .object { json in
          json.field("cursor", replica.cursor)
          json.field("conversations", conversations)
          json.field("forums", forums)
          json.field("sent", round.sent.count)
        }
      ])
    }
    return Outcome(
      .success,
      "Up to date: \(Amount.count(conversations, "conversation")), \(Amount.count(forums, "forum")).")
  }

  private static func fetchAll(_ conversation: ID<Conversation>, _ parley: Parley) async throws {
    let bar = ProgressBar.onTerminal
    let total = await parley.cache.replica.conversations[conversation]?.conversation.lastSeq ?? 0
    try await parley.sync.fetchAll(
      [conversation],
      progress: { _, left in
        bar?.show(Progress("conversation \(conversation)", done: max(0, total - left), of: total))
      })
    bar?.clear()
  }
}
