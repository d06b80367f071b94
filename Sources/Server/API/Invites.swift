import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createInvite(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try InviteDraft(&body) }
    let made = try await context.community.createInvite(draft, by: context.caller)
    return .one(made.invite, made.isNew ? .created : .ok)
  }

  @Sendable static func listInvites(_ context: RequestContext) async throws -> Response {
    let (limit, next): (Int, ID<Invite>?) = try context.query { query in (try query.limit(), try query.id("next")) }
    let found = try context.view.listInvites(before: next, limit: limit, for: context.caller)
    return .page(found, limit: limit) { $0.id.description }
  }

  @Sendable static func getInvite(_ context: RequestContext) async throws -> Response {
    switch try context.view.getInvite(try context.code(), for: context.caller) {
    case .whole(let invite): .one(invite)
    case .welcome(let welcome): .one(welcome)
    }
  }

  @Sendable static func revokeInvite(_ context: RequestContext) async throws -> Response {
    let descendants = try context.query { query in try query.flag("descendants") } ?? false
    let closing = try await context.optionalBody { body in try InviteClosing(&body) }
    try await context.community.revokeInvite(try context.code(), descendants: descendants, closing, by: context.caller)
    return Response(.noContent)
  }
}
