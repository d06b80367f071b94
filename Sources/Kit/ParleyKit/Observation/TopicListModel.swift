public import Observation
import ParleyJSON
public import ParleyModel

/// The topics of a forum for a view, pinned ones first, then by last activity. They come from the server, again after changes
/// while `run` runs. Without a network the loaded ones stay.
@MainActor @Observable
public final class TopicListModel: FailingModel {
  /// The forum of the topics.
  public nonisolated let forum: ID<Forum>
  /// The failure of the last request; nil if it succeeded.
  public internal(set) var failure: (any ParleyFault)?
  /// The authors of the topics.
  public let users: ListedUsers
  private var list = ServerList<ListedTopic>()
  @ObservationIgnored private let parley: Parley
  @ObservationIgnored private let filter: String?
  @ObservationIgnored private let tag: String?

  /// - Parameters:
  ///   - filter: `new`, `unread`, `mine`, `solved` or `unsolved`.
  ///   - tag: a hashtag of the first message.
  public init(of forum: ID<Forum>, _ parley: Parley, filter: String? = nil, tag: String? = nil) {
    self.forum = forum
    self.parley = parley
    self.filter = filter
    self.tag = tag
    users = ListedUsers(parley)
  }

  /// The loaded topics, pinned ones first, then by last activity.
  public var topics: [ListedTopic] { list.elements }
  /// Whether the first page has been loaded since the start or the last sign-out.
  public var isLoaded: Bool { list.isLoaded }
  /// Whether `loadMore` has a page to load.
  public var hasMore: Bool { list.next != nil }

  /// Loads the topics and shows every change until its task is cancelled.
  public func run() async {
    let changes = await parley.changes { [forum] update, cache in
      update.isErased || update.forums.contains(forum)
        || update.conversations.union(update.messages).contains {
          cache.replica.conversations[$0]?.conversation.forum == forum
        }
    }
    await refresh()
    for await _ in changes {
      // Signing out erases the cache.
      if await parley.cache.replica.me == nil { list.clear() } else { await refresh() }
    }
  }

  /// Loads the list again, such as when the user pulls it down.
  public func refresh() async {
    await attempt {
      let request = list.start()
      let page = try await page(limit: list.reloadLimit)
      if list.reload(page, of: request) { users.show(page.elements.flatMap(\.authors)) }
    }
  }

  /// Loads the next page, if there is one.
  public func loadMore() async {
    guard let next = list.next else { return }
    let request = list.shown
    await attempt {
      let page = try await page(next: next)
      if list.append(page, after: request) { users.show(page.elements.flatMap(\.authors)) }
    }
  }

  private func page(limit: Int? = nil, next: String? = nil) async throws -> ServerList<ListedTopic>.Page {
    let page = try await parley.client.send(.listTopics(in: forum, filter: filter, tag: tag, limit: limit, next: next))
    let topics = try page.elements.map { one in try ListedTopic(json: JSONValue(parsing: one.representation.bytes)) }
    return (topics, page.next)
  }
}
