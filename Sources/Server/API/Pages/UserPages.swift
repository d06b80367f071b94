// A user's page: the profile and the public feed.

import Community
import ParleyModel

extension PageContext {
  func user() throws -> User {
    guard let name = request.parameters["name"].flatMap({ UserName($0) }) else { throw Refusal.notFound }
    return try view.getUser(.name(name.text), for: caller)
  }

  /// The newest messages of the user's feed; nil if visitors may not read it.
  func feedMessages(of user: User) async throws -> [MessageView]? {
    let feed: Conversation
    do throws(Refusal) {
      guard case .forVisitor(let found) = try view.getFeed(of: user.summary.id, for: caller) else { return nil }
      feed = found
    } catch .notFound {
      return nil
    }
    return try await newest(in: feed.id)
  }

  /// The newest messages with their HTML, the newest first.
  func newest(in conversation: ID<Conversation>) async throws -> [MessageView] {
    var request = MessageRequest()
    request.limit = Self.pageSize
    request.includesDeleted = false
    request.show = Self.html
    // A repost has no text, and its post has a page of its own.
    return try await view.listMessages(in: conversation, request, for: caller).messages.filter { view in
      view.message.content?.repostOf == nil
    }
  }

  func userPage() async throws -> VisitorPage {
    let user = try user()
    let messages = try await feedMessages(of: user)
    let authors = try view.getAuthors([user.summary.id], for: caller)
    var list = try posts(messages ?? [])
    list.authors.merge(authors) { one, _ in one }
    let posts = list
    let name = user.summary.displayName ?? user.summary.name ?? words[.formerMember]
    var page = VisitorPage([name]) { html in
      var writer = PostWriter(posts)
      html.tag("div", ["class": "user-profile"]) { html in
        writer.writeAvatar(of: user.summary.id, size: 96, to: &html)
        html.tag("div") { html in
          html.tag("h1") { $0.tag("bdi", [:], name) }
          html.tag("p", ["class": "second"]) { html in
            if let name = user.summary.name { html.tag("bdi", [:], "@\(name)") }
            html.text(" · " + html.words.joined(user.summary.createdAt))
          }
          html.markdown(user.summary.bio)
        }
      }
      guard messages != nil else { return }
      html.tag("h2") { html in html.tag("bdi", [:], html.words.postsBy(name)) }
      if posts.messages.isEmpty { html.tag("p", ["class": "second"], html.words[.noPosts]) }
      html.tag("section", ["class": "posts", "aria-label": html.words[.posts]]) { writer.writePosts(to: &$0) }
    }
    page.describe(user.summary.bio)
    page.canonical = user.summary.name.map { PageAddress.user($0) }
    page.picture = authors[user.summary.id]?.drawing == nil ? user.summary.avatar : nil
    if messages != nil { page.feeds = page.canonical.map { $0 + "/" } }
    return page
  }
}
