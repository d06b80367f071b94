import Community
import ParleyModel
import Web

extension API {
  @Sendable static func createEmoji(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try CustomEmojiDraft(&body) }
    let created = try await context.community.createEmoji(draft, by: context.caller)
    return .one(created.emoji, created.isNew ? .created : .ok)
  }

  @Sendable static func deleteEmoji(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteEmoji(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  /// The picture of an id never changes. A day bounds the time that caches keep a deleted one.
  @Sendable static func getEmojiPicture(_ context: RequestContext) async throws -> Response {
    let picture = try context.view.getEmojiPicture(of: try context.id())
    return try .icon(.file(picture), context, caching: "public, max-age=86400")
  }
}
