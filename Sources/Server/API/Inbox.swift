import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listNotifications(_ context: RequestContext) async throws -> Response {
    let (kind, isUnread, limit, next, show): (Notification.Kind?, Bool?, Int, ID<Notification>?, MessageOptions) =
      try context.query { query in
        (
          try query.word("kind"), try query.flag("unread"), try query.limit(), try query.id("next"), try query.show()
        )
      }
    let page = try await context.community.listNotifications(
      kind: kind, isUnread: isUnread ?? false, before: next, limit: limit, show, for: context.caller)
    return .object { json in
      json.field("data", page.entries)
      json.field("more", page.next != nil)
      json.field("next", page.next)
      json.field("unread", page.unread)
    }
  }

  @Sendable static func markNotificationsRead(_ context: RequestContext) async throws -> Response {
    let entry: ID<Notification> = try await context.body { body in try body.read("up_to") }
    let unread = try await context.community.markNotificationsRead(upTo: entry, by: context.caller)
    return .object { json in json.field("unread", unread) }
  }
}
