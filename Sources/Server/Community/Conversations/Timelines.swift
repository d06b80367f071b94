// The timelines of feeds, with mentions and filters, and the position up to which a user has read.

public import ParleyModel
import Storage

/// The posts of a timeline that the caller requests.
public struct TimelineRequest: Sendable {
  /// Whether the posts and replies that mention the caller are listed, too.
  public var withMentions = false
  /// The name of a filter of the caller.
  public var filter: String?

  public init(withMentions: Bool = false, filter: String? = nil) {
    self.withMentions = withMentions
    self.filter = filter
  }
}

extension Community {
  /// The newest posts of the caller, and of the users that the caller follows.
  public func getTimeline(
    _ request: TimelineRequest, _ page: PageRequest, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    let user = try caller.requireUser()
    let found = try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      try tx.posts(request.filter, page, for: caller, bounds) { slice throws(Refusal) in
        try tx.timeline(of: user, isGuest: caller.role == .guest, withMentions: request.withMentions, slice)
      }
    }
    return try await apply(show, to: found, for: caller)
  }

  /// The newest posts of all feeds that the caller may read.
  public func getGlobalTimeline(
    filter: String?, _ page: PageRequest, _ show: MessageOptions, for caller: Caller
  ) async throws(Refusal) -> ListPage<MessageView> {
    let found = try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      try tx.posts(filter, page, for: caller, bounds) { slice throws(Refusal) in
        try tx.globalTimeline(for: caller.user, isGuest: caller.role == nil || caller.role == .guest, slice)
      }
    }
    return try await apply(show, to: found, for: caller)
  }

  /// The caller's position, with the number of later posts by others.
  public func getTimelinePosition(
    _ request: TimelineRequest, for caller: Caller
  ) async throws(Refusal) -> TimelinePosition {
    let user = try caller.requireUser()
    return try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
      let (found, key) = try tx.timelinePosition(of: user) ?? (TimelinePosition(), ListKey([0, 0]))
      let slice = ListSlice(after: key, isBackward: true, limit: TimelinePosition.maxUnread)
      let (later, _) = try tx.filtered(slice, by: request.filter, for: caller, bounds) { slice throws(Refusal) in
        try tx.timeline(of: user, isGuest: caller.role == .guest, withMentions: request.withMentions, slice)
      }
      var position = found
      position.unread = try tx.count(of: later.map(\.message), notBy: user)
      return position
    }
  }

  /// Advances the caller's position to a readable message of a feed; never back.
  public func markTimelineRead(upTo message: ID<Message>, by caller: Caller) async throws(Refusal) -> TimelinePosition {
    let user = try caller.requireUser(.write)
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      guard try tx.message(message, for: caller).standing.kind == .feed else { throw .invalid("message_id", .mismatch) }
      try tx.moveTimelinePosition(of: user, to: message)
      return try tx.timelinePosition(of: user)?.position ?? TimelinePosition()
    }
  }
}

extension ReadTransaction {
  /// A page of posts. A page of filtered posts may end early.
  fileprivate func posts(
    _ filter: String?, _ page: PageRequest, for caller: Caller, _ bounds: Bounds,
    _ read: (ListSlice) throws(Refusal) -> [DatedMessage]
  ) throws(Refusal) -> ListPage<MessageView> {
    var end: ListKey?
    var posts = try ListPage(page, by: \.key) { slice throws(Refusal) in
      let (found, last) = try filtered(slice, by: filter, for: caller, bounds, read)
      // The first slice is the page itself.
      if slice.limit > 1 { end = last }
      return found
    }
    posts.end(at: end, of: page)
    let messages = try messages(of: &posts, page, by: \.key, \.message)
    return try posts.map { _ throws(Refusal) in try views(messages, by: caller, bounds) }
  }

  /// Posts read and filtered at once. The maximum page needs one query without a filter.
  private static let chunkSize = 201

  /// The posts of a slice that a filter of the caller lists.
  ///
  /// - Returns: the posts, and the last examined one if there may be more.
  fileprivate func filtered(
    _ slice: ListSlice, by name: String?, for caller: Caller, _ bounds: Bounds,
    _ read: (ListSlice) throws(Refusal) -> [DatedMessage]
  ) throws(Refusal) -> (posts: [DatedMessage], end: ListKey?) {
    guard let name else { return (try read(slice), nil) }
    guard let user = caller.user, let filter = try timelineFilter(name, of: user) else {
      throw .invalid("filter", .unknown)
    }
    // Whether there is a nearer post is worth one query.
    let most = slice.limit == 1 ? Self.chunkSize : bounds.filteredPosts
    var posts: [DatedMessage] = []
    var (rest, examined) = (ListSlice(after: slice.key, isBackward: slice.isBackward, limit: Self.chunkSize), 0)
    while true {
      rest.limit = min(Self.chunkSize, most - examined)
      let found = try read(rest)
      posts += try self.posts(found, listedBy: filter, words: TimelineFilter.query)
      examined += found.count
      if posts.count >= slice.limit { return (Array(posts.prefix(slice.limit)), nil) }
      guard found.count == rest.limit, let last = found.last else { return (posts, nil) }
      guard examined < most else { return (posts, last.key) }
      rest.key = last.key
    }
  }
}

extension ListPage {
  /// Continues behind the last examined entry, if a page ends early.
  mutating func end(at key: ListKey?, of page: PageRequest) {
    guard let key else { return }
    if page.position?.direction == .previous {
      previous = ListPosition(.previous, from: key)
    } else {
      next = ListPosition(.next, from: key)
    }
  }
}
