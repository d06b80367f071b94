// What the host asks by commands, over a socket that only the owner of the data folder reaches: a few endpoints beside the
// public ones. `Access.host` means: in the name of the place's owner.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
public import Web

extension API {
  static let hostEndpoints: [Endpoint] = [
    Endpoint(.post, "/setup", .anyone, makeSetupLink),
    Endpoint(.get, "/users", .anyone, listEveryone),
    Endpoint(.post, "/users", .anyone, addPerson),
    Endpoint(.patch, "/users/{id}", .host, changePerson),
    Endpoint(.post, "/users/{id}/reset", .host, resetPassword),
    Endpoint(.post, "/users/{id}/tokens", .host, makeTokenForThem),
    Endpoint(.post, "/invites", .host, makeInviteLink),
    Endpoint(.get, "/events", .host, followEvents),
  ]

  public func addForHost(to routes: inout Router.Builder) {
    for endpoint in Self.hostEndpoints { routes.on(endpoint.method, endpoint.path, endpoint.handler(of: self)) }
  }

  @Sendable private static func makeSetupLink(_ call: Call) async throws -> Response {
    guard let code = try await call.community.setupLink() else { throw Refusal.gone }
    return .object(.created) { json in json.field("url", "\(call.context.origin)/setup/\(code)") }
  }

  @Sendable private static func listEveryone(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<Account>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    return .page(try call.view.everyone(after: next, limit: limit), limit: limit) { $0.account.id.description }
  }

  @Sendable private static func addPerson(_ call: Call) async throws -> Response {
    let newcomer = try await call.body { body in
      Newcomer(
        name: try body.string("name"), role: try body.optionalWord("role") ?? .member,
        password: try body.string("password"))
    }
    return .one(try await call.community.add(newcomer), .created)
  }

  @Sendable private static func makeTokenForThem(_ call: Call) async throws -> Response {
    let reference = try call.reference()
    let draft = try await call.body { body in try TokenDraft(&body) }
    let made = try await call.community.makeToken(draft, for: reference, by: call.caller)
    return .object(.created) { json in json.field("token", made.secret) }
  }

  @Sendable private static func makeInviteLink(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try InviteDraft(&body) }
    let made = try await call.community.invite(draft, by: call.caller)
    return .object(.created) { json in json.field("url", "\(call.context.origin)/i/\(made.invite.code)") }
  }
}
