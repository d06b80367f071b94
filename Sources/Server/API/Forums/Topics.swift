import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listTopics(_ context: RequestContext) async throws -> Response {
    let (selection, page, include) = try context.query { query in
      (
        TopicSelection(
          try query.word("filter"), tag: try query.text("tag"), text: try query.text("query"),
          order: try query.word("order") ?? .activity),
        try query.page(), try query.include()
      )
    }
    let forum: ID<Forum> = try context.id()
    let found =
      if selection.isAll {
        try context.view.listTopics(of: forum, page, for: context.caller)
      } else {
        try await context.community.listTopics(of: forum, selection, page, for: context.caller)
      }
    return try .page(found, including: include, context)
  }

  @Sendable static func listForumTags(_ context: RequestContext) async throws -> Response {
    .list(try await context.community.listForumTags(of: try context.id(), for: context.caller))
  }

  @Sendable static func createTopic(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try TopicDraft(&body) }
    let made = try await context.community.createTopic(draft, in: try context.id(), by: context.caller)
    return .one(made.topic, made.isNew ? .created : .ok)
  }

  @Sendable static func updateTopic(_ context: RequestContext) async throws -> Response {
    let id: ID<Conversation> = try context.id()
    let change = try await context.body { body in try TopicChange(&body) }
    return try await context.changed {
      try await context.community.updateTopic(id, change, by: context.caller)
    } now: {
      try context.view.getTopic(id, for: context.caller)
    }
  }
}
