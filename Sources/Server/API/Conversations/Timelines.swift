import Community
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func getTimeline(_ context: RequestContext) async throws -> Response {
    let (request, page, show, include) = try context.query { query in
      (try query.timeline(), try query.page(), try query.show(), try query.include())
    }
    try context.reserve(for: show)
    return try .page(
      try await context.community.getTimeline(request, page, show, for: context.caller), including: include, context)
  }

  @Sendable static func getGlobalTimeline(_ context: RequestContext) async throws -> Response {
    let (filter, page, show, include) = try context.query { query in
      (try query.text("filter"), try query.page(), try query.show(), try query.include())
    }
    try context.reserve(for: show)
    return try .page(
      try await context.community.getGlobalTimeline(filter: filter, page, show, for: context.caller),
      including: include, context)
  }

  @Sendable static func getTimelinePosition(_ context: RequestContext) async throws -> Response {
    let request = try context.query { query in try query.timeline() }
    return .one(try await context.community.getTimelinePosition(request, for: context.caller))
  }

  @Sendable static func markTimelineRead(_ context: RequestContext) async throws -> Response {
    let message: ID<Message> = try await context.body { body in try body.read("message_id") }
    return .one(try await context.community.markTimelineRead(upTo: message, by: context.caller))
  }

  // MARK: Filters

  @Sendable static func listTimelineFilters(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listTimelineFilters(page, for: context.caller), context)
  }

  @Sendable static func setTimelineFilter(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try TimelineFilterDraft(&body) }
    let set = try await context.community.setTimelineFilter(context.filterName, draft, by: context.caller)
    return .one(set.filter, set.isNew ? .created : .ok)
  }

  @Sendable static func deleteTimelineFilter(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteTimelineFilter(context.filterName, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func deleteTimelineFilters(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteTimelineFilters(by: context.caller)
    return Response(.noContent)
  }
}

extension Query {
  fileprivate mutating func timeline() throws(Refusal) -> TimelineRequest {
    TimelineRequest(withMentions: try flag("mentions") ?? false, filter: try text("filter"))
  }
}

extension RequestContext {
  fileprivate var filterName: String { request.parameters["name"] ?? "" }
}
