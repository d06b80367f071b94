import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createConversation(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try ConversationDraft(&body) }
    let made = try await call.community.createConversation(draft, by: call.caller)
    return .one(made.conversation, made.isNew ? .created : .ok)
  }

  @Sendable static func listConversations(_ call: Call) async throws -> Response {
    let (kind, type, limit, next): (Conversation.Kind?, String?, Int, Int?) = try call.query { query in
      (
        try query.word("kind"), try query.text("type"), try query.limit(), try query.int("next", in: 1...Int.max)
      )
    }
    let page = try call.view.conversations(kind: kind, type: type, before: next, limit: limit, for: call.caller)
    return .page(page.conversations, next: page.next.map { "\($0)" })
  }

  @Sendable static func showConversation(_ call: Call) async throws -> Response {
    try call.seen(call.view.conversation(call.id(), for: call.caller))
  }

  @Sendable static func changeConversation(_ call: Call) async throws -> Response {
    let id: ID<Conversation> = try call.id()
    // A topic is changed by its forum's rules, and other things of it.
    if try call.view.kind(of: id, for: call.caller) == .topic { return try await changeTopic(call) }
    let change = try await call.body { body in try ConversationChange(&body) }
    return try await call.changed {
      SeenConversation.bySomebody(try await call.community.change(id, change, by: call.caller))
    } now: {
      try call.view.conversation(id, for: call.caller)
    }
  }

  @Sendable static func deleteConversation(_ call: Call) async throws -> Response {
    try await call.community.delete(try call.id() as ID<Conversation>, by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func showFeed(_ call: Call) async throws -> Response {
    try call.seen(call.view.feed(of: call.person(), for: call.caller))
  }

  @Sendable static func showTimeline(_ call: Call) async throws -> Response {
    let (limit, next) = try call.query { query in (try query.limit(), try query.nextTime()) }
    let page = try await call.community.timeline(before: next, limit: limit, for: call.caller)
    return .page(page.posts, next: page.next.map { "\($0.time).\($0.message)" })
  }

  // MARK: Participants

  @Sendable static func listParticipants(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<Account>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    let found = try call.view.participants(of: try call.id(), after: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.account.description }
  }

  @Sendable static func setParticipant(_ call: Call) async throws -> Response {
    let role: ParticipantRole? = call.hasBody ? try await call.body { body in try body.optionalWord("role") } : nil
    return .one(
      try await call.community.setParticipant(try call.person("user"), role, of: try call.id(), by: call.caller))
  }

  @Sendable static func removeParticipant(_ call: Call) async throws -> Response {
    try await call.community.removeParticipant(try call.person("user"), of: try call.id(), by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func takeRequest(_ call: Call) async throws -> Response {
    .one(try await call.community.takeRequest(try call.id(), by: call.caller))
  }

  @Sendable static func refuseRequest(_ call: Call) async throws -> Response {
    try await call.community.refuseRequest(try call.id(), by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func type(_ call: Call) async throws -> Response {
    try call.view.typing(in: try call.id(), by: call.caller, now: call.context.now)
    return Response(.noContent)
  }

  // MARK: Marks and levels

  @Sendable static func markRead(_ call: Call) async throws -> Response { try await call.move(.read) }

  @Sendable static func markDelivered(_ call: Call) async throws -> Response { try await call.move(.delivered) }

  @Sendable static func setConversationLevel(_ call: Call) async throws -> Response {
    let level = try await call.level()
    return .one(try await call.community.setLevel(level, in: try call.id() as ID<Conversation>, by: call.caller))
  }

  @Sendable static func unsetConversationLevel(_ call: Call) async throws -> Response {
    .one(try await call.community.setLevel(nil, in: try call.id() as ID<Conversation>, by: call.caller))
  }

  @Sendable static func setForumLevel(_ call: Call) async throws -> Response {
    let level = try await call.level()
    return .one(try await call.community.setLevel(level, in: try call.id() as ID<Forum>, by: call.caller))
  }

  @Sendable static func unsetForumLevel(_ call: Call) async throws -> Response {
    .one(try await call.community.setLevel(nil, in: try call.id() as ID<Forum>, by: call.caller))
  }
}

extension Call {
  fileprivate func move(_ kind: Mark.Kind) async throws -> Response {
    let message: ID<Message> = try await body { body in try body.read("message_id") }
    return .one(try await community.move(kind, in: try id(), to: message, by: caller))
  }

  /// `null` is what is usual; nothing at all is a mistake.
  fileprivate func level() async throws -> Level? {
    try await body { body in
      let value = try body.value("level")
      return value.isNull ? nil : try value.word()
    }
  }

  fileprivate func seen(_ conversation: SeenConversation) throws -> Response {
    .one(conversation).tagged(conversation.tag)
  }
}
