import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func listForums(_ call: Call) async throws -> Response {
    let (text, limit, next) = try call.query { query in
      (try query.text("query"), try query.limit(usual: 100), try query.int("next", in: 1...Int.max))
    }
    let found =
      if let text {
        try await call.community.forums(with: text, before: next, limit: limit, for: call.caller)
      } else {
        try call.view.forums(before: next, limit: limit, for: call.caller)
      }
    return .page(found, limit: limit) { "\($0.forum.activity)" }
  }

  @Sendable static func createForum(_ call: Call) async throws -> Response {
    let draft = try await call.body { body in try ForumDraft(&body) }
    let made = try await call.community.createForum(draft, by: call.caller)
    return .one(made.forum, made.isNew ? .created : .ok)
  }

  @Sendable static func showForum(_ call: Call) async throws -> Response {
    let seen = try call.view.forum(try call.id(), for: call.caller)
    return .one(seen).tagged(seen.tag)
  }

  @Sendable static func changeForum(_ call: Call) async throws -> Response {
    let id: ID<Forum> = try call.id()
    let change = try await call.body { body in try ForumChange(&body) }
    return try await call.changed {
      try await call.community.change(id, change, by: call.caller)
    } now: {
      try call.view.forum(id, for: call.caller)
    }
  }

  @Sendable static func deleteForum(_ call: Call) async throws -> Response {
    let job = try await call.community.delete(try call.id() as ID<Forum>, by: call.caller)
    return .object { json in json.field("job_id", job) }
  }

  @Sendable static func showForumIcon(_ call: Call) async throws -> Response {
    let (icon, caching) = (try call.view.icon(of: try call.id(), for: call.caller), "private, no-cache")
    // Fetched by us and not by who looks, so that nobody's address goes to where somebody else wants it.
    if case .address(let address, let drawing) = icon {
      if let picture = try await call.picture(at: address) { return .picture(picture, caching: caching) }
      return try .icon(drawing, call, caching: caching)
    }
    return try .icon(icon, call, caching: caching)
  }

  // MARK: Members

  @Sendable static func listMembers(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<Account>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    let found = try call.view.members(of: try call.id(), after: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.account.id.description }
  }

  @Sendable static func setMember(_ call: Call) async throws -> Response {
    let role: ForumRole? = call.hasBody ? try await call.body { body in try body.optionalWord("role") } : nil
    return .one(
      try await call.community.setMember(try call.reference("user"), role, of: try call.id(), by: call.caller))
  }

  @Sendable static func removeMember(_ call: Call) async throws -> Response {
    try await call.community.removeMember(try call.reference("user"), of: try call.id(), by: call.caller)
    return Response(.noContent)
  }
}

extension SeenForum {
  /// Another for what another viewer sees.
  fileprivate var tag: String {
    "\(forum.revision)-\(forum.activity)-\(role?.rawValue ?? "none")-\(memberCount ?? -1)"
  }
}
