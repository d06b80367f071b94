import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listForums(_ context: RequestContext) async throws -> Response {
    let (text, other, page, include) = try context.query { query in
      (
        try query.text("query"), try query.reference("shared_with"), try query.page(default: 100), try query.include()
      )
    }
    if other != nil { try context.count(.searching) }
    let forums = try await context.community.listForums(with: text, sharedWith: other, page, for: context.caller)
    return try .page(forums, including: include, context)
  }

  @Sendable static func createForum(_ context: RequestContext) async throws -> Response {
    let draft = try await context.body { body in try ForumDraft(&body) }
    if let address = try context.view.newIconURL(of: draft, by: context.caller) {
      try await context.requirePicture(at: address, "icon_url")
    }
    let made = try await context.community.createForum(draft, by: context.caller)
    return .one(made.forum, made.isNew ? .created : .ok)
  }

  @Sendable static func getForum(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    let seen = try context.view.getForum(try context.id(), for: context.caller)
    return try .one(seen, tagged: seen.tag, including: include, context)
  }

  @Sendable static func updateForum(_ context: RequestContext) async throws -> Response {
    let id: ID<Forum> = try context.id()
    let change = try await context.body { body in try ForumChange(&body) }
    // A server that no longer answers does not keep the forum's other fields from a change.
    if let address = try context.view.newIconURL(of: change, in: id, by: context.caller) {
      try await context.requirePicture(at: address, "icon_url")
    }
    return try await context.changed {
      try await context.community.updateForum(id, change, by: context.caller)
    } now: {
      try context.view.getForum(id, for: context.caller)
    }
  }

  @Sendable static func deleteForum(_ context: RequestContext) async throws -> Response {
    let job = try await context.community.deleteForum(try context.id(), by: context.caller)
    return .object { json in json.field("job_id", job) }
  }

  @Sendable static func getForumIcon(_ context: RequestContext) async throws -> Response {
    let (icon, caching) = (
      try context.view.getForumIcon(of: try context.id(), for: context.caller), "private, no-cache"
    )
    // The server fetches the icon: a redirect would send the viewer's IP address to a third party.
    if case .address(let address, let drawing) = icon {
      if let picture = try await context.picture(at: address) { return .picture(picture, caching: caching) }
      return try .icon(drawing, context, caching: caching)
    }
    return try .icon(icon, context, caching: caching)
  }

  // MARK: Members

  @Sendable static func listForumMembers(_ context: RequestContext) async throws -> Response {
    let page = try context.query { query in try query.page() }
    return try .page(try context.view.listForumMembers(of: try context.id(), page, for: context.caller), context)
  }

  @Sendable static func setForumMember(_ context: RequestContext) async throws -> Response {
    let role: ForumRole? = context.hasBody ? try await context.body { body in try body.optionalWord("role") } : nil
    return .one(
      try await context.community.setForumMember(
        try context.reference("user"), role, of: try context.id(), by: context.caller))
  }

  @Sendable static func removeForumMember(_ context: RequestContext) async throws -> Response {
    try await context.community.removeForumMember(
      try context.reference("user"), of: try context.id(), by: context.caller)
    return Response(.noContent)
  }
}

extension ForumView {
  /// The entity tag. Includes the viewer's access and the visible member count, since both change the response.
  fileprivate var tag: String {
    let access = "\(role?.rawValue ?? "none")-\(groupAccess?.rawValue ?? "none")"
    return "\(forum.revision)-\(forum.activity)-\(access)-\(memberCount ?? -1)"
  }
}
