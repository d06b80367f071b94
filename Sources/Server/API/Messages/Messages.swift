import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func postMessage(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try MessageDraft(&body) }
    let conversation: ID<Conversation> = try context.id()
    let posted = try await context.community.postMessage(draft, in: conversation, by: context.caller)
    if posted.isPrivate { context.refund(.sending) }
    let missed = try await context.view.missed(in: conversation, after: draft.catchUpAfter, for: context.caller)
    let list = ListName(missedIn: conversation)
    return .object(posted.isNew ? .created : .ok) { json in
      posted.message.writeFields(to: &json)
      if let missed {
        json.object("catch_up") { json in missed.writeFields(to: &json, in: list) }
      }
    }
  }

  @Sendable static func listMessages(_ context: RequestContext) async throws -> Response {
    let (request, include) = try context.query { query in (try query.messages(), try query.include()) }
    try context.reserve(for: request.show)
    let page = try await context.view.listMessages(in: try context.id(), request, for: context.caller)
    let (list, included) = (try context.list(), try context.included(include, in: page.messages))
    return try await context.object(showing: page.messages) { json in
      page.writeFields(to: &json, in: list)
      if let included { json.field("included", included) }
    }
  }

  @Sendable static func getMessages(_ context: RequestContext) async throws -> Response {
    let (ids, show, include) = try context.query { query in
      (try query.messageIDs(), try query.show(), try query.include())
    }
    try context.reserve(for: show)
    let found = try await context.view.getMessages(ids, show, for: context.caller)
    let included = try context.included(include, in: found)
    // The list is not cut: to a client, a missing message is a lost one.
    let size = found.reduce(included?.size ?? 0) { $0 + $1.message.size }
    if size > ListPage<MessageView>.maxBytes { try context.server.reserve(size) }
    return try await context.object(showing: found, size: size) { json in json.list(found, included) }
  }

  @Sendable static func getMessage(_ context: RequestContext) async throws -> Response {
    let (show, include) = try context.query { query in (try query.show(), try query.include()) }
    let seen = try await context.view.getMessage(try context.id(), show, for: context.caller)
    return try .one(seen, tagged: seen.tag, including: include, context)
  }

  @Sendable static func editMessage(_ context: RequestContext) async throws -> Response {
    let id: ID<Message> = try context.id()
    let change = try await context.body { body in try MessageChange(&body) }
    return try await context.changed {
      try await context.community.editMessage(id, change, by: context.caller)
    } now: {
      try context.view.getPlainMessage(id, for: context.caller)
    }
  }

  @Sendable static func deleteMessage(_ context: RequestContext) async throws -> Response {
    .one(try await context.community.deleteMessage(try context.id(), by: context.caller))
  }

  @Sendable static func removeMessage(_ context: RequestContext) async throws -> Response {
    let reason = try await context.reason()
    return .one(try await context.community.removeMessage(try context.id(), reason: reason, by: context.caller))
  }

  @Sendable static func restoreMessage(_ context: RequestContext) async throws -> Response {
    let reason = try await context.reason()
    return .one(try await context.community.restoreMessage(try context.id(), reason: reason, by: context.caller))
  }

  @Sendable static func listReplies(_ context: RequestContext) async throws -> Response {
    let (page, show, include) = try context.query { query in
      (try query.page(), try query.show(), try query.include())
    }
    try context.reserve(for: show)
    return try .page(
      try await context.view.listReplies(to: try context.id(), page, show, for: context.caller), including: include,
      context)
  }

  @Sendable static func listReplyCounts(_ context: RequestContext) async throws -> Response {
    let ids = try context.query { query in try query.messageIDs(max: ReplyCount.maxMessages) }
    return .list(try await context.view.listReplyCounts(ids, for: context.caller))
  }

  @Sendable static func listRevisions(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(
      try context.view.listRevisions(of: try context.id(), page, for: context.caller), including: include, context)
  }

  @Sendable static func deleteRevision(_ context: RequestContext) async throws -> Response {
    guard let text = context.request.parameters["revision"], let revision = Int(text), "\(revision)" == text else {
      throw Refusal.notFound
    }
    try await context.community.deleteRevision(revision, of: try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listReceipts(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    let found = try context.view.listReceipts(of: try context.id(), for: context.caller)
    return .list(found, try context.included(include, in: found))
  }

  @Sendable static func createTopicFromMessage(_ context: RequestContext) async throws -> Response {
    let title = try await context.body { body in try body.string("title") }
    let (made, job, isNew) = try await context.community.createTopicFromMessage(
      of: try context.id(), title: title, by: context.caller)
    return .object(isNew ? .created : .ok) { json in
      made.writeFields(to: &json)
      json.field("job_id", job)
    }
  }

  @Sendable static func getDigest(_ context: RequestContext) async throws -> Response {
    let (from, to, parts) = try context.query { query in
      (
        try query.int("from_seq", in: 1...Int.max), try query.int("to_seq", in: 0...(Int.max - 1)),
        try query.int("parts", in: 1...1_024)
      )
    }
    let (digest, cursor) = try await context.community.getDigest(
      of: try context.id(), fromSeq: from, toSeq: to, parts: parts ?? 16, for: context.caller)
    return .object { json in
      json.field("cursor", cursor)
      json.field("digest", digest.digest)
      json.field("parts", digest.parts)
    }
  }
}

extension RequestContext {
  /// The `reason` of a moderation request, if it has a body.
  func reason() async throws -> String? {
    guard request.head.framing != .none, request.head.framing != .length(0) else { return nil }
    return try await body { body in try body.optional("reason") }
  }
}

extension CommunityView {
  /// The messages after the sender's last one, without filters, so that the sender can verify the chain.
  func missed(
    in conversation: ID<Conversation>, after anchor: ID<Message>?, for caller: Caller
  ) async throws -> MessagePageView? {
    guard let anchor else { return nil }
    var request = MessageRequest()
    request.window = .between(after: anchor, before: nil)
    request.order = .ascending
    request.limit = community.bounds.catchUp
    request.includesMachineOnly = true
    request.includesMuted = true
    return try await listMessages(in: conversation, request, for: caller)
  }
}

extension ListName {
  /// The list that the page of `missed` belongs to: its positions continue there.
  init(missedIn conversation: ID<Conversation>) {
    self.init(
      path: "\(API.base)/conversations/\(conversation)/messages",
      filters: [("include_machine", "true"), ("include_muted", "true"), ("order", "asc")])
  }
}

extension MessagePageView {
  func writeFields(to json: inout JSONWriter, in list: ListName) {
    json.array("data") { json in
      for (index, message) in messages.enumerated() {
        if index < encoded.count, message.isShared { json.value(encoded[index]) } else { json.value(message) }
      }
    }
    json.positions(next: page.position(.next, order), previous: page.position(.previous, order), in: list)
    json.field("latest_seq", page.latestSeq)
    json.field("cursor", cursor)
    json.field("skipped", page.skipped)
  }
}

extension Query {
  mutating func show() throws(Refusal) -> MessageOptions {
    var show = MessageOptions()
    show.includesAnnotations = try flag("include_annotations") ?? true
    show.includesHTML = try flag("html") ?? false
    return show
  }

  fileprivate mutating func messages() throws(Refusal) -> MessageRequest {
    var request = MessageRequest()
    let order: Order = try word("order") ?? .desc
    request.order = order == .asc ? .ascending : .descending
    request.window = try window(request.order)
    request.limit = try limit()
    request.includesDeleted = try flag("include_deleted") ?? true
    request.includesMachineOnly = try flag("include_machine") ?? false
    request.includesMuted = try flag("include_muted") ?? false
    request.show = try show()
    return request
  }

  private enum Order: String, CaseIterable {
    case asc, desc
  }

  /// The window: at a position, by ids, by times or around one message. A position has precedence, other combinations
  /// are refused as ambiguous.
  private mutating func window(_ order: MessageQuery.Order) throws(Refusal) -> MessageQuery.Window {
    let (position, bounds) = (try position(), try bounds())
    guard let position else { return bounds }
    guard let window = MessageQuery.Window(position, order) else {
      return refuse(position.direction == .next ? "next" : "previous", .invalid) ?? .all
    }
    return window
  }

  private mutating func bounds() throws(Refusal) -> MessageQuery.Window {
    let (after, before): (ID<Message>?, ID<Message>?) = (try id("after"), try id("before"))
    let (afterTime, beforeTime) = (try time("after_time"), try time("before_time"))
    let (around, atTime): (ID<Message>?, Int64?) = (try id("around"), try time("at_time"))
    let hasTimes = afterTime != nil || beforeTime != nil
    let hasIDs = after != nil || before != nil
    if let around {
      guard !hasIDs, !hasTimes, atTime == nil else { throw .invalid("around", .mismatch) }
      return .around(around)
    }
    if let atTime {
      guard !hasIDs, !hasTimes else { throw .invalid("at_time", .mismatch) }
      return .aroundTime(atTime)
    }
    guard !hasIDs || !hasTimes else { throw .invalid(afterTime != nil ? "after_time" : "before_time", .mismatch) }
    if hasTimes { return .betweenTimes(after: afterTime, before: beforeTime) }
    return hasIDs ? .between(after: after, before: before) : .all
  }

  /// The required, comma-separated `ids`.
  fileprivate mutating func messageIDs(max limit: Int = Self.maxPageSize) throws(Refusal) -> [ID<Message>] {
    if let ids: [ID<Message>] = try ids(max: limit) { return ids }
    if !faults.contains(where: { $0.field == "ids" }) { _ = refuse("ids", .missing) as Bool? }
    return []
  }

  /// The comma-separated `ids`, with optional spaces; nil without the parameter.
  mutating func ids<Thing>(max limit: Int = Self.maxPageSize) throws(Refusal) -> [ID<Thing>]? {
    guard let text = try text("ids") else { return nil }
    var ids: [ID<Thing>] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let id = ID<Thing>(String(part.drop { $0 == " " }.prefix { $0 != " " })), ids.count < limit
      else { return refuse("ids", ids.count < limit ? .invalid : .tooMany(limit: limit)) }
      ids.append(id)
    }
    return ids
  }
}
