// The audit log.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listAuditEntries(_ context: RequestContext) async throws -> Response {
    let (actor, filter, page, include) = try context.query { query in
      var filter = AuditFilter()
      let subject: ID<AuditEntry>? = try query.id("subject")
      filter.subject = subject?.number
      filter.kind = try query.word("kind")
      filter.forum = try query.id("forum")
      (filter.after, filter.before) = (try query.time("after_time"), try query.time("before_time"))
      return (try query.reference("actor"), filter, try query.page(), try query.include())
    }
    var resolved = filter
    resolved.actor = try context.userID(actor, "actor")
    return try .page(
      try await context.community.listAuditEntries(resolved, page, for: context.caller), including: include, context)
  }
}
