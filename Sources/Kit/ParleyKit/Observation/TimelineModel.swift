public import Observation
public import ParleyModel
import Synchronization

/// A post of a timeline, with the user's pending changes.
public struct TimelinePost: Sendable, Hashable, Identifiable {
  /// The post; of a repost the original one.
  public let message: ShownMessage
  /// The user of the newest repost, by which the post is in the list; nil for a post itself.
  public let repostedBy: ParleyModel.ID<User>?

  /// The same before and after sending.
  public var id: String { message.id }
}

/// The timeline for a view: the posts of followed users and the user's own, newest first, each once. The first page is stored
/// on the device, and shown offline. While `run` runs, the topic `timeline` is subscribed, and each change is shown.
///
/// Timelines of other scopes and filtered ones come from the server alone. An unsent post is shown in each of them.
@MainActor @Observable
public final class TimelineModel: FailingModel {
  /// Sets of posts.
  public enum Scope: Sendable, Hashable {
    /// The posts of followed users and the user's own.
    case followed
    /// The same, and the posts and replies of all feeds that mention the user.
    case followedAndMentions
    /// The posts of all feeds that the user may read. Posts of users that are not followed are shown after the next change.
    case everyone
  }

  /// Unsent posts, then the others, newest first.
  public private(set) var posts: [TimelinePost] = []
  /// The last post that the user has read, on any device. All timelines have one position, which never moves back. Nil until it is known.
  public private(set) var position: TimelinePosition?
  /// The number of posts of other users after the position, at most `TimelinePosition.maxUnread`; nil until it is known, and
  /// in the timeline of all feeds.
  public var unread: Int? { scope == .everyone ? nil : position?.unread }
  /// The failure of the last request; nil if it succeeded.
  public internal(set) var failure: (any ParleyFault)?
  /// The authors and reposters.
  public let users: ListedUsers
  private var list = ServerList<TimelineEntry>()
  /// The operations that the loaded posts may lack: those in the outbox, and those that were sent since the request.
  @ObservationIgnored private var changes: [OutboxOperation.Name: OutboxOperation] = [:]
  /// Unsent posts, and those that were sent since the request.
  @ObservationIgnored private var unsent: [ShownMessage] = []
  @ObservationIgnored private let parley: Parley

  @ObservationIgnored private let scope: Scope
  @ObservationIgnored private let filter: String?

  /// A timeline of the user.
  ///
  /// - Parameter filter: the name of a saved filter. A page may then have no posts although `hasMore` is true.
  public init(_ parley: Parley, _ scope: Scope = .followed, filter: String? = nil) {
    self.parley = parley
    self.scope = scope
    self.filter = filter
    users = ListedUsers(parley)
  }

  /// Whether a page has been loaded, from the device or the server.
  public var isLoaded: Bool { list.isLoaded }
  /// Whether `loadMore` has a page to load.
  public var hasMore: Bool { list.next != nil }

  /// Shows the stored posts, then the server's, and every change until its task is cancelled.
  public func run() async {
    let stored = isStored ? await parley.cache.timeline : []
    if !stored.isEmpty, !list.isLoaded, list.reload((stored, nil), of: list.start()) { await show() }
    if position == nil { position = await storedPosition() }
    async let operations: Void = followOperations()
    async let sent: Void = followSent()
    async let own: Void = followOwnChanges()
    for await _ in await parley.timelineChanges() { await refresh() }
    _ = await (operations, sent, own)
  }

  private var isStored: Bool { scope == .followed && filter == nil }

  private func storedPosition() async -> TimelinePosition? {
    var stored = await parley.cache.timelinePosition
    if !isStored { stored?.unread = nil }
    return stored
  }

  /// Shows the pending changes.
  private func followOperations() async {
    for await update in await parley.cache.updates() where !update.operations.isEmpty { await show() }
  }

  /// Loads the list again after a sent operation: the event of it may have arrived, and reloaded the list, before its answer.
  private func followSent() async {
    for await event in await parley.outbox.events() {
      switch event {
      case .didSend(let sent, _): if changes[sent.id] != nil { await refresh() }
      case .cancelled(let name): if changes.removeValue(forKey: name) != nil { await show() }
      case .didFail, .progress, .signedOut, .stopped: continue
      }
    }
  }

  /// Loads the list again after own posts and changes of the followed users.
  private func followOwnChanges() async {
    let relations = Mutex(await parley.cache.replica.relations)
    let changes = await parley.changes { update, cache in
      relations.withLock { relations in
        defer { relations = cache.replica.relations }
        return update.isErased || relations != cache.replica.relations
          || cache.ownFeed.map { update.messages.contains($0) } ?? false
      }
    }
    await refresh()
    for await _ in changes {
      // Signing out erases the cache.
      if await parley.cache.replica.me == nil {
        list.clear()
        (self.changes, unsent, posts, position) = ([:], [], [], nil)
      } else {
        await refresh()
      }
    }
  }

  /// Loads the list again, such as when the user pulls it down.
  public func refresh() async {
    await attempt {
      let (request, age) = (list.start(), await parley.cache.responseAge)
      let waiting = await parley.cache.operations
      let page = try await page(limit: list.reloadLimit)
      guard list.reload(page, of: request) else { return }
      changes = waiting
      if isStored { try await parley.cache.setTimeline(page.elements, asOf: age) }
      await show()
      try await readPosition(after: request)
    }
  }

  /// - Parameter request: the request of the shown list. A later one reads the position itself.
  private func readPosition(after request: Int) async throws {
    let age = await parley.cache.responseAge
    let mentions = scope == .followedAndMentions ? true : nil
    let filter = scope == .everyone ? nil : filter
    let new = try await parley.client.send(.getTimelinePosition(mentions: mentions, filter: filter)).value
    if request == list.shown { try await show(new, asOf: age) }
  }

  /// The count of a stored position is that of the stored posts.
  private func show(_ new: TimelinePosition, asOf age: Cache.ResponseAge) async throws {
    var stored = new
    if !isStored { stored.unread = nil }
    if try await parley.cache.setTimelinePosition(stored, asOf: age) { position = new }
  }

  /// Moves the position up to a post, by default the newest one. Needs the network.
  public func markRead(upTo post: TimelinePost? = nil) async {
    let elements = list.elements
    let found = post.map { post in elements.first { $0.post.message.id == post.message.message?.id } } ?? elements.first
    guard let entry = found, entry.id != position?.message else { return }
    let request = list.shown
    await attempt {
      let age = await parley.cache.responseAge
      try await show(try await parley.client.send(.markTimelineRead(upTo: entry.id)).value, asOf: age)
      try await readPosition(after: request)
    }
  }

  /// Loads the next page, if there is one.
  public func loadMore() async {
    guard let next = list.next else { return }
    let request = list.shown
    await attempt {
      if list.append(try await page(next: next), after: request) { await show() }
    }
  }

  private func page(limit: Int? = nil, next: String? = nil) async throws -> ServerList<TimelineEntry>.Page {
    let request: Request<Page<Resource<MessageView>>> =
      switch scope {
      case .followed: .getTimeline(filter: filter, limit: limit, next: next)
      case .followedAndMentions: .getTimeline(mentions: true, filter: filter, limit: limit, next: next)
      case .everyone: .getGlobalTimeline(filter: filter, limit: limit, next: next)
      }
    let page = try await parley.client.send(request.including(.messages))
    let entries = page.elements.compactMap { entry in
      guard entry.message.content?.repostOf != nil else { return TimelineEntry(entry: entry, post: entry) }
      // The server leaves out reposts whose post the user may not read.
      let post = page.included?.messages.first { $0.message.id == entry.message.post }
      return post.map { TimelineEntry(entry: entry, post: $0) }
    }
    return (entries, page.next)
  }

  private func show() async {
    let (cache, elements) = (parley.cache, list.elements)
    changes.merge(await cache.operations) { $1 }
    let pending = changes.values.filter { $0.kind != .send && $0.kind.isOfMessage }.sorted { $0.order < $1.order }
    let shown = await cache.shown(elements.map(\.post.value), with: pending)
    if let feed = await cache.ownFeed {
      let current = await cache.unsent(in: feed).filter { $0.waiting.first?.draft?.replyTo == nil }
      let sent = unsent.filter { one in
        !current.contains { $0.id == one.id } && one.waiting.first.map { changes[$0.id] != nil } ?? false
      }
      let listed = Set(shown.map(\.id))
      unsent = (sent + current).filter { !listed.contains($0.id) }
    }
    var new = unsent.reversed().map { TimelinePost(message: $0, repostedBy: nil) }
    var known = Set(new.map(\.id))
    for (element, message) in zip(elements, shown) where !message.isDeleted && known.insert(message.id).inserted {
      let isRepost = element.entry.message.content?.repostOf != nil
      new.append(TimelinePost(message: message, repostedBy: isRepost ? element.entry.message.author : nil))
    }
    posts = new
    users.show(posts.flatMap { [$0.message.author, $0.repostedBy] }.compactMap(\.self))
  }

  // MARK: Posts

  /// Queues a post in the user's feed. The first post creates the feed, which needs the network.
  public func post(_ draft: Draft) async {
    await attempt {
      var feed = await parley.cache.ownFeed
      if feed == nil { feed = try await parley.client.send(.createConversation(.feed)).conversation.id }
      if let feed { try await parley.outbox.send(draft, in: feed) }
    }
  }

  /// A reply that begins with a mention of the author, and of the user of the repost.
  public func draft(replyingTo post: TimelinePost) -> Draft? {
    guard let message = post.message.message, let author = users[message.author] else { return nil }
    return .reply(to: message, by: author.summary, repostedBy: post.repostedBy.flatMap { users[$0]?.summary })
  }

  /// Queues a reply to a post, in the feed of its author.
  public func reply(_ draft: Draft, to post: TimelinePost) async {
    guard let message = post.message.message else { return }
    var draft = draft
    draft.replyTo = post.message.target
    await attempt { try await parley.outbox.send(draft, in: message.conversation) }
  }

  /// Sets or removes an action, such as `.like`, `.star` or `.repost`.
  public func setAction(_ type: ActionType, on post: TimelinePost, isSet: Bool = true) async {
    guard let message = post.message.message else { return }
    await attempt {
      try await parley.outbox.setAction(type, on: post.message.target, in: message.conversation, isSet: isSet)
    }
  }
}
