import Community
import ParleyModel
import Web

extension API {
  @Sendable static func pressButton(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try ButtonPressDraft(&body) }
    let (press, isNew) = try await context.community.pressButton(draft, of: try context.id(), by: context.caller)
    return .one(press, isNew ? .created : .ok)
  }
}
