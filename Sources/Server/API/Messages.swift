import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func postMessage(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try MessageDraft(&body) }
    let conversation: ID<Conversation> = try call.id()
    let posted = try await call.community.post(draft, in: conversation, by: call.caller)
    let missed = try await call.view.missed(in: conversation, after: draft.catchUpAfter, for: call.caller)
    return .object(posted.isNew ? .created : .ok) { json in
      posted.message.writeFields(to: &json)
      if let missed {
        json.object("catch_up") { json in missed.writeFields(to: &json) }
      }
    }
  }

  @Sendable static func listMessages(_ call: Call) async throws -> Response {
    let request = try call.query { query in try query.messages() }
    let page = try await call.view.messages(in: try call.id(), request, for: call.caller)
    return .object { json in page.writeFields(to: &json) }
  }

  @Sendable static func showMessages(_ call: Call) async throws -> Response {
    let (ids, show) = try call.query { query in (try query.messageIDs(), try query.show()) }
    let found = try await call.view.messages(ids, show, for: call.caller)
    return .page(found, next: nil)
  }

  @Sendable static func showMessage(_ call: Call) async throws -> Response {
    let show = try call.query { query in try query.show() }
    let seen = try await call.view.message(try call.id(), show, for: call.caller)
    return .one(seen).tagged(seen.tag)
  }

  @Sendable static func editMessage(_ call: Call) async throws -> Response {
    let id: ID<Message> = try call.id()
    let change = try await call.body { body in try MessageChange(&body) }
    return try await call.changed {
      try await call.community.edit(id, change, by: call.caller)
    } now: {
      try call.view.seen(id, for: call.caller)
    }
  }

  @Sendable static func deleteMessage(_ call: Call) async throws -> Response {
    .one(try await call.community.delete(try call.id() as ID<Message>, by: call.caller))
  }

  @Sendable static func removeMessage(_ call: Call) async throws -> Response {
    let reason = try await call.reason()
    return .one(try await call.community.remove(try call.id(), reason: reason, by: call.caller))
  }

  @Sendable static func restoreMessage(_ call: Call) async throws -> Response {
    let reason = try await call.reason()
    return .one(try await call.community.restore(try call.id(), reason: reason, by: call.caller))
  }

  @Sendable static func listReplies(_ call: Call) async throws -> Response {
    let (limit, next, show): (Int, ID<Message>?, MessageShow) = try call.query { query in
      (try query.limit(), try query.id("next"), try query.show())
    }
    let (replies, more) = try await call.view.replies(
      to: try call.id(), after: next, limit: limit, show, for: call.caller)
    return .page(replies, next: more ? replies.last?.message.id.description : nil)
  }

  @Sendable static func listRevisions(_ call: Call) async throws -> Response {
    let (limit, next) = try call.query { query in (try query.limit(), try query.int("next", in: 1...Int.max)) }
    let (revisions, more) = try call.view.revisions(
      of: try call.id(), after: next ?? 0, limit: limit, for: call.caller)
    return .page(revisions, next: more ? revisions.last.map { "\($0.revision)" } : nil)
  }

  @Sendable static func deleteRevision(_ call: Call) async throws -> Response {
    guard let text = call.request.parameters["revision"], let revision = Int(text), "\(revision)" == text else {
      throw Refusal.notFound
    }
    try await call.community.deleteRevision(revision, of: try call.id(), by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func listReceipts(_ call: Call) async throws -> Response {
    .page(try call.view.receipts(of: try call.id(), for: call.caller), next: nil)
  }

  @Sendable static func makeTopic(_ call: Call) async throws -> Response {
    let title = try await call.body { body in try body.string("title") }
    let (made, job, isNew) = try await call.community.makeTopic(of: try call.id(), title: title, by: call.caller)
    return .object(isNew ? .created : .ok) { json in
      made.writeFields(to: &json)
      json.field("job_id", job)
    }
  }

  @Sendable static func showDigest(_ call: Call) async throws -> Response {
    let (from, to, parts) = try call.query { query in
      (
        try query.int("from_seq", in: 1...Int.max), try query.int("to_seq", in: 0...(Int.max - 1)),
        try query.int("parts", in: 1...1_024)
      )
    }
    let (digest, cursor) = try await call.community.digest(
      of: try call.id(), fromSeq: from, toSeq: to, parts: parts ?? 16, for: call.caller)
    return .object { json in
      json.field("cursor", cursor)
      json.field("digest", digest.digest)
      json.field("parts", digest.parts)
    }
  }
}

extension Call {
  /// Why something is done, where somebody says so.
  func reason() async throws -> String? {
    guard request.head.framing != .none, request.head.framing != .length(0) else { return nil }
    return try await body { body in try body.optional("reason") }
  }
}

extension CommunityView {
  /// What came after the last message that a sender had. All of it, so that the chain can be proved.
  func missed(
    in conversation: ID<Conversation>, after anchor: ID<Message>?, for caller: Caller
  ) async throws -> SeenPage? {
    guard let anchor else { return nil }
    var request = MessageRequest()
    request.window = .between(after: anchor, before: nil)
    request.order = .ascending
    request.limit = community.bounds.catchUp
    request.includesMachineOnly = true
    request.includesMuted = true
    return try await messages(in: conversation, request, for: caller)
  }
}

extension SeenPage {
  func writeFields(to json: inout JSONWriter) {
    json.field("data", messages)
    json.field("more", page.hasMore)
    json.field("next_older", page.nextOlder)
    json.field("next_newer", page.nextNewer)
    json.field("latest_seq", page.latestSeq)
    json.field("cursor", cursor)
    json.field("skipped", page.skipped)
  }
}

extension Query {
  mutating func show() throws(Refusal) -> MessageShow {
    var show = MessageShow()
    show.includesAnnotations = try flag("include_annotations") ?? true
    show.includesHTML = try flag("html") ?? false
    return show
  }

  fileprivate mutating func messages() throws(Refusal) -> MessageRequest {
    var request = MessageRequest()
    request.window = try window()
    let order: Order = try word("order") ?? .desc
    request.order = order == .asc ? .ascending : .descending
    request.limit = try limit()
    request.includesDeleted = try flag("include_deleted") ?? true
    request.includesMachineOnly = try flag("include_machine") ?? false
    request.includesMuted = try flag("include_muted") ?? false
    request.show = try show()
    return request
  }

  private enum Order: String {
    case asc, desc
  }

  /// By ids or by times, or around one message: of two kinds at once nobody could say what they mean.
  private mutating func window() throws(Refusal) -> MessageQuery.Window {
    let (after, before): (ID<Message>?, ID<Message>?) = (try id("after"), try id("before"))
    let (afterTime, beforeTime) = (try time("after_time"), try time("before_time"))
    let around: ID<Message>? = try id("around")
    let hasTimes = afterTime != nil || beforeTime != nil
    let hasIDs = after != nil || before != nil
    if let around {
      guard !hasIDs, !hasTimes else { throw .invalid("around", .mismatch) }
      return .around(around)
    }
    guard !hasIDs || !hasTimes else { throw .invalid(afterTime != nil ? "after_time" : "before_time", .mismatch) }
    if hasTimes { return .betweenTimes(after: afterTime, before: beforeTime) }
    return hasIDs ? .between(after: after, before: before) : .all
  }

  /// A list with commas, spaces around them or not.
  fileprivate mutating func messageIDs() throws(Refusal) -> [ID<Message>] {
    guard let ids: [ID<Message>] = try ids() else { throw .invalid("ids", .missing) }
    return ids
  }

  /// Many ids with commas between; nil where none are asked for.
  mutating func ids<Thing>() throws(Refusal) -> [ID<Thing>]? {
    guard let text = try text("ids") else { return nil }
    var ids: [ID<Thing>] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let id = ID<Thing>(String(part.drop { $0 == " " }.prefix { $0 != " " })), ids.count < Self.largestPage
      else { throw .invalid("ids", ids.count < Self.largestPage ? .invalid : .tooMany(limit: Self.largestPage)) }
      ids.append(id)
    }
    return ids
  }
}
