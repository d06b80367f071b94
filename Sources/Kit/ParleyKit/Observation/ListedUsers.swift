public import Observation
public import ParleyModel

/// The users of a list. Views that read a user update with it.
@MainActor @Observable
public final class ListedUsers {
  private var objects: [ID<User>: Observed<User>] = [:]
  @ObservationIgnored private let parley: Parley

  init(_ parley: Parley) { self.parley = parley }

  /// Nil until the user is in the cache.
  public subscript(_ id: ID<User>) -> User? { objects[id]?.value }

  /// Requests users that are not in the cache.
  func show(_ ids: [ID<User>]) {
    let new = Set(ids).subtracting(objects.keys)
    guard !new.isEmpty else { return }
    Task {
      for id in new where objects[id] == nil { objects[id] = await parley.observed.user(id) }
      let missing = new.filter { objects[$0]?.value == nil }
      // Without a network the next change of the list requests them again.
      do { _ = try await parley.users(Array(missing)).fresh() } catch { for id in missing { objects[id] = nil } }
    }
  }
}
