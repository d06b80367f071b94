import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func setAction(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.setAction(try context.id(), as: try context.actionType(), by: context.caller))
  }

  @Sendable static func removeAction(_ context: RequestContext) async throws -> Response {
    try await context.community.removeAction(try context.id(), as: try context.actionType(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listActions(_ context: RequestContext) async throws -> Response {
    let (type, page, include) = try context.query { query in
      (try query.text("type"), try query.page(), try query.include())
    }
    return try .page(
      try context.view.listActions(on: try context.id(), type: type, page, for: context.caller), including: include,
      context)
  }

  @Sendable static func listMyActions(_ context: RequestContext) async throws -> Response {
    let (type, page, show, include) = try context.query { query in
      (try query.action("type"), try query.page(), try query.show(), try query.include())
    }
    guard let type else { throw Refusal.invalid("type", .missing) }
    try context.reserve(for: show)
    return try .page(
      try await context.community.listMyActions(as: type, page, show, for: context.caller), including: include, context)
  }

  @Sendable static func listStars(_ context: RequestContext) async throws -> Response {
    let (page, show, include) = try context.query { query in
      (try query.page(), try query.show(), try query.include())
    }
    try context.reserve(for: show)
    return try .page(
      try await context.community.listStars(of: context.reference(), page, show, for: context.caller),
      including: include, context)
  }
}

extension RequestContext {
  fileprivate func actionType() throws(Refusal) -> ActionType {
    guard let type = request.parameters["type"].flatMap({ ActionType($0) }) else {
      throw .invalid("type", .notAllowed(ActionType.forms))
    }
    return type
  }
}
