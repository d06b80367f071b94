public import Observation
public import ParleyModel
import Synchronization

/// The notifications for a view, newest first. They come from the server, again after changes while `run` runs. Without a
/// network the loaded ones stay.
@MainActor @Observable
public final class InboxModel: FailingModel {
  /// The number of unread notifications; at most `InboxCounts.maxCounted` are counted.
  public private(set) var unread = 0
  /// The failure of the last request; nil if it succeeded.
  public internal(set) var failure: (any ParleyFault)?
  /// The users that caused the notifications.
  public let users: ListedUsers
  private var list = ServerList<NotificationView>()
  @ObservationIgnored private let parley: Parley

  /// The inbox of a user.
  public init(_ parley: Parley) {
    self.parley = parley
    users = ListedUsers(parley)
  }

  /// The loaded notifications, newest first.
  public var notifications: [NotificationView] { list.elements }
  /// Whether the first page has been loaded since the start or the last sign-out.
  public var isLoaded: Bool { list.isLoaded }
  /// Whether `loadMore` has a page to load.
  public var hasMore: Bool { list.next != nil }

  /// Loads the notifications and shows every change until its task is cancelled.
  public func run() async {
    let counts = Mutex(await parley.cache.replica.inbox)
    let changes = await parley.changes { update, cache in
      counts.withLock { counts in
        defer { counts = cache.replica.inbox }
        return update.isErased || counts != cache.replica.inbox
      }
    }
    await refresh()
    for await _ in changes {
      // Signing out erases the cache.
      if await parley.cache.replica.me == nil {
        list.clear()
        unread = 0
      } else {
        await refresh()
      }
    }
  }

  /// Loads the list again, such as when the user pulls it down.
  public func refresh() async {
    await attempt { try await reload() }
  }

  /// Loads the next page, if there is one.
  public func loadMore() async {
    guard let next = list.next else { return }
    let request = list.shown
    await attempt {
      let inbox = try await parley.client.send(.listNotifications(next: next)).value
      if list.append((inbox.entries, inbox.next), after: request) { show(inbox) }
    }
  }

  /// Marks all loaded notifications and the older ones as read. Needs the network.
  public func markAllRead() async {
    guard let newest = notifications.first else { return }
    await attempt {
      _ = try await parley.client.send(.markNotificationsRead(upTo: newest.id))
      try await reload()
    }
  }

  private func reload() async throws {
    let request = list.start()
    let inbox = try await parley.client.send(.listNotifications(limit: list.reloadLimit)).value
    if list.reload((inbox.entries, inbox.next), of: request) { show(inbox) }
  }

  private func show(_ inbox: Inbox) {
    unread = inbox.unread.total
    users.show(inbox.entries.compactMap(\.entry.actor))
  }
}
