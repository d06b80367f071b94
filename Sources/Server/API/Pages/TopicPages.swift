// A topic, and the permalink of a message.

import Community
import ParleyModel
import ParleyWire
import Web

/// A topic with one page of its posts.
struct TopicPosts: Sendable {
  let topic: Topic
  let forum: Forum
  /// The first post, on every page; nil if visitors may not read it or it was deleted.
  let opening: MessageView?
  let list: PostList
  /// The marked answer, on the first page.
  let solution: MessageView?
  /// The number of the first message if this is not the first page.
  let from: Int?
  let path: String
}

extension PageContext {
  func topicPage() async throws -> VisitorPage {
    let topic = try view.getTopic(try id("topic"), for: caller)
    let forum = try view.getForum(topic.forum, for: caller).forum
    let start = try firstSeq() ?? 1
    let found = try await messages(in: topic.id, from: start)
    let isFirst = found.page.older == nil
    // A page beyond the end; the first page of a topic without posts exists.
    guard isFirst || !found.messages.isEmpty else { throw Refusal.notFound }
    let opening = isFirst ? found.messages.first : try await messages(in: topic.id, from: 1, limit: 1).messages.first
    var solution: MessageView?
    if isFirst, let id = topic.solvedBy {
      solution = try await view.getMessages([id], Self.html, for: caller).first { $0.message.isLive }
    }
    let named = found.messages + [opening, solution].compactMap(\.self)
    var list = try posts(named)
    list.messages = found.messages
    let first = found.messages.first?.message.seq ?? 1
    let posts = TopicPosts(
      topic: topic, forum: forum, opening: opening, list: list, solution: solution, from: isFirst ? nil : first,
      path: PageAddress.topic(topic.id, topic.title))
    let last = found.messages.last?.message.seq ?? first
    let next = found.page.newer == nil ? nil : PageAddress.topic(topic.id, topic.title, from: last + 1)
    let earlier = max(1, first - Self.pageSize)
    let previous = isFirst ? nil : PageAddress.topic(topic.id, topic.title, from: earlier == 1 ? nil : earlier)
    let back = site.address
    let title = posts.from == nil ? topic.title : "\(topic.title), \(words.range(first, last))"
    var page = VisitorPage([title, forum.title]) { html in
      posts.write(to: &html, previous: previous, next: next, back: back)
    }
    page.isArticle = true
    page.canonical = PageAddress.topic(topic.id, topic.title, from: posts.from)
    (page.previous, page.next) = (previous, next)
    page.feeds = posts.path + "/"
    page.picture = list.picture
    let site = site
    let (description, data) = try await api.community.render(for: caller) {
      (
        opening?.message.line(limit: VisitorPage.descriptionScalars) ?? "",
        [
          StructuredData.topic(posts, in: site),
          StructuredData.breadcrumb(
            [(forum.title, PageAddress.forum(forum)), (topic.title, posts.path)], in: site),
        ]
      )
    }
    page.description = description
    page.data = data
    return page
  }

  static let html: MessageOptions = {
    var options = MessageOptions()
    options.includesAnnotations = false
    options.includesHTML = true
    return options
  }()

  /// Redirects to the page with the message. Follows moved messages to their copies.
  func messageRedirect() async throws -> Response {
    var message = try view.getPlainMessage(try id("message"), for: caller).message
    for _ in 0..<5 {
      guard let copy = message.tombstone?.movedTo else { break }
      message = try view.getPlainMessage(copy, for: caller).message
    }
    return .redirect(.found, to: try await address(of: message) + "#m\(message.id)")
  }

  private func address(of message: Message) async throws -> String {
    let conversation = message.conversation
    switch try view.kind(of: conversation, for: caller) {
    case .topic:
      let topic = try view.getTopic(conversation, for: caller)
      return PageAddress.topic(topic.id, topic.title, from: try await pageStart(of: message))
    case .room:
      guard case .forVisitor(let room) = try view.getConversation(conversation, for: caller), let id = room.forum
      else { throw Refusal.notFound }
      let forum = try view.getForum(id, for: caller).forum
      return PageAddress.room(of: forum, from: try await pageStart(of: message) ?? 1)
    case .feed:
      guard case .forVisitor(let feed) = try view.getConversation(conversation, for: caller), let owner = feed.owner,
        let name = try view.getUser(.id(owner), for: caller).summary.name
      else { throw Refusal.notFound }
      return PageAddress.user(name)
    // These have no page for visitors.
    case .direct, .group, .channel: throw Refusal.notFound
    }
  }

  /// The first message of the page with this one; nil for the first page. A page with long posts may end before it.
  private func pageStart(of message: Message) async throws -> Int? {
    let start = (message.seq - 1) / Self.pageSize * Self.pageSize + 1
    let found = try await messages(in: message.conversation, from: start)
    guard found.messages.contains(where: { $0.message.id == message.id }) else { return message.seq }
    return found.page.older == nil ? nil : start
  }
}

extension TopicPosts {
  func write(to html: inout TagWriter, previous: String?, next: String?, back: String) {
    html.breadcrumb([(html.words[.forums], "/forums"), (forum.title, PageAddress.forum(forum))])
    html.tag("h1") { $0.tag("bdi", [:], topic.title) }
    html.tag("p", ["class": "second"]) { html in
      html.text(html.words.posts(topic.lastSeq))
      if topic.isLocked { html.mark(html.words[.locked]) }
      if topic.solvedBy != nil { html.mark(html.words[.solved], isGood: true) }
    }
    html.tags(topic.tags, in: forum)
    html.pageLinks(previous, nil)
    var writer = PostWriter(list, solution: topic.solvedBy)
    // The script of the page looks for newer posts on the last page.
    let isLast = next == nil && !list.messages.isEmpty
    html.tag(
      "section",
      [
        "class": "posts", "aria-label": html.words[.posts], "data-live": isLast ? "60000" : nil,
        "data-new": isLast ? html.words.forms(.newPosts) : nil,
      ]
    ) { html in
      if list.messages.isEmpty { html.tag("p", ["class": "second"], html.words[.noPosts]) }
      for (index, message) in list.messages.enumerated() {
        writer.writePost(message, to: &html)
        if index == 0, let solution, solution.message.id != message.message.id {
          writeSolution(solution, &writer, to: &html)
        }
      }
    }
    html.pageLinks(nil, next)
    html.tag("p", ["class": "answer-line"]) { html in
      html.tag(
        "a", ["class": "button is-primary", "href": PageAddress.signIn(back: back), "rel": "nofollow"],
        html.words[.signInToReply])
    }
  }

  /// The answer, repeated under the first post.
  private func writeSolution(_ solution: MessageView, _ writer: inout PostWriter, to html: inout TagWriter) {
    html.tag("aside", ["class": "solution", "aria-label": html.words[.solution]]) { html in
      html.tag("p", ["class": "second"]) { html in
        html.tag("a", ["href": PageAddress.message(solution.message.id)]) { html in
          html.tag("bdi", [:], html.words.answered(by: list.name(of: solution.message.author)))
        }
      }
      html.tag("div", ["class": "rich", "dir": "auto"]) { $0.trusted(solution.html ?? "") }
    }
  }
}

// MARK: Addresses of an imported Discourse site

extension PageContext {
  /// `/t/socks/17` and `/t/socks/17/3`. An old post that is gone leads to its topic.
  func formerTopic() throws(Refusal) -> Response? {
    guard let number = number("id") else { return nil }
    guard let found = try view.formerTopic(number, post: self.number("post")) else { return nil }
    return Self.moved(to: found.message.map { PageAddress.message($0) } ?? "/t/\(found.topic)")
  }

  /// `/c/crafts/4` and `/c/crafts/yarn/5`.
  func formerCategory() throws(Refusal) -> Response? {
    guard let number = number("three") ?? number("two") else { return nil }
    return try view.formerCategory(number).map { Self.moved(to: "/f/\($0)") }
  }

  func formerUser() throws(Refusal) -> Response? {
    guard let name = request.parameters["name"] else { return nil }
    return try view.formerUser(name).map { Self.moved(to: PageAddress.user($0)) }
  }

  private func number(_ name: String) -> Int? {
    request.parameters[name].flatMap { $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int($0) : nil }
  }

  private static func moved(to address: String) -> Response { .redirect(.movedPermanently, to: address) }
}
