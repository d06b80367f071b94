import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listNotifications(_ context: RequestContext) async throws -> Response {
    let (kind, isUnread, page, show, include): (Notification.Kind?, Bool?, PageRequest, MessageOptions, Set<Include>) =
      try context.query { query in
        (
          try query.word("kind"), try query.flag("unread"), try query.page(), try query.show(), try query.include()
        )
      }
    try context.reserve(for: show)
    let found = try await context.community.listNotifications(
      kind: kind, isUnread: isUnread ?? false, page, show, for: context.caller)
    let (list, included) = (try context.list(), try context.included(include, in: found.page.items))
    return .object { json in
      json.field("data", found.page.items)
      json.positions(next: found.page.next, previous: found.page.previous, in: list)
      json.field("unread", found.unread)
      if let included { json.field("included", included) }
    }
  }

  @Sendable static func markNotificationsRead(_ context: RequestContext) async throws -> Response {
    let entry: ID<Notification> = try await context.body { body in try body.read("up_to") }
    let unread = try await context.community.markNotificationsRead(upTo: entry, by: context.caller)
    return .object { json in json.field("unread", unread) }
  }
}
