import ParleyKit
import Synchronization

/// The durable writes of a phone, replayed by the next app process.
final class Flash: Sendable {
  private let written = Mutex<[CacheChanges]>([])

  func write(_ changes: CacheChanges) { written.withLock { $0.append(changes) } }

  func erase() { written.withLock { $0 = [] } }

  /// A store with all writes.
  func read() -> MemoryStore {
    let store = MemoryStore()
    for changes in written.withLock({ $0 }) { store.save(changes) }
    return store
  }
}

/// The lifetime of an app process, and the number of writes until it dies.
final class Life: Sendable {
  private struct State {
    var isOver = false
    var keepsLeft = Int.max
    var isLastKept = false
  }

  private let state = Mutex(State())

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Dies at the given write, before or after it is durable.
  func end(after keeps: Int, isLastKept: Bool) {
    state.withLock { ($0.keepsLeft, $0.isLastKept) = (keeps, isLastKept) }
  }

  /// Cancels the planned death.
  func spare() { state.withLock { $0.keepsLeft = .max } }

  func end() { state.withLock { $0.isOver = true } }

  enum Step { case goesOn, diesBefore, diesAfter }

  func keep() -> Step {
    state.withLock { state in
      guard !state.isOver else { return .diesBefore }
      state.keepsLeft -= 1
      guard state.keepsLeft <= 0 else { return .goesOn }
      state.isOver = true
      return state.isLastKept ? .diesAfter : .diesBefore
    }
  }
}

/// A store that fails after the app has died.
final class MortalStore: CacheStore {
  private let store: any CacheStore
  private let flash: Flash?
  private let life: Life
  private static let death = CacheFault.broken("killed")

  init(_ flash: Flash, _ life: Life) {
    (store, self.flash, self.life) = (flash.read(), flash, life)
  }

  init(_ path: String, _ life: Life) throws(CacheFault) {
    (store, flash, self.life) = (try DiskStore(path), nil, life)
  }

  func save(_ changes: CacheChanges) throws(CacheFault) {
    let step = life.keep()
    if step == .diesBefore { throw Self.death }
    try store.save(changes)
    flash?.write(changes)
    if step == .diesAfter { throw Self.death }
  }

  func rows(of table: CacheTable) throws(CacheFault) -> [CacheRow] {
    if life.isOver { throw Self.death }
    return try store.rows(of: table)
  }

  func messages(_ lookup: CacheQuery) throws(CacheFault) -> [CachedMessage]? {
    if life.isOver { throw Self.death }
    return try store.messages(lookup)
  }

  func erase() throws(CacheFault) {
    if life.isOver { throw Self.death }
    try store.erase()
    flash?.erase()
  }
}
