import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// A post of a feed, a reply to one, or a message of a channel.
struct PnutPost: JSONWritable {
  let view: MessageView
  let kind: Kind
  let content: ShownText?
  let raw: RawValues?
  let author: PnutUser?
  let shows: PnutOptions
  let source: PnutSource
  let thread: ID<Message>
  let replies: Int
  var original: [PnutPost] = []
  var bookmarkedBy: [PnutUser]?
  var repostedBy: [PnutUser]?
  var hasHTML = true

  /// The bytes of the texts of a page that get HTML, which can be ten times as large. As in the API, the rest gets none.
  static let maxHTMLBytes = 131_072

  enum Kind {
    case post
    case message(isSticky: Bool)
  }

  func write(to json: inout JSONWriter) {
    let message = view.message
    json.object { json in
      json.field("id", message.id)
      json.field("pagination_id", message.id)
      if case .message = kind { json.field("channel_id", message.conversation) }
      json.field("created_at", PnutCall.time(message.createdAt))
      json.field("thread_id", thread)
      if let replyTo = message.replyTo { json.field("reply_to", replyTo) }
      if let author, shows.flag("include_user", or: true) {
        json.field("user", author)
      } else {
        json.field("user_id", message.author)
      }
      if shows.flag("include_client", or: true) {
        json.field("source", source)
      } else {
        json.field("source", source.name)
      }
      if let tombstone = message.tombstone {
        json.field("is_deleted", true)
        if let actor = tombstone.by, actor != message.author { json.field("deleted_by", actor) }
      }
      if message.content?.edit != nil {
        json.field("is_revised", true)
        json.field("revision", String(message.revision))
      }
      if let content {
        json.object("content") { json in
          content.writeMembers(to: &json, hasHTML && shows.html(kind.name.lowercased()) ? kind.name : nil)
        }
      }
      if let raw { json.field("raw", raw) }
      writeCounts(to: &json)
      for post in original { json.field("repost_of", post) }
      if let bookmarkedBy { json.field("bookmarked_by", bookmarkedBy) }
      if let repostedBy { json.field("reposted_by", repostedBy) }
    }
  }

  private func writeCounts(to json: inout JSONWriter) {
    let isBookmarked = view.mine.contains(ActionType.star.name)
    let reposts = view.message.content?.actions.first { $0.type == ActionType.repost.name }?.count ?? 0
    let showsCounts = shows.flag("include_counts", or: true)
    switch kind {
    case .post:
      if showsCounts {
        json.object("counts") { json in
          // Bookmarks of others are private.
          json.field("bookmarks", isBookmarked ? 1 : 0)
          json.field("replies", replies)
          json.field("reposts", reposts)
          json.field("threads", replies)
        }
      }
      json.field("you_bookmarked", isBookmarked)
      json.field("you_reposted", view.mine.contains(ActionType.repost.name))
    case .message(let isSticky):
      if showsCounts { json.object("counts") { json in json.field("replies", replies) } }
      if isSticky { json.field("is_sticky", true) }
    }
  }
}

extension PnutPost.Kind {
  /// The name in the HTML of the object.
  var name: String {
    switch self {
    case .post: "Post"
    case .message: "Message"
    }
  }
}

/// The client of an object. The site does not store it, so it is the site.
struct PnutSource: JSONWritable {
  let name: String
  let address: String

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", "parley")
      json.field("name", name)
      json.field("url", address)
    }
  }
}

extension PnutCall {
  func source() throws -> PnutSource { PnutSource(name: try view.getSettings().name, address: origin) }

  /// Posts as the caller sees them.
  func posts(_ views: [MessageView]) async throws -> [PnutPost] {
    let reposted = try originals(of: views)
    let originals = Dictionary(try await objects(reposted).map { ($0.view.message.id, $0) }) { one, _ in one }
    var posts = try await objects(views)
    for index in posts.indices {
      guard let id = posts[index].view.message.content?.repostOf, let original = originals[id] else { continue }
      posts[index].original = [original]
    }
    return posts
  }

  private func originals(of views: [MessageView]) throws -> [MessageView] {
    let ids = Set(views.compactMap { $0.message.content?.repostOf })
    return ids.isEmpty ? [] : try view.readableMessages(ids.sorted(), for: caller)
  }

  /// - Parameter sticky: the pinned messages of a channel; nil for posts.
  func objects(_ views: [MessageView], sticky: Set<ID<Message>>? = nil) async throws -> [PnutPost] {
    guard !views.isEmpty else { return [] }
    let messages = views.map(\.message)
    let (users, source) = (try users(messages.map(\.author)), try source())
    let (threads, replies) = (try await threads(of: messages), try await replyCounts(of: messages))
    var files: [ID<File>: File]?
    if shows.raw(sticky == nil ? "post" : "message") { files = try self.files(of: messages) }
    var (bookmarks, reposts): ([ID<Message>: [PnutUser]]?, [ID<Message>: [PnutUser]]?) = (nil, nil)
    if sticky == nil {
      if shows.flag("include_bookmarked_by", or: false) { bookmarks = try await actors(of: .star, on: messages) }
      if shows.flag("include_reposted_by", or: false) { reposts = try await actors(of: .repost, on: messages) }
    }
    var (posts, size) = ([PnutPost](), 0)
    for seen in views {
      let message = seen.message
      var post = PnutPost(
        view: seen, kind: sticky.map { .message(isSticky: $0.contains(message.id)) } ?? .post,
        content: try message.content.map { content throws(JSONError) in
          try ShownText(content.text, content.entities)
        },
        raw: try files.flatMap { files in try message.content.map { try RawValues($0, message.id, files, origin) } },
        author: users[message.author], shows: shows, source: source, thread: threads[message.id] ?? message.id,
        replies: replies[message.id] ?? 0)
      if let bookmarks { post.bookmarkedBy = bookmarks[message.id] ?? [] }
      if let reposts { post.repostedBy = reposts[message.id] ?? [] }
      size += message.content?.text.utf8.count ?? 0
      post.hasHTML = posts.isEmpty || size <= PnutPost.maxHTMLBytes
      posts.append(post)
    }
    return posts
  }

  /// One post, with the status of its change.
  func one(_ view: MessageView, _ status: Status = .ok) async throws -> Response {
    guard let post = try await posts([view]).first else { throw Refusal.notFound }
    return .envelope(post, status)
  }

  private static let maxActors = 10

  /// The first users with an action on each of the messages that has it.
  private func actors(of type: ActionType, on messages: [Message]) async throws -> [ID<Message>: [PnutUser]] {
    var found: [ID<Message>: [ID<User>]] = [:]
    for message in messages where message.isLive {
      // Messages count the actions of all types but stars.
      let isCounted = message.content?.actions.contains { $0.type == type.name } == true
      guard type == .star || isCounted else { continue }
      let page = PageRequest(limit: Self.maxActors)
      do throws(Refusal) {
        found[message.id] = try view.listActions(on: message.id, type: type.name, page, for: caller).items.map(\.user)
      } catch {
        // The message is not readable any more.
        guard error == .notFound else { throw error }
      }
      // Other requests of the event loop have a turn.
      await Task.yield()
    }
    // Posts have the same users, which are read once.
    let ids = Set(found.values.joined()).sorted()
    var known: [ID<User>: PnutUser] = [:]
    for start in stride(from: 0, to: ids.count, by: IDRange.maxCount) {
      let part = ids[start..<min(start + IDRange.maxCount, ids.count)]
      known.merge(try users(part)) { one, _ in one }
      await Task.yield()
    }
    return found.mapValues { users in users.compactMap { known[$0] } }
  }

  // MARK: Threads

  /// Replies to replies that are followed up to the first message of a thread.
  private static let maxDepth = 100

  /// The first messages of the threads.
  private func threads(of messages: [Message]) async throws -> [ID<Message>: ID<Message>] {
    var parents: [ID<Message>: ID<Message>?] = [:]
    for message in messages { parents[message.id] = .some(message.replyTo) }
    for _ in 0..<Self.maxDepth {
      let unknown = Set(parents.values.compactMap(\.self)).filter { parents[$0] == nil }
      guard !unknown.isEmpty else { break }
      let found = try view.readableMessages(unknown.sorted(), for: caller)
      for id in unknown { parents[id] = .some(nil) }
      for view in found { parents[view.message.id] = .some(view.message.replyTo) }
      // Other requests of the event loop have a turn.
      await Task.yield()
    }
    var threads: [ID<Message>: ID<Message>] = [:]
    for message in messages {
      var root = message.id
      while let parent = parents[root] ?? nil { root = parent }
      threads[message.id] = root
    }
    return threads
  }

  private func replyCounts(of messages: [Message]) async throws -> [ID<Message>: Int] {
    guard shows.flag("include_counts", or: true) else { return [:] }
    let ids = messages.map(\.id)
    var counts: [ID<Message>: Int] = [:]
    for start in stride(from: 0, to: ids.count, by: ReplyCount.maxMessages) {
      let part = Array(ids[start..<min(start + ReplyCount.maxMessages, ids.count)])
      for count in try await view.listReplyCounts(part, for: caller) { counts[count.message] = count.count }
    }
    return counts
  }

  private func files(of messages: [Message]) throws -> [ID<File>: File] {
    let ids = messages.flatMap { $0.content?.attachments ?? [] }
    return Dictionary(try view.readableFiles(ids, for: caller).map { ($0.id, $0) }) { one, _ in one }
  }
}
