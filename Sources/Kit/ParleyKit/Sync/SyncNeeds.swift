// Resources that events only refer to by id: users, forums, conversations and messages.

import ParleyModel

extension Sync {
  /// Runs `body` exclusively, then fetches the needs that it leaves: no event will announce them.
  func exclusively<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    try await lock.withLock {
      let value = try await body()
      try await resolveNeeds()
      return value
    }
  }

  /// Fetches open needs, such as those of a response to the outbox.
  func fetchNeeds() async throws {
    guard await !cache.replica.needs.isEmpty else { return }
    try await exclusively {}
  }

  private func resolveNeeds() async throws {
    for _ in 0..<Self.maxNeedRounds {
      let needs = await cache.replica.needs
      if needs.isEmpty { return }
      try await fetchUsers(needs.compactMap { if case .user(let id) = $0 { id } else { nil } })
      // In a deterministic order.
      for need in await cache.replica.needs.sorted(by: { "\($0)" < "\($1)" }) { try await fetch(need) }
    }
  }

  /// Fetches the users of needs, such as the authors of a page. The response omits users that the caller may not see.
  func fetchUsers(_ ids: [ID<User>]) async throws {
    var rest = ids.sorted()[...]
    while !rest.isEmpty {
      let part = rest.prefix(Parley.usersPerRequest)
      rest = rest.dropFirst(part.count)
      let found = try await client.send(.listUsers(ids: Array(part))).elements
      for user in found { try await cache.merge(user.value) }
      for id in Set(part).subtracting(found.map(\.value.summary.id)).sorted() { try await cache.drop(.user(id)) }
    }
  }

  func fetch(_ need: Replica.Need) async throws {
    // The response reflects at least the events before the request.
    let known = await cache.replica.cursor?.event ?? 0
    do {
      switch need {
      case .user(let id):
        try await cache.merge(client.send(.getUser(.id(id))).value)
      case .forum(let id):
        try await cache.merge(client.send(.getForum(id)).value, asOf: known)
      case .conversation(let id): try await fetchConversation(id)
      case .message(let id):
        try await cache.merge([client.send(.getMessage(id)).value], asOf: known)
      case .inbox:
        try await cache.merge(client.send(.listNotifications(limit: 1)).unread)
      case .everything: try await resync()
      }
    } catch let fault as ClientFault {
      guard fault.isGone else { throw fault }
      try await cache.drop(need)
    }
  }

  /// Fetches a conversation and its newest messages.
  func fetchConversation(_ id: ID<Conversation>) async throws {
    let known = await cache.replica.cursor?.event ?? 0
    let request = await cache.countRequest(of: id)
    let own = try await client.send(Request<OwnConversation>(.get, "/conversations/{id}", [id.description]))
    try await cache.merge(own, asOf: known, countRequest: request)
    guard own.conversation.lastSeq > 0 else { return }
    let page = try await fetch(id, [.init("order", "desc")], limit: 50)
    try await cache.merge(page)
  }

  func fetch(
    _ conversation: ID<Conversation>, _ query: [QueryItem?], limit: Int
  ) async throws(ClientFault) -> FetchedMessages {
    let all = [
      QueryItem("limit", "\(limit)"), .init("include_machine", "true"), .init("include_muted", "true"),
    ]
    return try await client.send(
      Request(.get, "/conversations/{id}/messages", [conversation.description], query: query + all))
  }
}
