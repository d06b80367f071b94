// Warnings, silences and bans.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func warnUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.body { body in try WarningDraft(&body) }
    let (warning, isNew) = try await context.community.warnUser(reference, draft, by: context.caller)
    return .one(warning, isNew ? .created : .ok)
  }

  @Sendable static func silenceUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.optionalBody { body in try SilenceDraft(&body) }
    return .one(try await context.community.silenceUser(reference, draft, by: context.caller))
  }

  @Sendable static func unsilenceUser(_ context: RequestContext) async throws -> Response {
    let forum: ID<Forum>? = try context.query { query in try query.id("forum") }
    let reason = try await context.reason()
    try await context.community.unsilenceUser(try context.reference(), in: forum, reason: reason, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func banUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.optionalBody { body in try BanDraft(&body) }
    return .one(try await context.community.banUser(reference, draft, by: context.caller))
  }

  @Sendable static func unbanUser(_ context: RequestContext) async throws -> Response {
    let reason = try await context.reason()
    try await context.community.unbanUser(try context.reference(), reason: reason, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listSanctions(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(
      try context.view.listSanctions(of: try context.reference(), page, for: context.caller), including: include,
      context)
  }
}
