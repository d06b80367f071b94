// A forum's topics and its room.

import Community
import ParleyModel

/// A topic as lists show it.
struct ListedTopicRow: Sendable {
  let topic: Topic
  let last: MessageView?
}

extension PageContext {
  func forumPage() async throws -> VisitorPage {
    let seen = try view.getForum(try id("forum"), for: caller)
    let forum = seen.forum
    let tag = try tag()
    let list = ListName(path: "/f/\(forum.id)", filters: tag.map { [("tag", $0)] } ?? [])
    let position = try position(in: list)
    let request = PageRequest(position, limit: Self.pageSize)
    let found =
      if let tag {
        try await api.community.listTopics(of: forum.id, TopicSelection(tag: tag), request, for: caller)
      } else {
        try view.listTopics(of: forum.id, request, for: caller)
      }
    let topics = found.items.map(\.topic)
    let last = try await messages(topics.compactMap(\.lastMessage))
    let authors = try view.getAuthors(
      Set(topics.map(\.createdBy) + last.values.map(\.message.author)), for: caller)
    let rows = topics.map { topic in
      ListedTopicRow(topic: topic, last: topic.lastMessage.flatMap { last[$0] })
    }
    let path = PageAddress.forum(forum)
    let start = tag.map { "\(PageAddress.topics(of: forum, tagged: $0))&page=" } ?? "\(path)?page="
    let (previous, next) = (
      found.previous.map { start + $0.text(in: list) }, found.next.map { start + $0.text(in: list) }
    )
    let count = try view.getTopicCounts(of: [forum.id], for: caller)[forum.id] ?? 0
    var page = VisitorPage(tag.map { ["#\($0)", forum.title] } ?? [forum.title]) { html in
      Self.writeHead(of: forum, [html.words.topics(count), seen.memberCount.map { html.words.members($0) }], to: &html)
      Self.writeTabs(of: forum, isRoom: false, to: &html)
      if let tag {
        html.tag("p", ["class": "tags"]) { html in
          html.tag("bdi", ["class": "mark"], "#\(tag)")
          html.tag("a", ["href": path], html.words[.allTopics])
        }
      }
      if rows.isEmpty {
        html.tag("p", ["class": "second"], tag.map { html.words.noTopics(tagged: $0) } ?? html.words[.noTopics])
      }
      html.tag("ul", ["class": "rows"]) { html in
        for row in rows { Self.writeRow(row, authors, in: forum, to: &html) }
      }
      html.pageLinks(previous, next)
    }
    page.describe(forum.about)
    // Other pages of the list change with every post, and a list of a tag repeats a part of the forum's.
    page.canonical = position == nil && tag == nil ? path : nil
    (page.previous, page.next) = (previous, next)
    page.feeds = path + "/"
    page.data = [StructuredData.breadcrumb([(forum.title, path)], in: site)]
    return page
  }

  func roomPage() async throws -> VisitorPage {
    let forum = try view.getForum(try id("forum"), for: caller).forum
    let start = try firstSeq()
    let latest = try await messages(in: forum.room, from: start ?? 1, limit: 1).page.latestSeq
    let first = start ?? max(1, latest - Self.pageSize + 1)
    let found = try await messages(in: forum.room, from: first)
    let list = try posts(found.messages)
    let older = found.page.older == nil ? nil : PageAddress.room(of: forum, from: max(1, first - Self.pageSize))
    let newer =
      found.page.newer == nil
      ? nil : (found.messages.last?.message.seq).map { PageAddress.room(of: forum, from: $0 + 1) }
    var page = VisitorPage([words[.room], forum.title]) { html in
      Self.writeHead(of: forum, [html.words.messages(latest)], to: &html)
      Self.writeTabs(of: forum, isRoom: true, to: &html)
      html.pageLinks(older, nil, (.older, .newer))
      if list.messages.isEmpty { html.tag("p", ["class": "second"], html.words[.noMessages]) }
      var posts = PostWriter(list)
      html.tag("section", ["class": "posts", "aria-label": html.words[.conversation]]) { posts.writePosts(to: &$0) }
      html.pageLinks(nil, newer, (.older, .newer))
    }
    // The newest messages change; older pages stay.
    page.canonical = PageAddress.room(of: forum, from: start)
    (page.previous, page.next) = (older, newer)
    page.describe(forum.about)
    page.data = [
      StructuredData.breadcrumb(
        [(forum.title, PageAddress.forum(forum)), (words[.room], PageAddress.room(of: forum))], in: site)
    ]
    return page
  }

  private static func writeHead(of forum: Forum, _ facts: [String?], to html: inout TagWriter) {
    html.breadcrumb([(html.words[.forums], "/forums")])
    html.tag("h1") { $0.tag("bdi", [:], forum.title) }
    html.tag("p", ["class": "second"], facts.compactMap(\.self).joined(separator: " · "))
    if !forum.about.isEmpty { html.markdown(forum.about) }
  }

  private static func writeTabs(of forum: Forum, isRoom: Bool, to html: inout TagWriter) {
    html.tag("nav", ["class": "tabs", "aria-label": forum.title]) { html in
      html.tag(
        "a", ["href": PageAddress.forum(forum), "aria-current": isRoom ? nil : "page"], html.words[.topics])
      html.tag(
        "a", ["href": PageAddress.room(of: forum), "aria-current": isRoom ? "page" : nil], html.words[.room])
    }
  }

  private static func writeRow(
    _ row: ListedTopicRow, _ authors: [ID<User>: Author], in forum: Forum, to html: inout TagWriter
  ) {
    let topic = row.topic
    html.tag("li", ["class": "row"]) { html in
      html.tag("h2") { html in
        html.tag("a", ["href": PageAddress.topic(topic.id, topic.title)]) { $0.tag("bdi", [:], topic.title) }
      }
      if topic.isPinned { html.mark(html.words[.pinned]) }
      if topic.isLocked { html.mark(html.words[.locked]) }
      if topic.solvedBy != nil { html.mark(html.words[.solved], isGood: true) }
      html.tag("p", ["class": "second"]) { html in
        html.tag("bdi", [:], html.words.name(of: authors[topic.createdBy]))
        if let last = row.last, last.message.author != topic.createdBy {
          html.text(html.words.direction == "rtl" ? " ← " : " → ")
          html.tag("bdi", [:], html.words.name(of: authors[last.message.author]))
        }
        html.text(" · \(html.words.replies(max(0, topic.lastSeq - 1))) · ")
        html.time(row.last?.message.createdAt ?? topic.createdAt)
      }
      html.tags(topic.tags.prefix(3), in: forum)
    }
  }
}

extension TagWriter {
  /// Links to the topics with each of these tags.
  mutating func tags(_ tags: some Sequence<String>, in forum: Forum) {
    var rest = Array(tags)[...]
    guard !rest.isEmpty else { return }
    tag("p", ["class": "tags"]) { html in
      while let tag = rest.popFirst() {
        html.tag("a", ["href": PageAddress.topics(of: forum, tagged: tag), "rel": "nofollow"]) {
          $0.tag("bdi", [:], "#\(tag)")
        }
      }
    }
  }
}
