// Atom (RFC 4287) and JSON Feed 1.1: the newest topics of the site or of a forum, the newest posts of a topic or a user.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The format of a feed, by its file name.
enum FeedFormat: String, CaseIterable, Sendable {
  case atom = "feed.atom"
  case json = "feed.json"

  var type: ContentType {
    switch self {
    case .atom: ContentType("application/atom+xml; charset=utf-8", isCompressible: true)
    case .json: ContentType("application/feed+json", isCompressible: true)
    }
  }
}

struct Feed: Sendable {
  let title: String
  /// The path of the page, and of its feeds without their file names.
  let page: String
  let base: String
  var entries: [Entry] = []

  struct Entry: Sendable {
    let title: String
    let path: String
    let message: Message
    let html: String
    let author: String
    let authorPage: String?

    var updatedAt: Int64 { max(message.createdAt, message.content?.edit?.at ?? 0) }
  }

  static let maxEntries = 50

  init(_ title: String, page: String, base: String) {
    self.title = title
    self.page = page
    self.base = base
  }

  func bytes(_ format: FeedFormat, in site: PageSite) -> [UInt8] {
    switch format {
    case .atom: atom(in: site)
    case .json: json(in: site)
    }
  }

  private func atom(in site: PageSite) -> [UInt8] {
    var xml = TagWriter(.xml)
    xml.declaration()
    xml.tag("feed", ["xmlns": "http://www.w3.org/2005/Atom"]) { xml in
      xml.tag("id", [:], site.url(page))
      xml.tag("title", [:], title)
      xml.tag("updated", [:], Timestamp.format(Int(entries.map(\.updatedAt).max() ?? 0)))
      xml.void("link", ["rel": "alternate", "type": "text/html", "href": site.url(page)])
      xml.void(
        "link",
        ["rel": "self", "type": "application/atom+xml", "href": site.url(base + FeedFormat.atom.rawValue)])
      xml.tag("icon", [:], site.url(VisitorPage.icon))
      for entry in entries { Self.write(entry, to: &xml, site) }
    }
    return xml.bytes
  }

  private static func write(_ entry: Entry, to xml: inout TagWriter, _ site: PageSite) {
    xml.tag("entry") { xml in
      xml.tag("id", [:], site.url(PageAddress.message(entry.message.id)))
      xml.tag("title", [:], entry.title)
      xml.tag("published", [:], Timestamp.format(Int(entry.message.createdAt)))
      xml.tag("updated", [:], Timestamp.format(Int(entry.updatedAt)))
      xml.void("link", ["rel": "alternate", "type": "text/html", "href": site.url(entry.path)])
      xml.tag("author") { xml in
        xml.tag("name", [:], entry.author)
        if let page = entry.authorPage { xml.tag("uri", [:], site.url(page)) }
      }
      xml.tag("content", ["type": "html"], entry.html)
    }
  }

  private func json(in site: PageSite) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("version", "https://jsonfeed.org/version/1.1")
      json.field("title", title)
      json.field("home_page_url", site.url(page))
      json.field("feed_url", site.url(base + FeedFormat.json.rawValue))
      json.field("icon", site.url(VisitorPage.icon))
      json.array("items") { json in
        for entry in entries { Self.write(entry, to: &json, site) }
      }
    }
    return json.bytes
  }

  private static func write(_ entry: Entry, to json: inout JSONWriter, _ site: PageSite) {
    json.object { json in
      json.field("id", site.url(PageAddress.message(entry.message.id)))
      json.field("url", site.url(entry.path))
      json.field("title", entry.title)
      json.field("content_html", entry.html)
      json.field("date_published", Timestamp(entry.message.createdAt))
      json.field("date_modified", Timestamp(entry.updatedAt))
      json.array("authors") { json in
        json.object { json in
          json.field("name", entry.author)
          if let page = entry.authorPage { json.field("url", site.url(page)) }
        }
      }
    }
  }
}

extension PageContext {
  /// The newest topics of all public forums.
  func siteFeed() async throws -> Feed {
    var feed = Feed(site.name, page: "/", base: "/")
    feed.entries = try await newestTopics(in: nil)
    return feed
  }

  func forumFeed() async throws -> Feed {
    let forum = try view.getForum(try id("forum"), for: caller).forum
    let path = PageAddress.forum(forum)
    var feed = Feed("\(forum.title) · \(site.name)", page: path, base: path + "/")
    feed.entries = try await newestTopics(in: forum.id)
    return feed
  }

  func topicFeed() async throws -> Feed {
    let topic = try view.getTopic(try id("topic"), for: caller)
    let path = PageAddress.topic(topic.id, topic.title)
    var feed = Feed("\(topic.title) · \(site.name)", page: path, base: path + "/")
    let messages = try await newest(in: topic.id)
    let list = try posts(messages)
    feed.entries = messages.compactMap { view in
      entry(view, topic.title, path + "?from=\(view.message.seq)#m\(view.message.id)", list)
    }
    return feed
  }

  func userFeed() async throws -> Feed {
    let user = try user()
    guard let messages = try await feedMessages(of: user), let name = user.summary.name else { throw Refusal.notFound }
    let path = PageAddress.user(name)
    var feed = Feed("\(user.summary.displayName ?? name) · \(site.name)", page: path, base: path + "/")
    let list = try posts(messages)
    feed.entries = messages.compactMap { view in
      entry(view, view.message.line(limit: 80), "\(path)#m\(view.message.id)", list)
    }
    return feed
  }

  /// The first posts of the newest topics.
  private func newestTopics(in forum: ID<Forum>?) async throws -> [Feed.Entry] {
    let ids = try await api.community.listNewestPublicTopics(in: forum, limit: Feed.maxEntries, for: caller)
    var (topics, first): ([ID<Conversation>: Topic], [ID<Message>]) = ([:], [])
    for id in ids {
      guard let (topic, message) = try await opening(of: id) else { continue }
      topics[id] = topic
      first.append(message)
    }
    let messages = try await view.getMessages(first, Self.html, for: caller)
    let list = try posts(messages)
    return messages.compactMap { view in
      topics[view.message.conversation].flatMap { topic in
        entry(view, topic.title, PageAddress.topic(topic.id, topic.title), list)
      }
    }
  }

  /// The topic and its first live post; nil if it was deleted or closed meanwhile, or has none.
  private func opening(of id: ID<Conversation>) async throws(Refusal) -> (Topic, ID<Message>)? {
    var request = MessageRequest()
    (request.order, request.limit, request.includesDeleted) = (.ascending, 1, false)
    do throws(Refusal) {
      let topic = try view.getTopic(id, for: caller)
      let found = try await view.listMessages(in: id, request, for: caller)
      return found.messages.first.map { (topic, $0.message.id) }
    } catch {
      guard error == .notFound else { throw error }
      return nil
    }
  }

  /// Nil for a message that was deleted meanwhile.
  private func entry(
    _ view: MessageView, _ title: String, _ path: String, _ list: PostList
  ) -> Feed.Entry? {
    guard let content = view.message.content else { return nil }
    let author = list.authors[view.message.author]
    let words = site.files.languages.fallbackWords
    return Feed.Entry(
      title: title, path: path, message: view.message,
      html: list.html(of: view, content, site.url) + (content.poll?.list(at: list.time, words) ?? ""),
      author: words.name(of: author), authorPage: author?.page)
  }

  func respond(_ feed: Feed, _ format: FeedFormat) async throws -> Response {
    let site = site
    let bytes = try await api.community.render(for: caller) { feed.bytes(format, in: site) }
    return Self.file(bytes, format.type)
  }
}

extension Response {
  /// The response with an entity tag of its content.
  func tagged(_ content: [UInt8]) -> Response { tagged(Fingerprint(content).hexadecimal) }
}
