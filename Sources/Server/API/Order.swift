// Keeping order: what is done to people, and who did it.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func warn(_ call: Call) async throws -> Response {
    let reference = try call.reference()
    let draft = try await call.body { body in try WarningDraft(&body) }
    let (warning, isNew) = try await call.community.warn(reference, draft, by: call.caller)
    return .one(warning, isNew ? .created : .ok)
  }

  @Sendable static func silence(_ call: Call) async throws -> Response {
    let reference = try call.reference()
    let draft = try await call.bodyOrNothing { body in try SilenceDraft(&body) }
    return .one(try await call.community.silence(reference, draft, by: call.caller))
  }

  @Sendable static func liftSilence(_ call: Call) async throws -> Response {
    let forum: ID<Forum>? = try call.query { query in try query.id("forum") }
    let reason = try await call.reason()
    try await call.community.liftSilence(try call.reference(), in: forum, reason: reason, by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func ban(_ call: Call) async throws -> Response {
    let reference = try call.reference()
    let draft = try await call.bodyOrNothing { body in try BanDraft(&body) }
    return .one(try await call.community.ban(reference, draft, by: call.caller))
  }

  @Sendable static func liftBan(_ call: Call) async throws -> Response {
    let reason = try await call.reason()
    try await call.community.liftBan(try call.reference(), reason: reason, by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func listSanctions(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<Sanction>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    let found = try call.view.sanctions(of: try call.reference(), before: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.id.description }
  }

  @Sendable static func remove(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try RemovalDraft(&body) }
    let made = try await call.community.remove(draft, by: call.caller)
    return .one(made.removal, made.isNew ? .created : .ok)
  }

  @Sendable static func showRemoval(_ call: Call) async throws -> Response {
    .one(try call.view.removal(try call.id(), for: call.caller))
  }

  @Sendable static func undoRemoval(_ call: Call) async throws -> Response {
    let reason = try await call.reason()
    return .one(try await call.community.undo(try call.id(), reason: reason, by: call.caller))
  }

  @Sendable static func showAudit(_ call: Call) async throws -> Response {
    let (actor, filter, limit, next) = try call.query { query in
      var filter = AuditFilter()
      let subject: ID<AuditEntry>? = try query.id("subject")
      filter.subject = subject?.number
      filter.kind = try query.word("kind")
      filter.forum = try query.id("forum")
      (filter.after, filter.before) = (try query.time("after_time"), try query.time("before_time"))
      let next: ID<AuditEntry>? = try query.id("next")
      return (try query.reference("actor"), filter, try query.limit(), next)
    }
    var wanted = filter
    wanted.actor = try call.account(actor, "actor")
    let found = try await call.community.audit(wanted, before: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.id.description }
  }
}

extension Call {
  /// Where a body may be left out: what an empty one says.
  func bodyOrNothing<Value>(_ read: (inout JSONObject) throws -> Value) async throws -> Value {
    if hasBody { return try await body(read) }
    var nothing = try JSONValue(parsing: Array("{}".utf8)).object()
    return try read(&nothing)
  }

  /// Whom a parameter of the query names.
  func account(_ reference: AccountReference?, _ field: String) throws(Refusal) -> ID<Account>? {
    guard let reference else { return nil }
    do throws(Refusal) {
      return try view.account(reference, for: caller)
    } catch .notFound {
      throw .invalid(field, .unknown)
    }
  }
}

extension Query {
  /// A person: an id, `@name` or `me`.
  mutating func reference(_ name: String) throws(Refusal) -> AccountReference? {
    guard let text = try text(name) else { return nil }
    guard let reference = AccountReference(parsing: text) else { throw .invalid(name, .invalid) }
    return reference
  }
}
