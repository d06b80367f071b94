// Operations on conversations. They are applied to the cache when the server has processed them. Each is safe to repeat: a
// new conversation has the operation's id as `client_id`, and a conversation that was left or deleted is gone.

import ParleyJSON
public import ParleyModel

extension Outbox {
  /// Creates a conversation. The event `didSend` has its id, and so has the result of `createConversationAndWait`.
  ///
  /// - Parameters: as in `Request.createConversation`.
  @discardableResult
  public func createConversation(
    _ kind: Conversation.Kind, with users: [ConversationDraft.Invited] = [], title: String? = nil,
    type: String? = nil, annotations: [Draft.Annotation]? = nil, readers: Conversation.Openness? = nil,
    writers: Conversation.Openness? = nil, isHistoryVisible: Bool? = nil, isDistinct: Bool? = nil
  ) async throws -> OutboxOperation {
    let name = clock.name()
    let request = Request<Resource<OwnConversation>>.createConversation(
      kind, with: users, title: title, type: type, annotations: annotations, readers: readers, writers: writers,
      isHistoryVisible: isHistoryVisible, isDistinct: isDistinct, clientID: name)
    return try await add(.createConversation(request.body.object), in: ID(0), id: name)
  }

  /// Changes a conversation, except a topic.
  @discardableResult
  public func updateConversation(
    _ conversation: ID<Conversation>, _ change: ConversationChange
  ) async throws -> OutboxOperation {
    try await add(.updateConversation(RequestBody.value(change).object), in: conversation)
  }

  /// Changes a topic.
  @discardableResult
  public func updateConversation(_ topic: ID<Conversation>, _ change: TopicChange) async throws -> OutboxOperation {
    try await add(.updateConversation(RequestBody.value(change).object), in: topic)
  }

  /// Ends the user's participation in a conversation. A pending request to the user is declined.
  @discardableResult
  public func leaveConversation(_ conversation: ID<Conversation>) async throws -> OutboxOperation {
    try await add(.leaveConversation, in: conversation)
  }

  /// Deletes a conversation for all of its participants.
  @discardableResult
  public func deleteConversation(_ conversation: ID<Conversation>) async throws -> OutboxOperation {
    try await add(.deleteConversation, in: conversation)
  }
}

extension RequestBody {
  fileprivate var object: JSONRaw {
    if case .json(let object) = self { object } else { JSONRaw.object { _ in } }
  }
}

extension OutboxDelivery {
  /// - Returns: the conversation.
  func changeConversation(
    _ operation: OutboxOperation, _ known: Cache.ResponseAge
  ) async throws -> ID<Conversation> {
    var id = operation.conversation
    var own: OwnConversation?
    switch operation.work {
    case .createConversation(let body):
      let created = try await client.send(Request<OwnConversation>(.post, "/conversations", body: .json(body)))
      (id, own) = (created.conversation.id, created)
    case .updateConversation(let body): own = try await update(id, body)
    case .leaveConversation:
      let isRequest = await cache.replica.conversations[id]?.participation?.isRequest ?? false
      try await end(isRequest ? .declineRequest(for: id) : .removeParticipant(of: id, user: .me))
    case .deleteConversation: try await end(.deleteConversation(id))
    case .send, .edit, .delete, .action, .read: break
    }
    try await cache.complete(operation.id, id, own, asOf: known)
    return id
  }

  /// A repeated change with a revision is refused although it was made: then the conversation has it.
  private func update(_ id: ID<Conversation>, _ body: JSONRaw) async throws -> OwnConversation {
    let get = Request<OwnConversation>(.get, "/conversations/{id}", [id.description])
    do {
      let _: JSONRaw = try await client.send(
        Request(.patch, "/conversations/{id}", [id.description], body: .json(body)))
    } catch {
      guard error.problem?.status == 409 else { throw error }
      let own = try await client.send(get)
      guard own.conversation.has(body) else { throw error }
      return own
    }
    return try await client.send(get)
  }

  /// A conversation that is gone was ended by an earlier attempt, or by another user.
  private func end(_ request: Request<Void>) async throws {
    do { try await client.send(request) } catch {
      guard let status = error.problem?.status, [404, 410].contains(status) else { throw error }
    }
  }
}

extension Conversation {
  /// Whether a change would not change it.
  fileprivate func has(_ body: JSONRaw) -> Bool {
    do throws(JSONError) {
      var object = try JSONValue(parsing: body.bytes).object()
      let change = try ConversationChange(&object)
      // The other members of a topic are not compared.
      try object.finish()
      return change.applied(to: self) == self
    } catch {
      return false
    }
  }
}

extension Cache {
  /// Removes the operation, and stores the conversation or drops it, in one transaction.
  fileprivate func complete(
    _ operation: OutboxOperation.Name, _ conversation: ID<Conversation>, _ own: OwnConversation?, asOf age: ResponseAge
  ) throws {
    guard isCurrent(age) else { throw ClientFault.interrupted("the local data was reset during the request") }
    var changes = CacheChanges()
    changes.rows = [CacheRow(.operation, operation, nil)]
    if let own {
      try merge(own, asOf: event(of: age), countRequest: countRequest(of: conversation), changes)
    } else {
      try drop(.conversation(conversation), changes)
    }
  }
}
