import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// A user of pnut.
struct PnutUser: JSONWritable {
  let user: User
  let bio: ShownText
  let shows: PnutOptions
  let origin: String
  /// Nil for the caller, for visitors, and for credentials that do not read them.
  let ties: UserTies?
  let isSelf: Bool
  let picture: File?
  let extras: ShownDialectProfile?
  var counts: Counts?
  var presence: String?

  /// Numbers of things of a user, as far as the caller sees them. Each stops at `most`.
  struct Counts {
    var bookmarks = 0
    var followers = 0
    var following = 0
    var posts = 0

    static let most = 200
  }

  /// The sides of a generated picture, which is drawn at any size.
  private static let pictureSide = 200
  /// The icon of the site stands for a missing cover.
  static let usualCover = "/api/v1/icon"

  func write(to json: inout JSONWriter) {
    let summary = user.summary
    json.object { json in
      json.field("id", summary.id)
      json.field("username", summary.name ?? "")
      json.field("name", summary.displayName ?? summary.name ?? "")
      json.field("type", summary.role == .bot ? "bot" : "human")
      json.field("created_at", PnutCall.time(summary.createdAt))
      if let locale = extras?.profile.locale { json.field("locale", locale) }
      if let timezone = extras?.profile.timezone { json.field("timezone", timezone) }
      json.object("content") { json in
        bio.writeMembers(to: &json, shows.html("user") ? "User" : nil)
        // Clients send it back with a change.
        if isSelf { json.field("markdown_text", summary.bio) }
        json.object("avatar_image") { json in
          json.field("url", origin + summary.avatar)
          json.field("width", picture?.width ?? Self.pictureSide)
          json.field("height", picture?.height ?? Self.pictureSide)
          json.field("is_default", picture == nil)
        }
        json.object("cover_image") { json in
          json.field("url", origin + (extras?.cover?.address ?? Self.usualCover))
          json.field("width", extras?.cover?.width ?? Self.pictureSide)
          json.field("height", extras?.cover?.height ?? Self.pictureSide)
          json.field("is_default", extras?.cover == nil)
        }
      }
      if let ties {
        json.field("follows_you", ties.isFollowedBy)
        json.field("you_follow", ties.follows)
        json.field("you_muted", ties.mutes)
        json.field("you_blocked", ties.blocks)
        json.field("you_can_follow", ties.mayFollow)
      }
      if let counts {
        json.object("counts") { json in
          json.field("bookmarks", counts.bookmarks)
          json.field("clients", 0)
          json.field("followers", counts.followers)
          json.field("following", counts.following)
          json.field("posts", counts.posts)
        }
      }
      if let presence { json.field("presence", presence) }
      if shows.raw("user") { json.object("raw") { _ in } }
      json.field("pagination_id", summary.id)
    }
  }
}

/// The members of objects that a request asks for: `include_html`, `include_post_raw` and such.
struct PnutOptions {
  private let query: LenientQuery

  init(_ query: LenientQuery) { self.query = query }

  func html(_ object: String) -> Bool { flag("include_\(object)_html", or: query.flag("include_html") ?? true) }

  func raw(_ object: String) -> Bool { flag("include_\(object)_raw", or: query.flag("include_raw") ?? false) }

  func flag(_ name: String, or usual: Bool) -> Bool { query.flag(name) ?? usual }
}

extension ShownText {
  /// Writes the members of `content`.
  ///
  /// - Parameter kind: the kind of the object in HTML; nil without HTML.
  func writeMembers(to json: inout JSONWriter, _ kind: String?) {
    writeText(to: &json, kind)
    json.object("entities", writeEntities)
  }

  func writeText(to json: inout JSONWriter, _ kind: String?) {
    json.field("text", text)
    guard let kind else { return }
    json.field("html", "<span itemscope itemtype=\"https://pnut.io/schemas/\(kind)\">\(html(Self.pnutTags))</span>")
  }

  func writeEntities(to json: inout JSONWriter) {
    json.array("links") { json in
      for entity in entities {
        guard case .link(let text, let url, let amended) = entity.kind else { continue }
        json.object { json in
          json.field("text", text)
          json.field("url", url)
          json.field("pos", entity.position)
          json.field("len", entity.length)
          if let amended { json.field("amended_len", amended) }
        }
      }
    }
    json.array("mentions") { json in
      for entity in entities {
        guard case .mention(let name, let user, let isLeading) = entity.kind else { continue }
        json.object { json in
          json.field("id", user)
          json.field("text", name)
          json.field("pos", entity.position)
          json.field("len", entity.length)
          if isLeading { json.field("is_leading", true) }
        }
      }
    }
    json.array("tags") { json in
      for entity in entities {
        // A number is no tag there.
        guard case .tag(let name) = entity.kind, !name.allSatisfy(\.isNumber) else { continue }
        json.object { json in
          json.field("text", name)
          json.field("pos", entity.position)
          json.field("len", entity.length)
        }
      }
    }
  }

  private static func pnutTags(_ entity: Entity) -> (before: String, after: String) {
    switch entity.kind {
    case .mention(let name, let user, _):
      let name = attribute(name)
      return ("<span data-mention-id=\"\(user)\" data-mention-name=\"\(name)\" itemprop=\"mention\">", "</span>")
    case .tag(let name): return ("<span data-tag-name=\"\(attribute(name))\" itemprop=\"tag\">", "</span>")
    case .link(_, let url, _): return ("<a href=\"\(attribute(url))\">", "</a>")
    }
  }
}

extension PnutCall {
  var shows: PnutOptions { PnutOptions(query) }

  /// Users as the caller sees them.
  func shown(_ users: [User]) throws -> [PnutUser] {
    let ids = users.map(\.summary.id)
    let (ties, pictures) = (try view.ties(of: caller, to: ids), try view.pictures(of: ids))
    let extras = try view.dialectProfiles(of: ids)
    let presences = shows.flag("include_presence", or: false) ? presences(of: users) : [:]
    return try users.map { user in
      let id = user.summary.id
      return PnutUser(
        user: user, bio: try ShownText(user.summary.bio, user.summary.bioEntities), shows: shows, origin: origin,
        ties: ties[id], isSelf: id == caller.user, picture: pictures[id], extras: extras[id], presence: presences[id])
    }
  }

  /// The users with these ids, without those that the caller does not see and those that have left.
  func users(_ ids: some Sequence<ID<User>>) throws -> [ID<User>: PnutUser] {
    let found = try view.visibleUsers(Set(ids).sorted(), for: caller).filter { $0.summary.name != nil }
    return Dictionary(try shown(found).map { ($0.user.summary.id, $0) }) { one, _ in one }
  }

  /// One user, with its numbers.
  func one(_ user: User) async throws -> Response {
    // The API's lists of users have no entities of texts.
    guard user.summary.name != nil, let described = try view.visibleUsers([user.summary.id], for: caller).first,
      var shown = try shown([described]).first
    else { throw Refusal.notFound }
    if shows.flag("include_counts", or: true) { shown.counts = try await counts(of: described) }
    return .envelope(shown)
  }

  private func counts(of user: User) async throws -> PnutUser.Counts {
    let (reference, most) = (UserReference.id(user.summary.id), PageRequest(limit: PnutUser.Counts.most))
    var counts = PnutUser.Counts()
    guard caller.user == nil || caller.readsWholeSite else { return counts }
    counts.followers = try count { try view.listFollowers(reference, most, for: caller).items.count }
    counts.following = try count { try view.listFollowing(reference, most, for: caller).items.count }
    if user.summary.id == caller.user {
      counts.bookmarks = try await community.listMyActions(as: .star, most, MessageOptions(), for: caller).items.count
    }
    counts.posts = try count {
      switch try view.getFeed(of: user.summary.id, for: caller) {
      case .forUser(let own): min(own.conversation.lastSeq, PnutUser.Counts.most)
      case .forVisitor(let feed): min(feed.lastSeq, PnutUser.Counts.most)
      }
    }
    return counts
  }

  /// A number that is zero for a caller without access.
  private func count(_ read: () throws -> Int) throws -> Int {
    do { return try read() } catch Refusal.notFound, Refusal.forbidden, Refusal.unauthenticated { return 0 }
  }
}
