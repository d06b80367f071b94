// Moderation: warnings, silences, bans, removals and the audit log.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func warnUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.body { body in try WarningDraft(&body) }
    let (warning, isNew) = try await context.community.warnUser(reference, draft, by: context.caller)
    return .one(warning, isNew ? .created : .ok)
  }

  @Sendable static func silenceUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.optionalBody { body in try SilenceDraft(&body) }
    return .one(try await context.community.silenceUser(reference, draft, by: context.caller))
  }

  @Sendable static func unsilenceUser(_ context: RequestContext) async throws -> Response {
    let forum: ID<Forum>? = try context.query { query in try query.id("forum") }
    let reason = try await context.reason()
    try await context.community.unsilenceUser(try context.reference(), in: forum, reason: reason, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func banUser(_ context: RequestContext) async throws -> Response {
    let reference = try context.reference()
    let draft = try await context.optionalBody { body in try BanDraft(&body) }
    return .one(try await context.community.banUser(reference, draft, by: context.caller))
  }

  @Sendable static func unbanUser(_ context: RequestContext) async throws -> Response {
    let reason = try await context.reason()
    try await context.community.unbanUser(try context.reference(), reason: reason, by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listSanctions(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(
      try context.view.listSanctions(of: try context.reference(), page, for: context.caller), including: include,
      context)
  }

  @Sendable static func createRemoval(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try RemovalDraft(&body) }
    let made = try await context.community.createRemoval(draft, by: context.caller)
    return .one(made.removal, made.isNew ? .created : .ok)
  }

  @Sendable static func getRemoval(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getRemoval(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func undoRemoval(_ context: RequestContext) async throws -> Response {
    let reason = try await context.reason()
    return .one(try await context.community.undoRemoval(try context.id(), reason: reason, by: context.caller))
  }

  @Sendable static func destroyContent(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try DestructionDraft(&body) }
    let destruction = try await context.community.destroyContent(draft, by: context.caller)
    context.api.previews?.removeAll()
    return .one(destruction)
  }

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

extension RequestContext {
  /// Reads an optional body. A missing one reads as `{}`.
  func optionalBody<Value: CheckedInput>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    if hasBody { return try await body(read) }
    var empty = try JSONValue(parsing: Array("{}".utf8)).object()
    return try read(&empty)
  }

  func optionalBody<Value>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    if hasBody { return try await body(read) }
    var empty = try JSONValue(parsing: Array("{}".utf8)).object()
    return try read(&empty)
  }

  /// The id of the user in a query parameter.
  func userID(_ reference: UserReference?, _ field: String) throws(Refusal) -> ID<User>? {
    guard let reference else { return nil }
    do throws(Refusal) {
      return try view.userID(reference, for: caller)
    } catch .notFound {
      throw .invalid(field, .unknown)
    }
  }
}
