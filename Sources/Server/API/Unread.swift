import Community
import ParleyWire
import Web

extension API {
  @Sendable static func showUnread(_ call: Call) async throws -> Response {
    let (limit, next) = try call.query { query in (try query.limit(), try query.int("next", in: 0...Int.max)) }
    let (places, isMore) = try await call.community.unread(from: next ?? 0, limit: limit, for: call.caller)
    return .page(places, next: isMore ? String((next ?? 0) + limit) : nil)
  }
}
