public import Observation
public import ParleyModel

/// The users of a list. Views that read a user update with it.
@MainActor @Observable
public final class ListedUsers {
  private var objects: [ID<User>: Observed<User>] = [:]
  /// The users of running requests, and those that the server omits because it does not show them.
  @ObservationIgnored private var requested: Set<ID<User>> = []
  /// The running requests by number, which end with this object.
  @ObservationIgnored private var requests: [Int: Task<Void, Never>] = [:]
  @ObservationIgnored private var lastRequest = 0
  @ObservationIgnored private let parley: Parley

  init(_ parley: Parley) { self.parley = parley }

  deinit {
    for request in requests.values { request.cancel() }
  }

  /// Nil until the user is in the cache.
  public subscript(_ id: ID<User>) -> User? { objects[id]?.value }

  /// Requests users that are not in the cache: after a failed request, and after a snapshot that lacks them, the next call requests
  /// them again.
  func show(_ ids: [ID<User>]) {
    let new = Set(ids).filter { self[$0] == nil }.subtracting(requested)
    guard !new.isEmpty else { return }
    requested.formUnion(new)
    lastRequest += 1
    let number = lastRequest
    requests[number] = Task { [weak self, parley] in
      var observed: [ID<User>: Observed<User>] = [:]
      for id in new { observed[id] = await parley.observed.user(id) }
      self?.objects.merge(observed) { $1 }
      let missing = new.filter { observed[$0]?.value == nil }
      let found = missing.isEmpty ? [:] : try? await parley.users(Array(missing)).fresh()
      let omitted = found.map { missing.subtracting($0.keys) } ?? []
      self?.requested.subtract(new.subtracting(omitted))
      self?.requests[number] = nil
    }
  }
}
