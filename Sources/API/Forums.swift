import Community
import JSON
import Model
import Web
import Wire

extension API {
  @Sendable static func listForums(_ call: Call) async throws -> Response {
    let (query, limit, next) = try call.query { query in
      (
        try query.text("query"), try query.limit(usual: 100), try query.nextPair()
      )
    }
    let page = try call.view.forums(
      query: query, after: next.map { ForumCursor(lastMessage: $0.0, forum: ID($0.1)) }, limit: limit, for: call.caller)
    return .page(page.forums, next: page.next.map { "\($0.lastMessage).\($0.forum)" })
  }

  @Sendable static func createForum(_ call: Call) async throws -> Response {
    let (draft, clientID) = try await call.body { body in
      var forum = NewForum(title: try body.string("title"), visibility: try body.optionalWord("visibility") ?? .members)
      forum.about = try body.optional("description") ?? ""
      forum.iconURL = try body.optional("icon_url")
      forum.write = try body.optionalWord("write") ?? .readers
      forum.startTopics = try body.optionalWord("start_topics") ?? .readers
      forum.section = try body.optional("section")
      forum.position = try body.optional("position") ?? 0
      let clientID: String? = try body.optional("client_id")
      return (forum, clientID)
    }
    let made = try await call.community.createForum(draft, clientID: clientID, by: call.caller)
    return .one(made.forum, made.isNew ? .created : .ok)
  }

  @Sendable static func getForum(_ call: Call) async throws -> Response {
    let forum = try call.view.forum(try call.id(), for: call.caller)
    return .one(forum).tagged("\(forum.revision)-\(forum.lastMessage?.number ?? 0)")
  }

  @Sendable static func changeForum(_ call: Call) async throws -> Response {
    let change = try await call.body { body in
      var change = ForumChange()
      change.title = try body.optional("title")
      change.about = try body.optional("description")
      change.iconURL = try body.clearable("icon_url")
      change.visibility = try body.optionalWord("visibility")
      let from: HistoryOpening? = try body.optionalWord("from")
      change.opensHistory = from.map { $0 == .beginning }
      change.write = try body.optionalWord("write")
      change.startTopics = try body.optionalWord("start_topics")
      change.section = try body.clearable("section")
      change.position = try body.optional("position")
      change.slowSeconds = try body.optional("slow_seconds") { value throws(JSONError) in try value.int(in: 0...86_400)
      }
      change.isLocked = try body.optional("locked")
      change.isArchived = try body.optional("archived")
      change.isSolvable = try body.optional("solvable")
      change.showsRevisions = try body.optional("shows_revisions")
      change.callURL = try body.clearable("call_url")
      change.ifRevision = try body.optional("if_revision")
      return change
    }
    let changed = try await call.community.change(try call.id(), change, by: call.caller)
    return .object { json in
      changed.forum.writeFields(to: &json)
      json.field("opened", changed.opened)
    }
  }

  @Sendable static func deleteForum(_ call: Call) async throws -> Response {
    try await call.community.delete(try call.id() as ID<Forum>, by: call.caller)
    return Response(.noContent)
  }

  // MARK: Members

  @Sendable static func listMembers(_ call: Call) async throws -> Response {
    let (limit, next): (Int, ID<Account>?) = try call.query { query in (try query.limit(), try query.id("next")) }
    let (members, more) = try call.view.members(of: try call.id(), after: next, limit: limit, for: call.caller)
    return .page(members, next: more ? members.last?.account.description : nil)
  }

  @Sendable static func setMember(_ call: Call) async throws -> Response {
    let role: ForumRole? = try await call.body { body in try body.optionalWord("role") }
    return .one(
      try await call.community.setMember(try call.person("user"), role, of: try call.id(), by: call.caller))
  }

  @Sendable static func removeMember(_ call: Call) async throws -> Response {
    try await call.community.removeMember(try call.person("user"), of: try call.id(), by: call.caller)
    return Response(.noContent)
  }
}

/// From where a wider visibility opens what was said.
private enum HistoryOpening: String {
  case now, beginning
}
