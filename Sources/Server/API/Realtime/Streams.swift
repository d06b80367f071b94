import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listStreamEvents(_ context: RequestContext) async throws -> Response {
    guard let stream = context.request.parameters["stream"].flatMap({ EventStream($0) }) else { throw Refusal.notFound }
    let (offset, limit) = try context.query { query in
      (try query.int("after_offset", in: 0...Int.max), try query.limit())
    }
    let page = try await context.community.listStreamEvents(
      in: stream, after: offset ?? 0, limit: limit, for: context.caller)
    return .object { json in
      json.field("data", page.events)
      json.field("more", page.hasMore)
      json.field("next", page.hasMore ? page.events.last.map { String($0.event.offset) } : nil)
      json.field("last_offset", page.lastOffset)
      json.field("cursor", page.cursor)
    }
  }
}
