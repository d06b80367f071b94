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
  private func optional<Value>(
    _ request: Request<Resource<Value>>, by client: Client? = nil
  ) async throws(ClientFault) -> Value? {
    do throws(ClientFault) {
      return try await (client ?? self.client).send(request).value
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

  /// The name in `@name`.
  static func userName(_ text: String) -> String? {
    text.hasPrefix("@") ? UserName(String(text.dropFirst()))?.text : nil
  }

  /// The existing direct conversation with a user.
  func direct(with name: String, by client: Client) async throws -> ID<Conversation> {
    let user: User? = try await optional(.getUser(.name(name)), by: client)
    guard let id = user?.summary.id else {
      throw Settings.UsageError(
        message: "There is no user \(name). parley api GET '/users?query=\(name)' searches users.")
    }
    for try await page in client.pages(of: .listConversations(kind: .direct, limit: 200)) {
      let found = page.elements.first { $0.conversation.participants?.contains { $0.user == id } ?? false }
      if let found { return found.conversation.id }
    }
    throw Settings.UsageError(
      message: "You have no direct conversation with \(name). parley dm \(name) TEXT begins one.")
  }

  /// The conversation of a message, from the server, or from the cache when offline.
  func conversation(of message: ID<Message>) async throws -> ID<Conversation> {
    do {
      return try await send(.getMessage(message), about: message).message.conversation
    } catch let fault as ClientFault where fault.isTemporary {
      guard let cached = try await parley?.cache.messages(.ids([message])).first else { throw fault }
      return cached.message.conversation
    }
  }

  /// The names of users by id. Users that are not visible are omitted.
  func names(of users: Set<ID<User>>) async throws(ClientFault) -> [ID<User>: String] {
    var names: [ID<User>: String] = [:]
    var rest = users.sorted()[...]
    while !rest.isEmpty {
      let ids = Array(rest.prefix(Self.maxListedIDs))
      rest = rest.dropFirst(Self.maxListedIDs)
      for user in try await client.send(Request<Page<Resource<User>>>.listUsers(ids: ids)).elements {
        names[user.summary.id] = user.summary.name
      }
    }
    return names
  }

  private static let maxListedIDs = 100
}
