import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listWebhooks(_ context: RequestContext) async throws -> Response {
    let (page, include) = try context.query { query in (try query.page(), try query.include()) }
    return try .page(try context.view.listWebhooks(page, for: context.caller), including: include, context)
  }

  @Sendable static func createWebhook(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try WebhookDraft(&body) }
    let created = try await context.community.createWebhook(draft, by: context.caller)
    return context.one(created, created.secret == nil ? .ok : .created)
  }

  @Sendable static func getWebhook(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    return try .one(try context.view.getWebhook(try context.id(), for: context.caller), including: include, context)
  }

  @Sendable static func updateWebhook(_ context: RequestContext) async throws -> Response {
    let id: ID<Webhook> = try context.id()
    let change = try await context.body { body in try WebhookChange(&body) }
    return try await context.changed {
      try await context.community.updateWebhook(id, change, by: context.caller)
    } now: {
      try context.view.getWebhook(id, for: context.caller)
    }
  }

  @Sendable static func rotateWebhookSecret(_ context: RequestContext) async throws -> Response {
    context.one(try await context.community.rotateWebhookSecret(try context.id(), by: context.caller), .ok)
  }

  @Sendable static func deleteWebhook(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteWebhook(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  /// Answers in the way of the format. The formats of other products ignore members that Parley does not know.
  @Sendable static func postToWebhook(_ context: RequestContext) async throws -> Response {
    let (format, answersMessage) = try context.query { query in
      // Discord's thread: a webhook has one conversation.
      _ = try query.text("thread_id")
      let format: WebhookFormat = try query.word("format") ?? .slack
      // Libraries write the flag as their language does.
      return (format, ["true", "1"].contains(try query.text("wait")?.lowercased()))
    }
    let secret = context.request.parameters["secret"] ?? ""
    guard let webhook = try context.view.webhook(withSecret: secret) else { throw Refusal.notFound }
    var body = try await context.webhookBody(format)
    body.clientID = body.clientID ?? context.request.fields["idempotency-key"]
    let bounds = context.community.bounds
    let text = await body.messageOffLoop(named: webhook.name, cutTo: format.cutsText ? bounds : nil, bounds)
    let draft = MessageDraft(text: text, clientID: body.clientID)
    let posted = try await context.community.postToWebhook(webhook, secret, draft)
    switch format {
    case .slack: return .text("ok")
    case .discord where !answersMessage: return Response(.noContent)
    case .discord: return .object { json in posted.message.writeFields(to: &json) }
    case .markdown: return .object(posted.isNew ? .created : .ok) { json in posted.message.writeFields(to: &json) }
    }
  }
}

extension RequestContext {
  /// A webhook and its URL, which is in no other response.
  fileprivate func one(_ created: CreatedWebhook, _ status: Status) -> Response {
    let url = created.secret.map { "\(server.origin)\(API.base)/hooks/\($0)" }
    return .object(status) { json in
      created.webhook.writeMembers(to: &json)
      if let url { json.field("url", url) }
    }
  }
}

extension Webhook: Referencing {
  func addReferences(to references: inout References) {
    references.users.insert(bot)
    if let owner { references.users.insert(owner) }
  }
}
