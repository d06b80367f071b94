import Community
import ParleyJSON
public import ParleyModel
import ParleyWire
import Web

/// The server's side of outgoing webhooks, which needs a network.
public struct OutgoingWebhooks: Sendable {
  /// The normalized URL; nil if no event may be sent there.
  let url: @Sendable (String) -> String?
  /// Called after a change of an endpoint.
  let examine: @Sendable (ID<WebhookEndpoint>) async -> Void

  public init(
    url: @escaping @Sendable (String) -> String?, examine: @escaping @Sendable (ID<WebhookEndpoint>) async -> Void
  ) {
    self.url = url
    self.examine = examine
  }

  func checked(_ url: String) throws -> String {
    guard let url = self.url(url) else { throw Problem.notPublic("url") }
    return url
  }
}

extension API {
  @Sendable static func listWebhookEndpoints(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(
      try context.view.listWebhookEndpoints(page, for: context.caller), including: include, context)
  }

  @Sendable static func createWebhookEndpoint(_ context: RequestContext) async throws -> Response {
    let sent = try await context.body { body in try WebhookEndpointDraft(&body) }
    let outgoing = try context.outgoing
    var draft = try sent.checked(context.community.bounds)
    draft.url = try outgoing.checked(draft.url)
    let created = try await context.community.createWebhookEndpoint(draft, by: context.caller)
    await outgoing.examine(created.endpoint.id)
    return .one(created, created.secret == nil ? .ok : .created)
  }

  @Sendable static func getWebhookEndpoint(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(
      try context.view.getWebhookEndpoint(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func updateWebhookEndpoint(_ context: RequestContext) async throws -> Response {
    let id: ID<WebhookEndpoint> = try context.id()
    let sent = try await context.body { body in try WebhookEndpointChange(&body) }
    var change = try sent.checked(context.community.bounds)
    if let url = change.url { change.url = try context.outgoing.checked(url) }
    let checked = change
    let response = try await context.changed {
      try await context.community.updateWebhookEndpoint(id, checked, by: context.caller)
    } now: {
      try context.view.getWebhookEndpoint(id, for: context.caller)
    }
    await context.api.outgoing?.examine(id)
    return response
  }

  @Sendable static func rotateWebhookEndpointSecret(_ context: RequestContext) async throws -> Response {
    let id: ID<WebhookEndpoint> = try context.id()
    let created = try await context.community.rotateWebhookEndpointSecret(id, by: context.caller)
    await context.api.outgoing?.examine(id)
    return .one(created, .ok)
  }

  @Sendable static func deleteWebhookEndpoint(_ context: RequestContext) async throws -> Response {
    let id: ID<WebhookEndpoint> = try context.id()
    try await context.community.deleteWebhookEndpoint(id, by: context.caller)
    await context.api.outgoing?.examine(id)
    return Response(.noContent)
  }

  @Sendable static func listWebhookDeliveries(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(
      try context.view.listWebhookDeliveries(of: try context.id(), page, for: context.caller), context)
  }

  @Sendable static func redeliverWebhook(_ context: RequestContext) async throws -> Response {
    guard let delivery = context.request.parameters["delivery"].flatMap({ ID<WebhookDelivery>($0) }) else {
      throw Refusal.notFound
    }
    let endpoint: ID<WebhookEndpoint> = try context.id()
    // Without requests to others it would wait without end.
    let outgoing = try context.outgoing
    let found = try await context.community.redeliverWebhook(delivery, of: endpoint, by: context.caller)
    await outgoing.examine(endpoint)
    return .object(.accepted) { json in found.delivery.writeMembers(to: &json) }
  }
}

extension RequestContext {
  /// The outgoing requests of webhooks and commands. Throws if the operator has turned them off.
  var outgoing: OutgoingWebhooks {
    get throws {
      guard let outgoing = api.outgoing else { throw Problem.previewsOff }
      return outgoing
    }
  }
}

extension Response {
  /// An endpoint and its secret, which is in no other response.
  fileprivate static func one(_ created: CreatedWebhookEndpoint, _ status: Status) -> Response {
    .created(created.endpoint, created.secret, status)
  }

  /// An object with its secret of Standard Webhooks, if the secret is new.
  static func created(_ thing: some JSONMembers, _ secret: [UInt8]?, _ status: Status) -> Response {
    .object(status) { json in
      thing.writeMembers(to: &json)
      if let secret { json.field("secret", "whsec_\(Base64.encode(secret))") }
    }
  }
}

extension WebhookEndpoint: Referencing {
  func addReferences(to references: inout References) { references.users.insert(owner) }
}
