import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func invite(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try InviteDraft(&body) }
    let made = try await call.community.invite(draft, by: call.caller)
    return .one(made.invite, made.isNew ? .created : .ok)
  }

  @Sendable static func listInvites(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<Invite>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    let found = try call.view.invites(before: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.id.description }
  }

  @Sendable static func showInvite(_ call: Call) async throws -> Response {
    switch try call.view.invite(try call.code(), for: call.caller) {
    case .whole(let invite): .one(invite)
    case .welcome(let welcome): .one(welcome)
    }
  }

  @Sendable static func revokeInvite(_ call: Call) async throws -> Response {
    let descendants = try call.query { query in try query.flag("descendants") } ?? false
    let closing = try await call.bodyOrNothing { body in try InviteClosing(&body) }
    try await call.community.revoke(invite: try call.code(), descendants: descendants, closing, by: call.caller)
    return Response(.noContent)
  }
}
