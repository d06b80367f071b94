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
      let (limit, next) = try context.pageOfUsers()
      let found = try context.view.listRelatedUsers(relation, after: next, limit: limit, for: context.caller)
      return .page(found, limit: limit) { $0.summary.id.description }
    }
  }

  @Sendable static func listFollowing(_ context: RequestContext) async throws -> Response {
    let (limit, next) = try context.pageOfUsers()
    let found = try context.view.listFollowing(try context.reference(), after: next, limit: limit, for: context.caller)
    return .page(found, limit: limit) { $0.summary.id.description }
  }

  @Sendable static func listFollowers(_ context: RequestContext) async throws -> Response {
    let (limit, next) = try context.pageOfUsers()
    let found = try context.view.listFollowers(try context.reference(), after: next, limit: limit, for: context.caller)
    return .page(found, limit: limit) { $0.summary.id.description }
  }
}

extension RequestContext {
  fileprivate func pageOfUsers() throws -> (limit: Int, next: ID<User>?) {
    try query { query in (try query.limit(), try query.id("next")) }
  }
}
