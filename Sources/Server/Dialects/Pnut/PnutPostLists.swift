import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension PnutCall {
  // MARK: Timelines

  func listTimeline(withMentions: Bool) async throws -> Response {
    let request = TimelineRequest(withMentions: withMentions)
    let list = MarkedList(pnut: withMentions ? "unified" : "personal")
    return try await timeline(list) { page in
      try await community.getTimeline(request, page, MessageOptions(), for: caller)
    }
  }

  func listGlobal() async throws -> Response {
    try await timeline(MarkedList(pnut: "global")) { page in
      try await community.getGlobalTimeline(filter: nil, page, MessageOptions(), for: caller)
    }
  }

  /// A list by time. An id has the time of the newest message up to it.
  private func timeline(
    _ list: MarkedList?, _ read: @escaping (PageRequest) async throws -> ListPage<MessageView>
  ) async throws -> Response {
    try await page(
      IDRange.Source<MessageView>(
        id: { $0.message.id.number },
        key: { id in try view.time(upTo: ID(id)).map { ListKey([$0, id]) } }, read: read),
      marking: caller.user == nil ? nil : list, showing: { try await posts($0) })
  }

  /// The posts of a user, with the replies in its own feed.
  func listPostsOfUser() async throws -> Response {
    let user = try view.getUser(try user(), for: caller).summary.id
    let feed: ID<Conversation>
    do throws(Refusal) { feed = try view.getFeed(of: user, for: caller).conversation.id } catch {
      guard error == .notFound else { throw error }
      return .envelope([PnutPost](), page: ListMeta())
    }
    let source = messages(in: feed) { seen in seen.filter { $0.message.author == user && $0.message.kind == .message } }
    return try await page(source, showing: { try await posts($0) })
  }

  /// The messages of a conversation as a source of pages.
  func messages(
    in conversation: ID<Conversation>, where filter: @escaping ([MessageView]) async throws -> [MessageView]
  ) -> IDRange.Source<MessageView> {
    var request = MessageRequest()
    request.includesDeleted = shows.flag("include_deleted", or: true)
    request.includesMuted = shows.flag("include_muted", or: false)
    return IDRange.Source(
      id: { $0.message.id.number }, key: { id in try MessageBound.time(view.time(upTo: ID(id))) }, filter: filter,
      read: { [request] page in
        var request = request
        request.limit = min(page.limit, MessageQuery.maxMessages)
        request.window = MessageBound.window(page.position)
        let found = try await view.listMessages(in: conversation, request, for: caller)
        return ListPage(
          found.messages, next: found.page.older.flatMap { MessageBound.position(.next, $0) },
          previous: found.page.newer.flatMap { MessageBound.position(.previous, $0) })
      })
  }

  // MARK: Searches

  func listTagged() async throws -> Response {
    // A number is no tag there.
    guard !parameter("tag").allSatisfy(\.isNumber) else { return .envelope([PnutPost](), page: ListMeta()) }
    var request = SearchRequest()
    request.hashtag = parameter("tag")
    return try await search(request)
  }

  func listMentions() async throws -> Response {
    var request = SearchRequest()
    let user = try view.getUser(try user(), for: caller).summary.id
    request.mention = .id(user)
    return try await search(request, marking: user == caller.user ? MarkedList(pnut: "mentions") : nil)
  }

  func searchPosts() async throws -> Response { try await search(try searchRequest()) }

  /// The filters that the API has, too. The others are ignored.
  func searchRequest() throws -> SearchRequest {
    var request = SearchRequest()
    request.words = query.text("q")
    request.hashtag = query.list("tags").first
    request.mention = (query.list("mentions") + query.list("leading_mentions")).first.flatMap(Self.reference)
    request.author = query.text("creator_id").flatMap(Self.reference)
    if query.text("links") != nil || query.text("link_domains") != nil { request.has.insert(.link) }
    return request
  }

  /// A user in a filter: an id, `@name` or the name.
  private static func reference(_ text: String) -> UserReference? {
    UserReference(parsing: text) ?? UserReference(parsing: "@\(text)")
  }

  private func search(_ request: SearchRequest, marking list: MarkedList? = nil) async throws -> Response {
    try await page(hits(of: request) { try onlyPosts($0) }, marking: list, showing: { try await posts($0) })
  }

  /// The messages that a search finds, as a source of pages.
  func hits(
    of request: SearchRequest, where filter: @escaping ([MessageView]) async throws -> [MessageView]
  ) -> IDRange.Source<MessageView> {
    IDRange.Source(
      id: { $0.message.id.number }, filter: filter,
      read: { [request] page in
        var request = request
        request.page = page
        return try await community.searchMessages(request, for: caller).page.map { hits in
          hits.compactMap { hit in if case .message(let seen) = hit.subject { seen } else { nil } }
        }
      })
  }

  // MARK: Explore streams

  private static let exploreStreams = [
    (slug: "posts", title: "Posts", description: "All posts, without replies."),
    (slug: "photos", title: "Photos", description: "Posts with pictures."),
  ]

  func listExploreStreams() -> Response {
    .envelope(
      Self.exploreStreams.map { stream in
        ExploreStream(
          slug: stream.slug, title: stream.title, description: stream.description,
          url: "\(origin)\(Pnut.prefix)/posts/streams/explore/\(stream.slug)")
      })
  }

  func explore() async throws -> Response {
    switch parameter("slug") {
    case "posts": return try await listGlobal()
    case "photos":
      var request = SearchRequest()
      request.has = [.image]
      return try await search(request)
    default: throw Refusal.notFound
    }
  }

  // MARK: Whole lists

  /// Posts that are read for lists whose order is not that of ids.
  private static let maxListed = 1_000
  /// Bookmarks that are read for them, those of messages of channels included.
  private static let maxBookmarks = 5_000
  /// Messages whose replies are read at the cost of one search.
  private static let readsPerSearch = 100

  /// The posts that a user has bookmarked, by their ids.
  func listBookmarks() async throws -> Response {
    let reference = try user()
    var (found, examined, request) = ([MessageView](), 0, PageRequest(limit: IDRange.maxCount))
    repeat {
      let page = try await community.listStars(of: reference, request, MessageOptions(), for: caller)
      found += try onlyPosts(page.items)
      request.position = page.next
      examined += IDRange.maxCount
    } while request.position != nil && found.count < Self.maxListed && examined < Self.maxBookmarks
    return try await show(found)
  }

  func listThread() async throws -> Response { try await show(try await thread(of: try actedOn(try id()))) }

  /// The first message of the thread of a message, the replies to it and to its replies. Deleted ones are left out on request.
  func thread(of message: MessageView) async throws -> [MessageView] {
    var first = message
    for _ in 0..<Self.maxListed {
      guard let parent = first.message.replyTo,
        let found = try view.readableMessages([parent], for: caller).first
      else { break }
      first = found
      // Other requests of the event loop have a turn.
      await Task.yield()
    }
    var (thread, next) = ([first], 0)
    while next < thread.count, thread.count < Self.maxListed {
      if next > 0, next.isMultiple(of: Self.readsPerSearch) { try context.count(.searching) }
      var request = PageRequest(limit: IDRange.maxCount)
      repeat {
        let page = try await view.listReplies(to: thread[next].message.id, request, MessageOptions(), for: caller)
        thread += page.items
        request.position = page.next
        await Task.yield()
      } while request.position != nil && thread.count < Self.maxListed
      next += 1
    }
    if !shows.flag("include_deleted", or: true) { thread.removeAll { $0.message.tombstone != nil } }
    return thread
  }

  private func show(_ found: [MessageView]) async throws -> Response {
    let sorted = found.sorted { $0.message.id > $1.message.id }
    let (items, meta) = IDRange(query).cut(sorted) { $0.message.id.number }
    return .envelope(try await posts(items), page: meta)
  }

  // MARK: Interactions

  /// Mentions of the caller and replies to the caller in feeds, from the inbox.
  func listInteractions() async throws -> Response {
    try await page(
      IDRange.Source<NotificationView>(
        id: { $0.entry.id.number },
        filter: { entries in
          let posts = Set(try onlyPosts(entries.compactMap(\.message)).map(\.message.id))
          return entries.filter { entry in
            guard [.mention, .reply].contains(entry.entry.kind) else { return false }
            return entry.entry.message.map(posts.contains) ?? false
          }
        },
        read: { page in
          try await community.listNotifications(
            kind: nil, isUnread: false, page, MessageOptions(), for: caller
          ).page
        }),
      showing: { try await interactions($0) })
  }

  private func interactions(_ entries: [NotificationView]) async throws -> [PnutInteraction] {
    let (posts, users) = (
      try await posts(entries.compactMap(\.message)), try users(entries.compactMap(\.entry.actor))
    )
    let known = Dictionary(posts.map { ($0.view.message.id, $0) }) { one, _ in one }
    return entries.map { entry in
      PnutInteraction(
        id: entry.entry.id, action: entry.entry.kind == .reply ? "reply" : "mention",
        posts: [entry.entry.message.flatMap { known[$0] }].compactMap(\.self),
        users: [entry.entry.actor.flatMap { users[$0] }].compactMap(\.self), at: entry.entry.createdAt)
    }
  }
}

extension SearchRequest {
  /// Whether it has a word or a feature, besides its conversation.
  var hasFilters: Bool {
    words != nil || author != nil || mention != nil || hashtag != nil || action != nil || !has.isEmpty
  }
}

/// Another user's action that concerns the caller.
struct PnutInteraction: JSONWritable {
  let id: ID<Notification>
  let action: String
  let posts: [PnutPost]
  let users: [PnutUser]
  let at: Int64

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("pagination_id", id)
      json.field("action", action)
      json.field("event_date", PnutCall.time(at))
      json.field("objects", posts)
      json.field("users", users)
    }
  }
}

/// A list of posts with a name.
struct ExploreStream: JSONWritable {
  let slug: String
  let title: String
  let description: String
  let url: String

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("slug", slug)
      json.field("title", title)
      json.field("description", description)
      json.field("url", url)
    }
  }
}

/// Bounds in a conversation as sort keys: a time of a message, or a `seq`.
private enum MessageBound {
  private static let bySeq = "seq"

  static func time(_ milliseconds: Int?) -> ListKey? { milliseconds.map { ListKey([$0]) } }

  static func window(_ position: ListPosition?) -> MessageQuery.Window {
    guard let position else { return .all }
    guard let key = position.key, let number = key.numbers.first else {
      return position.direction == .next ? .all : .newer(than: 0, in: nil)
    }
    switch (position.direction, key.text == bySeq) {
    case (.next, true): return .older(than: number, in: nil)
    case (.previous, true): return .newer(than: number, in: nil)
    // Messages of the same millisecond are part of the page.
    case (.next, false): return .betweenTimes(after: nil, before: Int64(number) + 1)
    case (.previous, false): return .betweenTimes(after: Int64(number) - 1, before: nil)
    }
  }

  static func position(_ direction: PageDirection, _ window: MessageQuery.Window) -> ListPosition? {
    switch window {
    case .older(let seq, _), .newer(let seq, _): ListPosition(direction, from: ListKey([seq], text: bySeq))
    case .all, .between, .betweenTimes, .around, .aroundTime: nil
    }
  }
}
