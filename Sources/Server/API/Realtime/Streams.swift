import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listStreamEvents(_ context: RequestContext) async throws -> Response {
    guard let stream = context.request.parameters["stream"].flatMap({ EventStream($0) }) else { throw Refusal.notFound }
    let (offset, page, include) = try context.query { query in
      (try query.int("after_offset", in: 0...Int.max), try query.page(), try query.include())
    }
    let found = try await context.community.listStreamEvents(
      in: stream, after: page.position == nil ? offset ?? 0 : 0, page, for: context.caller)
    let events = found.page.items.map { EncodedEvent(text: $0.jsonBytes) }
    let (list, included) = (try context.list(), try context.included(include, in: events))
    return .object { json in
      json.field("data", events)
      json.positions(next: found.page.next, previous: found.page.previous, in: list)
      json.field("last_offset", found.lastOffset)
      json.field("cursor", found.cursor)
      if let included { json.field("included", included) }
    }
  }
}
