public import Observation
public import ParleyModel

/// The forums for a view, by last activity, newest first, while `run` runs. It shows the cache, also offline.
@MainActor @Observable
public final class ForumListModel: FailingModel {
  /// The cached forums, by last activity, newest first.
  public private(set) var forums: [ReplicaForum] = []
  /// Whether the forums are cached: false at the first start, before the first synchronization.
  public private(set) var isLoaded = false
  /// The failure of the last `refresh`; nil if it succeeded.
  public internal(set) var failure: (any ParleyFault)?
  @ObservationIgnored private let parley: Parley

  /// The forums of a user.
  public init(_ parley: Parley) { self.parley = parley }

  /// Shows the cached forums and every change until its task is cancelled.
  public func run() async {
    let changes = await parley.changes { update, _ in update.isErased || !update.forums.isEmpty || update.isOther }
    await read()
    for await _ in changes { await read() }
  }

  private func read() async {
    let cached = await parley.cache.forumList
    if forums != cached.forums { forums = cached.forums }
    if isLoaded != cached.isLoaded { isLoaded = cached.isLoaded }
  }

  /// Fetches the changes, such as when the user pulls the list down.
  public func refresh() async {
    await attempt { _ = try await parley.forums().fresh() }
  }
}

extension Cache {
  fileprivate var forumList: (forums: [ReplicaForum], isLoaded: Bool) { (forums, replica.cursor != nil) }
}
