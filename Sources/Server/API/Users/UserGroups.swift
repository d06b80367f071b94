import Community
import ParleyModel
import Web

extension API {
  @Sendable static func listUserGroups(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listUserGroups(page, for: context.caller), context)
  }

  @Sendable static func createUserGroup(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try UserGroupDraft(&body) }
    let created = try await context.community.createUserGroup(draft, by: context.caller)
    return .one(created.group, created.isNew ? .created : .ok)
  }

  @Sendable static func getUserGroup(_ context: RequestContext) async throws -> Response {
    .one(try context.view.getUserGroup(try context.id(), for: context.caller))
  }

  @Sendable static func updateUserGroup(_ context: RequestContext) async throws -> Response {
    let id: ID<UserGroup> = try context.id()
    let change = try await context.body { body in try UserGroupChange(&body) }
    return try await context.changed {
      try await context.community.updateUserGroup(id, change, by: context.caller)
    } now: {
      try context.view.getUserGroup(id, for: context.caller)
    }
  }

  @Sendable static func deleteUserGroup(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteUserGroup(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func listUserGroupMembers(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    let members = try context.view.listUserGroupMembers(of: try context.id(), page, for: context.caller)
    return try .page(members, context)
  }

  @Sendable static func listForumAccess(_ context: RequestContext) async throws -> Response {
    let (viewer, page) = try context.query { query in (try query.viewer(), try query.page()) }
    guard let viewer else { throw Refusal.invalid("viewer", .missing) }
    return try .page(try await context.community.listForumAccess(of: viewer, page, for: context.caller), context)
  }

  @Sendable static func addUserGroupMember(_ context: RequestContext) async throws -> Response {
    let user = try context.reference("user")
    return .one(try await context.community.addUserGroupMember(user, to: try context.id(), by: context.caller))
  }

  @Sendable static func removeUserGroupMember(_ context: RequestContext) async throws -> Response {
    let user = try context.reference("user")
    try await context.community.removeUserGroupMember(user, of: try context.id(), by: context.caller)
    return Response(.noContent)
  }
}

extension Query {
  fileprivate mutating func viewer() throws(Refusal) -> ForumViewer? {
    guard let text = try text("viewer") else { return nil }
    guard let viewer = ForumViewer(text) else { return refuse("viewer", .notAllowed(ForumViewer.forms)) }
    return viewer
  }
}
