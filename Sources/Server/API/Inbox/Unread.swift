import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func getUnread(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    let found = try await context.community.getUnread(page, for: context.caller)
    let (list, included) = (try context.list(), try context.included(include, in: [found]))
    return .object { json in
      json.field("data", found.page.items)
      json.positions(next: found.page.next, previous: found.page.previous, in: list)
      json.field("notifications", found.notifications)
      json.field("unread", found.unread)
      json.field("later", found.later)
      json.field("up_to", found.upTo.map { ID<Message>($0) })
      if let included { json.field("included", included) }
    }
  }

  @Sendable static func setLater(_ context: RequestContext) async throws -> Response {
    let until: Timestamp = try await context.body { body in try body.read("until") }
    return .one(
      try await context.community.setLater(
        until: Int64(until.milliseconds), in: try context.id(), by: context.caller))
  }

  @Sendable static func endLater(_ context: RequestContext) async throws -> Response {
    try await context.community.endLater(in: try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func markAllRead(_ context: RequestContext) async throws -> Response {
    let id: ID<Message> = try await context.body { body in try body.read("up_to") }
    try await context.community.markAllRead(upTo: id.number, by: context.caller)
    return Response(.noContent)
  }
}

extension UnreadOverview: Referencing {
  func addReferences(to references: inout References) {
    for item in page.items {
      item.message?.addReferences(to: &references)
      for topic in item.topics { topic.addReferences(to: &references) }
    }
    for entry in notifications { if let actor = entry.actor { references.users.insert(actor) } }
  }
}
