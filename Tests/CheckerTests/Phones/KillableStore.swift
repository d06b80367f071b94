import ParleyKit
import Synchronization

/// The durable writes of a phone, replayed by the next app process.
final class DurableWrites: Sendable {
  private let changesList = Mutex<[CacheChanges]>([])

  func append(_ changes: CacheChanges) { changesList.withLock { $0.append(changes) } }

  func erase(keeping kept: CacheChanges) { changesList.withLock { $0 = [kept] } }

  /// A store with all writes.
  func read() -> MemoryStore {
    let store = MemoryStore()
    for changes in changesList.withLock({ $0 }) { store.save(changes) }
    return store
  }
}

/// The lifetime of an app process, and the number of writes until it dies.
final class AppLifetime: Sendable {
  private struct State {
    var isOver = false
    var writesLeft = Int.max
    var isLastDurable = false
  }

  private let state = Mutex(State())

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Dies at the given write, before or after it is durable.
  func end(after writeCount: Int, isLastDurable: Bool) {
    state.withLock { ($0.writesLeft, $0.isLastDurable) = (writeCount, isLastDurable) }
  }

  /// Cancels the planned death.
  func cancelDeath() { state.withLock { $0.writesLeft = .max } }

  func end() { state.withLock { $0.isOver = true } }

  enum Step { case goesOn, diesBefore, diesAfter }

  func recordWrite() -> Step {
    state.withLock { state in
      guard !state.isOver else { return .diesBefore }
      state.writesLeft -= 1
      guard state.writesLeft <= 0 else { return .goesOn }
      state.isOver = true
      return state.isLastDurable ? .diesAfter : .diesBefore
    }
  }
}

/// A store that fails after the app has died.
final class KillableStore: CacheStore {
  private let store: any CacheStore
  private let writes: DurableWrites?
  private let lifetime: AppLifetime
  private static let death = CacheFault.broken("killed")

  init(_ writes: DurableWrites, _ lifetime: AppLifetime) {
    (store, self.writes, self.lifetime) = (writes.read(), writes, lifetime)
  }

  init(_ path: String, _ lifetime: AppLifetime) throws(CacheFault) {
    (store, writes, self.lifetime) = (try DiskStore(path), nil, lifetime)
  }

  func save(_ changes: CacheChanges) throws(CacheFault) {
    let step = lifetime.recordWrite()
    if step == .diesBefore { throw Self.death }
    try store.save(changes)
    writes?.append(changes)
    if step == .diesAfter { throw Self.death }
  }

  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow] {
    if lifetime.isOver { throw Self.death }
    return try store.rows(of: table)
  }

  func messages(_ lookup: CacheQuery) throws(CacheFault) -> [CachedMessage]? {
    if lifetime.isOver { throw Self.death }
    return try store.messages(lookup)
  }

  func erase(keeping kept: [CacheRow]) throws(CacheFault) {
    if lifetime.isOver { throw Self.death }
    try store.erase(keeping: kept)
    var changes = CacheChanges()
    changes.rows = kept
    writes?.erase(keeping: changes)
  }
}
