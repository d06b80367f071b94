import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createConversation(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try ConversationDraft(&body) }
    let made = try await context.community.createConversation(draft, by: context.caller)
    return .one(made.conversation, made.isNew ? .created : .ok)
  }

  @Sendable static func listConversations(_ context: RequestContext) async throws -> Response {
    let (kind, type, page, include): (Conversation.Kind?, String?, PageRequest, Set<Include>) =
      try context.query { query in
        (try query.word("kind"), try query.text("type"), try query.page(), try query.include())
      }
    return try .page(
      try context.view.listConversations(kind: kind, type: type, page, for: context.caller), including: include,
      context)
  }

  @Sendable static func getConversation(_ context: RequestContext) async throws -> Response {
    try context.seen(context.view.getConversation(context.id(), for: context.caller))
  }

  @Sendable static func updateConversation(_ context: RequestContext) async throws -> Response {
    let id: ID<Conversation> = try context.id()
    // Topics have other members and follow their forum's rules.
    if try context.view.kind(of: id, for: context.caller) == .topic { return try await updateTopic(context) }
    let change = try await context.body { body in try ConversationChange(&body) }
    return try await context.changed {
      ConversationView.forUser(try await context.community.updateConversation(id, change, by: context.caller))
    } now: {
      try context.view.getConversation(id, for: context.caller)
    }
  }

  @Sendable static func deleteConversation(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteConversation(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func getCheckpoint(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getCheckpoint(of: context.id(), for: context.caller))
  }

  @Sendable static func getFeed(_ context: RequestContext) async throws -> Response {
    try context.seen(context.view.getFeed(of: context.userID(), for: context.caller))
  }

  // MARK: Participants

  @Sendable static func listParticipants(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(
      try context.view.listParticipants(of: try context.id(), page, for: context.caller), including: include, context)
  }

  @Sendable static func setParticipant(_ context: RequestContext) async throws -> Response {
    let role: ParticipantRole? =
      context.hasBody ? try await context.body { body in try body.optionalWord("role") } : nil
    return .one(
      try await context.community.setParticipant(
        try context.userID("user"), role, of: try context.id(), by: context.caller))
  }

  @Sendable static func removeParticipant(_ context: RequestContext) async throws -> Response {
    try await context.community.removeParticipant(try context.userID("user"), of: try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func acceptRequest(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.acceptRequest(try context.id(), by: context.caller))
  }

  @Sendable static func declineRequest(_ context: RequestContext) async throws -> Response {
    try await context.community.declineRequest(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func sendTyping(_ context: RequestContext) async throws -> Response {
    try context.view.sendTyping(in: try context.id(), by: context.caller)
    return Response(.noContent)
  }

  // MARK: Read positions and notification levels

  @Sendable static func markRead(_ context: RequestContext) async throws -> Response { try await context.move(.read) }

  @Sendable static func markDelivered(_ context: RequestContext) async throws -> Response {
    try await context.move(.delivered)
  }

  @Sendable static func setConversationLevel(_ context: RequestContext) async throws -> Response {
    let level = try await context.level()
    return .one(try await context.community.setConversationLevel(level, in: try context.id(), by: context.caller))
  }

  @Sendable static func resetConversationLevel(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.setConversationLevel(nil, in: try context.id(), by: context.caller))
  }

  @Sendable static func setForumLevel(_ context: RequestContext) async throws -> Response {
    let level = try await context.level()
    return .one(try await context.community.setForumLevel(level, in: try context.id(), by: context.caller))
  }

  @Sendable static func resetForumLevel(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.setForumLevel(nil, in: try context.id(), by: context.caller))
  }
}

extension RequestContext {
  fileprivate func move(_ kind: ReadPosition.Kind) async throws -> Response {
    let message: ID<Message> = try await body { body in try body.read("message_id") }
    return .one(try await community.advanceReadPosition(kind, in: try id(), to: message, by: caller))
  }

  /// The `level` member. `null` resets it to the default; the member is required.
  fileprivate func level() async throws -> Level? {
    try await body { body in
      let value = try body.value("level")
      return value.isNull ? nil : try value.word()
    }
  }

  fileprivate func seen(_ conversation: ConversationView) throws -> Response {
    let include = try query { query in try query.include() }
    return try .one(conversation, tagged: conversation.tag, including: include, self)
  }
}
