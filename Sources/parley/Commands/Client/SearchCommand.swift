import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let search = Command.client(
    "search", usage: "QUERY [--limit N] [--json]", operands: ["QUERY"], summary: "search messages",
    description: "Searches messages. A query has words, \"phrases\", -exclusions and prefix*.",
    settings: [.limit, .json], operations: ["searchMessages"], run: SearchCommand.run)
}

enum SearchCommand {
  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    await session.sendOutbox()
    let query = settings.operands[0]
    do throws(SearchQuery.Fault) { _ = try SearchQuery(query) } catch {
      throw Settings.UsageError(message: message(for: error, query))
    }
    do {
      let request = Request<Page<Resource<SearchMatch>>>.searchMessages(
        q: query, language: Terminal.language, limit: try settings.limit())
      let page = try await session.client.send(settings.isOn(.json) ? request : request.includingNames())
      if settings.isOn(.json) { return ClientOutput.lines(page.elements.map(\.representation)) }
      guard !page.elements.isEmpty else {
        return Outcome(.failure, "No messages found. A prefix ends with *: parley search 'pizz*'.")
      }
      let titles = page.elements.compactMap(\.title)
      for title in titles { Terminal.print("\(Terminal.plain(title))  (title of a topic)\n") }
      return ClientOutput.print(
        page.elements.compactMap(\.message?.message), try IncludedNames(page.representation))
    } catch let fault as ClientFault where fault.isTemporary {
      guard let parley = try session.parley else { throw fault }
      let found = try await parley.cache.search(query, language: Terminal.language, limit: try settings.limit())
        .messages
      guard !found.isEmpty else { throw fault }
      return await ClientOutput.printCached(found, fault, parley, settings)
    }
  }

  private static func message(for fault: SearchQuery.Fault, _ query: String) -> String {
    switch fault {
    case .empty: "\"\(query)\" contains no word to search for."
    case .onlyExclusions: "\"\(query)\" contains only exclusions."
    case .tooLong(let limit): "The query is too long: at most \(limit) bytes."
    case .tooManyTerms(let limit): "The query has too many words: at most \(limit) words."
    case .tooManyBeginnings(let limit): "The query has too many prefixes: at most \(limit)."
    }
  }
}
