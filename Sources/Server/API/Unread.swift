import Community
import ParleyWire
import Web

extension API {
  @Sendable static func getUnread(_ context: RequestContext) async throws -> Response {
    let (limit, next) = try context.query { query in (try query.limit(), try query.int("next", in: 0...Int.max)) }
    let (conversations, isMore) = try await context.community.getUnread(
      from: next ?? 0, limit: limit, for: context.caller)
    return .page(conversations, next: isMore ? String((next ?? 0) + limit) : nil)
  }
}
