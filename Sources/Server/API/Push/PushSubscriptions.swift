import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listPushSubscriptions(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listPushSubscriptions(page, for: context.caller), context)
  }

  @Sendable static func createPushSubscription(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try PushSubscriptionDraft(&body) }
    let created = try await context.community.createPushSubscription(
      draft, over: try context.push(), by: context.caller)
    return .one(created.subscription, created.isNew ? .created : .ok)
  }

  @Sendable static func deletePushSubscription(_ context: RequestContext) async throws -> Response {
    try await context.community.deletePushSubscription(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func testPushSubscription(_ context: RequestContext) async throws -> Response {
    let id: ID<PushSubscription> = try context.id()
    return .one(
      try await context.community.testPushSubscription(id, over: try context.push(), by: context.caller))
  }
}

extension RequestContext {
  fileprivate func push() throws(Problem) -> PushService {
    guard let push = api.push else { throw .pushOff }
    return push
  }
}
