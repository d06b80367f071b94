import Community
import ParleyModel
import Web

extension API {
  static let followUser = setRelation(.follow)
  static let unfollowUser = removeRelation(.follow)
  static let muteUser = setRelation(.mute)
  static let unmuteUser = removeRelation(.mute)
  static let blockUser = setRelation(.block)
  static let unblockUser = removeRelation(.block)
  static let listMutedUsers = listRelatedUsers(.mute)
  static let listBlockedUsers = listRelatedUsers(.block)

  private static func setRelation(_ relation: Relation) -> Endpoint.Answer {
    { context in
      try await context.community.setRelation(relation, to: try context.reference(), by: context.caller)
      return Response(.noContent)
    }
  }

  private static func removeRelation(_ relation: Relation) -> Endpoint.Answer {
    { context in
      try await context.community.removeRelation(relation, to: try context.reference(), by: context.caller)
      return Response(.noContent)
    }
  }

  private static func listRelatedUsers(_ relation: Relation) -> Endpoint.Answer {
    { context in
      let page = try context.query { query in try query.page() }
      return try .page(try context.view.listRelatedUsers(relation, page, for: context.caller), context)
    }
  }

  @Sendable static func listFollowing(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listFollowing(try context.reference(), page, for: context.caller), context)
  }

  @Sendable static func listFollowers(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listFollowers(try context.reference(), page, for: context.caller), context)
  }
}
