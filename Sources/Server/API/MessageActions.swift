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

  /// Lists a message's actions. The cursor `next` is `user.type` of the last one.
  @Sendable static func listActions(_ context: RequestContext) async throws -> Response {
    let (type, limit, next) = try context.query { query in
      (try query.text("type"), try query.limit(), try query.text("next"))
    }
    let after = try next.map { text throws(Refusal) -> (type: String, user: ID<User>) in
      let parts = text.split(separator: ".", maxSplits: 1)
      guard parts.count == 2, let user = ID<User>(String(parts[0])) else { throw .invalid("next", .invalid) }
      return (type: String(parts[1]), user: user)
    }
    let found = try context.view.listActions(
      on: try context.id(), type: type, after: after, limit: limit, for: context.caller)
    return .page(found, limit: limit) { "\($0.user).\($0.type)" }
  }

  @Sendable static func listMyActions(_ context: RequestContext) async throws -> Response {
    let (name, limit, next, show) = try context.query { query in
      (try query.text("type"), try query.limit(), try query.nextTime(), try query.show())
    }
    guard let name else { throw Refusal.invalid("type", .missing) }
    guard let type = ActionType(name) else { throw Refusal.invalid("type", .invalid) }
    let page = try await context.community.listMyActions(
      as: type, before: next, limit: limit, show, for: context.caller)
    return .page(page.messages, next: page.next.map { "\($0.time).\($0.message)" })
  }
}

extension RequestContext {
  fileprivate func actionType() throws(Refusal) -> ActionType {
    guard let type = request.parameters["type"].flatMap({ ActionType($0) }) else { throw .invalid("type", .invalid) }
    return type
  }
}
