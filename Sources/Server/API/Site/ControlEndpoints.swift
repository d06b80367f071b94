// Endpoints for the operator's commands, over a control socket that only the owner of the data folder can open.
// `Access.controlSocket` endpoints act in the name of the site's owner.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
public import Web

extension API {
  static let controlEndpoints: [Endpoint] = [
    Endpoint(.post, "/setup", .anyone, createSetupLink),
    Endpoint(.get, "/users", .anyone, listAllUsers),
    Endpoint(.post, "/users", .anyone, createUser),
    Endpoint(.patch, "/users/{id}", .controlSocket, updateUser),
    Endpoint(.post, "/users/{id}/reset", .controlSocket, createPasswordReset),
    Endpoint(.post, "/users/{id}/reset-second-factor", .controlSocket, resetSecondFactor),
    Endpoint(.get, "/users/{id}/identities", .controlSocket, listUserIdentities),
    Endpoint(.post, "/users/{id}/recover", .controlSocket, recoverUser),
    Endpoint(.post, "/users/{id}/tokens", .controlSocket, createTokenForUser),
    Endpoint(.get, "/bots", .controlSocket, listBots),
    Endpoint(.post, "/bots", .controlSocket, createBot),
    Endpoint(.get, "/bots/{id}/tokens", .controlSocket, listBotTokens),
    Endpoint(.post, "/bots/{id}/tokens", .controlSocket, createBotToken),
    Endpoint(.delete, "/bots/{id}/tokens/{token}", .controlSocket, revokeBotToken),
    Endpoint(.get, "/webhooks", .controlSocket, listWebhooks),
    Endpoint(.post, "/webhooks", .controlSocket, createWebhook),
    Endpoint(.post, "/webhooks/{id}/secret", .controlSocket, rotateWebhookSecret),
    Endpoint(.delete, "/webhooks/{id}", .controlSocket, deleteWebhook),
    Endpoint(.get, "/webhook-endpoints", .controlSocket, listWebhookEndpoints),
    Endpoint(.post, "/webhook-endpoints", .controlSocket, createWebhookEndpoint),
    Endpoint(.patch, "/webhook-endpoints/{id}", .controlSocket, updateWebhookEndpoint),
    Endpoint(.post, "/webhook-endpoints/{id}/secret", .controlSocket, rotateWebhookEndpointSecret),
    Endpoint(.delete, "/webhook-endpoints/{id}", .controlSocket, deleteWebhookEndpoint),
    Endpoint(.get, "/webhook-endpoints/{id}/deliveries", .controlSocket, listWebhookDeliveries),
    Endpoint(
      .post, "/webhook-endpoints/{id}/deliveries/{delivery}/redeliver", .controlSocket, redeliverWebhook),
    Endpoint(.get, "/commands", .controlSocket, listCommands),
    Endpoint(.post, "/commands", .controlSocket, createCommand),
    Endpoint(.patch, "/commands/{id}", .controlSocket, updateCommand),
    Endpoint(.post, "/commands/{id}/secret", .controlSocket, rotateCommandSecret),
    Endpoint(.delete, "/commands/{id}", .controlSocket, deleteCommand),
    Endpoint(.get, "/apps", .controlSocket, listApps),
    Endpoint(.post, "/apps", .controlSocket, createApp),
    Endpoint(.patch, "/apps/{id}", .controlSocket, updateApp),
    Endpoint(.post, "/apps/{id}/secret", .controlSocket, rotateAppSecret),
    Endpoint(.delete, "/apps/{id}", .controlSocket, deleteApp),
    Endpoint(.post, "/invites", .controlSocket, createInviteLink),
    Endpoint(.post, "/destructions", .controlSocket, destroyContent),
    Endpoint(.get, "/events", .controlSocket, streamEvents),
    Endpoint(.post, "/mail", .anyone, receiveMail),
  ]

  public func addControlEndpoints(to routes: inout Router.Builder) {
    for endpoint in Self.controlEndpoints { routes.on(endpoint.method, endpoint.path, endpoint.handler(of: self)) }
  }

  @Sendable private static func createSetupLink(_ context: RequestContext) async throws -> Response {
    if let code = try await context.community.createSetupLink() {
      return .object(.created) { json in json.field("url", "\(context.server.origin)/setup/\(code)") }
    }
    guard let code = try await context.community.createOwnerLink() else { throw Refusal.gone }
    return .object(.created) { json in json.field("url", "\(context.server.origin)/reset/\(code)") }
  }

  @Sendable private static func listAllUsers(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listAllUsers(page), context)
  }

  @Sendable private static func createUser(_ context: RequestContext) async throws -> Response {
    let user = try await context.body { body in
      OperatorUser(
        name: try body.string("name"), role: try body.optionalWord("role") ?? .member,
        password: try body.string("password"))
    }
    return .one(try await context.community.addUser(user), .created)
  }

  @Sendable private static func createTokenForUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.body { body in try TokenDraft(&body) }
    let made = try await context.community.createToken(draft, for: reference, by: context.caller)
    return .object(.created) { json in json.field("token", made.secret) }
  }

  @Sendable private static func createInviteLink(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try InviteDraft(&body) }
    let made = try await context.community.createInvite(draft, by: context.caller)
    guard let code = made.code else { throw Refusal.clientIDReused }
    return .object(.created) { json in json.field("url", "\(context.server.origin)/i/\(code)") }
  }
}
