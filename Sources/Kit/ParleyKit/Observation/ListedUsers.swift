public import Observation
public import ParleyModel

/// The users of a list. Views that read a user update with it.
@MainActor @Observable
public final class ListedUsers {
  private var objects: [ID<User>: Observed<User>] = [:]
  /// The users of running requests, and those that the server omits because it does not show them.
  @ObservationIgnored private var requested: Set<ID<User>> = []
  @ObservationIgnored private let parley: Parley

  init(_ parley: Parley) { self.parley = parley }

  /// Nil until the user is in the cache.
  public subscript(_ id: ID<User>) -> User? { objects[id]?.value }

  /// Requests users that are not in the cache: after a failed request, and after a snapshot that lacks them, the next call requests
  /// them again.
  func show(_ ids: [ID<User>]) {
    let new = Set(ids).filter { self[$0] == nil }.subtracting(requested)
    guard !new.isEmpty else { return }
    requested.formUnion(new)
    Task {
      for id in new where objects[id] == nil { objects[id] = await parley.observed.user(id) }
      let missing = new.filter { self[$0] == nil }
      let found = missing.isEmpty ? [:] : try? await parley.users(Array(missing)).fresh()
      let omitted = found.map { missing.subtracting($0.keys) } ?? []
      requested.subtract(new.subtracting(omitted))
    }
  }
}
