import Community
import ParleyWire
import Web

extension API {
  @Sendable static func getUnread(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try await context.community.getUnread(page, for: context.caller), context)
  }
}
