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

extension Bot: Referencing {
  func addReferences(to references: inout References) {
    if let owner = user.standing?.owner { references.users.insert(owner) }
  }
}
