import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listApps(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listApps(page, for: context.caller), including: include, context)
  }

  @Sendable static func createApp(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try AppDraft(&body) }
    let created = try await context.community.createApp(draft, by: context.caller)
    return .one(created, created.isNew ? .created : .ok)
  }

  @Sendable static func getApp(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getApp(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func updateApp(_ context: RequestContext) async throws -> Response {
    let id: ID<App> = try context.id()
    let change = try await context.body { body in try AppChange(&body) }
    return try await context.changed {
      try await context.community.updateApp(id, change, by: context.caller)
    } now: {
      try context.view.getApp(id, for: context.caller)
    }
  }

  @Sendable static func rotateAppSecret(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.rotateAppSecret(try context.id(), by: context.caller), .ok)
  }

  @Sendable static func deleteApp(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteApp(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listConnectedApps(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listConnectedApps(page, for: context.caller), context)
  }

  @Sendable static func disconnectApp(_ context: RequestContext) async throws -> Response {
    try await context.community.disconnectApp(try context.id(), by: context.caller)
    return Response(.noContent)
  }
}

extension Response {
  /// An app and its secret, which is in no other response.
  fileprivate static func one(_ created: CreatedApp, _ status: Status) -> Response {
    .object(status) { json in
      created.app.writeMembers(to: &json)
      json.field("secret", created.secret)
    }
  }
}

extension App: Referencing {
  func addReferences(to references: inout References) { if let creator { references.users.insert(creator) } }
}
