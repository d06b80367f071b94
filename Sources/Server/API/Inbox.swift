import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func showInbox(_ call: Call) async throws -> Response {
    let (kind, isUnread, limit, next, show): (InboxEntry.Kind?, Bool?, Int, ID<InboxEntry>?, MessageShow) =
      try call.query { query in
        (
          try query.word("kind"), try query.flag("unread"), try query.limit(), try query.id("next"), try query.show()
        )
      }
    let page = try await call.community.inbox(
      kind: kind, isUnread: isUnread ?? false, before: next, limit: limit, show, for: call.caller)
    return .object { json in
      json.field("data", page.entries)
      json.field("more", page.next != nil)
      json.field("next", page.next)
      json.field("unread", page.unread)
    }
  }

  @Sendable static func readInbox(_ call: Call) async throws -> Response {
    let entry: ID<InboxEntry> = try await call.body { body in try body.read("up_to") }
    let unread = try await call.community.readInbox(upTo: entry, by: call.caller)
    return .object { json in json.field("unread", unread) }
  }
}
