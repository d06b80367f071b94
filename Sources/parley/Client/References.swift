import ParleyJSON
import ParleyKit
import ParleyModel

/// Resolution of ids, titles and names in arguments.
extension CLISession {
  /// Sends a request about a message.
  func send<Response>(
    _ request: Request<Response>, about message: ID<Message>
  ) async throws -> Response {
    do throws(ClientFault) {
      return try await client.send(request)
    } catch {
      switch error.problem?.code {
      case "not_found":
        throw CommandRefusal(
          message: "There is no message \(message) that you can see. parley read CONVERSATION prints the numbers.")
      case "gone": throw CommandRefusal(message: "The message \(message) is deleted.")
      default: throw error
      }
    }
  }

  /// Sends a request about a conversation.
  func send<Response>(
    _ request: Request<Response>, about conversation: ID<Conversation>
  ) async throws -> Response {
    do throws(ClientFault) {
      return try await client.send(request)
    } catch {
      guard error.problem?.code == "not_found" else { throw error }
      throw CommandRefusal(
        message:
          "There is no conversation \(conversation) that you can read. parley forums and parley conversations list them."
      )
    }
  }

  /// Resolves the title of a forum, its id or the id of its room or of one of its topics.
  func forum(_ text: String) async throws -> ID<Forum> {
    if let id = ID<Forum>(text) {
      do throws(ClientFault) {
        return try await client.send(.getForum(id)).forum.id
      } catch {
        guard error.problem?.code == "not_found" else { throw error }
      }
      let conversation: Conversation? = try await optional(.getConversation(ID(id.number)))
      if let forum = conversation?.forum { return forum }
    } else if let found = try await forum(titled: text) {
      return found.id
    }
    throw await unknownTitle(text, "forum")
  }

  /// The error for an unknown title, with the nearest title of a forum.
  func unknownTitle(_ text: String, _ kind: String) async -> Settings.UsageError {
    var titles: [String] = []
    do throws(ClientFault) {
      titles = try await client.send(Request<Page<Resource<ForumView>>>.listForums(limit: 100)).elements.map(
        \.forum.title)
    } catch {
      // The error is reported without a suggestion.
    }
    let similar = Spelling.nearest(to: text, in: titles).map { " Did you mean \"\(Terminal.plain($0))\"?" } ?? ""
    return Settings.UsageError(
      message: "There is no \(kind) \"\(Terminal.plain(text))\".\(similar) parley forums lists the forums.")
  }

  /// Nil if the resource does not exist.
  private func optional<Value>(_ request: Request<Resource<Value>>) async throws(ClientFault) -> Value? {
    do throws(ClientFault) {
      return try await client.send(request).value
    } catch {
      guard error.problem?.code == "not_found" else { throw error }
      return nil
    }
  }

  func forum(titled title: String, by client: Client? = nil) async throws(ClientFault) -> Forum? {
    let request = Request<Page<Resource<ForumView>>>.listForums(query: title, limit: 100)
    let page = try await (client ?? self.client).send(request)
    return page.elements.map(\.forum).first { $0.title.lowercased() == title.lowercased() }
  }

  /// The names of users by id. Users that are not visible are omitted.
  func names(of users: Set<ID<User>>) async throws(ClientFault) -> [ID<User>: String] {
    var names: [ID<User>: String] = [:]
    var rest = users.sorted()[...]
    while !rest.isEmpty {
      let ids = rest.prefix(Self.maxListedIDs).map(\.description).joined(separator: ",")
      rest = rest.dropFirst(Self.maxListedIDs)
      for user in try await client.send(Request<Page<Resource<User>>>.listUsers(ids: ids)).elements {
        names[user.summary.id] = user.summary.name
      }
    }
    return names
  }

  private static let maxListedIDs = 100
}
