// Facts about one post: its earlier texts, the actions of others, and reports.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addPostFacts(to table: inout Table) throws {
    let post = "/posts/{id}"
    try table.on(.get, "\(post)/revisions", as: "GET /messages/{id}/revisions") { try await $0.listRevisions() }
    for name in ["interactions", "actions"] {
      try table.on(.get, "\(post)/\(name)", as: "GET /messages/{id}/actions") { try await $0.listActionsOnPost() }
    }
    try table.on(.post, "\(post)/report", as: "POST /reports") { try await $0.reportPost() }
  }
}

extension PnutCall {
  /// The earlier texts, newest first, for those that the site shows them to.
  func listRevisions() async throws -> Response {
    let seen = try post(try id())
    let newest = PageRequest(ListPosition(.previous, from: nil), limit: IDRange.maxCount)
    let found = try view.listRevisions(of: seen.message.id, newest, for: caller).items
    var earlier: [MessageView] = []
    for revision in found.reversed() {
      guard case .live(var content) = seen.message.state else { break }
      content.text = revision.text
      content.entities = revision.entities
      content.edit = revision.edit
      var old = seen
      old.message.revision = revision.revision
      old.message.state = .live(content)
      earlier.append(old)
    }
    return .envelope(try await posts(earlier), page: ListMeta())
  }

  /// Reposts and bookmarks, the latter of users that show them, and the replies.
  func listActionsOnPost() async throws -> Response {
    let seen = try actedOn(try id())
    let actions = try view.listActions(
      on: seen.message.id, type: nil, PageRequest(limit: IDRange.maxCount), for: caller
    ).items
    let newest = PageRequest(ListPosition(.previous, from: nil), limit: IDRange.maxCount)
    let replies = try await view.listReplies(to: seen.message.id, newest, MessageOptions(), for: caller).items
      .filter(\.message.isLive)
    let users = try users(actions.map(\.user) + replies.map(\.message.author))
    let shown = try await posts([seen])
    var found: [PnutInteraction] = []
    for action in actions {
      guard let name = Self.words[action.type], let user = users[action.user] else { continue }
      found.append(
        PnutInteraction(id: ID(action.user.number), action: name, posts: shown, users: [user], at: action.at))
    }
    for reply in try await posts(replies) {
      guard let author = reply.author else { continue }
      let message = reply.view.message
      found.append(
        PnutInteraction(
          id: ID(message.id.number), action: "reply", posts: [reply], users: [author], at: message.createdAt))
    }
    return .envelope(found.sorted { $0.at > $1.at }, page: ListMeta())
  }

  /// The actions that clients know.
  private static let words = [ActionType.star.name: "bookmark", ActionType.repost.name: "repost"]

  /// Reports a post to the moderators.
  func reportPost() async throws -> Response {
    let (seen, body) = (try actedOn(try id()), try await body())
    guard let reason = try body.text("reason") ?? query.text("reason") else {
      throw Refusal.invalid("reason", .missing)
    }
    let draft = try Self.native({ json in
      json.field("message_id", seen.message.id)
      json.field("reason", reason)
    }) { body throws(JSONError) in try ReportDraft(&body) }
    _ = try await community.createReport(draft, by: caller)
    return try await one(seen)
  }
}
