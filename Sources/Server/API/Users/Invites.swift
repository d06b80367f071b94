import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createInvite(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try InviteDraft(&body) }
    let made = try await context.community.createInvite(draft, by: context.caller)
    return .object(made.isNew ? .created : .ok) { json in
      made.invite.writeMembers(to: &json)
      if let code = made.code { json.field("code", code) }
    }
  }

  @Sendable static func listInvites(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listInvites(page, for: context.caller), including: include, context)
  }

  @Sendable static func getInvite(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getInvite(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func revokeInvite(_ context: RequestContext) async throws -> Response {
    let descendants = try context.query { query in try query.flag("descendants") } ?? false
    let closing = try await context.optionalBody { body in try InviteClosing(&body) }
    try await context.community.revokeInvite(try context.id(), descendants: descendants, closing, by: context.caller)
    return Response(.noContent)
  }
}
