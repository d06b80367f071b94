import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let listForums = Command.client(
    "forums", usage: "[--limit N] [--json]", summary: "list the forums",
    description: "Lists the forums with the id of their room, the most active first.", settings: [.limit, .json],
    operations: ["listForums"], run: ForumsCommand.run)
}

enum ForumsCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    await session.sendOutbox()
    func list(_ forums: [Forum]) -> Outcome {
      Outcome(.success, forums.map { "\($0.room)  \(Terminal.plain($0.title))" }.joined(separator: "\n"))
    }
    do {
      let page = try await session.client.send(.listForums(limit: min(100, try settings.limit())))
      return settings.isOn(.json)
        ? ClientOutput.lines(page.elements.map(\.representation)) : list(page.elements.map(\.forum))
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try session.parley else { throw fault }
      let forums = await parley.cache.replica.forums.values.map(\.forum).sorted { $0.activity > $1.activity }
        .prefix(try settings.limit())
      guard !forums.isEmpty else { throw fault }
      ClientOutput.logCached(fault)
      return settings.isOn(.json) ? ClientOutput.lines(forums.map(ClientOutput.raw)) : list(Array(forums))
    }
  }
}
