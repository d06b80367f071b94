import Community
import ParleyModel
import Web

extension API {
  @Sendable static func createBot(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try BotDraft(&body) }
    let created = try await context.community.createBot(draft, by: context.caller)
    return .object(created.token == nil ? .ok : .created) { json in
      json.field("user", created.user)
      if let token = created.token { json.field("token", token) }
    }
  }

  @Sendable static func listBots(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listBots(page, for: context.caller), including: include, context)
  }
}

extension API {
  @Sendable static func listBotTokens(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listBotTokens(of: try context.reference(), page, for: context.caller), context)
  }

  @Sendable static func createBotToken(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try TokenDraft(&body) }
    let made = try await context.community.createBotToken(draft, of: try context.reference(), by: context.caller)
    return .object(made.secret == nil ? .ok : .created) { json in
      made.session.writeMembers(to: &json)
      if let secret = made.secret { json.field("token", secret) }
    }
  }

  @Sendable static func revokeBotToken(_ context: RequestContext) async throws -> Response {
    let bot = try context.reference()
    try await context.community.revokeBotToken(try context.id("token"), of: bot, by: context.caller)
    return Response(.noContent)
  }
}

extension Bot: Referencing {
  func addReferences(to references: inout References) {
    if let owner = user.standing?.owner { references.users.insert(owner) }
  }
}
