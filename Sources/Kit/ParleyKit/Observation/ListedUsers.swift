public import Observation
public import ParleyModel

/// The users of a list. Views that read a user update with it.
@MainActor @Observable
public final class ListedUsers {
  private var objects: [ID<User>: Observed<User>] = [:]
  /// The users that were requested. The server omits those that it does not show.
  @ObservationIgnored private var requested: Set<ID<User>> = []
  @ObservationIgnored private let parley: Parley

  init(_ parley: Parley) { self.parley = parley }

  /// Nil until the user is in the cache.
  public subscript(_ id: ID<User>) -> User? { objects[id]?.value }

  /// Requests users that are not in the cache. After a failure the next call requests them again.
  func show(_ ids: [ID<User>]) {
    let new = Set(ids).subtracting(requested)
    guard !new.isEmpty else { return }
    requested.formUnion(new)
    Task {
      for id in new where objects[id] == nil { objects[id] = await parley.observed.user(id) }
      let missing = new.filter { objects[$0]?.value == nil }
      guard !missing.isEmpty else { return }
      do { _ = try await parley.users(Array(missing)).fresh() } catch { requested.subtract(missing) }
    }
  }
}
