import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listModerationRules(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listModerationRules(page, for: context.caller), including: include, context)
  }

  @Sendable static func createModerationRule(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try ModerationRuleDraft(&body) }
    let created = try await context.community.createModerationRule(draft, by: context.caller)
    return .one(created.rule, created.isNew ? .created : .ok)
  }

  /// Tries a rule on earlier messages.
  @Sendable static func tryModerationRule(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try ModerationRuleDraft(&body) }
    return .one(try await context.community.tryModerationRule(draft, by: context.caller))
  }

  @Sendable static func getModerationRule(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(
      try context.view.getModerationRule(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func updateModerationRule(_ context: RequestContext) async throws -> Response {
    let id: ID<ModerationRule> = try context.id()
    let change = try await context.body { body in try ModerationRuleChange(&body) }
    return try await context.changed {
      try await context.community.updateModerationRule(id, change, by: context.caller)
    } now: {
      try context.view.getModerationRule(id, for: context.caller)
    }
  }

  @Sendable static func deleteModerationRule(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteModerationRule(try context.id(), by: context.caller)
    return Response(.noContent)
  }
}
