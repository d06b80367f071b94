import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let listTopics = Command.client(
    "topics", usage: "FORUM [--filter FILTER] [--query TEXT] [--limit N] [--json]", operands: ["FORUM"],
    summary: "list the topics of a forum",
    description: """
      Lists the topics of a forum, pinned ones first, then the most active: id, local time of the last activity, number of
      messages and title. parley read takes the id. FORUM is the title of a forum or its id.
      """,
    settings: [TopicsCommand.filter, TopicsCommand.query, .limit, .json], operations: ["listTopics"],
    run: TopicsCommand.run)
}

enum TopicsCommand {
  fileprivate static let filter = Setting(
    name: "filter", value: "FILTER", summary: "new, unread, mine, solved or unsolved", isFlagOnly: true)
  fileprivate static let query = Setting(
    name: "query", value: "TEXT", summary: "only topics with this text in the title", isFlagOnly: true)
  private static let filters = ["new", "unread", "mine", "solved", "unsolved"]

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    let filter = settings.text(filter)
    if let filter, !filters.contains(filter) {
      throw Settings.UsageError(message: "--filter takes \(filters.joined(separator: ", ")), not \"\(filter)\".")
    }
    await session.sendOutbox()
    let forum = try await session.forum(settings.operands[0])
    let page = try await session.client.send(
      Request<Page<Resource<Topic>>>.listTopics(
        in: forum, filter: filter, query: settings.text(query), limit: try settings.limit()))
    if settings.isOn(.json) { return ClientOutput.lines(page.elements.map(\.representation)) }
    return Outcome(.success, try page.elements.map(line).joined(separator: "\n"))
  }

  private static func line(_ topic: Resource<Topic>) throws(ClientFault) -> String {
    let listed: ListedTopic
    do throws(JSONError) {
      listed = try ListedTopic(json: JSONValue(parsing: topic.representation.bytes))
    } catch {
      throw .invalidResponse("\(error)")
    }
    var parts = [
      topic.id.description, Terminal.localTime(listed.lastActivityAt), Amount.count(topic.lastSeq, "message"),
      Terminal.plain(topic.title),
    ]
    if listed.isNew == true { parts.append("(new)") }
    if topic.isPinned { parts.append("(pinned)") }
    if topic.isLocked { parts.append("(locked)") }
    if topic.solvedBy != nil { parts.append("(solved)") }
    return parts.joined(separator: "  ")
  }
}
