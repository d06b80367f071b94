// Removals of messages, and the destruction of content.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createRemoval(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try RemovalDraft(&body) }
    let made = try await context.community.createRemoval(draft, by: context.caller)
    return .one(made.removal, made.isNew ? .created : .ok)
  }

  @Sendable static func getRemoval(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getRemoval(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func undoRemoval(_ context: RequestContext) async throws -> Response {
    let reason = try await context.reason()
    return .one(try await context.community.undoRemoval(try context.id(), reason: reason, by: context.caller))
  }

  @Sendable static func destroyContent(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try DestructionDraft(&body) }
    let destruction = try await context.community.destroyContent(draft, by: context.caller)
    context.api.previews?.removeAll()
    return .one(destruction)
  }
}
