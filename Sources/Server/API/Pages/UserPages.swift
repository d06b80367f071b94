// A user's page: the profile and the public feed.

import Community
import ParleyModel

extension PageContext {
  func user() throws -> User {
    guard let name = request.parameters["name"].flatMap({ UserName($0) }) else { throw Refusal.notFound }
    return try view.getUser(.name(name.text), for: caller)
  }

  /// The newest messages of the user's feed, without reposts; nil if visitors may not read it.
  func feedMessages(of user: User) async throws -> [MessageView]? {
    guard let feed = try feed(of: user) else { return nil }
    return try await newest(in: feed)
  }

  private func feed(of user: User) throws -> ID<Conversation>? {
    do throws(Refusal) {
      guard case .forVisitor(let found) = try view.getFeed(of: user.summary.id, for: caller) else { return nil }
      return found.id
    } catch .notFound {
      return nil
    }
  }

  /// The newest messages with their HTML, the newest first, without reposts: these have no text.
  func newest(in conversation: ID<Conversation>) async throws -> [MessageView] {
    try await newestEntries(in: conversation).filter { view in view.message.content?.repostOf == nil }
  }

  private func newestEntries(in conversation: ID<Conversation>) async throws -> [MessageView] {
    var request = MessageRequest()
    request.limit = Self.pageSize
    request.includesDeleted = false
    request.show = Self.html
    return try await view.listMessages(in: conversation, request, for: caller).messages
  }

  /// The entries with the posts in place of their reposts, each once, without those that visitors may not read and those beyond
  /// the limit of HTML.
  private func withPosts(_ entries: [MessageView]) async throws -> (posts: [MessageView], reposted: Set<ID<Message>>) {
    let reposted = entries.compactMap { $0.message.content?.repostOf }
    let found = try await view.getMessages(reposted, Self.html, for: caller)
    let posts = Dictionary(found.map { ($0.message.id, $0) }) { one, _ in one }
    var listed: Set<ID<Message>> = []
    let all = entries.compactMap { entry in
      guard let post = entry.message.content?.repostOf else { return entry }
      return posts[post].flatMap { $0.message.content == nil || $0.html == nil ? nil : $0 }
    }.filter { listed.insert($0.message.id).inserted }
    return (all, Set(reposted))
  }

  func userPage() async throws -> VisitorPage {
    let user = try user()
    let feed = try feed(of: user)
    let entries = if let feed { try await newestEntries(in: feed) } else { [MessageView]() }
    let (messages, reposted) = try await withPosts(entries)
    let authors = try view.getAuthors([user.summary.id], for: caller)
    var list = try posts(messages)
    list.authors.merge(authors) { one, _ in one }
    let posts = list
    let name = user.summary.displayName ?? user.summary.name ?? words[.formerMember]
    var page = VisitorPage([name]) { html in
      var writer = PostWriter(posts)
      (writer.reposted, writer.reposter) = (reposted, name)
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
      guard feed != nil else { return }
      html.tag("h2") { html in html.tag("bdi", [:], html.words.postsBy(name)) }
      if posts.messages.isEmpty { html.tag("p", ["class": "second"], html.words[.noPosts]) }
      html.tag("section", ["class": "posts", "aria-label": html.words[.posts]]) { writer.writePosts(to: &$0) }
    }
    page.describe(user.summary.bio)
    page.canonical = user.summary.name.map { PageAddress.user($0) }
    page.picture = authors[user.summary.id]?.drawing == nil ? user.summary.avatar : nil
    if feed != nil { page.feeds = page.canonical.map { $0 + "/" } }
    return page
  }
}
